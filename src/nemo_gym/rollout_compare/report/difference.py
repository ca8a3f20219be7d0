"""The report's lines on whether the difference is real."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.figures import Repeats, Statistics
from nemo_gym.rollout_compare.schema import CompareResult


def difference_lines(result: CompareResult) -> Iterator[str]:
    """The section, as a colleague would say it."""
    figures = result.statistics
    if figures is None:
        return
    yield ""
    yield "## Difference"
    yield _delta(figures)
    yield _verdict(figures)
    if figures.unmeasured and figures.unmeasured.tasks:
        bounds = figures.unmeasured
        yield (
            f"had the {_tasks(bounds.tasks, 'masked or missing')} all gone against new: {bounds.delta_worst:+.4g}; "
            f"for new: {bounds.delta_best:+.4g}"
        )
    yield from _repeats(result)


def _delta(figures: Statistics) -> str:
    if figures.delta is None:
        return (
            f"{_tasks(figures.n, 'measured on both sides')}; {_wins(figures)}"
            if figures.n
            else "new - old: nothing to compare"
        )
    interval = "no interval"
    if figures.ci_low is not None and figures.ci_high is not None:
        interval = f"95% interval {figures.ci_low:+.3f} to {figures.ci_high:+.3f}"
    return f"new - old = {figures.delta:+.3f} ({interval}, {_tasks(figures.n)}); {_wins(figures)}"


def _wins(figures: Statistics) -> str:
    return f"{_tasks(figures.old_wins)} lost, {figures.new_wins} won"


def _verdict(figures: Statistics) -> str:
    parts = []
    if figures.p_value is not None and figures.test is not None:
        parts.append(f"{figures.test} p = {p_text(figures.p_value)}: {figures.verdict}")
    else:
        parts.append(str(figures.verdict))
    if figures.reason:
        parts.append(figures.reason)
    elif figures.detectable is not None:
        parts.append(f"{_tasks(figures.n)} could show a difference of {figures.detectable:.3f}")
    return "; ".join(parts)


def _repeats(result: CompareResult) -> Iterator[str]:
    noisy = sum(flip.repeats is not None and flip.repeats.within_noise for flip in result.flips)
    if noisy:
        yield f"{noisy} of {len(result.flips)} flips within the noise of repeated attempts"
    old = sum(task.old is not None and task.old.flaky for task in result.tasks)
    new = sum(task.new is not None and task.new.flaky for task in result.tasks)
    if old or new:
        yield f"flaky (attempts at one task disagree): old {_tasks(old)}, new {_tasks(new)}"


def repeats_text(repeats: Repeats) -> str:
    """A flip seen through its attempts: `3/4 -> 1/4`."""
    noise = ": within noise" if repeats.within_noise else ""
    return f"attempts solved: {repeats.old} -> {repeats.new} (Fisher's exact p = {p_text(repeats.p_value)}{noise})"


def p_text(p_value: float) -> str:
    """A p-value, to two digits."""
    return f"{p_value:.2g}"


def _tasks(count: int, which: str = "") -> str:
    noun = "task" if count == 1 else "tasks"
    return f"{count} {which} {noun}" if which.startswith("masked") else f"{count} {noun} {which}".rstrip()
