"""What it cost: tokens, turns, calls, time and money of two runs, over the tasks that both measured."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from operator import add, and_

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
    both = tasks_of_both(rows[Side.OLD], rows[Side.NEW])
    sides = [_Side(tables[side], rows[side], both) for side in Side]
    solved = list(map(and_, *(side.solved for side in sides)))
    labels = [tasks[task] for task in both]
    costs = (_cost(name, labels, [side.means(name) for side in sides], solved) for name in names)
    return tuple(cost for cost in costs if cost)


def truncated_answers(tables: Mapping[Side, Table]) -> Truncated | None:
    """How many answers were cut off by a limit; None where neither run tells."""
    columns = [tables[side].measures.columns.get(TRUNCATED, array("d")) for side in Side]
    known = [sum(not math.isnan(value) for value in column) for column in columns]
    cut = [sum(value == 1 for value in column) for column in columns]
    return Truncated(cut[0], known[0], cut[1], known[1]) if any(known) else None


class _Side:
    """A run's rows by task, and what is known of the measured ones of some tasks.

    Attributes:
        solved: For each of the tasks whether every measured attempt solved it.
    """

    def __init__(self, table: Table, rows: RowsByTask, tasks: Sequence[int]) -> None:
        self._table, self._rows, self._tasks = table, rows, tasks
        self._masked = list(compress(range(len(table)), table.masked.ids))
        self._only = [rows.rows[rows.starts[task]] for task in tasks]
        if any(rows.starts[task + 1] - rows.starts[task] > 1 for task in tasks):
            self._only = []
        rewards = self._of_measured(table.reward)
        self.solved = [all(reward >= _SOLVED for reward in told) for told in self._told(rewards)]

    def means(self, name: str) -> list[float]:
        """For each task the mean of its measured attempts that tell the measure; NaN without any."""
        values = self._of_measured(self._table.measures.columns[name])
        return list(map(values.__getitem__, self._only)) if self._only else list(map(_mean, self._told(values)))

    def _of_measured(self, column: array[float]) -> array[float]:
        """The column with NaN for masked rows."""
        values = column[:]
        for row in self._masked:
            values[row] = math.nan
        return values

    def _told(self, values: array[float]) -> Iterator[Sequence[float]]:
        """For each task those of its values that are not NaN."""
        for task in self._tasks:
            yield [value for row in self._rows.of(task) if (value := values[row]) == value]


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else math.nan


def _cost(name: str, labels: Sequence[str], means: Sequence[Sequence[float]], solved: Sequence[bool]) -> Cost | None:
    """What the tasks cost by one measure, given their means on both sides, and whether both solved them."""
    told = [place for place, total in enumerate(map(add, *means)) if not math.isnan(total)]
    if not told:
        return None
    old, new = ([side[place] for place in told] for side in means)
    pairs = list(zip(old, new, strict=True))
    return Cost(
        name,
        len(told),
        mean(old),
        mean(new),
        ratio_of(pairs),
        ratio_of([pair for place, pair in zip(told, pairs, strict=True) if solved[place]]),
        _carrier([(labels[place], after - before) for place, (before, after) in zip(told, pairs, strict=True)]),
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
