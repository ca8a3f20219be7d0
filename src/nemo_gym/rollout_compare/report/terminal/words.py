"""Words and forms that the sections of the report share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.text import counted, one_line

__all__ = ["LABEL_LIMIT", "TASKS_NAMED", "counted", "label", "listed", "section"]

LABEL_LIMIT = 200
TASKS_NAMED = 10


def many(number: int, noun: str) -> str:
    """A number that may be large with its noun: `1 task`, `2,000 tasks`."""
    return counted(number, noun).replace(str(number), f"{number:,}", 1)


def label(text: str) -> str:
    """A task's label or a test's name, one line and not too long; an empty one is made visible."""
    return one_line(text, LABEL_LIMIT) or "''"


def listed(names: Sequence[str], most: int = TASKS_NAMED) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(label, names[:most])) + more


def section(title: str, count: int) -> Iterator[str]:
    """A section's heading."""
    yield ""
    yield f"## {title} ({count})"
