"""A run's rows of a task to what the run says about it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress, pairwise, repeat
from math import fsum, isnan

from nemo_gym.rollout_compare.compare.repeats import is_flaky, solved_of
from nemo_gym.rollout_compare.engine import table_of
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, CompareInputError, Measured, Row, TaskSide
from nemo_gym.rollout_compare.table import Column, RowsByTask, T, Table

_MOST_KNOWN = 1000


def summarize_side(rows: Sequence[Row]) -> TaskSide:
    """What a run's rows for one task say together.

    Raises:
        CompareInputError: There is no row, or a row breaks a rule.
    """
    table = table_of(rows)
    side = side_of(table, range(len(table)))
    if side is None:
        raise CompareInputError("a side of a task has at least one row")
    return side


def sides_of(table: Table, rows: RowsByTask, tolerance: float = REWARD_TOLERANCE) -> list[TaskSide | None]:
    """What a run says about each task, in the tasks' order; rewards within the tolerance agree."""
    numbers = _said(table)
    said = array("I", map(numbers.__getitem__, rows.rows)).tobytes()
    ends = array("Q", map(numbers.itemsize.__mul__, rows.starts))
    known: dict[bytes, TaskSide | None] = {b"": None}  # most tasks of most runs say one of a few things
    sides: list[TaskSide | None] = []
    for first in range(0, len(ends) - 1, _MOST_KNOWN):
        of_tasks = [said[start:end] for start, end in pairwise(ends[first : first + _MOST_KNOWN + 1])]
        for task, what in enumerate(of_tasks, first):
            if what not in known:
                known[what] = side_of(table, rows.of(task), tolerance)
        sides += map(known.__getitem__, of_tasks)
        if len(known) > _MOST_KNOWN:
            known = {b"": None}
    return sides


def _said(table: Table) -> array[int]:
    """For each row a number for what it says: equal for rows that say the same."""
    rewards = dict.fromkeys(table.reward)
    numbers: dict[object, int] = dict(zip(rewards, range(len(rewards)), strict=True))
    said = array("I", map(numbers.get, table.reward, repeat(0)))  # of one that is NaN, and so marked: see below
    marks = table.masked.ids, table.agent_error.ids, table.failure_kind.ids
    for row in {row for ids in marks for row in compress(range(len(table)), ids)}:
        reward = table.reward[row]
        what = (None if isnan(reward) else reward, *(ids[row] for ids in marks))
        said[row] = numbers.setdefault(what, len(numbers))
    return said


def side_of(table: Table, rows: Sequence[int], tolerance: float = REWARD_TOLERANCE) -> TaskSide | None:
    """What a run says about a task in the given rows of its table, None without any."""
    if not rows:
        return None
    rewards = [reward for row in rows if not isnan(reward := table.reward[row])]
    measured = [table.reward[row] for row in rows if not table.masked.ids[row]]
    return TaskSide(
        rows=len(rows),
        reward=_mean(rewards) if rewards else None,
        reward_rows=len(rewards),
        mask=_first(table.masked, rows),
        mark=_first(table.agent_error, rows),
        failure_kind=_first(table.failure_kind, rows),
        solved=solved_of(rewards) if len(rewards) == len(rows) else None,
        flaky=is_flaky(measured, tolerance),
        masked_rows=len(rows) - len(measured),
        measured_part=_measured_part(measured) if 0 < len(measured) < len(rows) else None,
    )


def _measured_part(rewards: Sequence[float]) -> Measured:
    """What the unmasked of rows say of which some are masked."""
    return Measured(len(rewards), _mean(rewards), solved_of(rewards))


def _first(column: Column[T], rows: Sequence[int]) -> T | None:
    """The value of the first of the rows that has one."""
    return column.values[next(filter(None, map(column.ids.__getitem__, rows)), 0)]


def _mean(rewards: Sequence[float]) -> float:
    """The mean, correctly rounded."""
    try:
        return fsum(rewards) / len(rewards) + 0.0  # of the two zeros the positive one
    except OverflowError:  # the sum is beyond a double, the mean is not
        from fractions import Fraction

        return float(sum(map(Fraction, rewards)) / len(rewards))
