"""What it cost: tokens, turns, calls, time and money of two runs, over the tasks that both measured."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence

from nemo_gym.rollout_compare.compare.interval import paired_t_interval
from nemo_gym.rollout_compare.compare.paired import mean, standard_error
from nemo_gym.rollout_compare.schema import Carrier, Cost, Ratio, Side, Truncated
from nemo_gym.rollout_compare.table import RowsByTask, Table, tasks_of_both
from nemo_gym.rollout_compare.text import MEASURES, counted

#: Under so many tasks a ratio would say more of the tasks than of the runs.
FEWEST_TASKS = 6

TRUNCATED = "truncated"

_SOLVED = 1 - 1e-9
_MOST = 0.5


def compare_costs(
    tables: Mapping[Side, Table], rows: Mapping[Side, RowsByTask], tasks: Sequence[str]
) -> tuple[Cost, ...]:
    """What the runs cost by each measure that both tell.

    A side of a task costs the mean of its measured attempts. The ratio is exp(mean(log new - log old)), and its
    interval exp(mean -+ t(0.975; n - 1) s / sqrt(n)), s the standard deviation of these differences: costs are spread
    by factors, so their logarithms are what is about normal. Source: D. Altman and J. Bland, "Transformations, means,
    and confidence intervals", BMJ 312 (1996) 1079.

    Args:
        tables: The runs.
        rows: Their rows by task.
        tasks: The labels of the tasks.
    """
    names = [name for name in MEASURES if all(name in table.measures.columns for table in tables.values())]
    if not names:
        return ()
    sides = [_Side(tables[side], rows[side]) for side in Side]
    both = tasks_of_both(rows[Side.OLD], rows[Side.NEW])
    costs = (_cost(name, [side.means(name, both) for side in sides], sides, both, tasks) for name in names)
    return tuple(cost for cost in costs if cost)


def truncated_answers(tables: Mapping[Side, Table]) -> Truncated | None:
    """How many answers were cut off by a limit; None where neither run tells."""
    columns = [tables[side].measures.columns.get(TRUNCATED, array("d")) for side in Side]
    known = [sum(not math.isnan(value) for value in column) for column in columns]
    cut = [sum(value == 1 for value in column) for column in columns]
    return Truncated(cut[0], known[0], cut[1], known[1]) if any(known) else None


class _Side:
    """A run's rows by task, and what is known of each task's measured ones."""

    def __init__(self, table: Table, rows: RowsByTask) -> None:
        self.table, self.rows = table, rows

    def _measured(self, task: int) -> Iterator[int]:
        masked = self.table.masked.ids
        return (row for row in self.rows.of(task) if not masked[row])

    def means(self, name: str, tasks: Sequence[int]) -> list[float]:
        """For each task the mean of its measured attempts that tell the measure; NaN without any."""
        values = self.table.measures.columns[name]
        return [_mean([value for row in self._measured(task) if (value := values[row]) == value]) for task in tasks]

    def solved(self, task: int) -> bool:
        """Whether every measured attempt solved the task."""
        return all(self.table.reward[row] >= _SOLVED for row in self._measured(task))


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else math.nan


def _cost(
    name: str, means: Sequence[Sequence[float]], sides: Sequence[_Side], both: Sequence[int], tasks: Sequence[str]
) -> Cost | None:
    told = [
        (task, old, new)
        for task, old, new in zip(both, *means, strict=True)
        if not math.isnan(old) and not math.isnan(new)
    ]
    if not told:
        return None
    solved = [(old, new) for task, old, new in told if all(side.solved(task) for side in sides)]
    pairs = [(old, new) for _, old, new in told]
    return Cost(
        name,
        len(told),
        mean([old for old, _ in pairs]),
        mean([new for _, new in pairs]),
        ratio_of(pairs),
        ratio_of(solved),
        _carrier([(tasks[task], new - old) for task, old, new in told]),
    )


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """The ratio of the geometric means of old and new costs, with its interval; a pair with a 0 has no logarithm."""
    logs = [math.log(new) - math.log(old) for old, new in pairs if old > 0 and new > 0]
    n = len(logs)
    if n < FEWEST_TASKS:
        return Ratio(n, reason=f"{counted(n, 'task')} with such a cost on both sides, it takes {FEWEST_TASKS}")
    center, error = mean(logs), standard_error(logs)
    if error is None:
        return Ratio(n, math.exp(center), reason="no interval: it is the same factor in every task")
    low, high = paired_t_interval(center, error, n)
    return Ratio(n, math.exp(center), _exp(low), _exp(high))


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def _carrier(changes: Sequence[tuple[str, float]]) -> Carrier | None:
    """The task that makes up more than half of all change; a few tasks say nothing."""
    total = math.fsum(abs(change) for _, change in changes)
    if len(changes) < FEWEST_TASKS or not total:
        return None
    task, change = max(changes, key=lambda one: abs(one[1]))
    share = abs(change) / total
    return Carrier(task, share) if share > _MOST else None
