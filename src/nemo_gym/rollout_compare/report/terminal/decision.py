"""The decision in one line: what may be said of the new side, the two means, and what became of the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nemo_gym.rollout_compare.report.terminal.words import many
from nemo_gym.rollout_compare.schema import Category, CompareResult, Statistics, Verdict

# Nobody decides by how far below this a p-value is, and draws cannot show it.
_SMALLEST_P = 1e-5


#: What stands between an old value and a new one; a page has a word instead.
ARROW = "->"


class Decision(NamedTuple):
    """The decision in parts.

    Attributes:
        verdict: What may be said.
        means: Both means and how they differ.
        unchanged: What it says that no task changed; None where some did.
        tasks: What became of the tasks.
        doubt: What could overturn the verdict; None where nothing could.
    """

    verdict: str
    means: str
    unchanged: str | None
    tasks: str
    doubt: str | None


def decision_parts(result: CompareResult, to: str = ARROW) -> Decision | None:
    """The decision in parts, None where nobody asked for figures."""
    figures = result.statistics
    if figures is None:
        return None
    doubt = None
    if figures.unmeasured and figures.unmeasured.could_overturn:
        doubt = f"but the {many(figures.unmeasured.tasks, 'unmeasured task')} could overturn this"
    known = figures.mean_old is not None and figures.mean_new is not None and figures.delta is not None
    changed = figures.old_wins + figures.new_wins
    unchanged = _nothing_changed(figures) if figures.n and known and not changed else None
    return Decision(
        verdict_text(figures), means_text(figures, to), unchanged, ", ".join(_tasks(result, figures)), doubt
    )


def decision_text(result: CompareResult) -> str | None:
    """The line, None where nobody asked for figures: `worse: 69.6% -> 33.9% (-35.7 points, p = 0.03); 8 lost, 2 won`.

    The first line of the report's section on the difference, and the last line of the whole report.
    """
    parts = decision_parts(result)
    if parts is None:
        return None
    verdict, *rest = parts
    return f"{verdict}: {'; '.join(filter(None, rest))}"


def verdict_text(figures: Statistics) -> str:
    """The verdict, with the margin that it is about."""
    if figures.margin and figures.verdict is Verdict.SAME:
        return f"same within {size_text(figures, figures.margin.margin)}"
    if figures.margin and figures.verdict is Verdict.NOT_WORSE:
        return f"not worse by {size_text(figures, figures.margin.margin)}"
    if figures.margin and figures.verdict is Verdict.NO_SIGNIFICANT_CHANGE:
        return f"not shown to be the same within {size_text(figures, figures.margin.margin)}"
    return figures.verdict.value


def means_text(figures: Statistics, to: str = ARROW) -> str:
    """Both means and, where a task changed, how they differ: `69.6% -> 33.9% (-35.7 points, p = 0.03)`."""
    if not figures.n:
        return "nothing to compare"
    if figures.mean_old is None or figures.mean_new is None or figures.delta is None:
        return f"{many(figures.n, 'task')} without figures"
    means = f"{value_text(figures, figures.mean_old)} {to} {value_text(figures, figures.mean_new)}"
    if not figures.old_wins + figures.new_wins:
        return means
    p_value = "" if figures.p_value is None else f", {p_text(figures.p_value)}"
    return f"{means} ({change_text(figures, figures.delta)}{p_value})"


def _nothing_changed(figures: Statistics) -> str:
    of = f"no task of {figures.n:,} changed" if figures.n > 1 else "the one task did not change"
    if figures.ci_high is None:
        return of
    return f"{of}; the true change is within {size_text(figures, figures.ci_high)} (95%)"


def _tasks(result: CompareResult, figures: Statistics) -> Iterator[str]:
    """What became of the tasks: those that changed, of them those in doubt, and those that were not measured."""
    doubtful = len(result.by_category(Category.FLIPPED_AGENT_ERROR))
    errors = f" ({doubtful:,} with {'agent errors' if doubtful > 1 else 'an agent error'})" * bool(doubtful)
    yield f"{figures.old_wins:,} lost, {figures.new_wins:,} won{errors}"
    masked = len(result.by_category(Category.MASKED)) - partly_measured(result)
    missing = len(result.by_category(Category.MISSING))
    if masked:
        yield f"{masked:,} masked"
    if missing:
        yield f"{missing:,} missing"


def partly_measured(result: CompareResult) -> int:
    """How many masked tasks have a measured attempt on both sides."""
    masked = result.by_category(Category.MASKED)
    return sum(task.measured for task in masked)


def value_text(figures: Statistics, value: float) -> str:
    """A mean reward: the share solved where rewards are 0 or 1."""
    return f"{_short(100 * value)}%" if figures.pass_fail else number_text(value)


def change_text(figures: Statistics, change: float, *, unit: bool = True) -> str:
    """A change with its sign, in points where rewards are 0 or 1."""
    if figures.pass_fail:
        sign = "-" if change < 0 else "+"
        return f"{sign}{_short(100 * abs(change))}{' points' * unit}"
    return number_text(change, sign=True)


def size_text(figures: Statistics, size: float) -> str:
    """How large a change is, without a sign."""
    if figures.pass_fail:
        points = _short(100 * size)
        return f"{points} point{'' if points == '1' else 's'}"
    return number_text(size)


def _short(hundredths: float) -> str:
    """Points to one decimal, which is left out where it is 0; more where these show nothing."""
    return f"{hundredths:.1g}" if 0 < hundredths < 0.05 else f"{hundredths:.1f}".removesuffix(".0")


def number_text(value: float, *, sign: bool = False) -> str:
    """A number in three decimals where these show it."""
    form = ".2e" if abs(value) >= 1e6 or 0 < abs(value) < 5e-4 else ".3f"
    return format(value + 0.0, f"{'+' * sign}{form}")


def p_text(p_value: float) -> str:
    """A p-value, to two digits."""
    return f"p < {_SMALLEST_P:.0e}".replace("e-05", "e-5") if p_value < _SMALLEST_P else f"p = {p_value:.2g}"
