"""The tasks to run again: those that the comparison could not count on."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.schema import Category, CompareResult
from nemo_gym.rollout_compare.text import one_line

_UNCOUNTED = (Category.MASKED, Category.MISSING)


def tasks_to_rerun(result: CompareResult) -> Iterator[str]:
    """The labels, one a line; failures that name no task have none."""
    anonymous = result.anonymous
    for task in result.tasks[: len(result.tasks) - anonymous]:
        doubtful = any(side is not None and side.agent_error for side in (task.old, task.new))
        if task.category in _UNCOUNTED or doubtful:
            yield one_line(task.task)
