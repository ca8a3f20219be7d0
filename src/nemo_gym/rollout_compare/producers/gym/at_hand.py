"""Rollouts that a script has at hand, as a source of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.depth import TOO_DEEP, room_for_rows
from nemo_gym.rollout_compare.producers.gym.facts import label_for_message
from nemo_gym.rollout_compare.producers.gym.fields import FAILED, SHARD, key_fields
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import decoder_for, rows_decoder
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fields, Place, Record, Row, Wanted


class Part(Struct, frozen=True):
    """Rows that follow one another and are of one kind.

    Attributes:
        batch: The rows.
        shard: The number of the rollouts file that they are of.
        failed: Whether they were made of failed attempts.
    """

    batch: Batch
    shard: int
    failed: bool


class RowsAtHand(Struct, frozen=True, eq=False):
    """Rows as objects; each is called by its number, from 1."""

    rows: Sequence[Row]
    path: Path = Path("rows")
    from_start: bool = False

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a row's verifier output."""
        return ROLLOUTS.output_fields

    def where(self, line: int) -> str:
        """A row's place."""
        return f"row {line}"

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return key_fields(key)

    def parts(self, key: str | None) -> Iterator[Part]:
        """The rows in their order.

        Raises:
            CompareInputError: A row breaks a rule; the text says which.
        """
        first = 0
        for (failed, shard), group in groupby(self.rows, key=_kind):
            rows = list(group)
            try:
                batch = _batch(rows, first, key, failed=failed)
            except (CompareInputError, RecursionError) as error:
                faults = (_fault_of(row, first + i, key) for i, row in enumerate(rows))
                raise next(filter(None, faults), error) from None
            yield Part(batch, shard, failed)
            first += len(rows)

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each row."""
        del grown  # rows at hand do not grow
        for place in places:
            row = self.rows[place.offset]
            values = decoder_for(ROLLOUTS.paths_for(wanted)).pick(row)
            yield ROLLOUTS.record(values, wanted, row if wanted.row else None)


def _kind(row: Row) -> tuple[bool, int]:
    shard = row.get(SHARD)
    return bool(row.get(FAILED)), shard if type(shard) is int else 0


def _batch(rows: Sequence[Row], first: int, key: str | None, *, failed: bool = False) -> Batch:
    fields = key_fields(key).all()
    pick = rows_decoder(ROLLOUTS, fields).pick
    columns: list[Sequence[Any]] = list(zip(*map(pick, rows), strict=True))
    places = range(first, first + len(rows))
    with room_for_rows():
        return ROLLOUTS.batch(
            columns, fields, lines=range(first + 1, first + 1 + len(rows)), offsets=places, failed=failed
        )


def _fault_of(row: Row, number: int, key: str | None) -> CompareInputError | None:
    """What is wrong with a row, if anything is."""
    try:
        _batch([row], number, key)
    except CompareInputError as error:
        return CompareInputError(f"row {number + 1}: {error} (task {label_for_message(row, key)})")
    except RecursionError:
        return CompareInputError(f"row {number + 1}: {TOO_DEEP}")
    return None
