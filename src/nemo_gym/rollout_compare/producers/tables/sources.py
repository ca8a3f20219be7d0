"""Tables that are no JSON Lines, as sources of rows."""

from __future__ import annotations

import csv
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

from nemo_gym.rollout_compare.files import BOM, Input, check_unchanged, gone, reading
from nemo_gym.rollout_compare.producers.attempts import batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.documents import parse_list_or_object, read_document
from nemo_gym.rollout_compare.producers.one_file import WholeFile
from nemo_gym.rollout_compare.producers.records import (
    ask_for_metric,
    label_in,
    paths_of,
    record_again,
    told_of,
    value_at,
)
from nemo_gym.rollout_compare.producers.tables.rows import TableReader
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Place, Record, Row, Wanted

_ROWS_A_BATCH = 4096
#: A cell may hold a whole transcript.
_MOST_CELL = 1 << 30
#: What the module says of what is not CSV, in words of tables.
_WRONG = {
    "unexpected end of data": "the quotes of a cell never end, so this row goes on to the end of the file",
    "',' expected after '\"'": "a cell goes on behind its closing quotes",
}
_NOT_UTF_8 = "the text is not UTF-8; save the table as UTF-8"
#: A row stands in a list, which may stand in an object.
_AROUND = 2
#: Under these names a JSON object may hold the list of rows.
_LISTS = ("results", "rows", "data", "records", "samples", "examples")

Numbered = tuple[int, Row | CompareInputError]
"""A row with the line that it begins on, or its number; or why it is not a row."""


