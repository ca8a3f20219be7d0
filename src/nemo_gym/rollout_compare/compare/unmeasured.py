"""Tasks that a side did not measure: how far they could have moved the difference, and whether they were special."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import sub

from nemo_gym.rollout_compare.compare.distributions import fisher_exact_two_sided
from nemo_gym.rollout_compare.compare.paired import Basics, basics_of, differences_of, mean
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, Selection, Side, Unmeasured

#: A task that some side did not measure: its old and its new reward, None for each that is missing or masked.
UnmeasuredTask = tuple[float | None, float | None]

#: Fewer unmeasured tasks of a side are not asked whether they were harder.
FEWEST_SELECTED = 3

_SELECTION_LEVEL = 0.05
_SOLVED = 0.5


def unmeasured_bounds(
    figures: Basics | None,
    old: Sequence[float],
    new: Sequence[float],
    unmeasured: Sequence[UnmeasuredTask],
    tolerance: float,
    failed: float = 0.0,
) -> Unmeasured | None:
    """Bound delta over all tasks by giving every unmeasured side the worst and the best reward it could have had.

    Worst: an unmeasured new side counts 0 and an unmeasured old side 1; best: 1 and 0. A measured side keeps its
    reward. `low` is the lower limit of the 95% interval of the worst, `high` the upper limit of that of the best: over
    many repetitions the true difference over all tasks lies between them in at least 95%, whatever made the tasks
    unmeasured.

    Sources: C. Manski, "Nonparametric bounds on treatment effects", American Economic Review 80 (1990) 319-323;
    J. Horowitz and C. Manski, J. Am. Stat. Assoc. 95 (2000) 77-84; G. Imbens and C. Manski, "Confidence intervals for
    partially identified parameters", Econometrica 72 (2004) 1845-1857.

    Args:
        figures: The figures of the measured tasks, None without any.
        old: The old side's rewards of the measured tasks.
        new: The new side's.
        unmeasured: The tasks that a side did not measure.
        tolerance: What counts as no difference.
        failed: The reward of a failed attempt.

    Returns:
        The bounds; only the number of tasks if a measured reward lies outside 0 to 1; None if there is no task at all.
    """
    if figures is None and not unmeasured:
        return None
    known = [reward for task in unmeasured for reward in task if reward is not None]
    if (figures and not figures.bounded) or any(not 0 <= reward <= 1 for reward in known):
        return Unmeasured(len(unmeasured))
    worst, best, as_failed = (
        _with_more(figures, _differences(unmeasured, *filling, tolerance), known)
        for filling in ((1.0, 0.0), (0.0, 1.0), (failed, failed))
    )
    low, high = worst.interval(), best.interval()
    return Unmeasured(
        tasks=len(unmeasured),
        delta_worst=worst.delta,
        delta_best=best.delta,
        low=low and low.low,
        high=high and high.high,
        as_failed=as_failed.delta,
        selection=tuple(_selections(old, new, unmeasured, failed)),
    )


def _differences(
    unmeasured: Sequence[UnmeasuredTask], missing_old: float, missing_new: float, tolerance: float
) -> list[float]:
    """New less old of each task, with what is missing filled in."""
    old = [missing_old if reward is None else reward for reward, _ in unmeasured]
    new = [missing_new if reward is None else reward for _, reward in unmeasured]
    return differences_of(old, new, tolerance)


def _with_more(figures: Basics | None, more: Sequence[float], known: Sequence[float]) -> Basics:
    """The figures of the measured tasks with the differences of more tasks added, without looking at the former again.

    Squares around the common mean are those around each part's own plus what the means are apart.
    """
    if figures is None:
        return _of_differences(more, known)
    if not more:
        return figures
    n = figures.n + len(more)
    delta = math.fsum((figures.total, *more)) / n
    own = (figures.error or 0.0) ** 2 * figures.n * (figures.n - 1)
    squares = own + figures.n * (figures.delta - delta) ** 2 + math.fsum((one - delta) ** 2 for one in more)
    added = _of_differences(more, known)
    return figures._replace(
        n=n,
        pass_fail=figures.pass_fail and added.pass_fail,
        total=delta * n,
        delta=delta,
        error=math.sqrt(squares / (n - 1) / n) if squares > REWARD_TOLERANCE else None,
        old_wins=figures.old_wins + added.old_wins,
        new_wins=figures.new_wins + added.new_wins,
    )


def _of_differences(differences: Sequence[float], known: Sequence[float]) -> Basics:
    """What the interval needs to know of tasks of which no more than their differences matters."""
    zeros = [0.0] * len(differences)
    figures = basics_of(zeros, differences, tested=False)
    return figures._replace(pass_fail={0.0, 1.0}.issuperset(known), bounded=True)


def _selections(
    old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask], failed: float
) -> Iterator[Selection]:
    """The sides whose unmeasured tasks were harder or easier on the other side than the tasks that both measured.

    Fisher's exact test of solved against measured by both, where solved is a reward at least one half away from that of
    a failed attempt; said at p <= 0.05, of three tasks or more.
    """
    for side, theirs, measured in ((Side.OLD, 1, new), (Side.NEW, 0, old)):
        rewards = [reward for task in unmeasured if task[1 - theirs] is None and (reward := task[theirs]) is not None]
        if len(rewards) < FEWEST_SELECTED or not measured:
            continue
        solved, others = (
            sum(map(_SOLVED.__le__, map(abs, map(sub, every, repeat(failed))))) for every in (rewards, measured)
        )
        p_value = fisher_exact_two_sided(solved, len(rewards) - solved, others, len(measured) - others)
        if p_value <= _SELECTION_LEVEL:
            yield Selection(side.value, len(rewards), mean(rewards), mean(measured), p_value)
