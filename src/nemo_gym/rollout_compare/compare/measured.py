"""From tasks to the columns that the figures are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from operator import and_, attrgetter, is_not, not_

from nemo_gym.rollout_compare.compare.attempts import Case, Cases
from nemo_gym.rollout_compare.compare.paired import AS_REWARDS, Scale
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks
from nemo_gym.rollout_compare.schema import Category, Measured, Side, TaskComparison, TaskSide


def measured_tasks(
    tasks: Sequence[TaskComparison],
    groups: Mapping[str, Sequence[str]] | None = None,
    cluster: tuple[str, Sequence[str]] | None = None,
    scale: Scale = AS_REWARDS,
) -> MeasuredTasks:
    """The tasks with a measured attempt on both sides as columns, and what is known of the others.

    A masked attempt drops out, and not its task: a side's value is the mean of its measured attempts.

    Args:
        tasks: All tasks.
        groups: By the name of a field its value for each of the tasks.
        cluster: A field's name and its value for each of the tasks.
        scale: What rewards single attempts have, at all tasks.
    """
    sides = [_measured(map(attrgetter(side.value), tasks)) for side in Side]
    told = list(map(and_, *(map(is_not, side, repeat(None)) for side in sides)))
    places = list(compress(range(len(tasks)), told))
    before, after = ([side for side in compress(every, told) if side] for every in sides)
    unmeasured = [
        (old.reward if old else None, new.reward if new else None)
        for old, new in compress(zip(*sides, strict=True), map(not_, told))
    ]
    measured = tasks if len(places) == len(tasks) else [tasks[place] for place in places]
    doubtful = Category.FLIPPED_AGENT_ERROR
    cases = _cases(before, after)
    return MeasuredTasks(
        old=_rewards(before),
        new=_rewards(after),
        labels=[task.task for task in measured],
        cases=cases,
        # the attempts at other tasks do not make these figures those of other rewards
        scale=scale._replace(pass_fail=cases is not None) if before else scale,
        doubtful=[place for place, task in enumerate(measured) if task.category is doubtful],
        groups={field: [values[place] for place in places] for field, values in (groups or {}).items()},
        cluster=cluster and (cluster[0], [cluster[1][place] for place in places]),
        unmeasured=unmeasured,
    )


def _measured(sides: Iterable[TaskSide | None]) -> list[TaskSide | Measured | None]:
    """What is measured of each side. Most are so wholly: asking these for it would cost a call each."""
    return [side if side is None or side.mask is None else side.measured for side in sides]


def _rewards(sides: Iterable[TaskSide | Measured]) -> list[float]:
    return list(map(attrgetter("reward"), sides))


def _cases(old: Sequence[TaskSide | Measured], new: Sequence[TaskSide | Measured]) -> Cases | None:
    """How many tasks had which attempts solved; None without any task, or where a reward is neither 0 nor 1."""
    cases = Counter(
        zip(*(map(attrgetter(name), side) for side in (old, new) for name in ("solved", "rows")), strict=True)
    )
    if not cases or any(None in case for case in cases):
        return None
    return Counter({Case(*case): tasks for case, tasks in cases.items()})
