"""The report's lines on whether the difference is real."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.report.notes import solved_text
from nemo_gym.rollout_compare.schema import Category, CompareResult, Repeats, Statistics, Verdict
from nemo_gym.rollout_compare.text.words import counted


def difference_lines(result: CompareResult) -> Iterator[str]:
    """The section, as a colleague would say it."""
    figures = result.statistics
    if figures is None:
        return
    yield ""
    yield "## Difference"
    yield _delta(result, figures)
    yield _verdict(figures)
    if figures.unmeasured and figures.unmeasured.tasks:
        bounds = figures.unmeasured
        tasks = f"the {bounds.tasks} masked or missing tasks" if bounds.tasks > 1 else "the masked or missing task"
        yield f"had {tasks} gone against new: {_signed(bounds.delta_worst)}; for new: {_signed(bounds.delta_best)}"
    yield from _repeats(result)


def _delta(result: CompareResult, figures: Statistics) -> str:
    if not figures.n:
        return "new - old: nothing to compare"
    doubtful = bool(result.by_category(Category.FLIPPED_AGENT_ERROR))
    wins = f"{counted(figures.old_wins, 'task')} lost, {figures.new_wins} won" + " (agent errors included)" * doubtful
    if figures.delta is None:
        return f"{counted(figures.n, 'task')} measured on both sides; {wins}"
    interval = "no interval"
    if figures.ci_low is not None and figures.ci_high is not None:
        interval = f"95% interval {_signed(figures.ci_low)} to {_signed(figures.ci_high)}"
    return f"new - old = {_signed(figures.delta)} ({interval}, {counted(figures.n, 'task')}); {wins}"


def _verdict(figures: Statistics) -> str:
    test = "" if figures.p_value is None else f"{figures.test} {p_text(figures.p_value)}"
    if figures.verdict is Verdict.CANNOT_TELL:
        return f"cannot tell{f' ({test})' if test else ''}: {figures.reason}"
    power = ""
    if figures.detectable is not None:
        power = (
            f"; {counted(figures.n, 'task')} could show a difference of {_signed(figures.detectable).removeprefix('+')}"
        )
    return f"{test}: {figures.verdict}{power}"


def _repeats(result: CompareResult) -> Iterator[str]:
    noisy = sum(flip.repeats is not None and flip.repeats.within_noise for flip in result.flips)
    if noisy:
        yield f"{counted(noisy, 'flip')} within the noise of repeated attempts"
    old = sum(task.old is not None and task.old.flaky for task in result.tasks)
    new = sum(task.new is not None and task.new.flaky for task in result.tasks)
    if old or new:
        yield f"flaky (attempts at one task disagree): old {counted(old, 'task')}, new {counted(new, 'task')}"


def repeats_text(repeats: Repeats) -> str:
    """A flip seen through its attempts: `3/4 -> 1/4`."""
    noise = ": within noise" if repeats.within_noise else ""
    old, new = solved_text(repeats)
    return f"attempts solved: {old} -> {new} (Fisher's exact {p_text(repeats.p_value)}{noise})"


def p_text(p_value: float) -> str:
    """A p-value, to two digits."""
    return f"p = {p_value:.2g}" if p_value else "p < 1e-300"


def _signed(value: float) -> str:
    """A difference with its sign, in three decimals where these show it."""
    if abs(value) >= 1e6 or 0 < abs(value) < 5e-4:
        return f"{value:+.2e}"
    return f"{value:+.3f}"
