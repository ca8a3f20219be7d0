"""Rows that a script has at hand to a table."""

from __future__ import annotations

from collections.abc import Iterable

from nemo_gym.rollout_compare.producers import RowsAtHand
from nemo_gym.rollout_compare.schema import Row
from nemo_gym.rollout_compare.table import Table


def table_of(rows: Iterable[Row], key: str | None = None) -> Table:
    """A table of rows that are at hand.

    Raises:
        CompareInputError: A row breaks a rule.
    """
    source = RowsAtHand(list(rows))
    table = Table(source.fields(key))
    for part in source.parts(key):
        table.add(part.batch, source, shard=part.shard, failed=part.failed)
    return table
