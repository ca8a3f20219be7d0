"""What it would take to find a difference: more tasks, or more attempts at the tasks that there are."""

from __future__ import annotations

import math

from nemo_gym.rollout_compare.compare.attempts import Cases, within_variance
from nemo_gym.rollout_compare.compare.paired import MOST, Basics, errors_to_find
from nemo_gym.rollout_compare.schema import ToDecide


def to_decide(figures: Basics, cases: Cases | None, difference: float) -> ToDecide | None:
    """How many tasks, or attempts a task, find a difference at 5% in 80% of comparisons; None where nobody can tell.

    With v the variance of the tasks' differences and z = 2.8016 standard errors to find one of size D:

        tasks    = z^2 v / D^2
        attempts = w / (n D^2 / z^2 - b)    no number will do where the denominator is not positive

    w is the part of v that the attempts make, per attempt: the mean of each task's m x (variance within), m being its
    attempts a side (their harmonic mean where sides differ); b = v - w / m is what lies between the tasks, at least 0.
    Without two measured attempts on both sides of every task that part is not known.

    Source: Miller (2024, arXiv 2411.00640), sections 3 and 5, on resampling and on power.
    """
    size = abs(difference)
    if figures.error is None or size == 0:
        return None
    variance = figures.error**2 * figures.n
    tasks = math.ceil(errors_to_find() ** 2 * variance / size**2) if size > figures.error / MOST**0.5 else MOST
    attempts, enough = (None, None)
    if cases and all(case.repeated for case in cases):
        attempts, enough = _attempts(figures.n, variance, cases, size)
    return ToDecide(size, max(2, tasks), attempts, enough)


def _attempts(n: int, variance: float, cases: Cases, size: float) -> tuple[int | None, bool]:
    within = math.fsum(within_variance(case) * tasks for case, tasks in cases.items()) / n
    made = 2 * n / math.fsum(tasks * (1 / case.old + 1 / case.new) for case, tasks in cases.items())
    between = max(0.0, variance - within)
    left = n * size**2 / errors_to_find() ** 2 - between
    if left <= 0:
        return None, False
    attempts = within * made / left
    return (max(1, math.ceil(attempts)), True) if attempts < MOST else (None, False)
