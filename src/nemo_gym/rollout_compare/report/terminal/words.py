"""Words and forms that the sections of the report share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.text import counted, first_of, many, one_line

__all__ = ["LABEL_LIMIT", "TASKS_NAMED", "counted", "cut", "label", "listed", "many", "section"]

LABEL_LIMIT = 200
TASKS_NAMED = 10


def label(text: str) -> str:
    """A task's label or a test's name, one line and not too long; an empty one is made visible."""
    return one_line(text, LABEL_LIMIT) or "''"


def cut(text: str, width: int) -> str:
    """A text in so many characters, of which there are four or more: of a longer one the middle is left out."""
    if len(text) <= width:
        return text
    end = (width - 3) // 2
    return f"{text[: width - 3 - end]}...{text[len(text) - end :]}"


def listed(names: Sequence[str], most: int = TASKS_NAMED) -> str:
    """The first names, and how many more there are."""
    return first_of([label(name) for name in names[:most]], most, len(names))


def section(title: str, count: int) -> Iterator[str]:
    """A section's heading."""
    yield ""
    yield f"## {title} ({count})"
