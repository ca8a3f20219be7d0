"""The report's lines on groups of tasks: subsets one by one, and related tasks kept together."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.report.terminal.decision import change_text, p_text, value_text
from nemo_gym.rollout_compare.report.terminal.words import many
from nemo_gym.rollout_compare.schema import Statistics, Subset, Subsets
from nemo_gym.rollout_compare.text import one_line

_NAME_LIMIT = 24

#: With fewer groups nothing is said of related tasks.
_FEWEST_GROUPS = 6

#: Subsets differ when they would by chance less often than this.
_NOT_THE_SAME = 0.05


def related_lines(figures: Statistics) -> Iterator[str]:
    """What keeping related tasks together says."""
    if figures.clustered is not None:
        related = figures.clustered
        kept = f"with tasks of one {one_line(related.field)} kept together ({many(related.groups, 'group')})"
        if related.ci_low is None or related.ci_high is None or related.p_value is None:
            few = related.groups < _FEWEST_GROUPS
            why = f"it takes {_FEWEST_GROUPS} to tell" if few else "they do not differ, so there is no interval"
            yield f"{kept}: {why}"
        else:
            ends = f"{change_text(figures, related.ci_low, unit=False)} to {change_text(figures, related.ci_high)}"
            yield f"{kept}: {ends}, {p_text(related.p_value)}"


def subset_lines(figures: Statistics) -> Iterator[str]:
    """A table for each field that groups the tasks."""
    for subsets in figures.subsets or ():
        yield from _subsets(figures, subsets)


def _subsets(figures: Statistics, subsets: Subsets) -> Iterator[str]:
    different = ""
    if subsets.p_value is not None and subsets.p_value < _NOT_THE_SAME:
        different = f": not the same everywhere ({p_text(subsets.p_value)})"
    yield f"by {one_line(subsets.field)}{different}"
    yield f"  {'':<{_NAME_LIMIT}} {'tasks':>6} {'old':>7} {'new':>7} {'change':>8}  95% interval"
    yield from (_subset(figures, group) for group in subsets.groups)


def _subset(figures: Statistics, group: Subset) -> str:
    name = "others" if group.name is None else one_line(group.name, _NAME_LIMIT) or "''"
    interval = ""
    if group.ci_low is not None and group.ci_high is not None:
        low, high = (change_text(figures, end, unit=False) for end in (group.ci_low, group.ci_high))
        interval = f"{low} to {high}"
    p_value = "" if group.p_value is None else f"  {p_text(group.p_value)}"
    old, new = value_text(figures, group.old), value_text(figures, group.new)
    delta = change_text(figures, group.delta, unit=False)
    return f"  {name:<{_NAME_LIMIT}} {group.n:>6,} {old:>7} {new:>7} {delta:>8}  {interval:<16}{p_value}".rstrip()
