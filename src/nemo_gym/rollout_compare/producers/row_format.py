"""What a producer of JSON rows calls the fields of a row, and what their values say."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct

from nemo_gym.rollout_compare.files import Input
from nemo_gym.rollout_compare.producers.beside import Beside
from nemo_gym.rollout_compare.producers.outputs import any_said, output_text
from nemo_gym.rollout_compare.schema import (
    Batch,
    Fields,
    Mark,
    Mask,
    Output,
    Record,
    Row,
    Step,
    Wanted,
    attempt_parts,
    identities_of,
)

#: No system has a longer path: what is left of one says so as well as the whole.
_MOST_PATH = 1 << 16

Texts = Sequence[str | None]


class Said(Struct, frozen=True):
    """What rows say of how they were run, what that cost, and whether they tell what the agent did."""

    settings: Mapping[str, Sequence[str | None]] = {}
    measures: Mapping[str, Sequence[float]] = {}
    has_transcript: bytes = b""


class Extras(Struct, frozen=True):
    """Where rows tell how they were run, what that cost, and what the agent did.

    Attributes:
        beside: An object of settings: of all its fields but some.
        paths: Further fields that are read of every row.
        kinds: What of their values need not be built whole.
        said: What the values mean: a column for each path that is read of a row, and what stands beside.
        steps: The fields that hold the transcript.
        transcript: The steps that their values make, None where there are none.
        texts: The fields that hold settings of which only length and hash are kept.
        settings: These settings whole, by name, from the values of the fields.
    """

    beside: Beside
    paths: tuple[str, ...]
    kinds: tuple[tuple[str, Any], ...]
    said: Callable[[Mapping[str, Sequence[Any]], Sequence[Any]], Said]
    steps: tuple[str, ...]
    transcript: Callable[[Sequence[Any]], tuple[Step, ...] | None]
    texts: tuple[str, ...]
    settings: Callable[[Sequence[Any]], Mapping[str, str]]


Results = tuple[Sequence[float], Sequence[Mask | None], Sequence[Mark | None], Texts]
"""What rows say of their results: the finite reward or NaN, why the row does not count, agent error, failure kind."""


def as_written(paths: Sequence[str], some: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Those of some paths whose values may be left as they are written: no other path is the same, or lies in them."""
    return tuple(
        (path, Raw)
        for path in some
        if paths.count(path) == 1 and not any(other.startswith(f"{path}.") for other in paths)
    )


def no_tests(_values: Sequence[Any]) -> Mapping[str, str] | None:
    """Of a producer whose rows say nothing of single tests."""
    return None


def no_answer(_values: Sequence[Any]) -> str | None:
    """Of a producer whose rows do not hold the final answer in fields of their own."""
    return None