class TableSource(WholeFile, frozen=True):
    """A table that is read from its start.

    Attributes:
        reader: What its rows say.
    """

    reader: TableReader

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The columns that may hold what the verifier said."""
        return self.reader.output_fields

    def fields(self, key: str | None) -> Fields:
        """The columns that may name the task."""
        return self.reader.fields(key)

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of an attempt read again."""
        return self.reader.metrics(row)

    @abstractmethod
    def rows(self, piece: Any) -> Iterator[Numbered]:
        """The rows of a piece."""

    def batches(
        self, piece: Any, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The rows of a piece, some at a time."""
        ask_for_metric(self.reader, self.path, plan, self._all_rows)
        try:
            paths_of(self.reader, (), plan.reward)
        except CompareInputError as error:
            raise CompareInputError(f"{self.path}: {error}") from None
        rows = self.rows(piece)
        offset = 0
        while some := list(islice(rows, _ROWS_A_BATCH)):
            batch = self._batch(some, offset, plan, tuple(wanted()))
            yield batch
            if batch.faults and not plan.skip_bad_lines:
                break
            offset += len(some)
        on_bytes(self.size)

    def _batch(self, rows: Sequence[Numbered], first: int, plan: Plan, fields: tuple[str, ...]) -> Batch:
        paths = paths_of(self.reader, fields, plan.reward)
        attempts, faults = [], []
        for offset, (number, row) in enumerate(rows, first):
            try:
                if isinstance(row, CompareInputError):
                    raise row
                values = [value_at(row, path) for path in paths]
                with room_for_rows():
                    attempts.append(
                        self.reader.attempt(told_of(self.reader, values, fields, plan.reward, number, offset))
                    )
            except (CompareInputError, RecursionError) as error:
                about = "" if isinstance(row, CompareInputError) else f" (task {label_in(self.reader, row, plan.key)})"
                faults.append(Fault(number, f"{error}{about}"))
                if not plan.skip_bad_lines:
                    break
        return batch_of(attempts, fields, faults, rows[-1][0])

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each row; the table is read from its start, and no further than the last of them."""
        done = 0
        try:
            if not grown:
                check_unchanged(self.input)
            rows = enumerate(self._all_numbered())
            found: tuple[int, Numbered] | None = None
            for place in places:
                while found is None or found[0] < place.offset:
                    found = next(rows, None)
                    if found is None:
                        raise gone(self.input)
                row = found[1][1]
                done += 1
                yield row if isinstance(row, CompareInputError) else self._record(row, wanted)
        except CompareInputError as error:
            for _ in places[done:]:
                yield error

    def _record(self, row: Row, wanted: Wanted) -> Record:
        return record_again(self.reader, row, tuple(value_at(row, name) for name in wanted.fields), wanted)

    def _all_numbered(self) -> Iterator[Numbered]:
        for piece in self.pieces(self.size or 1):
            yield from self.rows(piece)

    def _all_rows(self) -> Iterator[Row]:
        for _, row in self._all_numbered():
            if not isinstance(row, CompareInputError):
                yield row


class CsvTable(TableSource, frozen=True, kw_only=True):
    """A table as text, a row a line unless a cell in quotes goes on.

    Attributes:
        delimiter: What stands between two cells.
    """

    delimiter: str

    @property
    def unit(self) -> str:
        """Rows are called by the line that they begin on."""
        return "line"

    def where(self, line: int) -> str:
        """A row's place: `PATH:LINE`."""
        return f"{self.path}:{line}"

    def rows(self, piece: Any) -> Iterator[Numbered]:
        """All rows."""
        del piece
        return csv_rows(self.input, self.delimiter)


def csv_rows(source: Input, delimiter: str) -> Iterator[Numbered]:
    """The rows of a table as text, by its header.

    Raises:
        CompareInputError: The header is missing, or has a name twice.
    """
    with reading(source) as (file, _):
        text = _Text(file)
        lines = _cells(text, delimiter)
        header = header_of(source, lines, text)
        while True:
            number = lines.line_num + 1
            try:
                cells = next(lines, None)
            except csv.Error as error:
                yield number, CompareInputError(f"invalid CSV ({_WRONG.get(str(error), error)})")
                continue
            if cells is None:
                return
            if text.broken():
                yield number, CompareInputError(_NOT_UTF_8)
                continue
            if not cells or cells == [""]:
                continue
            if len(cells) != len(header):
                yield number, CompareInputError(f"a row of {len(cells)} cells under a header of {len(header)}")
                continue
            yield number, {name: cell or None for name, cell in zip(header, cells, strict=True) if name}


class _Text:
    """The lines of a file as text; two names that are not UTF-8 could look alike, so such a line is noticed."""

    def __init__(self, file: BinaryIO) -> None:
        self._lines = chain([file.readline().removeprefix(BOM)], file)
        self._is_broken = False

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            try:
                yield line.decode()
            except UnicodeDecodeError:
                self._is_broken = True
                yield line.decode("utf-8", "replace")

    def broken(self) -> bool:
        """Whether a line since the last time was not UTF-8."""
        found, self._is_broken = self._is_broken, False
        return found


def _cells(text: _Text, delimiter: str) -> Any:
    csv.field_size_limit(_MOST_CELL)
    return csv.reader(text, delimiter=delimiter, strict=True)


def csv_header(source: Input, delimiter: str) -> list[str]:
    """The names of the columns of a table as text.

    Raises:
        CompareInputError: The header is missing, or has a name twice.
    """
    with reading(source) as (file, _):
        text = _Text(file)
        return header_of(source, _cells(text, delimiter), text)


def header_of(source: Input, lines: Iterator[list[str]], text: _Text) -> list[str]:
    """The names of the columns."""
    try:
        header = next((cells for cells in lines if cells), None)
    except csv.Error as error:
        raise CompareInputError(f"{source.path}: invalid CSV ({error})") from None
    if header is None:
        raise CompareInputError(f"{source.path}: the table has no header")
    if text.broken():
        raise CompareInputError(f"{source.path}: {_NOT_UTF_8}")
    names = [name.strip() for name in header]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise CompareInputError(f"{source.path}: two columns are called {twice!r}; rename one of them")
    return names


class JsonTable(TableSource, frozen=True):
    """A table as one JSON list of objects."""

    def rows(self, piece: Any) -> Iterator[Numbered]:
        """All rows."""
        del piece
        return json_rows(self.input)


def json_rows(source: Input) -> Iterator[Numbered]:
    """The objects of a list, or of the list that an object holds.

    Raises:
        CompareInputError: It is not JSON, or there is no such list.
    """
    try:
        whole = parse_list_or_object(read_document(source), _AROUND)
    except CompareInputError as error:
        raise CompareInputError(f"{source.path}: {str(error).removeprefix(f'{source.path}: ')}") from None
    if isinstance(whole, dict):
        lists = [whole[name] for name in _LISTS if isinstance(whole.get(name), list)]
        if len(lists) != 1:
            raise CompareInputError(f"{source.path}: the JSON document is not a list of rows")
        (whole,) = lists
    for number, row in enumerate(whole, 1):
        yield number, row if isinstance(row, Mapping) else CompareInputError("expected a JSON object")
