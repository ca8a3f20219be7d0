"""A file of results as a source of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nemo_gym.rollout_compare.files import check_unchanged, gone
from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.one_file import WholeFile
from nemo_gym.rollout_compare.producers.promptfoo.forms import rows_of
from nemo_gym.rollout_compare.producers.promptfoo.results import (
    CASE_ID,
    DESCRIPTION,
    INPUT,
    OUTPUT_FIELDS,
    VARS,
    Result,
    asked_of,
    facts_of,
    measures_of,
    named_by,
    names_of,
    prompt_of,
    provider_of,
    record_of,
)
from nemo_gym.rollout_compare.producers.scores import shown, to_choose_from
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Place, Record, Row, Wanted, no_rows

#: So many characters of a prompt's id, which is a long hash, tell prompts apart.
_ID_CHARACTERS = 12


def result_fields(key: str | None) -> Fields:
    """The fields that may name the task."""
    return Fields((DESCRIPTION, CASE_ID, VARS), (), (), INPUT).or_named(key)


class ResultsFile(WholeFile, frozen=True):
    """A file of results.

    Attributes:
        alone: Whether the run has no other files.
    """

    alone: bool = True

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that hold what the assertions said."""
        return OUTPUT_FIELDS

    @property
    def unit(self) -> str:
        """A row is a result."""
        return "result"

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return result_fields(key)

    def batches(
        self, piece: object, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """All results."""
        del piece
        faults: list[Fault] = []
        results = [(number, msgspec.convert(row, Result)) for number, row in rows_of(self.input, faults)]
        on_bytes(self.size)
        if faults and not plan.skip_bad_lines:
            yield no_rows(faults[:1], faults[0].line)
            return
        if self.alone and plan.reward is not None:
            self._check([result for _, result in results], plan.reward)
        with room_for_rows():
            yield self._batch(results, plan, tuple(wanted()), faults)

    def _batch(
        self, results: Sequence[tuple[int, Result]], plan: Plan, fields: Sequence[str], faults: Sequence[Fault]
    ) -> Batch:
        tasksets = tasksets_of([result for _, result in results])
        attempts = []
        for (number, result), taskset in zip(results, tasksets, strict=True):
            fact = facts_of(result, plan.reward)
            attempts.append(
                Attempt(
                    ids={field: _with_taskset(named_by(result, field), taskset) for field in fields},
                    reward=fact.reward,
                    masked=fact.masked,
                    asked=asked_of(result),
                    has_output=isinstance(result.grading_result, Mapping),
                    number=number,
                    offset=number,
                    settings={"model": provider_of(result), "prompt": prompt_of(result)},
                    measures=measures_of(result),
                )
            )
        last = max([number for number, _ in results[-1:]] + [fault.line for fault in faults[-1:]], default=0)
        return batch_of(attempts, fields, faults, last)

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The scores that can be chosen as the reward, of a result read again."""
        return names_of(msgspec.convert(row, Result))

    def _check(self, results: Sequence[Result], reward: str) -> None:
        facts = [facts_of(result, reward) for result in results]
        if not facts or any(fact.reward is not None for fact in facts):
            return
        choice = to_choose_from((name for result in results for name in names_of(result)), "result")
        raise CompareInputError(f"{self.path}: no result has the score {shown(reward)}; {choice}")

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each result: the file is read once."""
        numbers = {place.offset for place in places}
        try:
            if not grown:
                check_unchanged(self.input)
            found = {number: row for number, row in rows_of(self.input, []) if number in numbers}
        except CompareInputError as error:
            yield from [error] * len(places)
            return
        for place in places:
            row = found.get(place.offset)
            yield record_of(row, msgspec.convert(row, Result), wanted) if row is not None else gone(self.input)


def tasksets_of(results: Sequence[Result]) -> list[str | None]:
    """Of which provider and which prompt each result is, as far as the file has several: they are never mixed."""
    providers = [provider_of(result) for result in results]
    prompts = [prompt_of(result) for result in results]
    several_providers, several_prompts = len(set(providers)) > 1, len(set(prompts)) > 1
    if not several_providers and not several_prompts:
        return [None] * len(results)
    return [
        " ".join([provider] * several_providers + [f"prompt {prompt[:_ID_CHARACTERS]}"] * several_prompts)
        for provider, prompt in zip(providers, prompts, strict=True)
    ]


def _with_taskset(name: Any, taskset: str | None) -> Any:
    return name if name is None or taskset is None else {"taskset": taskset, "task_id": name}
