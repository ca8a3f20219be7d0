"""What a table does not keep of its rows and few comparisons ask for, from the rows read again.

A run may still be growing meanwhile: that its file is no longer what it was is no error here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nemo_gym.rollout_compare.producers import read_again
from nemo_gym.rollout_compare.schema import CompareInputError, Record, Wanted
from nemo_gym.rollout_compare.table import Column, Table

_ROWS_AT_A_TIME = 10_000


def inputs_of(table: Table) -> Column[str]:
    """The identity of what the system was asked, for each row. One row of each input is read.

    Raises:
        CompareInputError: A row can no longer be read, or has another input than before.
    """
    first = dict(zip(reversed(table.inputs), range(len(table) - 1, -1, -1), strict=True))
    identities: dict[int, str | None] = {}
    for row, record in _again(table, [row for number, row in first.items() if number], Wanted(task_input=True)):
        number = table.inputs[row]
        if record.input_number != number:
            raise CompareInputError(f"{table.place(row).where} has changed since it was first read")
        identities[number] = record.task_input
    found: Column[str] = Column()
    found.append_all(list(map(identities.get, table.inputs)))
    return found


def count_fields(table: Table) -> dict[str, int]:
    """On how many rows that have a say each field stands that may be the key. They are all read.

    Raises:
        CompareInputError: A row can no longer be read.
    """
    stands = dict.fromkeys(table.keys, 0)
    silent = set(table.anonymous)
    rows = [row for row in range(len(table)) if row not in silent]
    for _, record in _again(table, rows, Wanted(fields=tuple(table.keys))):
        for path, value in zip(table.keys, record.values, strict=True):
            stands[path] += value is not None
    return stands


def values_of(table: Table, rows: Sequence[int], fields: Sequence[str]) -> dict[int, tuple[Any, ...]]:
    """The values of fields in the given rows, by their numbers.

    Raises:
        CompareInputError: A row can no longer be read.
    """
    return {row: record.values for row, record in _again(table, rows, Wanted(fields=tuple(fields)))}


def _again(table: Table, rows: Sequence[int], wanted: Wanted) -> Iterator[tuple[int, Record]]:
    """The given rows with what is wanted of them, so many at a time unless a file has to be read from its start."""
    most = len(rows) if rows and table.place(rows[0]).source.from_start else _ROWS_AT_A_TIME
    for start in range(0, len(rows), most or 1):
        some = rows[start : start + most]
        for i, record in read_again(list(map(table.place, some)), wanted, grown=True):
            if isinstance(record, Exception):
                raise record
            yield some[i], record
