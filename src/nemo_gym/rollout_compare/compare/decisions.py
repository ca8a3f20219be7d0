"""Figures to a decision: what may be said, and what it would take where nothing may."""

from __future__ import annotations

import math

from nemo_gym.rollout_compare.compare.distributions import normal_quantile
from nemo_gym.rollout_compare.compare.interval import CONFIDENCE
from nemo_gym.rollout_compare.compare.paired import MOST, Basics, mcnemar_mid_p
from nemo_gym.rollout_compare.schema import (
    CompareInputError,
    Conclusion,
    Margin,
    SignificanceTest,
    Unmeasured,
    Verdict,
)

#: A p-value below this is called a change.
SIGNIFICANCE_LEVEL = 0.05

#: With k changed tasks either test's smallest p is 1 / 2^k: four give 0.0625, five 0.03125.
FEWEST_CHANGED_TASKS = 5

#: With fewer changed tasks an interval that stays within this is knowledge all the same.
SMALL_CHANGE = 0.05

#: Two one-sided tests at 5% each are one interval of this confidence.
MARGIN_CONFIDENCE = 0.9


def check_margin(margin: float | None) -> None:
    """Refuse a margin that two runs cannot miss, where all rewards lie from 0 to 1: it would show anything.

    Raises:
        CompareInputError: It is 1 or more: points were meant, of which 1 is 0.01.
    """
    if margin is None or margin < 1:
        return
    points = f"{margin:g} point{'s' * (margin != 1)}"
    hint = f"for {points} say --margin {margin / 100:g}" if margin < 100 else "say one below 1, such as 0.02"
    raise CompareInputError(f"--margin {margin:g}: all rewards lie from 0 to 1; {hint}")


def margin_of(figures: Basics, margin: float | None) -> Margin | None:
    """What the 90% interval of delta says of a margin; None where nobody asked.

    `same` if the interval lies within -margin and +margin: both one-sided tests at 5%, that delta is as low as -margin
    and that it is as high as +margin, are rejected. `not worse` if its low end is above -margin: the first one is.
    Source: D. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", J. Pharmacokinet.
    Biopharm. 15 (1987) 657-680.
    """
    if margin is None:
        return None
    interval = figures.interval(MARGIN_CONFIDENCE)
    margin += 0.0  # of the two zeros the positive one
    if interval is None:
        return Margin(margin, None, None, Conclusion.NOT_SHOWN)
    conclusion = Conclusion.NOT_SHOWN
    if interval.low > -margin:
        conclusion = Conclusion.SAME if interval.high < margin else Conclusion.NOT_WORSE
    return Margin(margin, interval.low, interval.high, conclusion)


def verdict_of(figures: Basics, margin: Margin | None = None) -> Verdict:
    """The outcome in a word: the first that applies.

    `cannot tell` with one task; `same` as the margin says; `better` or `worse` at p < 0.05; `not worse` as the margin
    says; `cannot tell` with fewer than five changed tasks, unless the interval stays within 5 points (or the margin);
    else `no significant change`.
    """
    if figures.n < 2:
        return Verdict.CANNOT_TELL
    if margin and margin.conclusion is Conclusion.SAME:
        return Verdict.SAME
    if figures.p_value is not None and figures.p_value < SIGNIFICANCE_LEVEL:
        return Verdict.BETTER if figures.delta > 0 else Verdict.WORSE
    if margin and margin.conclusion is Conclusion.NOT_WORSE:
        return Verdict.NOT_WORSE
    if figures.changed < FEWEST_CHANGED_TASKS and not _is_small(figures, margin):
        return Verdict.CANNOT_TELL
    return Verdict.NO_SIGNIFICANT_CHANGE


def _is_small(figures: Basics, margin: Margin | None) -> bool:
    """Whether the 95% interval stays within 5 points or the margin; without one, whether hardly any task can change."""
    limit = margin.margin if margin else SMALL_CHANGE
    reach = farthest(figures)
    if reach is None and not figures.changed:
        return most_that_change(figures.n) <= SMALL_CHANGE
    return reach is not None and reach <= limit


def farthest(figures: Basics) -> float | None:
    """How far from 0 the 95% interval reaches."""
    interval = figures.interval()
    return interval and max(-interval.low, interval.high)


