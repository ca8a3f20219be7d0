"""The report's lines on what else changed, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nemo_gym.rollout_compare.report.terminal.words import many
from nemo_gym.rollout_compare.schema import NONE, Change, CompareResult, Cost, Parted, Ratio, long_text, named_parts
from nemo_gym.rollout_compare.text import MEASURES, first_of, one_line

MOST_LINES = 15

#: How wide a line is that is cut, unless a terminal has another width.
COLUMNS = 80

_MOST_SHARES = 3
_MOST_NAMED = 5
_VALUE_LIMIT = 60


def change_lines(result: CompareResult) -> Iterator[str]:
    """The section on settings that differ."""
    if result.changes:
        yield ""
        yield "## What else changed"
        most = MOST_LINES if len(result.changes) <= MOST_LINES else MOST_LINES - 1
        yield from map(change_text, result.changes[:most])
        if len(result.changes) > most:
            yield f"... and {len(result.changes) - most} more settings"


def settings_lines(result: CompareResult) -> Iterator[str]:
    """A line that says what was compared, where no setting differs; nothing where nothing is known."""
    if result.settings_compared and not result.changes:
        yield f"settings: no difference in {first_of(result.settings_compared, _MOST_NAMED)}"


def change_text(change: Change) -> str:
    """One setting in a line: `temperature: 1.0 -> 0.6`, `tools: + browser`."""
    return f"{one_line(change.field)}: {_how(change)}"


def _how(change: Change) -> str:
    old, new = change.old, change.new
    if change.old_values == change.new_values == 1:
        (before,), (after,) = old, new
        if long_text(before) is not None and long_text(after) is not None:
            return _differs(change, f"{before.partition(' #')[0]} -> {after.partition(' #')[0]}")
        names = named_parts(before), named_parts(after)
        if any(names):
            return _names(before, after)
        return f"{_value(before)} -> {_value(after)}"
    few = max(change.old_values, change.new_values) <= _MOST_SHARES
    if not few or any(map(long_text, (*old, *new))):
        tasks = f"{change.tasks:,} of {many(change.total, 'task')}"
        return _differs(change, f"in {tasks}")
    return f"{_shares(old, new)} -> {_shares(new, old)}"


def _differs(change: Change, otherwise: str) -> str:
    if change.first_difference is None:
        return f"differs ({otherwise})"
    where = f"first difference at character {change.first_difference:,}"
    several = change.old_values > 1 or change.new_values > 1
    return f"differs ({otherwise}; {where})" if several else f"differs ({where})"


def _value(text: str) -> str:
    names = named_parts(text)
    return one_line(", ".join(names) if names else text.partition(" #")[0] if long_text(text) else text, _VALUE_LIMIT)


def _names(before: str, after: str) -> str:
    """What was added to a list and what was taken from it."""
    old, new = (([] if text == NONE else named_parts(text) or [text]) for text in (before, after))
    told = [f"+ {name}" for name in new if name not in old] + [f"- {name}" for name in old if name not in new]
    if not told:
        return "same names, other definitions"
    return one_line(first_of(told, _MOST_NAMED))


def _shares(counts: Mapping[str, int], other: Mapping[str, int]) -> str:
    """The values of a side with how many rows have them; what is the other side's only value goes without saying."""
    if len(counts) == 1:
        (value,) = counts
        return _value(value)
    rows = sum(counts.values())
    shown = [value for value in counts if len(other) > 1 or value not in other]
    return ", ".join(f"{_value(value)} on {counts[value]:,} of {many(rows, 'row')}" for value in shown)


def cost_lines(result: CompareResult) -> Iterator[str]:
    """The section on what the runs cost."""
    cut = result.truncated
    costs = [cost for cost in result.costs if cost.mean_old or cost.mean_new]
    if not costs and not (cut and (cut.old or cut.new)):
        return
    yield ""
    yield "## Cost"
    why = {cost.ratio.reason if cost.ratio.times is None else None for cost in costs}
    said_once = len(why) == 1 and None not in why
    for cost in costs:
        yield from cost_text(cost, say_why=not said_once)
    if said_once:
        yield f"no ratio: {why.pop()}"
    if cut and (cut.old or cut.new):
        sides = ", ".join(
            f"{side} {number:,} of {many(known, 'row')}" if known else f"{side} not known"
            for side, number, known in (("old", cut.old, cut.old_known), ("new", cut.new, cut.new_known))
        )
        yield f"answers cut off by a limit: {sides}"


def cost_text(cost: Cost, *, say_why: bool = False) -> Iterator[str]:
    """What the runs cost by one measure: a line, and what qualifies it."""
    text = f"{_amount(cost.measure, cost.mean_old)} -> {_amount(cost.measure, cost.mean_new)}"
    if cost.ratio.times is not None or say_why:
        text += f", {_times(cost, cost.ratio)}"
    yield f"{MEASURES[cost.measure]}: {text}"
    if cost.solved.ci_low is not None and cost.solved.tasks < cost.ratio.tasks:
        yield f"    solved by both: {_times(cost, cost.solved)}"
    if cost.carried_by:
        share = f"{cost.carried_by.share:.0%}"
        yield f"    {share} of the change is one task: {one_line(cost.carried_by.task, _VALUE_LIMIT)}"


def _times(cost: Cost, ratio: Ratio) -> str:
    tasks = many(ratio.tasks, "task")
    if ratio.times is None:
        return f"no ratio: {ratio.reason}"
    if ratio.ci_low is None or ratio.ci_high is None:
        times = _factor(ratio.times)
        return f"{'the same' if times == '1.00' else f'{times} times'} in each of {tasks}"
    less = f" of {cost.tasks:,}" * (ratio.tasks < cost.tasks and ratio is cost.ratio)
    interval = f"{_factor(ratio.ci_low)} to {_factor(ratio.ci_high)}"
    return f"{_factor(ratio.times)} times ({interval}, {ratio.tasks:,}{less} tasks)"


def _factor(value: float) -> str:
    return f"{value:.2f}" if 0.095 <= value < 1000 else f"{value:.2g}"


def _amount(measure: str, value: float) -> str:
    if not value:
        return "0"
    if measure == "dollars":
        return f"${value:,.2f}" if value >= 1 else f"${value:.2g}"
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def parted_lines(found: Parted, width: int = COLUMNS) -> Sequence[str]:
    """Where the agents of a flip parted, in a line if it fits, else in three."""
    if found.step is None:
        return [f"    both agents did the same ({many(found.old_steps, 'step')})"]
    where = f"    parted at step {found.step:,} of {found.old_steps:,} and {found.new_steps:,}"
    old, new = (one_line(act) if act is not None else "ended" for act in (found.old, found.new))
    line = f"{where}: old {old}, new {new}"
    if len(line) <= width:
        return [line]
    return [f"{where}:", *(f"        {side} {_cut(act, width - 12)}" for side, act in (("old", old), ("new", new)))]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 4]}..." + '"' * text.endswith('"')
