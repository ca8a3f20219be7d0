"""The results of a benchmark: what their fields are called and say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nemo_gym.rollout_compare.files import Line
from nemo_gym.rollout_compare.producers.atif import steps_of
from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.chat import content_text
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.json_lines import JsonLines, decoder_for
from nemo_gym.rollout_compare.producers.json_rows import dig, parse_object
from nemo_gym.rollout_compare.producers.rewards import no_reward, number_of
from nemo_gym.rollout_compare.producers.trials import record_of
from nemo_gym.rollout_compare.schema import Batch, Fields, Output, Record, Row, Step, Wanted, text_of

_REWARD, _PARTS, _DETAILS = "reward", "scorer_rewards", "scoring_details"
_PROBLEM, _REPEAT, _OWN_ID, _PROMPT = "problem_idx", "repeat", "metadata.id", "prompt"
_TOKENS, _MILLISECONDS = "tokens", "latency_ms"
_PATHS = (_REWARD, _PARTS, _DETAILS, _PROBLEM, _REPEAT, _OWN_ID, _PROMPT, _TOKENS, _MILLISECONDS)
_OUTPUT = ("extracted_answer", "expected_answer", _DETAILS)
_RESPONSES = ("model_response", "response")

#: Errors, by their category, after which the reward on disk is no result: what failed was not the model.
MASKING = ("infra_error", "system")


class BenchmarkRows(JsonLines, frozen=True):
    """The results of one benchmark, one a line.

    Attributes:
        input: The file.
        benchmark: What it is called; its tasks are told apart from those of others by it.
        settings: What it was run with, by name.
    """

    benchmark: str
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that say how an answer was scored."""
        return _OUTPUT

    def fields(self, key: str | None) -> Fields:
        """The data set's own id, else the problem's place in the benchmark."""
        return Fields((_OWN_ID, _PROBLEM), (), (), _PROMPT, _PROBLEM).or_named(key)

    def doubt(self) -> str | None:
        """Results without a reward are a run all the same."""
        return None

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of a result read again."""
        details = row.get(_DETAILS)
        named = {name: row.get(name) for name in (_REWARD, _PARTS)}
        return _metrics(named, details if isinstance(details, Mapping) else {})

    def label(self, row: Row, key: str | None) -> str:
        """What a row's task is called in messages."""
        name = dig(row, (key or _PROBLEM).split("."))
        return f"{self.benchmark}/{'unknown' if name is None else name}"

    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        chosen = plan.reward or _REWARD
        with room_for_rows():
            columns = decoder_for((*_PATHS, chosen, *fields)).columns(lines)
            attempts = [
                self._attempt(row, chosen, fields, number, offset)
                for row, number, offset in zip(zip(*columns, strict=True), numbers, offsets, strict=True)
            ]
            return batch_of(attempts, fields)

    def _attempt(self, row: tuple[Any, ...], chosen: str, fields: Sequence[str], number: int, offset: int) -> Attempt:
        named = dict(zip(_PATHS, row, strict=False))
        details = named[_DETAILS] if isinstance(named[_DETAILS], Mapping) else {}
        value = row[len(_PATHS)]
        if value is None:
            value = (named[_PARTS] or {}).get(chosen) if isinstance(named[_PARTS], Mapping) else None
        category = category_of(details)
        reward, masked = number_of(value), category if category in MASKING else None
        if reward is None and masked is None:
            masked = no_reward(chosen, value, _metrics(named, details))
        tokens, milliseconds = number_of(named[_TOKENS]), number_of(named[_MILLISECONDS])
        return Attempt(
            ids={field: self._identity(value) for field, value in zip(fields, row[len(_PATHS) + 1 :], strict=True)},
            reward=reward,
            masked=masked,
            agent_error=None if masked else category,
            task_index=named[_PROBLEM],
            attempt=named[_REPEAT],
            asked=named[_PROMPT],
            has_output=True,
            number=number,
            offset=offset,
            settings=dict(self.settings),
            measures={
                **({"total-tokens": tokens} if tokens else {}),
                **({"seconds": milliseconds / 1000} if milliseconds else {}),
            },
        )

    def _identity(self, value: Any) -> dict[str, Any] | None:
        return None if value is None else {"taskset": self.benchmark, "task_id": value}

    def _record_of(self, line: Line, wanted: Wanted) -> Record:
        row = parse_object(line)
        return record_of(
            wanted,
            values=tuple(self._identity(dig(row, field.split("."))) for field in wanted.fields),
            asked=row.get(_PROMPT),
            output=_output(row) if wanted.output else None,
            row=row,
            transcript=tuple(_steps(row)) or None if wanted.transcript else None,
        )


def category_of(details: Mapping[str, Any]) -> str | None:
    """What kind of error an attempt ended in, None where it did not."""
    category = details.get("error_category")
    if isinstance(category, str) and category:
        return category
    return "infra_error" if details.get("method") == "infra_error" else None


def _metrics(named: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    """The metrics that a row has, as `--reward` names them."""
    parts = named[_PARTS] if isinstance(named[_PARTS], Mapping) else {}
    return [
        *([_REWARD] if named[_REWARD] is not None else []),
        *(f"{_PARTS}.{name}" for name in parts),
        *(f"{_DETAILS}.{name}" for name, value in details.items() if isinstance(value, bool | int | float)),
    ]


def _output(row: Row) -> Output:
    """How the answer was scored, as lines of text."""
    lines = [f"{field}: {text_of(row[field])}" for field in _OUTPUT[:-1] if row.get(field) is not None]
    details = row.get(_DETAILS)
    if isinstance(details, Mapping):
        lines += [f"{name}: {text_of(value)}" for name, value in details.items()]
    return Output(None, ((_DETAILS, "\n".join(lines)),) if lines else (), _OUTPUT)


def _steps(row: Row) -> Iterator[Step]:
    """The trajectories, else the prompt and the answer."""
    trajectories = row.get("trajectory")
    found = trajectories if isinstance(trajectories, list) else [trajectories]
    steps = [step for one in found if isinstance(one, Mapping) for step in steps_of(one)]
    if steps:
        yield from steps
        return
    answer = next((row[name] for name in _RESPONSES if row.get(name)), None)
    for role, text in (("user", row.get(_PROMPT)), ("assistant", answer)):
        if text:
            yield Step(role, content_text(text))
