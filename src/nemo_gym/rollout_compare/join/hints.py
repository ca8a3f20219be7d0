"""What an error says where no field tells tasks, or groups of them, apart: which other fields may be meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.join.asked import count_fields
from nemo_gym.rollout_compare.producers import dig, read_again
from nemo_gym.rollout_compare.schema import CompareInputError, Place, Row, Side, Wanted
from nemo_gym.rollout_compare.table import Table
from nemo_gym.rollout_compare.text import close_to, counted, first_of

#: How much of each run is looked at: so many rows, and no more than so many bytes of them.
MOST_ROWS = 10_000
MOST_BYTES = 64 << 20

_MOST_HINTS = 3
_LONGEST_ID = 200
_SHOWN_FIELDS = 20


class Hint(Struct, frozen=True):
    """A field that may be the key.

    Attributes:
        field: Its dotted path.
        rows: How many rows were looked at on each side; it stands on all of them.
        common: How many of its values are on both sides.
    """

    field: str
    rows: tuple[int, int]
    common: int

    def __str__(self) -> str:
        """What to try."""
        old, new = self.rows
        rows = f"{old} of {old}" if old == new else f"{old} of {old} and {new} of {new}"
        values = counted(self.common, "value")
        return f"{self.field} names {rows} rows on both sides, {values} in common: try --key {self.field}"


def key_hints(tables: Mapping[Side, Table]) -> list[Hint]:
    """The fields that may be the key, best first.

    They stand on every row of both sides, have as many values as there are rows (or each value on as many rows: the
    attempts at a task), and have values in common.
    """
    seen = [_first_rows(tables[side]) for side in Side]
    if not all(seen):
        return []
    fields = [_id_fields(rows, tables[side].fields.never) for rows, side in zip(seen, Side, strict=True)]
    hints = [
        Hint(path, (len(seen[0]), len(seen[1])), len(fields[0][path] & fields[1][path]))
        for path in fields[0]
        if path in fields[1]
    ]
    return sorted((hint for hint in hints if hint.common), key=lambda hint: (-hint.common, hint.field))[:_MOST_HINTS]


def no_results(table: Table) -> CompareInputError | None:
    """What is said of a run whose rows have neither a reward nor a response; None if one has."""
    if table.masked_rows < len(table):
        return None
    rows = _first_rows(table)
    if not rows or any(dig(row, [name]) is not None for row in rows for name in table.fields.results):
        return None
    return CompareInputError(
        f"{table.place(0).where}: the file does not seem to hold rollouts: no row has a reward or a response "
        f"(fields: {_names(rows[0])})"
    )


def no_key(table: Table, tables: Mapping[Side, Table], *, by_index: bool) -> CompareInputError:
    """Say on how many rows each candidate stands, which row spoils the best, and what can be done.

    Args:
        table: The run of which no field tells the tasks apart.
        tables: Both runs.
        by_index: Whether a position in the input file stands on every row of both.
    """
    if table.fields.said:
        (field,) = table.keys
        row = table.place(table.keys[field].first_missing or 0)
        return CompareInputError(f"{row.where}: row has no '{field}' field (keys: {_names(_whole(row))})")
    unlike_rollouts = no_results(table)  # asked first: to count the fields every row is read again
    if unlike_rollouts:
        return unlike_rollouts
    stands = count_fields(table)
    best = max(stands, key=stands.__getitem__)
    row = table.place(table.keys[best].first_missing or 0)
    found = [f"{path} {number}" for path, number in stands.items() if number or path in table.fields.usual]
    rows = len(table) - len(table.anonymous)
    hints = "; ".join(map(str, key_hints(tables))) or "name the field with --key"
    return CompareInputError(
        f"no task id field found: {row.where} has no '{best}' field, and no other field names the task of every row "
        f"(of {counted(rows, 'row')}: {', '.join(found)}); {hints}"
        + (f"; --key {table.fields.index} is right if both runs read the same inputs file" if by_index else "")
    )


def no_such_field(tables: Mapping[Side, Table], field: str, option: str) -> CompareInputError:
    """Say that no task has the field by which tasks are to be told apart, which one may be meant, and which there are.

    Args:
        tables: Both runs; the first row of each is looked at.
        field: The field, as a dotted path.
        option: The option that names it.
    """
    rows = [_whole(table.place(0)) for table in tables.values() if len(table)]
    named = dict.fromkeys(path for row in rows for path in islice(_values_in(row), MOST_ROWS))
    last_names = {path.rpartition(".")[2]: path for path in reversed(named)}
    last = field.rpartition(".")[2]
    close = close_to(field, list(named)) or [last_names[one] for one in close_to(last, list(last_names))]
    meant = "".join(f"; did you mean {one}?" for one in close)
    there = first_of(sorted(named, key=lambda path: path.count(".")), _SHOWN_FIELDS)
    fields = f" (fields: {there})" if named else ""
    return CompareInputError(f"{option} {field}: no task has a value of it in its first row{meant}{fields}")


def _values_in(row: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The dotted paths of all texts, numbers, true and false in a row; of names with a dot there is none."""
    for name, value in row.items():
        if "." in name:
            continue
        if isinstance(value, Mapping):
            yield from _values_in(value, f"{at}{name}.")
        elif isinstance(value, str | int | float):
            yield f"{at}{name}"


def _whole(place: Place) -> Row:
    """The whole row at a place."""
    ((_, record),) = read_again([place], Wanted(row=True), grown=True)
    if isinstance(record, Exception):
        raise record
    return record.row or {}


def _names(row: Row) -> str:
    """The row's fields, not too many of them."""
    return first_of(list(row), _SHOWN_FIELDS)


def _first_rows(table: Table) -> list[Row]:
    """The first rows that have a say, as far as they are looked at and can be read."""
    anonymous = set(table.anonymous)
    places = [table.place(row) for row in range(min(len(table), MOST_ROWS)) if row not in anonymous]
    near = [place for place in places if place.offset - places[0].offset <= MOST_BYTES]
    rows: list[Row] = []
    for _, record in read_again(near, Wanted(row=True), grown=True):
        if isinstance(record, Exception) or record.row is None:
            break
        rows.append(record.row)
    return rows


def _id_fields(rows: Sequence[Row], never: Sequence[str]) -> dict[str, set[str]]:
    """The fields of rows that tell them or their tasks apart, each with its values."""
    found: dict[str, set[str]] = {}
    for path in _paths(rows[0], never):
        values = [_id_text(dig(row, path.split("."))) for row in rows]
        times = Counter(values)
        if None not in times and len(set(times.values())) == 1 and (len(times) > 1 or len(rows) == 1):
            found[path] = {value for value in times if value is not None}
    return found


def _paths(row: Mapping[str, Any], never: Sequence[str], at: str = "") -> Iterator[str]:
    """The dotted paths of values that may be ids; of names with a dot there is none."""
    for name, value in row.items():
        path = f"{at}{name}"
        if "." in name or path in never:
            continue
        if isinstance(value, Mapping):
            yield from _paths(value, never, f"{path}.")
        elif _id_text(value) is not None:
            yield path


def _id_text(value: Any) -> str | None:
    """A value as an id; None for what is none: a fraction, a yes or no, a long text."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return text if 0 < len(text) <= _LONGEST_ID else None
