"""The report's lines on groups of tasks: subsets one by one, and related tasks kept together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.report.terminal.decision import change_text, p_text, value_text
from nemo_gym.rollout_compare.report.terminal.words import cut, many
from nemo_gym.rollout_compare.schema import Statistics, Subset, Subsets
from nemo_gym.rollout_compare.text import one_line

#: So many groups of a field are shown, beside the small ones together: the JSON has all.
MOST_GROUPS = 20

_WIDTH, _FEWEST_CHARACTERS = 80, 12

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
    named = [group for group in subsets.groups if group.name is not None]
    small = [group for group in subsets.groups if group.name is None]
    head, *table = _table([_HEAD, *(_cells(figures, group) for group in (*named[:MOST_GROUPS], *small))])
    yield head
    yield from table[: min(len(named), MOST_GROUPS)]
    if len(named) > MOST_GROUPS:
        yield f"  ... and {_counted(named[MOST_GROUPS:])}"
    yield from table[len(table) - len(small) :]


def _counted(left_out: Sequence[Subset]) -> str:
    changed = sum(group.p_value is not None and group.p_value < _NOT_THE_SAME for group in left_out)
    return many(len(left_out), "more group") + f", {changed:,} of them with p < {_NOT_THE_SAME}" * bool(changed)


_HEAD = ("", "tasks", "old", "new", "change", "95% interval", "")


def _cells(figures: Statistics, group: Subset) -> tuple[str, ...]:
    name = "others" if group.name is None else one_line(group.name) or "''"
    interval = ""
    if group.ci_low is not None and group.ci_high is not None:
        low, high = (change_text(figures, end, unit=False) for end in (group.ci_low, group.ci_high))
        interval = f"{low} to {high}"
    p_value = "" if group.p_value is None else p_text(group.p_value)
    means = (value_text(figures, mean) for mean in (group.old, group.new))
    return name, f"{group.n:,}", *means, change_text(figures, group.delta, unit=False), interval, p_value


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Lines of cells: the names as wide as there is room for, numbers to the right, the interval and p to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(_FEWEST_CHARACTERS, _WIDTH - sum(2 + width for width in widths[1:]) - 2)
    widths[0] = min(widths[0], room)
    for name, *numbers, interval, p_value in rows:
        right = "".join(f"  {cell:>{width}}" for cell, width in zip(numbers, widths[1:-2], strict=True))
        yield f"  {cut(name, widths[0]):<{widths[0]}}{right}  {interval:<{widths[-2]}}  {p_value}".rstrip()
