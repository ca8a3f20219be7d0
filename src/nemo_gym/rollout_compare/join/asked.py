"""What a table does not keep of its rows and few comparisons ask for, from the rows read again.

A run may still be growing meanwhile: that its file is no longer what it was is no error here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.producers.gym.asked import input_numbers, task_input
from nemo_gym.rollout_compare.schema.result import CompareInputError
from nemo_gym.rollout_compare.table.columns import Column
from nemo_gym.rollout_compare.table.places import read_again
from nemo_gym.rollout_compare.table.table import INPUT, Table, Values, decoder_for


def inputs_of(table: Table) -> Column[str]:
    """The identity of what the system was asked, for each row. One row of each input is read.

    Raises:
        CompareInputError: A row can no longer be read, or has another input than before.
    """
    first = dict(zip(reversed(table.inputs), range(len(table) - 1, -1, -1), strict=True))
    identities: dict[int, str | None] = {}
    for row, values in _again(table, [row for number, row in first.items() if number]):
        number = table.inputs[row]
        if input_numbers([values[INPUT]])[0] != number:
            raise CompareInputError(f"{table.origin(row).where} has changed since it was first read")
        identities[number] = task_input(values[INPUT])
    found: Column[str] = Column()
    found.append_all(list(map(identities.get, table.inputs)))
    return found


def count_fields(table: Table) -> dict[str, int]:
    """On how many rows that have a say each field stands that may be the key. They are all read.

    Raises:
        CompareInputError: A row can no longer be read.
    """
    stands = dict.fromkeys(table.keys, 0)
    anonymous = {failure.row for failure in table.anonymous}
    for _, values in _again(table, [row for row in range(len(table)) if row not in anonymous], tuple(table.keys)):
        for path, value in zip(table.keys, values[-len(table.keys) :], strict=True):
            stands[path] += value is not None
    return stands


def _again(table: Table, rows: Sequence[int], fields: Sequence[str] = ()) -> Iterator[tuple[int, Values]]:
    """The given rows with their values, those of the fields last."""
    for i, values in read_again(list(map(table.origin, rows)), decoder_for(tuple(fields)), grown=True):
        if isinstance(values, Exception):
            raise values
        yield rows[i], values
