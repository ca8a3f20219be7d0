"""From tasks to the columns that the figures are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nemo_gym.rollout_compare.compare.attempts import Case, Cases
from nemo_gym.rollout_compare.compare.paired import AS_REWARDS, Scale
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask
from nemo_gym.rollout_compare.schema import Category, Measured, TaskComparison, TaskSide


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
    before: list[TaskSide | Measured] = []
    after: list[TaskSide | Measured] = []
    places: list[int] = []
    unmeasured: list[UnmeasuredTask] = []
    for place, task in enumerate(tasks):
        old, new = task.old, task.new
        # Most sides are wholly measured: asking these for what is measured of them would cost a call each.
        one = old if old is None or old.mask is None else old.measured
        other = new if new is None or new.mask is None else new.measured
        if one is None or other is None:
            unmeasured.append((one.reward if one else None, other.reward if other else None))
            continue
        before.append(one)
        after.append(other)
        places.append(place)
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


def _rewards(sides: Iterable[TaskSide | Measured]) -> list[float]:
    return [side.reward for side in sides]  # type: ignore[misc]  # a measured side has one


def _cases(old: Sequence[TaskSide | Measured], new: Sequence[TaskSide | Measured]) -> Cases | None:
    """How many tasks had which attempts solved; None without any task, or where a reward is neither 0 nor 1."""
    solved = [side.solved for side in old], [side.solved for side in new]
    if not old or any(None in side for side in solved):
        return None
    cases = Counter(zip(solved[0], (side.rows for side in old), solved[1], (side.rows for side in new), strict=True))
    return Counter({Case(*case): tasks for case, tasks in cases.items()})  # type: ignore[arg-type]  # none is None