class RowFormat(Struct, frozen=True):
    """The names of a producer's fields, as dotted paths, and the functions that say what the values mean.

    Attributes:
        name: The producer, as `--format` names it.
        results: The fields that say what became of the attempt, the reward first.
        results_of: What their values say, each a column with a value a row.
        fields_for: The fields that may name the task, given the one that the user named or None.
        label: What a row's task is called in messages, as far as it can be told.
        attempt: The task's position in the run's input file, and the attempt's number; None where rows say neither.
        input: What the system was asked; None where rows do not say it.
        input_numbers: A number for each value of it, 0 for one that says nothing.
        input_text: The identity of one value of it, None for one that says nothing.
        logs: Where the verifier's log is; None where rows name none.
        outputs: What the verifier said, best first.
        json_outputs: Those of them that may be objects, which are shown as JSON.
        more_logs: Other places of logs, which are tried where nothing else says anything.
        tests: Where the row says what became of single tests.
        tests_of: What these values say, by test name.
        answers: Where the agent's final answer is.
        answer_of: What these values say.
        answer_kinds: What of these values need not be built whole.
        doubt: What a file seems to hold of whose rows none has a reward, None if it may be a run.
        extras: Where rows tell how they were run, None where they do not.
    """

    name: str
    results: tuple[str, ...]
    results_of: Callable[[Sequence[Sequence[Any]]], Results]
    fields_for: Callable[[str | None], Fields]
    label: Callable[[Row, str | None], str]
    attempt: tuple[str, str] | None
    input: str | None
    input_numbers: Callable[[Sequence[Any]], array[int]]
    input_text: Callable[[Any], str | None]
    logs: str | None
    outputs: tuple[str, ...]
    json_outputs: tuple[str, ...] = ()
    more_logs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    tests_of: Callable[[Sequence[Any]], Mapping[str, str] | None] = no_tests
    answers: tuple[str, ...] = ()
    answer_of: Callable[[Sequence[Any]], str | None] = no_answer
    answer_kinds: tuple[tuple[str, Any], ...] = ()
    doubt: Callable[[Input], str | None] | None = None
    extras: Extras | None = None

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a row's verifier output."""
        return (*((self.logs,) if self.logs else ()), *self.outputs, *self.more_logs)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields that are read of every row; those that may name the task come after them."""
        more = self.extras.paths if self.extras else ()
        return (*self.results, *(self.attempt or ()), *self._asked, *self.output_fields, *self.tests, *more)

    @property
    def _asked(self) -> tuple[str, ...]:
        return (self.input,) if self.input else ()

    def batch(
        self,
        columns: Sequence[Sequence[Any]],
        fields: Sequence[str],
        *,
        lines: Sequence[int] = (),
        offsets: Sequence[int] = (),
        planned: bool = False,
        failed: bool = False,
    ) -> Batch:
        """Rows by the values of their fields.

        Args:
            columns: The rows' values at `paths`, then at the fields; last what stands beside, where that is read.
            fields: The fields that may still be the key.
            lines: The line that each row stands on.
            offsets: Where each row begins.
            planned: Whether the rows are planned ones, whose results nobody asks for.
            failed: Whether the rows are failed attempts: such a row has no say if it names no task.

        Raises:
            CompareInputError: A value breaks a rule; the text does not say in which row.
        """
        said = Said()
        if self.extras:
            *columns, beside = columns
            if not planned and not failed:
                said = self.extras.said(dict(zip(self.paths, columns, strict=False)), beside)
        taken = iter(columns)
        results = [next(taken) for _ in self.results]
        nothing = [None] * len(results[0])
        index, rollout = [next(taken) if self.attempt else nothing for _ in range(2)]
        asked = next(taken) if self.input else nothing
        outputs = [next(taken) for _ in (*self.output_fields, *self.tests)]
        for _ in self.extras.paths if self.extras else ():
            next(taken)
        identities = {path: identities_of(values) for path, values in zip(fields, taken, strict=True)}
        if planned:
            results = [nothing] * len(results)
        rewards, masked, agent_errors, failure_kinds = self.results_of(results)
        return Batch(
            rewards=rewards,
            masked=masked,
            agent_errors=agent_errors,
            failure_kinds=failure_kinds,
            task_indexes=attempt_parts(index),
            rollout_indexes=attempt_parts(rollout),
            inputs=self.input_numbers(asked),
            has_output=any_said(outputs, len(rewards)),
            identities=identities,
            lines=lines,
            offsets=offsets,
            settings=said.settings,
            measures=said.measures,
            has_transcript=said.has_transcript,
            has_a_say=self._names_a_task(identities, len(rewards)) if failed else None,
        )

    def _names_a_task(self, identities: dict[str, Sequence[Any]], rows: int) -> list[bool]:
        usual = self.fields_for(None).usual
        named = [values for path, values in identities.items() if path in usual or len(identities) == 1]
        return [any(values[row] is not None for values in named) for row in range(rows)]

    def paths_for(self, wanted: Wanted) -> tuple[str, ...]:
        """The fields that are read again of a row."""
        asked = self._asked if wanted.task_input else ()
        outputs = (*self.output_fields, *self.tests) if wanted.output else ()
        steps = self.extras.steps if self.extras and wanted.transcript else ()
        texts = self.extras.texts if self.extras and wanted.settings else ()
        return (*wanted.fields, *asked, *steps, *texts, *outputs, *(self.answers if wanted.answer else ()))

    def kinds_for(self, wanted: Wanted) -> tuple[tuple[str, Any], ...]:
        """What of the values at `paths_for` need not be built whole."""
        outputs = as_written(self.paths_for(wanted), self.outputs) if wanted.output else ()
        answers = self.answer_kinds if wanted.answer and not wanted.transcript and not wanted.fields else ()
        return (*outputs, *answers)

    def record(self, values: Sequence[Any], wanted: Wanted, row: Row | None) -> Record:
        """What was wanted of a row, by its values at `paths_for`."""
        count = len(wanted.fields)
        rest = list(values[count:])
        asked = rest.pop(0) if wanted.task_input and self.input else None
        transcript, settings = None, {}
        if self.extras and wanted.transcript:
            transcript, rest = self.extras.transcript(rest[: len(self.extras.steps)]), rest[len(self.extras.steps) :]
        if self.extras and wanted.settings:
            whole, rest = self.extras.settings(rest[: len(self.extras.texts)]), rest[len(self.extras.texts) :]
            settings = {name: whole[name] for name in wanted.settings if name in whole}
        return Record(
            values=tuple(values[:count]),
            task_input=self.input_text(asked) if wanted.task_input else None,
            input_number=self.input_numbers([asked])[0] if wanted.task_input else 0,
            output=self._output(rest) if wanted.output else None,
            answer=self.answer_of(rest[len(rest) - len(self.answers) :]) if wanted.answer else None,
            row=row,
            transcript=transcript,
            settings=settings,
        )

    def _output(self, values: Sequence[Any]) -> Output:
        first, count = int(self.logs is not None), len(self.outputs)
        logs, texts = values[:first], values[first : first + count]
        more = values[first + count : len(self.output_fields)]
        said = (
            (field, output_text(value, as_json=field in self.json_outputs))
            for field, value in zip(self.outputs, texts, strict=True)
        )
        found = tuple((field, text) for field, text in said if text)
        named = (
            value[:_MOST_PATH]
            for value in (*logs, *(() if found else more))
            if isinstance(value, str) and value.strip()
        )
        tests = values[len(self.output_fields) : len(self.output_fields) + len(self.tests)]
        return Output(next(named, None), found, self.output_fields, tests=self.tests_of(tests))
