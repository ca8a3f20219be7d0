"""The report's lines on whether the difference is real: the decision, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from nemo_gym.rollout_compare.report.notes import solved_text
from nemo_gym.rollout_compare.report.terminal.decision import (
    ARROW,
    change_text,
    decision_text,
    p_text,
    partly_measured,
    size_text,
    value_text,
    verdict_text,
)
from nemo_gym.rollout_compare.report.terminal.groups import related_lines, subset_lines
from nemo_gym.rollout_compare.report.terminal.words import label, many
from nemo_gym.rollout_compare.schema import (
    ByChance,
    CompareResult,
    Conclusion,
    Margin,
    Repeats,
    Statistics,
    Unmeasured,
    Verdict,
)

# What takes more than so many times the tasks nobody will do.
_MOST_TIMES = 100

_DECIDED = frozenset({Verdict.BETTER, Verdict.WORSE})


def difference_lines(result: CompareResult) -> Iterator[str]:
    """The section, as a colleague would say it."""
    decision, figures = decision_text(result), result.statistics
    if decision is None or figures is None:
        return
    yield ""
    yield "## Difference"
    yield decision
    yield from difference_sentences(result, figures)
    yield from subset_lines(figures)


def difference_sentences(result: CompareResult, figures: Statistics, to: str = ARROW) -> Iterator[str]:
    """What the decision rests on, a sentence each; `to` stands between an old value and a new one."""
    if figures.reason:
        yield figures.reason
    yield from _margin(figures)
    yield from _interval(figures)
    yield from _power(figures)
    if figures.verdict is Verdict.NO_SIGNIFICANT_CHANGE and result.flips and _one_attempt_a_task(result):
        yield "one attempt a task: run the old side twice to see how many flips are normal"
    yield from _doubts(figures)
    yield from _unmeasured(figures)
    yield from _attempts(result, figures, to)
    yield from related_lines(figures)


def _margin(figures: Statistics) -> Iterator[str]:
    margin = figures.margin
    if margin is None or margin.conclusion is not Conclusion.NOT_SHOWN:
        return
    if margin.low is not None and figures.verdict is Verdict.NO_SIGNIFICANT_CHANGE:
        yield f"it could be {_as_bad(figures, margin)}, so it is not shown not to be worse either"
    else:
        yield not_shown_text(figures, margin)


def not_shown_text(figures: Statistics, margin: Margin) -> str:
    """Why the new side is neither shown to be the same nor not to be worse."""
    if margin.low is None:
        return "there is no interval to hold the margin against"
    size = size_text(figures, margin.margin)
    return f"not shown to be the same within {size}: it could be {_as_bad(figures, margin)}"


def _as_bad(figures: Statistics, margin: Margin) -> str:
    """The worse end of the margin's interval: of a 90% interval one end alone is sure to 95%."""
    end, word = (margin.high, "high") if figures.lower_is_better else (margin.low, "low")
    assert end is not None  # either both are or none is
    return f"as {word} as {change_text(figures, end)} (95%, one-sided)"


def _interval(figures: Statistics) -> Iterator[str]:
    if figures.ci_low is None or figures.ci_high is None or not figures.old_wins + figures.new_wins:
        return
    ends = f"{change_text(figures, figures.ci_low, unit=False)} and {change_text(figures, figures.ci_high)}"
    on = " on tasks like these" * (figures.on_these_tasks is not None)
    yield f"the true change{on} is between {ends} (95%, {many(figures.n, 'task')})"
    these = figures.on_these_tasks
    if these is None:
        return
    interval = ""
    if these.ci_low is not None and these.ci_high is not None:
        interval = f" ({change_text(figures, these.ci_low, unit=False)} to {change_text(figures, these.ci_high)})"
    tasks = many(these.tasks, "task")
    yield f"on these {tasks}: {change_text(figures, these.delta)}{interval}, {p_text(these.p_value)}"


def _power(figures: Statistics) -> Iterator[str]:
    if figures.verdict is Verdict.NO_SIGNIFICANT_CHANGE and figures.detectable is not None:
        yield f"a true change of {size_text(figures, figures.detectable)} would be found 4 times in 5"
    need = figures.to_decide
    told = figures.reason is not None and figures.margin is None  # the reason says already what it takes
    told |= figures.verdict in _DECIDED
    if need is not None and not told and 1 < need.tasks / figures.n <= _MOST_TIMES:
        times = f"{number_of_times(need.tasks / figures.n)} the tasks ({need.tasks:,})"
        attempts = ""
        if need.attempts is not None:
            attempts = f", or {need.attempts:,} attempts a task"
        elif need.attempts_enough is False:
            attempts = "; no number of attempts will do"
        yield f"to find {size_text(figures, need.delta)} in 4 of 5 comparisons takes {times}{attempts}"
    changed = figures.old_wins + figures.new_wins
    if figures.chance_better is not None and changed and figures.verdict is Verdict.NO_SIGNIFICANT_CHANGE:
        yield f"chance that new is better: {100 * figures.chance_better:.0f}%"


