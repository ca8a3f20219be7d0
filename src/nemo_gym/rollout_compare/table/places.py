"""Where each row is from, so that the few rows that matter can be read again."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import Input, reading
from nemo_gym.rollout_compare.producers.json_rows import RowDecoder, parse_object
from nemo_gym.rollout_compare.schema.result import CompareInputError, Row, RowSource

_DEEPER_CALLS = 100


class FileRow(Struct, frozen=True):
    """A row's place in a file, and whether it may have verifier output: else it need not be read for that."""

    source: Input
    line: int
    offset: int
    has_output: bool = True

    @property
    def where(self) -> str:
        """The place as a message names it."""
        return f"{self.source.path}:{self.line}"

    def read(self) -> Row:
        """The row, read again."""
        check_unchanged(self.source)
        with reading(self.source) as (file, _):
            file.seek(self.offset)
            return parse_object(file.readline().removesuffix(b"\n"))


class MemoryRow(Struct, frozen=True):
    """A row that is at hand."""

    row: Row
    where: str
    has_output: bool = True

    def read(self) -> Row:
        """The row."""
        return self.row


class Origins:
    """Where each row of a table is from, in a file: its byte offset, and its line number as far as it tells more.

    Attributes:
        offsets: Each row's byte offset.
    """

    def __init__(self) -> None:
        """Make one without rows."""
        self.offsets = array("Q")
        self._sources: list[tuple[int, Input]] = []
        self._runs: list[tuple[int, int]] = []  # (row, line) where the lines do not go on from the row before

    def append_all(self, source: Input, numbers: Sequence[int], offsets: Sequence[int]) -> None:
        """Add rows that stand on the given lines of a file."""
        row = len(self.offsets)
        if not self._sources or self._sources[-1][1] is not source:
            self._sources.append((row, source))
            self._runs.append((row, numbers[0] if numbers else 1))
        for i, number in enumerate(numbers[:1] if isinstance(numbers, range) else numbers):
            first, line = self._runs[-1]
            if number - line != row + i - first:
                self._runs.append((row + i, number))
        self.offsets.extend(array("Q", offsets))

    def extend(self, other: Origins, lines_before: int) -> None:
        """Add the rows of a later piece of the same file, which has so many lines before it."""
        row = len(self.offsets)
        self._sources.extend((row + first, source) for first, source in other._sources)
        self._runs.extend((row + first, line + lines_before) for first, line in other._runs)
        self.offsets.extend(other.offsets)

    def of(self, row: int, *, has_output: bool = True) -> FileRow:
        """A row's place."""
        source = self._sources[bisect_right(self._sources, row, key=_first) - 1][1]
        first, line = self._runs[bisect_right(self._runs, row, key=_first) - 1]
        return FileRow(source, line + row - first, self.offsets[row], has_output)


def _first(entry: tuple[int, Any]) -> int:
    return entry[0]


def read_again(
    rows: Sequence[RowSource], decoder: RowDecoder, *, grown: bool = False
) -> Iterator[tuple[int, tuple[Any, ...] | Exception]]:
    """What the decoder gives for each row or why it cannot be read, with the row's place in the sequence.

    The rows of a file come in the file's order: it is opened once, and read no further than its last row.

    Args:
        rows: Where the rows are.
        decoder: What of them is wanted.
        grown: Whether a file may be another than it was: it may have grown, and the caller knows the rows again.
    """
    of_files: list[tuple[int, FileRow]] = []
    for i, row in enumerate(rows):
        if isinstance(row, FileRow):
            of_files.append((i, row))
        else:
            yield i, decoder.pick(row.read())
    of_files.sort(key=lambda entry: _place(entry[1]))
    for source, group in groupby(of_files, key=lambda entry: entry[1].source):
        yield from _of_file(source, list(group), decoder, grown=grown)


def batches(pairs: Sequence[tuple[RowSource, RowSource]], most: int) -> list[list[int]]:
    """The places of pairs of rows that are read together: so many at a time, in the order of their first rows.

    Where a file is compressed it is all of them, for such a file is read from its start.
    """
    order = sorted(range(len(pairs)), key=lambda i: _place(pairs[i][0]))
    if any(isinstance(row, FileRow) and row.source.magic for pair in pairs for row in pair):
        most = len(order)
    return [order[start : start + most] for start in range(0, len(order), max(most, 1))]


def _place(row: RowSource) -> tuple[str, int]:
    return (str(row.source.file), row.offset) if isinstance(row, FileRow) else ("", 0)


def _of_file(
    source: Input, rows: Sequence[tuple[int, FileRow]], decoder: RowDecoder, *, grown: bool
) -> Iterator[tuple[int, tuple[Any, ...] | Exception]]:
    done = 0
    try:
        if not grown:
            check_unchanged(source)
        with reading(source) as (file, _):
            for i, row in rows:
                file.seek(row.offset)
                line = file.readline().removesuffix(b"\n")
                done += 1
                try:
                    with _deeper():
                        values = decoder.decode(line)
                except (CompareInputError, RecursionError):
                    yield i, changed(source)
                else:
                    yield i, values
    except CompareInputError as error:
        yield from ((i, error) for i, _ in rows[done:])


@contextmanager
def _deeper() -> Iterator[None]:
    """Be able to read what could be read before: how deep a row may be nested depends on how deep in calls one is."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _DEEPER_CALLS)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def changed(source: Input) -> CompareInputError:
    """What is said of a row that is no longer where it was."""
    return CompareInputError(f"{source.path} has changed or gone since it was first read")


def check_unchanged(source: Input) -> None:
    """Raise `CompareInputError` if a file is no longer what it was."""
    if not source.unchanged():
        raise changed(source)
