"""Which of two rewards is the better one: what the user says, else what the runs' own files say."""

from __future__ import annotations

from collections.abc import Mapping

from nemo_gym.rollout_compare.schema import Direction, Note, NoteKind, Side
from nemo_gym.rollout_compare.table import Table


def direction_of(tables: Mapping[Side, Table], lower_is_better: bool) -> tuple[bool, list[Note]]:
    """Whether the lower of two rewards is the better one, and what must be said of it.

    Args:
        tables: The runs, with what their own files say.
        lower_is_better: Whether the user says that it is.
    """
    told = [one for side in Side for one in tables[side].directions]
    lower = [one for one in told if one.lower_is_better]
    if lower_is_better or not lower:
        higher = [one for one in told if not one.lower_is_better] if lower_is_better else []
        return lower_is_better, _notes(higher, "more is better of {}, and the lower of two rewards wins")
    if len(lower) == len(told):
        return True, _notes(lower, "less is better of {}, so the lower of two rewards wins")
    return False, _notes(lower, "less is better of {}, and the higher of two rewards wins: compare it by itself")


def _notes(told: list[Direction], words: str) -> list[Note]:
    """A note for each file that says so, with the tasks that it says it of."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in told:
        found.setdefault((one.path, one.metric), []).append(one.tasks)
    return [
        Note(NoteKind.READER, tasks=tuple(tasks), path=path, field=words.format(metric))
        for (path, metric), tasks in found.items()
    ]