def number_of_times(ratio: float) -> str:
    """How many times as much: `4 times`."""
    return f"{ratio:.2g} times" if ratio < 10 else f"{ratio:,.0f} times"


def _doubts(figures: Statistics) -> Iterator[str]:
    """What may make a reader doubt the verdict."""
    if figures.borderline:
        yield "borderline: interval and p disagree on whether there is a difference"
    if figures.wins_say is not None:
        yield f"wins alone say: {figures.wins_say}"
    if figures.carried_by is not None:
        carrier = figures.carried_by
        without = change_text(figures, carrier.delta_without)
        verdict = verdict_text(replace(figures, verdict=carrier.verdict_without))
        yield f"one task carries it: without {label(carrier.task)} the change is {without} (verdict: {verdict})"
    without_errors = figures.without_agent_errors
    if without_errors is not None and without_errors.verdict is not figures.verdict:
        delta = "" if without_errors.delta is None else f" ({change_text(figures, without_errors.delta)}"
        p_value = "" if without_errors.p_value is None else f", {p_text(without_errors.p_value)}"
        end = ")" * bool(delta)
        yield f"without the flips that have agent errors: {without_errors.verdict}{delta}{p_value}{end}"


def _unmeasured(figures: Statistics) -> Iterator[str]:
    bounds = figures.unmeasured
    if bounds is None or not bounds.tasks:
        return
    tasks = f"the {many(bounds.tasks, 'unmeasured task')}"
    if bounds.delta_worst is None or bounds.delta_best is None or bounds.as_failed is None:
        yield f"{tasks} could change this without limit: rewards are not all from 0 to 1"
        return
    yield (
        f"had {tasks} gone against new: {change_text(figures, bounds.delta_worst)}; "
        f"for new: {change_text(figures, bounds.delta_best, unit=False)}; "
        f"had they failed: {change_text(figures, bounds.as_failed, unit=False)}"
    )
    yield from _selection(figures, bounds)


def _selection(figures: Statistics, bounds: Unmeasured) -> Iterator[str]:
    for selected in bounds.selection:
        other = "new" if selected.side == "old" else "old"
        below = selected.mean < selected.mean_measured
        harder = "harder" if below is not figures.lower_is_better else "easier"
        means = f"{value_text(figures, selected.mean)} against {value_text(figures, selected.mean_measured)}"
        yield (
            f"the {selected.tasks} tasks that {selected.side} did not measure are {harder}: "
            f"{other} has {means} on the others ({p_text(selected.p_value)})"
        )


def _attempts(result: CompareResult, figures: Statistics, to: str) -> Iterator[str]:
    """What several attempts a task say."""
    partly = partly_measured(result)
    if partly:
        count = "counts by its" if partly == 1 else "count by their"
        yield f"{many(partly, 'partly masked task')} {count} measured attempts"
    chance = figures.by_chance
    if chance is not None and chance.flips:
        flips = f"{many(chance.flips, 'flip')}, about {_about(chance.expected)} expected of equal systems"
        yield "; ".join([flips, *_beyond_noise(figures.verdict, chance)])
    if figures.attempts and len(figures.attempts) > 1:
        most = figures.attempts[-1]
        for name, rate in ((f"pass@{most.k}", most.pass_at), (f"pass^{most.k}", most.pass_all)):
            interval = ""
            if rate.ci_low is not None and rate.ci_high is not None:
                low, high = change_text(figures, rate.ci_low, unit=False), change_text(figures, rate.ci_high)
                interval = f", {low} to {high}"
            means = f"{value_text(figures, rate.old)} {to} {value_text(figures, rate.new)}"
            what = "at least one" if name.startswith("pass@") else "all"
            delta = change_text(figures, rate.delta, unit=not interval)
            yield f"{name} ({what} of {most.k} attempts solved): {means} ({delta}{interval})"
    old, new = (
        sum(side is not None and side.flaky for side in sides)
        for sides in ((task.old for task in result.tasks), (task.new for task in result.tasks))
    )
    if old or new:
        yield f"flaky (attempts at one task disagree): old {many(old, 'task')}, new {many(new, 'task')}"


def _one_attempt_a_task(result: CompareResult) -> bool:
    return all(side is None or side.rows == 1 for task in result.tasks for side in (task.old, task.new))


def _beyond_noise(verdict: Verdict, chance: ByChance) -> Iterator[str]:
    """What tells flips from noise: the attempts at each task, or all of them together by their direction."""
    if chance.beyond_noise or chance.expected_beyond_noise:
        yield f"{chance.beyond_noise:,} beyond noise, about {_about(chance.expected_beyond_noise)} expected"
    elif verdict not in _DECIDED:
        yield "a task's attempts are too few to tell which"
    if verdict in _DECIDED:
        yield f"what makes it {verdict} is their direction"


def _about(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def repeats_text(repeats: Repeats, to: str = ARROW) -> str:
    """A flip seen through its attempts: `3/4 -> 1/4`."""
    told = ": too few attempts to tell" if repeats.too_few_attempts else ": within noise" * repeats.within_noise
    old, new = solved_text(repeats)
    return f"attempts solved: {old} {to} {new} (Fisher's exact {p_text(repeats.p_value)}{told})"
