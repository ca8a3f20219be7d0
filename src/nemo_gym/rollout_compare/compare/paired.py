"""Tests and intervals of a paired design: the same tasks ran on both sides, so each task is its own control.

A *difference* is a task's new reward minus its old one. Pairing takes the difficulty of the tasks out of the noise:
what is left is how much the differences vary. Source: E. Miller, "Adding Error Bars to Evals" (2024, arXiv 2411.00640).
Nothing here depends on the order of the tasks; swapping the sides negates what has a sign and leaves p-values alone.
Tasks count as independent: where several share their source (questions on one text), the figures are too sure.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add, mul, sub
from typing import NamedTuple

from nemo_gym.rollout_compare.compare.distributions import fair_binomial_lower_tail, normal_quantile
from nemo_gym.rollout_compare.compare.interval import CONFIDENCE, paired_t_interval, tango_interval
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, IntervalKind, SignificanceTest

#: The sign-flip test takes 2^17 = 131,072 patterns of signs: every one up to 17 changed tasks, a draw beyond.
DRAW_BITS = 17
DRAW_SEED = 14

# Sums of differences that agree to this part of all the change there is are equal but for rounding.
_SAME_SUM = 1e-12

#: How often a difference that is there is to be found.
POWER = 0.8

#: So many tasks or attempts are as good as none: a number beyond says nothing to anybody.
MOST = 10**9


def mcnemar_mid_p(old_wins: int, new_wins: int) -> float:
    """McNemar's test, two-sided mid-p: would a fair coin for each changed task split them this unevenly?

    The exact p less the probability of the split found; with X ~ Binomial(k, 1/2), k = old_wins + new_wins, and x the
    smaller of the two,

        p = 2 P(X <= x) - P(X = x) = P(X <= x) + P(X <= x - 1),

    which is 1 when both won equally often. Tasks with the same result on both sides say nothing about which side is
    better and do not enter. With k changed tasks p is never below 1 / 2^k. The exact test is wrong far less often than
    the 5% it is allowed, and misses changes for it; mid-p comes close to 5% and hardly ever exceeds it.

    Sources: Q. McNemar, Psychometrika 12 (1947) 153-157; mid-p: M. Fagerland, S. Lydersen and P. Laake, "The McNemar
    test for binary matched-pairs data", BMC Medical Research Methodology 13 (2013) 91.
    """
    smaller, changed = min(old_wins, new_wins), old_wins + new_wins
    below = fair_binomial_lower_tail(smaller - 1, changed) if smaller else 0.0
    return fair_binomial_lower_tail(smaller, changed) + below


def sign_flip_permutation(differences: Iterable[float], tolerance: float = REWARD_TOLERANCE) -> float:
    """Fisher's sign-flip permutation test, two-sided mid-p, of the hypothesis that old and new are interchangeable.

    If they are, each difference could as well have come with the other sign. p is the share of sign patterns whose sum
    is farther from 0 than the sum found, plus half the share of those as far from 0; 1 for a sum of 0. Up to 17 changed
    tasks it is taken over all 2^k patterns. Beyond, over 131,072 patterns drawn from a fixed seed; such a p has a
    standard deviation of at most sqrt(p (1 - p) / 131072), 0.0006 at p = 0.05, and is never below 1 / 131072.
    Differences within the tolerance are none, and sums within it (1e-9 at most) are equal.

    Sources: R. A. Fisher, The Design of Experiments (1935), chapter III; mid-p: H. Lancaster, "Significance tests in
    discrete distributions", J. Am. Stat. Assoc. 56 (1961) 223-234; on a drawn p that is never 0: B. Phipson and
    G. Smyth, "Permutation P-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9 (2010) 39.
    """
    changed = [difference for difference in differences if abs(difference) > tolerance]
    # The sizes alone, in one order: the patterns do not depend on which side is old or on how the rows came.
    sizes = sorted(map(abs, changed), reverse=True)
    rounding = max(min(REWARD_TOLERANCE, tolerance), _SAME_SUM * math.fsum(sizes))
    found = abs(math.fsum(changed))
    if found <= rounding:
        return 1.0
    sums = list(map(abs, _signed_sums(sizes)))
    farther = sum(map((found + rounding).__lt__, sums))
    as_far = sum(map((found - rounding).__le__, sums)) - farther
    share = (farther + as_far / 2) / len(sums)
    return share if len(sizes) <= DRAW_BITS else max(share, 1 / len(sums))


def _signed_sums(sizes: Sequence[float]) -> list[float]:
    """Sums of the sizes, given largest first, under 2^bits patterns of signs: all there are, or 2^17 of them.

    Size i gets a vector v_i of bits; under pattern x, itself a vector of bits, its sign is (-1)^(number of ones that x
    and v_i share). The sums under all x together are the Walsh-Hadamard transform of the sizes gathered by their v, at
    bits * 2^bits additions however many sizes there are.

    The largest 17 sizes have the unit vectors: their signs go through all their patterns, each once. The others have
    vectors drawn at random: under each x but 0 their signs are independent fair coins, and those under one x are
    independent of those under another. So the share of patterns that reach a sum is a stratified sample, and varies no
    more than that of 2^17 independent draws. (Under x = 0 all signs are +, which reaches every sum.)
    """
    bits = min(len(sizes), DRAW_BITS)
    vectors = [1 << place for place in range(bits)]
    if len(sizes) > bits:
        from random import Random  # late: most runs do not draw, and its import costs them start-up time

        draw = Random(DRAW_SEED)  # noqa: S311  # nothing secret: the same numbers for everybody
        vectors += map(draw.getrandbits, repeat(bits, len(sizes) - bits))
    sums = [0.0] * (1 << bits)
    for vector, size in zip(vectors, sizes, strict=True):
        sums[vector] += size
    for _ in range(bits):
        even, odd = sums[::2], sums[1::2]
        sums = [*map(add, even, odd), *map(sub, even, odd)]
    return sums


def standard_error(differences: Sequence[float], tolerance: float = REWARD_TOLERANCE) -> float | None:
    """Standard error of the mean difference: s / sqrt(n), s^2 = sum (d_i - mean)^2 / (n - 1).

    None where there is nothing to estimate it from: fewer than two tasks, or every task changed by the same amount (to
    1e-9, or the tolerance if that is smaller, or 1e-12 relative, so that rounding does not pass for spread).
    """
    n = len(differences)
    same = min(REWARD_TOLERANCE, tolerance)
    if n < 2 or math.isclose(min(differences), max(differences), rel_tol=_SAME_SUM, abs_tol=same):
        return None
    mean = math.fsum(differences) / n
    deviations = list(map(sub, differences, repeat(mean)))
    return math.sqrt(math.fsum(map(mul, deviations, deviations)) / (n - 1) / n)


def detectable_difference(error: float) -> float:
    """The smallest true difference that such a comparison finds significant at 5% in 80% of its repetitions.

    (z(0.975) + z(0.8)) x standard error = 2.8016 x standard error, in units of reward; z is the normal quantile. To
    halve it takes four times the tasks. Source: Miller (2024), on power analysis.
    """
    return errors_to_find() * error


def errors_to_find() -> float:
    """How many standard errors away from 0 a true difference is found at 5% in 80% of comparisons: 2.8016."""
    return normal_quantile((1 + CONFIDENCE) / 2) + normal_quantile(POWER)


class Interval(NamedTuple):
    """An interval of delta and the formula it is from."""

    low: float
    high: float
    kind: IntervalKind


class Scale(NamedTuple):
    """What rewards single attempts have, which the means of several cannot tell: -1 and 2 have the mean 0.5.

    `pass_fail`: whether every attempt's reward is 0 or 1; `bounded`: whether all lie from 0 to 1. Where a task has one
    attempt its reward tells.
    """

    pass_fail: bool = True
    bounded: bool = True


#: Nothing else is known than the tasks' rewards.
AS_REWARDS = Scale()


class Basics(NamedTuple):
    """The figures of a set of tasks that all others build on; see `Statistics` for what each means.

    Beside them `total`: the sum of the differences; `pass_fail`: whether every task's reward is 0 or 1 on both sides,
    and every attempt's; `bounded`: whether all lie from 0 to 1; and `error`: the standard error of delta, None where no
    task changed or there is no spread; `scale`: what was told of single attempts.
    """

    n: int
    pass_fail: bool
    bounded: bool
    mean_old: float
    mean_new: float
    total: float
    delta: float
    error: float | None
    old_wins: int
    new_wins: int
    p_value: float | None
    test: SignificanceTest | None
    scale: Scale = AS_REWARDS

    @property
    def changed(self) -> int:
        """How many tasks changed."""
        return self.old_wins + self.new_wins

    def interval(self, confidence: float = CONFIDENCE) -> Interval | None:
        """The interval of delta.

        Tango's where every reward is 0 or 1, and where no task changed and all rewards lie from 0 to 1: a difference
        between -1 and 1 that is rarely other than 0 is at most as far from 0 as one that is then -1 or 1. Else the
        paired t interval, cut off at -1 and 1 where no difference can lie beyond. None where there is no spread to make
        one from.
        """
        if self.pass_fail or (self.bounded and not self.changed):
            return Interval(*tango_interval(self.old_wins, self.new_wins, self.n, confidence), IntervalKind.TANGO)
        if self.error is None:
            return None
        low, high = paired_t_interval(self.delta, self.error, self.n, confidence)
        if self.bounded:
            low, high = max(-1.0, low), min(1.0, high)
        return Interval(low, high, IntervalKind.PAIRED_T)


def basics_of(
    old: Sequence[float],
    new: Sequence[float],
    tolerance: float = REWARD_TOLERANCE,
    scale: Scale = AS_REWARDS,
    *,
    tested: bool = True,
) -> Basics:
    """The basic figures of one task or more, of finite rewards whose squares a double holds.

    Args:
        old: The old side's rewards.
        new: The new side's, of the same tasks in the same order.
        tolerance: Differences of at most this much count as 0, in all figures but the two means.
        scale: What rewards single attempts have.
        tested: Whether there is to be a p-value.
    """
    differences = differences_of(old, new, tolerance)
    total = math.fsum(differences)
    old_wins = sum(map((-tolerance).__gt__, differences))
    new_wins = sum(map(tolerance.__lt__, differences))
    pass_fail = scale.pass_fail and all(side.count(0.0) + side.count(1.0) == len(side) for side in (old, new))
    test, p_value = None, None
    if tested and len(old) > 1 and old_wins + new_wins:
        test = SignificanceTest.MCNEMAR if pass_fail else SignificanceTest.SIGN_FLIP
        p_value = mcnemar_mid_p(old_wins, new_wins) if pass_fail else sign_flip_permutation(differences, tolerance)
    return Basics(
        n=len(old),
        pass_fail=pass_fail,
        bounded=scale.bounded and all(min(side) >= 0 and max(side) <= 1 for side in (old, new)),
        mean_old=mean(old),
        mean_new=mean(new),
        total=total,
        delta=total / len(old),
        error=standard_error(differences, tolerance) if old_wins + new_wins else None,
        old_wins=old_wins,
        new_wins=new_wins,
        p_value=p_value,
        test=test,
        scale=scale,
    )


def differences_of(old: Sequence[float], new: Sequence[float], tolerance: float) -> list[float]:
    """New less old of each task, 0 where that is at most the tolerance."""
    differences = list(map(sub, new, old))
    if tolerance > REWARD_TOLERANCE:
        return [difference if abs(difference) > tolerance else 0.0 for difference in differences]
    return differences


def mean(values: Sequence[float]) -> float:
    """The mean of one value or more; its sum is rounded once."""
    return math.fsum(values) / len(values)
