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

from nemo_gym.rollout_compare.compare.distributions import fair_binomial_lower_tail, normal_quantile, student_t_quantile
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE

#: The sign-flip test takes 2^17 = 131,072 patterns of signs: every one up to 17 changed tasks, a draw beyond.
DRAW_BITS = 17
DRAW_SEED = 14

# Sums of differences that agree to this part of all the change there is are equal but for rounding.
_SAME_SUM = 1e-12

_CONFIDENCE = 0.95
_POWER = 0.8


def mcnemar_exact(old_wins: int, new_wins: int) -> float:
    """McNemar's exact test, two-sided: would a fair coin for each changed task split them this unevenly?

    p = min(1, 2 P(X <= min(old_wins, new_wins))), X ~ Binomial(old_wins + new_wins, 1/2). Tasks with the same result on
    both sides say nothing about which side is better and do not enter. With k changed tasks p is never below 2 / 2^k.
    Source: Q. McNemar, Psychometrika 12 (1947) 153-157, in its exact binomial form.
    """
    return min(1.0, 2 * fair_binomial_lower_tail(min(old_wins, new_wins), old_wins + new_wins))


def sign_flip_permutation(differences: Iterable[float]) -> float:
    """Fisher's sign-flip permutation test, two-sided, of the hypothesis that old and new are interchangeable in a task.

    If they are, each difference could as well have come with the other sign. p is the share of sign patterns whose sum
    is at least as far from 0 as the sum found. Up to 17 changed tasks it is taken over all 2^k patterns. Beyond, over
    131,072 patterns drawn from a fixed seed; such a p has a standard deviation of at most sqrt(p (1 - p) / 131072),
    0.0006 at p = 0.05, and is never below 1 / 131072.

    Source: R. A. Fisher, The Design of Experiments (1935), chapter III; on a drawn p that is never 0: B. Phipson and
    G. Smyth, "Permutation P-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9 (2010) 39.
    """
    changed = [difference for difference in differences if abs(difference) > REWARD_TOLERANCE]
    # The sizes alone, in one order: the patterns do not depend on which side is old or on how the rows came.
    sizes = sorted(map(abs, changed), reverse=True)
    rounding = max(REWARD_TOLERANCE, _SAME_SUM * math.fsum(sizes))
    as_far = abs(math.fsum(changed)) - rounding
    sums = _signed_sums(sizes)
    return sum(map(as_far.__le__, map(abs, sums))) / len(sums)


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


def standard_error(differences: Sequence[float]) -> float | None:
    """Standard error of the mean difference: s / sqrt(n), s^2 = sum (d_i - mean)^2 / (n - 1).

    None where there is nothing to estimate it from: fewer than two tasks, or every task changed by the same amount (to
    1e-9 absolute or 1e-12 relative, so that rounding does not pass for spread).
    """
    n = len(differences)
    if n < 2 or math.isclose(min(differences), max(differences), rel_tol=_SAME_SUM, abs_tol=REWARD_TOLERANCE):
        return None
    mean = math.fsum(differences) / n
    deviations = list(map(sub, differences, repeat(mean)))
    return math.sqrt(math.fsum(map(mul, deviations, deviations)) / (n - 1) / n)


def paired_t_interval(delta: float, error: float, n: int) -> tuple[float, float]:
    """95% confidence interval of the mean difference: delta -+ t(0.975; n - 1) x standard error.

    Over many repetitions of the comparison, on tasks drawn anew from the same source, 95% of such intervals hold the
    true difference. Source: "Student", Biometrika 6 (1908) 1-25; for evals, Miller (2024), on paired differences.

    Args:
        delta: Mean of the differences, in units of reward.
        error: Its standard error, in units of reward.
        n: Number of tasks, 2 or more.
    """
    margin = student_t_quantile((1 + _CONFIDENCE) / 2, n - 1) * error
    return delta - margin, delta + margin


def detectable_difference(error: float) -> float:
    """The smallest true difference that such a comparison finds significant at 5% in 80% of its repetitions.

    (z(0.975) + z(0.8)) x standard error = 2.8016 x standard error, in units of reward; z is the normal quantile. To
    halve it takes four times the tasks. Source: Miller (2024), on power analysis.
    """
    return (normal_quantile((1 + _CONFIDENCE) / 2) + normal_quantile(_POWER)) * error
