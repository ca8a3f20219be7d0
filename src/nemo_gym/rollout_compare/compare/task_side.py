"""A run's rows of a task to what the run says about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
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
    marked = {rows.task_of[row] for row in _marked(table)}
    known: dict[float | tuple[float, ...], TaskSide] = {}  # most tasks of most runs say one of a few things
    sides: list[TaskSide | None] = []
    for task, (start, end) in enumerate(rows.spans()):
        if start == end or task in marked:
            sides.append(side_of(table, rows.rows[start:end], tolerance))
            continue
        one = end - start == 1
        said = table.reward[rows.rows[start]] if one else tuple(map(table.reward.__getitem__, rows.rows[start:end]))
        side = known.get(said)
        if side is None:
            side = _plain_side(said if isinstance(said, tuple) else (said,), tolerance)
            if len(known) < _MOST_KNOWN:
                known[said] = side
        sides.append(side)
    return sides


def _plain_side(rewards: Sequence[float], tolerance: float) -> TaskSide:
    """What rows say that say nothing but a finite reward each."""
    return TaskSide(
        len(rewards), _mean(rewards), len(rewards), solved=solved_of(rewards), flaky=is_flaky(rewards, tolerance)
    )


def _marked(table: Table) -> Iterator[int]:
    """The rows that say anything but a finite reward."""
    for ids in (table.masked.ids, table.agent_error.ids, table.failure_kind.ids):
        yield from compress(range(len(table)), ids)


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
