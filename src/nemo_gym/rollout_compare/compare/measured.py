"""From tasks to the columns that the figures are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nemo_gym.rollout_compare.compare.attempts import Case, Cases
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask
from nemo_gym.rollout_compare.schema import Category, Measured, TaskComparison, TaskSide


def measured_tasks(
    tasks: Sequence[TaskComparison],
    groups: Mapping[str, Sequence[str]] | None = None,
    cluster: tuple[str, Sequence[str]] | None = None,
) -> MeasuredTasks:
    """The tasks with a measured attempt on both sides as columns, and what is known of the others.

    A masked attempt drops out, and not its task: a side's value is the mean of its measured attempts.

    Args:
        tasks: All tasks.
        groups: By the name of a field its value for each of the tasks.
        cluster: A field's name and its value for each of the tasks.
    """
    labels: list[str] = []
    before: list[TaskSide | Measured] = []
    after: list[TaskSide | Measured] = []
    places: list[int] = []
    doubtful: list[int] = []
    unmeasured: list[UnmeasuredTask] = []
    for place, task in enumerate(tasks):
        old = task.old.measured if task.old else None
        new = task.new.measured if task.new else None
        if old is None or new is None:
            unmeasured.append((old.reward if old else None, new.reward if new else None))
            continue
        if task.category is Category.FLIPPED_AGENT_ERROR:
            doubtful.append(len(labels))
        labels.append(task.task)
        before.append(old)
        after.append(new)
        places.append(place)
    return MeasuredTasks(
        old=_rewards(before),
        new=_rewards(after),
        labels=labels,
        cases=_cases(before, after),
        doubtful=doubtful,
        groups={field: [values[place] for place in places] for field, values in (groups or {}).items()},
        cluster=cluster and (cluster[0], [cluster[1][place] for place in places]),
        unmeasured=unmeasured,
    )


def _rewards(sides: Iterable[TaskSide | Measured]) -> list[float]:
    return [side.reward for side in sides]  # type: ignore[misc]  # a measured side has one


def _cases(old: Sequence[TaskSide | Measured], new: Sequence[TaskSide | Measured]) -> Cases | None:
    """How many tasks had which attempts solved; None without any task, or where a reward is neither 0 nor 1."""
    columns = [
        [value for side in sides if (value := getattr(side, name)) is not None]
        for sides in (old, new)
        for name in ("solved", "rows")
    ]
    if not old or any(len(column) < len(old) for column in columns):
        return None
    return Counter({Case(*case): tasks for case, tasks in Counter(zip(*columns, strict=True)).items()})
