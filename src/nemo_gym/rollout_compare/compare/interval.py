"""Intervals of a mean paired difference."""

from __future__ import annotations

import math
from collections.abc import Callable

from nemo_gym.rollout_compare.compare.distributions import normal_quantile, student_t_quantile

#: How sure a figure's interval is.
CONFIDENCE = 0.95

_HALVINGS = 60


def paired_t_interval(delta: float, error: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Confidence interval of the mean difference: delta -+ t(n - 1) x standard error.

    Over many repetitions of the comparison, on tasks drawn anew from the same source, 95% of such intervals hold the
    true difference. Source: "Student", Biometrika 6 (1908) 1-25; for evals, Miller (2024), on paired differences.

    Args:
        delta: Mean of the differences, in units of reward.
        error: Its standard error, in units of reward.
        n: Number of tasks, 2 or more.
        confidence: How sure the interval is.
    """
    margin = student_t_quantile((1 + confidence) / 2, n - 1) * error
    return delta - margin, delta + margin


def tango_interval(old_wins: int, new_wins: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Tango's score interval of the difference of paired proportions, (new_wins - old_wins) / n.

    It holds every difference D that a score test does not reject: with b = new_wins, c = old_wins and z the normal
    quantile,

        |b - c - n D| <= z sqrt(n (2 q + D (1 - D))),

    where q, the chance of a task that the old side alone solves, is the most likely one given D: the larger root of
    2 n q^2 + ((2 n - b + c) D - b - c) q - c D (1 - D) = 0. It never leaves [-1, 1], and exists when no task changed:
    then it is -+ z^2 / (n + z^2).

    Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design", Statistics in Medicine 17 (1998) 891-908.

    Args:
        old_wins: Number of tasks that the old side alone solved.
        new_wins: Number of tasks that the new side alone solved.
        n: Number of tasks, 1 or more.
        confidence: How sure the interval is.
    """
    z = normal_quantile((1 + confidence) / 2)
    return -_tango_upper(new_wins, old_wins, n, z), _tango_upper(old_wins, new_wins, n, z)


def _tango_upper(c: int, b: int, n: int, z: float) -> float:
    def slack(difference: float) -> float:
        linear = (2 * n - b + c) * difference - b - c
        root = math.sqrt(max(0.0, linear * linear + 8 * n * c * difference * (1 - difference)))
        variance = n * ((root - linear) / (2 * n) + difference * (1 - difference))
        return b - c - n * difference + z * math.sqrt(max(0.0, variance))

    return _last_not_below_zero(slack, (b - c) / n, 1.0)


def _last_not_below_zero(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is not negative at `low` and falls through 0 does so, by halving; `high` if it does not."""
    if function(high) >= 0:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) >= 0 else (low, middle)
    return low
