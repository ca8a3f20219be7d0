"""Tasks that are allowed to break rules: a file of labels, each with an optional reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from nemo_gym.rollout_compare.schema import Category, CompareResult
from nemo_gym.rollout_compare.text import one_line

# A reason begins here. What lies beyond so many of them is reason, whatever labels there are.
_REASON = re.compile(r"[ \t]#")
_MOST_REASONS = 20

_BREAKING = {Category.FLIPPED, Category.FLIPPED_AGENT_ERROR, Category.MASKED, Category.MISSING}


def allowed_of(text: str, labels: Collection[str]) -> dict[str, str]:
    """The labels of an allow file with their reasons: one a line, `LABEL # REASON`; blank lines and comments aside.

    A label may hold ` #` or begin with `#`, as those of tasks that are joined by their input do: of a line the longest
    beginning that is a label counts, as it is or as reports and `--rerun` show it. A line without any counts as far as
    its first ` #`.

    Args:
        text: What the file holds.
        labels: The labels of the tasks there are.
    """
    shown = {one_line(label): label for label in labels} | {label: label for label in labels}
    found = {}
    for line in text.split("\n"):
        known = next(_known(line, shown), None)
        if known is not None:
            found[known[0]] = known[1]
        elif line.strip() and not line.lstrip().startswith("#"):
            label, _, reason = _parted(line, _REASON.search(line))
            found[label.strip()] = reason.strip()
    return found


def _known(line: str, shown: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The labels with which a line begins and their reasons, the longest first."""
    ends = [match for _, match in zip(range(_MOST_REASONS), _REASON.finditer(line), strict=False)]
    for end in (None, *reversed(ends)):
        label, _, reason = _parted(line, end)
        for written in (label, label.removesuffix("\r"), label.strip()):
            if written and written in shown:
                yield shown[written], reason.strip()


def _parted(line: str, end: re.Match[str] | None) -> tuple[str, str, str]:
    return (line[: end.start()], end.group(), line[end.end() :]) if end else (line, "", "")


def no_longer_needed(result: CompareResult, allowed: Collection[str]) -> tuple[str, ...]:
    """The allowed labels whose tasks break no rule any more, sorted: they do not flip, nor lack a result or an input.

    That is about all rules there are, and not about those that were asked for.
    """
    breaking = {task.task for task in result.tasks if task.category in _BREAKING}
    return tuple(sorted(set(allowed) - breaking - set(result.join_check.tasks_differ)))
