"""The report's lines on what else changed, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nemo_gym.rollout_compare.report.terminal.decision import ARROW
from nemo_gym.rollout_compare.report.terminal.words import many
from nemo_gym.rollout_compare.schema import NONE, Change, CompareResult, Cost, Parted, Ratio, long_text, named_parts
from nemo_gym.rollout_compare.text import MEASURES, first_of, one_line

MOST_LINES = 15

#: What the two sections are called.
CHANGES_TITLE, COST_TITLE = "What else changed", "Cost"

#: How wide a line is that is cut, unless a terminal has another width.
COLUMNS = 80

_MOST_SHARES = 3
_MOST_NAMED = 5
_VALUE_LIMIT = 60


def change_lines(result: CompareResult) -> Iterator[str]:
    """The section on settings that differ."""
    if result.changes:
        yield ""
        yield f"## {CHANGES_TITLE}"
        yield from changed_settings(result)


def changed_settings(result: CompareResult) -> Iterator[str]:
    """The settings that differ, a line each as far as there is room."""
    most = MOST_LINES if len(result.changes) <= MOST_LINES else MOST_LINES - 1
    yield from map(change_text, result.changes[:most])
    if len(result.changes) > most:
        yield f"... and {len(result.changes) - most} more settings"


def settings_parts(result: CompareResult) -> Iterator[tuple[str, str]]:
    """What was compared, where no setting differs; nothing where nothing is known."""
    if result.settings_compared and not result.changes:
        yield "settings", f"no difference in {first_of(result.settings_compared, _MOST_NAMED)}"


def change_text(change: Change) -> str:
    """One setting in a line: `temperature: 1.0 -> 0.6`, `tools: + browser`."""
    return ": ".join(change_parts(change))


def change_parts(change: Change, to: str = ARROW) -> tuple[str, str]:
    """What one setting is called, and how it changed."""
    return one_line(change.field), _how(change, to)


def _how(change: Change, to: str) -> str:
    old, new = change.old, change.new
    if change.old_values == change.new_values == 1:
        (before,), (after,) = old, new
        if long_text(before) is not None and long_text(after) is not None:
            return _differs(change, f"{before.partition(' #')[0]} {to} {after.partition(' #')[0]}")
        names = named_parts(before), named_parts(after)
        if any(names):
            return _names(before, after)
        return f"{_value(before)} {to} {_value(after)}"
    few = max(change.old_values, change.new_values) <= _MOST_SHARES
    if not few or any(map(long_text, (*old, *new))):
        tasks = f"{change.tasks:,} of {many(change.total, 'task')}"
        return _differs(change, f"in {tasks}")
    return f"{_shares(old, new)} {to} {_shares(new, old)}"


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
    told = list(cost_texts(result))
    if told:
        yield ""
        yield f"## {COST_TITLE}"
        for text, *more in told:
            yield text
            yield from (f"    {line}" for line in more)


def cost_texts(result: CompareResult) -> Iterator[list[str]]:
    """What the runs cost: each measure with what qualifies it, and the answers that were cut off."""
    cut = result.truncated
    costs = [cost for cost in result.costs if cost.mean_old or cost.mean_new]
    why = {cost.ratio.reason if cost.ratio.times is None else None for cost in costs}
    said_once = len(why) == 1 and None not in why
    for cost in costs:
        yield [": ".join(cost_parts(cost, say_why=not said_once)), *_qualified(cost)]
    if said_once:
        yield [f"no ratio: {why.pop()}"]
    if cut and (cut.old or cut.new):
        sides = ", ".join(
            f"{side} {number:,} of {many(known, 'row')}" if known else f"{side} not known"
            for side, number, known in (("old", cut.old, cut.old_known), ("new", cut.new, cut.new_known))
        )
        yield [f"answers cut off by a limit: {sides}"]


def cost_parts(cost: Cost, to: str = ARROW, *, say_why: bool = False) -> tuple[str, str]:
    """What a measure is called, and what the runs cost by it."""
    text = f"{_amount(cost.measure, cost.mean_old)} {to} {_amount(cost.measure, cost.mean_new)}"
    if cost.ratio.times is not None or say_why:
        text += f", {_times(cost, cost.ratio)}"
    return MEASURES[cost.measure], text


def _qualified(cost: Cost) -> Iterator[str]:
    if cost.solved.ci_low is not None and cost.solved.tasks < cost.ratio.tasks:
        yield f"solved by both: {_times(cost, cost.solved)}"
    if cost.carried_by:
        share = f"{cost.carried_by.share:.0%}"
        yield f"{share} of the change is one task: {one_line(cost.carried_by.task, _VALUE_LIMIT)}"


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
    where, acts = parted_parts(found)
    line = f"    {where}: {', '.join(acts)}" if acts else f"    {where}"
    if not acts or len(line) <= width:
        return [line]
    return [f"    {where}:", *(f"        {_cut(act, width - 8)}" for act in acts)]


def parted_parts(found: Parted) -> tuple[str, tuple[str, ...]]:
    """Where the agents of a flip parted, and what each did there, if they did."""
    if found.step is None:
        return f"both agents did the same ({many(found.old_steps, 'step')})", ()
    where = f"parted at step {found.step:,} of {found.old_steps:,} and {found.new_steps:,}"
    acts = (("old", found.old), ("new", found.new))
    return where, tuple(f"{side} {one_line(act) if act is not None else 'ended'}" for side, act in acts)


def parted_text(found: Parted) -> str:
    """The same in a line, however long."""
    where, acts = parted_parts(found)
    return f"{where}: {', '.join(acts)}" if acts else where


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 4]}..." + '"' * text.endswith('"')
