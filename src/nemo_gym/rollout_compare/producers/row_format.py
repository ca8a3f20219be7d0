"""What a producer of JSON rows calls the fields of a row, and what their values say."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.schema import (
    Batch,
    Fields,
    Mark,
    Mask,
    Output,
    Record,
    Row,
    Wanted,
    attempt_parts,
    identities_of,
)

Texts = Sequence[str | None]

Results = tuple[Sequence[float], Sequence[Mask | None], Sequence[Mark | None], Texts]
"""What rows say of their results: the finite reward or NaN, why the row does not count, agent error, failure kind."""


class RowFormat(Struct, frozen=True):
    """The names of a producer's fields, as dotted paths, and the functions that say what the values mean.

    Attributes:
        name: The producer, as `--format` names it.
        results: The fields that say what became of the attempt.
        results_of: What their values say, each a column with a value a row.
        fields_for: The fields that may name the task, given the one that the user named or None.
        label: What a row's task is called in messages, as far as it can be told.
        attempt: The task's position in the run's input file, and the attempt's number.
        input: What the system was asked.
        input_numbers: A number for each value of it, 0 for one that says nothing.
        input_text: The identity of one value of it, None for one that says nothing.
        logs: Where the verifier's log is.
        outputs: What the verifier said, best first.
        doubt: What a file seems to hold of whose rows none has a reward, None if it may be a run.
    """

    name: str
    results: tuple[str, ...]
    results_of: Callable[[Sequence[Sequence[Any]]], Results]
    fields_for: Callable[[str | None], Fields]
    label: Callable[[Row, str | None], str]
    attempt: tuple[str, str]
    input: str
    input_numbers: Callable[[Sequence[Any]], array[int]]
    input_text: Callable[[Any], str | None]
    logs: str
    outputs: tuple[str, ...]
    doubt: Callable[[Input], str | None] | None = None

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a row's verifier output."""
        return (self.logs, *self.outputs)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields that are read of every row; those that may name the task come after them."""
        return (*self.results, *self.attempt, self.input, self.logs, *self.outputs)

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
            columns: The rows' values at `paths`, then at the fields.
            fields: The fields that may still be the key.
            lines: The line that each row stands on.
            offsets: Where each row begins.
            planned: Whether the rows are planned ones, whose results nobody asks for.
            failed: Whether the rows are failed attempts: such a row has no say if it names no task.

        Raises:
            CompareInputError: A value breaks a rule; the text does not say in which row.
        """
        taken = iter(columns)
        results = [next(taken) for _ in self.results]
        index, rollout, asked = next(taken), next(taken), next(taken)
        outputs = [next(taken) for _ in (self.logs, *self.outputs)]
        identities = {path: identities_of(values) for path, values in zip(fields, taken, strict=True)}
        if planned:
            results = [[None] * len(index)] * len(results)
        rewards, masked, agent_errors, failure_kinds = self.results_of(results)
        return Batch(
            rewards=rewards,
            masked=masked,
            agent_errors=agent_errors,
            failure_kinds=failure_kinds,
            task_indexes=attempt_parts(index),
            rollout_indexes=attempt_parts(rollout),
            inputs=self.input_numbers(asked),
            has_output=_any_said(outputs),
            identities=identities,
            lines=lines,
            offsets=offsets,
            has_a_say=self._names_a_task(identities, len(rewards)) if failed else None,
        )

    def _names_a_task(self, identities: dict[str, Sequence[Any]], rows: int) -> list[bool]:
        usual = self.fields_for(None).usual
        named = [values for path, values in identities.items() if path in usual or len(identities) == 1]
        return [any(values[row] is not None for values in named) for row in range(rows)]

    def paths_for(self, wanted: Wanted) -> tuple[str, ...]:
        """The fields that are read again of a row."""
        asked = (self.input,) if wanted.task_input else ()
        return (*wanted.fields, *asked, *((self.logs, *self.outputs) if wanted.output else ()))

    def record(self, values: Sequence[Any], wanted: Wanted, row: Row | None) -> Record:
        """What was wanted of a row, by its values at `paths_for`."""
        count = len(wanted.fields)
        rest = list(values[count:])
        asked = rest.pop(0) if wanted.task_input else None
        return Record(
            values=tuple(values[:count]),
            task_input=self.input_text(asked) if wanted.task_input else None,
            input_number=self.input_numbers([asked])[0] if wanted.task_input else 0,
            output=self._output(rest) if wanted.output else None,
            row=row,
        )

    def _output(self, values: Sequence[Any]) -> Output:
        logs, *texts = values
        return Output(
            logs if isinstance(logs, str) and logs.strip() else None,
            tuple(
                (field, text)
                for field, text in zip(self.outputs, texts, strict=True)
                if isinstance(text, str) and text and not text.isspace()
            ),
            self.output_fields,
        )


def _any_said(columns: Sequence[Sequence[Any]]) -> bytes:
    """For each row 1 if any of the columns has a value, else 0."""
    said = [column for column in columns if column.count(None) < len(column)]
    if not said:
        return bytes(len(columns[0]))
    return bytes(any(value is not None for value in values) for values in zip(*said, strict=True))
