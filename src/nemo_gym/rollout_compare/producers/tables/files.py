"""What the user named to a table, or to the parts of one."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Input, Line, open_input, reading
from nemo_gym.rollout_compare.producers.attempts import batch_of
from nemo_gym.rollout_compare.producers.contract import Plan, Readable, Run, Shard
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.json_rows import parse_object
from nemo_gym.rollout_compare.producers.records import LOOKED_AT, RecordsFile, paths_of, rows_in, told_of, value_at
from nemo_gym.rollout_compare.producers.tables import CSV, PARQUET, PARQUET_MAGIC, TSV, ending_of
from nemo_gym.rollout_compare.producers.tables.columns import Columns, columns_of
from nemo_gym.rollout_compare.producers.tables.rows import TableReader
from nemo_gym.rollout_compare.producers.tables.sources import (
    CsvTable,
    JsonTable,
    Numbered,
    csv_header,
    csv_rows,
    json_rows,
)
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Note, NoteKind, Row
from nemo_gym.rollout_compare.text import first_of

_HEAD_BYTES = 64 << 10
_TAB = "\t"


class NamedLines(RecordsFile, frozen=True):
    """JSON Lines whose fields have names with dots: each line is read whole."""

    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        paths = paths_of(self.reader, fields, plan.reward)
        attempts = []
        for line, number, offset in zip(lines, numbers, offsets, strict=True):
            row = parse_object(bytes(line))
            with room_for_rows():
                values = [value_at(row, path) for path in paths]
                attempts.append(self.reader.attempt(told_of(self.reader, values, fields, plan.reward, number, offset)))
        return batch_of(attempts, fields, last=numbers[-1])


class LocatedTable(Struct, frozen=True):
    """A table, or the parts of one.

    Attributes:
        parts: The files.
    """

    parts: tuple[Path, ...]

    def files(self) -> list[Path]:
        """The files that are read."""
        return list(self.parts)

    def folders(self) -> list[Path]:
        """The folders that they lie in."""
        return [part.parent for part in self.parts]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the parts; which column says what is found out in the first.

        Raises:
            CompareInputError: One of them cannot be read, or is not a table.
        """
        with ExitStack() as stack:
            inputs: list[Input] = []
            shards = []
            columns: Columns | None = None
            for part in self.parts:
                inputs.append(stack.enter_context(open_input(part)))
                source, columns = table_in(inputs[-1], columns)
                shards.append(Shard(source, notes=() if len(inputs) > 1 else _notes(part, columns)))
            yield Run("table", shards, inputs)


def table_in(source: Input, columns: Columns | None = None) -> tuple[Readable, Columns]:
    """A file as a table.

    Args:
        source: The file.
        columns: Which column says what, where that is known from another part.
    """
    with reading(source) as (file, _):
        head = file.read(_HEAD_BYTES)
    ending = ending_of(source.path.name)
    if head.startswith(PARQUET_MAGIC) or ending == PARQUET:
        from nemo_gym.rollout_compare.producers.tables.parquet import ParquetTable, opened, parquet_rows

        found = columns or columns_of(_first(parquet_rows(source)), list(opened(source).schema_arrow.names))
        return ParquetTable(source, TableReader(found, typed=True)), found
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if ending in (CSV, TSV) or not start.startswith((b"{", b"[")):
        delimiter = _TAB if ending == TSV else delimiter_of(head)
        found = columns or columns_of(_first(csv_rows(source, delimiter)), csv_header(source, delimiter))
        return CsvTable(source, TableReader(found, typed=False), delimiter=delimiter), found
    if start.startswith(b"[") or _is_document(start):
        found = columns or columns_of(_first(json_rows(source)))
        return JsonTable(source, TableReader(found, typed=True)), found
    first = list(islice(rows_in(source), LOOKED_AT))
    found = columns or columns_of(first)
    kind = NamedLines if any("." in name for row in first for name in row) else RecordsFile
    return kind(source, TableReader(found, typed=True)), found


def _notes(part: Path, columns: Columns) -> tuple[Note, ...]:
    if columns.score is None or columns.score in columns.scores:
        return ()
    said = f"{columns.score!r} counts as the reward, being the only column with numbers"
    return (Note(NoteKind.READER, path=str(part), field=said),)


def _is_document(start: bytes) -> bool:
    """Whether a file is one JSON document over several lines, or of one line that is not a row."""
    line = start.partition(b"\n")[0].strip()
    return line == b"{"


def delimiter_of(head: bytes) -> str:
    """What stands between two cells: of the usual ones what stands most often in the first line."""
    first = head.lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    return max(",;\t|", key=first.count)


def _first(rows: Iterator[Numbered]) -> list[Row]:
    return [row for _, row in islice(rows, LOOKED_AT) if not isinstance(row, CompareInputError)]


def locate_table(named: str) -> LocatedTable:
    """A run as the user names it: a file, a folder with only one table or the parts of one, or a pattern.

    Raises:
        CompareInputError: There is no table, or there are several of different kinds.
    """
    if named == STDIN:
        return LocatedTable((STDIN_PATH,))
    path = Path(named)
    if path.is_dir():
        return LocatedTable(_parts(path))
    if not path.exists() and glob.has_magic(named):
        matched = tuple(sorted(one for one in map(Path, glob.glob(named)) if one.is_file()))
        if not matched:
            raise CompareInputError(f"cannot read {named}: no table matches (*, ? and [] are patterns)")
        return LocatedTable(matched)
    return LocatedTable((path,))


def _parts(folder: Path) -> tuple[Path, ...]:
    """The only table in a folder, or all of them where they are called as parts of one are: `NAME-00000-of-00002`."""
    found = sorted(one for one in folder.iterdir() if one.is_file() and ending_of(one.name) and one.name[0] != ".")
    if len(found) == 1 or (found and all("-of-" in one.stem for one in found)):
        return tuple(found)
    names = first_of([one.name for one in found])
    raise CompareInputError(
        f"cannot read {folder}: it holds {len(found)} tables; name one of them: {names}"
        if found
        else f"cannot read {folder}: it is a folder without a table"
    )
