"""Whether the verdict hangs on a few tasks: the figures without them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

from nemo_gym.rollout_compare.compare.decisions import margin_of, verdict_of
from nemo_gym.rollout_compare.compare.paired import AS_REWARDS, Basics, Scale, basics_of
from nemo_gym.rollout_compare.schema import CarriedBy, Margin, Verdict, WithoutAgentErrors

# A task that moves delta by less than this part of its standard error carries nothing.
_FELT = 0.01


def without_agent_errors(
    old: Sequence[float],
    new: Sequence[float],
    doubtful: Sequence[int],
    margin: Margin | None,
    tolerance: float,
    scale: Scale = AS_REWARDS,
) -> WithoutAgentErrors | None:
    """The figures without the flips that have an agent error, given by their places; None where there is none."""
    if not doubtful:
        return None
    left_out = set(doubtful)
    kept = [i for i in range(len(old)) if i not in left_out]
    if not kept:
        return WithoutAgentErrors(0, None, None, Verdict.CANNOT_TELL)
    figures = basics_of([old[i] for i in kept], [new[i] for i in kept], tolerance, scale)
    verdict = verdict_of(figures, margin_of(figures, margin.margin if margin else None))
    return WithoutAgentErrors(figures.n, figures.delta, figures.p_value, verdict)


def carried_by(
    figures: Basics,
    old: Sequence[float],
    new: Sequence[float],
    labels: Sequence[str],
    margin: Margin | None,
    tolerance: float,
) -> CarriedBy | None:
    """The task that changed most, if without it the sign of delta or the verdict would be another.

    Only a task that changed more than every other can carry a result: of several equal ones (all, where rewards are 0
    or 1) each is as good as the next. One that moves delta by less than 1% of its standard error is not asked, nor is
    the only one that changed where nothing can be told: that it is the only one is why.
    """
    if figures.pass_fail or figures.n < 3 or not labels or figures.error is None:
        return None
    found = verdict_of(figures, margin)
    if found is Verdict.CANNOT_TELL and figures.changed < 2:
        return None
    place = _largest(old, new, tolerance)
    if place is None or abs(new[place] - old[place]) < _FELT * figures.error * figures.n:
        return None
    rest = basics_of([*old[:place], *old[place + 1 :]], [*new[:place], *new[place + 1 :]], tolerance, figures.scale)
    verdict = verdict_of(rest, margin_of(rest, margin.margin if margin else None))
    same_sign = (figures.delta > 0) - (figures.delta < 0) == (rest.delta > 0) - (rest.delta < 0)
    if same_sign and verdict is found:
        return None
    return CarriedBy(labels[place], rest.delta, verdict)


def _largest(old: Sequence[float], new: Sequence[float], tolerance: float) -> int | None:
    """The place of the largest change, None if there are several as large."""
    sizes = list(map(abs, map(sub, new, old)))
    largest = max(sizes)
    as_large = sum(map((largest - tolerance).__le__, sizes))
    return sizes.index(largest) if as_large == 1 else None
