"""Runs whose attempts are JSON objects that a reader looks at one by one: the base of such readers.

What differs from producer to producer is a `RecordReader`, which says what an object means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from nemo_gym.rollout_compare.files import Input, Line, Piece, iter_lines, open_input
from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan, Run, Shard
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.json_lines import JsonLines, decoder_for
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, dig, parse_object
from nemo_gym.rollout_compare.producers.scores import to_choose_from
from nemo_gym.rollout_compare.producers.trials import record_of
from nemo_gym.rollout_compare.schema import (
    Batch,
    CompareInputError,
    Fields,
    Output,
    Record,
    Row,
    Step,
    Wanted,
    text_of,
)

#: So many records are looked at to find out what the records of a run have in common.
LOOKED_AT = 1000


class Told(Struct, frozen=True):
    """What a record says, in the order of what was asked for.

    Attributes:
        values: The values at the reader's own paths.
        fields: The values of the fields that may name the task.
        metric: The metric that the user chose as the reward, None where the user chose none.
        chosen: The record's value of it.
        number: What a message calls the record by: its line, or its number.
        offset: Where it can be read again.
    """

    values: tuple[Any, ...]
    fields: Mapping[str, Any]
    metric: str | None
    chosen: Any
    number: int
    offset: int


class RecordReader(Protocol):
    """What a record means, by one producer's rules."""

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every record, as dotted paths."""
        ...

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Where an attempt's verifier output may be, for the message that there is none."""
        ...

    @property
    def problem(self) -> str | None:
        """Why the user has to choose a metric, None where there is a main one."""
        ...

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        ...

    def metric_paths(self, metric: str) -> tuple[str, ...]:
        """Where a metric that the user named may stand, as dotted paths, best first."""
        ...

    def metrics(self, row: Row) -> Iterable[str]:
        """The metrics that a record carries, for the message that one of them has to be chosen."""
        ...

    def attempt(self, told: Told) -> Attempt:
        """What became of an attempt.

        Raises:
            CompareInputError: A value breaks a rule.
        """
        ...

    def asked(self, row: Row) -> Any:
        """What the system was asked, as `Attempt.asked` has it."""
        ...

    def output(self, row: Row) -> Output:
        """Where an attempt's verifier output is."""
        ...

    def transcript(self, row: Row) -> tuple[Step, ...] | None:
        """What the agent did, None where that is not recorded."""
        ...


def paths_of(reader: RecordReader, fields: Sequence[str], metric: str | None) -> tuple[str, ...]:
    """What is read of every record: the reader's own paths, the fields that may name the task, the chosen metric."""
    return (*reader.paths, *fields, *(reader.metric_paths(metric) if metric else ()))


def told_of(
    reader: RecordReader, values: Sequence[Any], fields: Sequence[str], metric: str | None, number: int, offset: int
) -> Told:
    """A record by its values at `paths_of`."""
    own = len(reader.paths)
    rest = own + len(fields)
    chosen = next((value for value in values[rest:] if value is not None), None)
    named = dict(zip(fields, values[own:rest], strict=True))
    return Told(tuple(values[:own]), named, metric, chosen, number, offset)


def record_again(reader: RecordReader, row: Row, values: tuple[Any, ...], wanted: Wanted) -> Record:
    """What is wanted of a record that was read again."""
    return record_of(
        wanted,
        values=values,
        asked=reader.asked(row) if wanted.task_input else None,
        output=reader.output(row) if wanted.output else None,
        row=row,
        transcript=reader.transcript(row) if wanted.transcript else None,
    )


def ask_for_metric(reader: RecordReader, path: Path, plan: Plan, rows: Callable[[], Iterator[Row]]) -> None:
    """Ask the user to choose a metric where none is the main one.

    Raises:
        CompareInputError: None is, and the user chose none.
    """
    if plan.reward is None and reader.problem:
        choice = to_choose_from((name for row in rows() for name in reader.metrics(row)), "row")
        raise CompareInputError(f"{path}: {reader.problem}; {choice}")


def label_in(reader: RecordReader, row: Row, key: str | None) -> str:
    """What a record's task is called in messages, as far as it can be told."""
    fields = reader.fields(None)
    names = [key, *fields.all()] if key else list(fields.all())
    found = (value_at(row, name) for name in names)
    return next((text_of(value) for value in found if value is not None), "unknown")


def value_at(row: Row, name: str) -> Any:
    """A record's value of a field: of the one that has this very name, else at the dotted path."""
    return row[name] if name in row else dig(row, name.split("."))


class RecordsFile(JsonLines, frozen=True):
    """A file with a record a line.

    Attributes:
        input: The file.
        reader: What its records mean.
    """

    reader: RecordReader

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Where an attempt's verifier output may be."""
        return self.reader.output_fields

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return self.reader.fields(key)

    def doubt(self) -> str | None:
        """What its producer writes is a run, even without any reward."""
        return None

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of an attempt read again."""
        return self.reader.metrics(row)

    def label(self, row: Row, key: str | None) -> str:
        """What a record's task is called in messages."""
        return label_in(self.reader, row, key)

    def batches(
        self, piece: Piece, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The attempts of a piece, a batch for each block of lines."""
        ask_for_metric(self.reader, self.path, plan, lambda: rows_in(self.input))
        yield from super().batches(piece, plan, wanted, on_bytes)

    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        metric = plan.reward
        with room_for_rows():
            columns = decoder_for(paths_of(self.reader, fields, metric)).columns(lines)
            attempts = [
                self.reader.attempt(told_of(self.reader, values, fields, metric, number, offset))
                for values, number, offset in zip(zip(*columns, strict=True), numbers, offsets, strict=True)
            ]
            return batch_of(attempts, fields, last=numbers[-1])

    def _record_of(self, line: Line, wanted: Wanted) -> Record:
        row = parse_object(line)
        return record_again(self.reader, row, tuple(value_at(row, name) for name in wanted.fields), wanted)


def rows_in(source: Input) -> Iterator[Row]:
    """The records of a file with one a line; lines that are none are left out."""
    for _, _, line in iter_lines(source):
        try:
            yield parse_object(line)
        except InvalidLine:
            continue


class LocatedRecords(Struct, frozen=True):
    """A run in one file with a record a line.

    Attributes:
        format: The producer's name.
        path: The file.
        make: The reader of its records, given the open file; and how many were planned, None where that is not known.
    """

    format: str
    path: Path
    make: Callable[[Input], tuple[RecordReader, int | None]]

    def files(self) -> list[Path]:
        """The file that is read."""
        return [self.path]

    def folders(self) -> list[Path]:
        """The folder that it lies in."""
        return [self.path.parent]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the file.

        Raises:
            CompareInputError: It cannot be read.
        """
        with open_input(self.path) as source:
            reader, planned = self.make(source)
            yield Run(self.format, [Shard(RecordsFile(source, reader), expected=planned)], [source])
