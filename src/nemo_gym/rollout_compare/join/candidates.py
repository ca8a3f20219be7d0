"""The ladder of fields that may tell a run's tasks apart, each with what is wrong with it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from typing import Any

from nemo_gym.rollout_compare.join.asked import inputs_of
from nemo_gym.rollout_compare.join.planned import planned_columns
from nemo_gym.rollout_compare.schema import FaultKind, Identity, KeyFault, KeyKind, label_of
from nemo_gym.rollout_compare.table import Column, Table

PLANNED = "materialized_inputs:"


class Rung:
    """A field that every row with a say carries. What costs a look at every row is found out when it is asked for.

    Attributes:
        name: The field, as a dotted path; of the planned rows with `materialized_inputs:` before it.
        kind: What sort of identity it gives.
        rank: Its place on the ladder, from 0.
        usual: Whether it is one that usually names the task, which needs no word.
    """

    def __init__(
        self,
        name: str,
        kind: KeyKind,
        rank: int,
        column: Callable[[], Column[Any]],
        judge: Callable[[], KeyFault | None],
        *,
        usual: bool = False,
    ) -> None:
        """Make one of what gives the column of its identities and of what finds fault with it."""
        self.name, self.kind, self.rank, self.usual = name, kind, rank, usual
        self._column, self._judge = column, judge

    @cached_property
    def column(self) -> Column[Identity]:
        """Each row's identity."""
        return self._column()

    @cached_property
    def rejected(self) -> KeyFault | None:
        """Why it does not tell tasks apart, None if it may."""
        return self._judge()


def ladder_of(table: Table) -> list[Rung]:
    """The fields that every row with a say carries, in the order in which they are asked."""
    ladder = [
        Rung(
            path,
            KeyKind.FIELD,
            rank,
            partial(itself, column),
            partial(_merges, table, column) if _questioned(table, path) else fine,
            usual=path in table.fields.usual,
        )
        for rank, (path, column) in enumerate(table.keys.items())
        if column.first_missing is None
    ]
    if table.fields.said:
        return ladder
    fields = len(table.keys)
    codes = table.task_index.codes
    places = {path: rank for rank, path in enumerate(table.keys, fields)}
    for path, planned in planned_columns(table).items():
        judge = partial(_merges, table, planned)
        ladder.append(Rung(PLANNED + path, KeyKind.PLANNED, places[path], partial(itself, planned), judge))
    if not table.fields.digests and _on_every_voter(table, table.inputs, 0):
        judge = partial(_crosses_identity, table)
        ladder.append(Rung(table.fields.input, KeyKind.INPUT, 2 * fields, partial(inputs_of, table), judge))
    one_run = len(table.shards) < 2 or len(set(_positions(table))) == len(set(codes))
    if one_run and _on_every_voter(table, codes, -1):
        ladder.append(Rung(table.fields.index, KeyKind.INDEX, 2 * fields + 1, partial(_by_index, table), fine))
    return ladder


def _questioned(table: Table, path: str) -> bool:
    return path not in table.fields.certain


def itself(column: Column[Any]) -> Column[Any]:
    """A column that is there already."""
    return column


def fine() -> None:
    """No fault: the column is not questioned."""


def _by_index(table: Table) -> Column[Identity]:
    column: Column[Identity] = Column()
    index = table.task_index
    column.append_all([None if code == -1 else str(index.value(code)) for code in index.codes])
    return column


def _on_every_voter(table: Table, ids: array[int], nothing: int) -> bool:
    return ids.count(nothing) == sum(ids[row] == nothing for row in table.anonymous)


def _merges(table: Table, column: Column[Identity]) -> KeyFault | None:
    """How a field merges tasks that have different inputs, None if it does not.

    One task may be asked in other words at each attempt: rows of one task index are no two tasks.
    """
    pairs = set(zip(column.ids, table.inputs, strict=True))
    inputs = Counter(value for value, asked in pairs if value and asked)
    several = {value: count for value, count in inputs.items() if count > 1}
    if several:
        one_index = Counter(value for value, _ in set(zip(column.ids, _positions(table), strict=True)))
        unknown = {value for value, position in zip(column.ids, _positions(table), strict=True) if position == -1}
        several = {value: n for value, n in several.items() if one_index[value] > 1 or value in unknown}
    if not several:
        return None
    named = {value: label_of(column.values[value] or "", with_taskset=True) for value in several}
    worst = max(several, key=lambda value: (several[value], named[value]))
    return KeyFault(FaultKind.MERGES, named[worst], column.ids.count(worst), several[worst])


def _positions(table: Table) -> Sequence[Hashable]:
    """Each row's task index, told apart by rollouts file where there are several; -1 where it is not recorded."""
    codes = table.task_index.codes
    if len(table.shards) < 2:
        return codes
    positions: list[Hashable] = [-1] * len(table)
    for shard in table.shards:
        for row in table.rows_beside(shard):
            if codes[row] != -1:
                positions[row] = (shard, codes[row])
    return positions


def _crosses_identity(table: Table) -> KeyFault | None:
    """Why the input does not tell tasks apart as the rows' own identities do, None if it does or there are none."""
    known = {
        (asked, position)
        for asked, position in zip(table.inputs, _positions(table), strict=True)
        if asked and position != -1
    }
    if len({asked for asked, _ in known}) < len(known):
        return KeyFault(FaultKind.SHARED_INPUT, by=table.fields.index)
    if len({position for _, position in known}) < len(known):
        return KeyFault(FaultKind.SEVERAL_INPUTS, by=table.fields.index)
    for path in table.fields.certain:
        certain = table.keys[path]
        if certain.first_missing is None:
            ids = {pair for pair in zip(table.inputs, certain.ids, strict=True) if all(pair)}
            if len({asked for asked, _ in ids}) < len(ids):
                return KeyFault(FaultKind.SHARED_INPUT, by=path)
    return None
