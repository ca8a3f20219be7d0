"""The tasks to run again: those that the comparison could not count on."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.safe_text import one_line
from nemo_gym.rollout_compare.schema import Category, CompareResult

_UNCOUNTED = (Category.MASKED, Category.MISSING, Category.FLIPPED_AGENT_ERROR)


def tasks_to_rerun(result: CompareResult) -> Iterator[str]:
    """The labels, one a line; failures that name no task have none."""
    anonymous = result.anonymous
    for task in result.tasks[: len(result.tasks) - anonymous]:
        if task.category in _UNCOUNTED:
            yield one_line(task.task)