def most_that_change(n: int) -> float:
    """The upper 95% limit of the share of tasks that change, where none of n did: z^2 / (n + z^2).

    Source: E. Wilson, "Probable inference, the law of succession, and statistical inference", J. Am. Stat. Assoc. 22
    (1927) 209-212.
    """
    square = normal_quantile((1 + CONFIDENCE) / 2) ** 2
    return square / (n + square)


def tasks_without_change(limit: float, confidence: float) -> int | None:
    """How many tasks, none of which changed, keep the interval within a limit; None where nobody has as many."""
    tasks = normal_quantile((1 + confidence) / 2) ** 2 * (1 - limit) / limit
    return math.ceil(tasks) if tasks < MOST else None


def reason_of(figures: Basics | None, margin: Margin | None) -> str:
    """Why nothing can be told, and what it would take."""
    if figures is None:
        return "no task was measured on both sides: run the masked and missing tasks again"
    if figures.n == 1:
        return f"one task cannot tell a difference from noise: it takes {FEWEST_CHANGED_TASKS} changed tasks or more"
    limit, confidence = (margin.margin, MARGIN_CONFIDENCE) if margin else (SMALL_CHANGE, CONFIDENCE)
    tasks = tasks_without_change(limit, confidence) if 0 < limit < 1 else None
    enough = f", or {tasks:,} of which none changes" if tasks else ""
    only = f"only {figures.changed} of {figures.n} tasks changed" if figures.changed else "no task changed"
    return f"{only}: it takes {FEWEST_CHANGED_TASKS} changed tasks{enough}"


def could_overturn(verdict: Verdict, bounds: Unmeasured, margin: Margin | None) -> bool:
    """Whether the tasks that a side did not measure could take back what the verdict claims.

    A change is claimed: the bounds with their intervals hold 0 or the other sign. A margin is: they reach beyond it.
    """
    if not bounds.tasks or bounds.delta_worst is None or bounds.delta_best is None:
        return False
    low = bounds.delta_worst if bounds.low is None else bounds.low
    high = bounds.delta_best if bounds.high is None else bounds.high
    if verdict is Verdict.BETTER:
        return low <= 0
    if verdict is Verdict.WORSE:
        return high >= 0
    if margin and verdict in {Verdict.SAME, Verdict.NOT_WORSE}:
        return low <= -margin.margin or (verdict is Verdict.SAME and high >= margin.margin)
    return False


def is_borderline(figures: Basics) -> bool:
    """Whether the 95% interval and the p-value disagree on whether there is a difference."""
    interval = figures.interval()
    if interval is None or figures.p_value is None:
        return False
    return (figures.p_value < SIGNIFICANCE_LEVEL) != (interval.low > 0 or interval.high < 0)


def wins_say(figures: Basics) -> Verdict | None:
    """What a sign test of the wins alone says, where it finds a difference that the p-value does not.

    The sign test is McNemar's mid-p of the wins of both sides, whatever the sizes of the differences. Source:
    J. Arbuthnot (1710); W. Conover, Practical Nonparametric Statistics (1971), section 3.4.
    """
    if figures.test is not SignificanceTest.SIGN_FLIP or figures.p_value is None:
        return None
    if mcnemar_mid_p(figures.old_wins, figures.new_wins) >= SIGNIFICANCE_LEVEL:
        return None
    by_wins = Verdict.BETTER if figures.new_wins > figures.old_wins else Verdict.WORSE
    by_mean = Verdict.BETTER if figures.delta > 0 else Verdict.WORSE
    return None if figures.p_value < SIGNIFICANCE_LEVEL and by_mean is by_wins else by_wins


def chance_better(figures: Basics) -> float | None:
    """The chance that new is better: 1 less the one-sided mid-p of McNemar's test; only for rewards of 0 and 1.

    With X ~ Binomial(changed tasks, 1/2): P(X < new_wins) + P(X = new_wins) / 2. Read as a chance it takes for granted
    that before the comparison either side was as likely to be the better one.
    """
    if not figures.pass_fail or figures.n < 2:
        return None
    one_sided = mcnemar_mid_p(figures.old_wins, figures.new_wins) / 2
    return 1 - one_sided if figures.new_wins > figures.old_wins else one_sided
