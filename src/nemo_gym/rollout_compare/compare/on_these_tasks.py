"""The difference on exactly the tasks that ran: only their attempts are subject to chance, not the choice of tasks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from nemo_gym.rollout_compare.compare.attempts import Cases, repeated_cases, within_variance
from nemo_gym.rollout_compare.compare.distributions import exact_sum, hypergeometric_weights, normal_quantile
from nemo_gym.rollout_compare.compare.interval import CONFIDENCE
from nemo_gym.rollout_compare.schema import OnTheseTasks, SignificanceTest

#: Under so many tasks the variance within them is too rough for an interval.
FEWEST_TASKS = 10

#: Up to this variance of the solved attempts (about 1,000 tasks of 8 attempts) their exact distribution is computed.
_LARGEST_EXACT_VARIANCE = 1000.0

# What is less probable than this adds nothing to a p-value that anybody reads.
_NEGLIGIBLE = 1e-20

#: Probabilities of a whole number, and the smallest number they are of.
Distribution = tuple[Sequence[float], int]


def on_these_tasks(cases: Cases) -> OnTheseTasks | None:
    """The difference on the tasks with two measured attempts or more on both sides; None without any.

    The interval is delta -+ z(0.975) sqrt(sum of the tasks' variances within) / tasks, from ten tasks on.
    """
    repeated = repeated_cases(cases)
    if not repeated:
        return None
    tasks = repeated.total()
    delta = math.fsum(case.difference * count for case, count in repeated.items()) / tasks
    variance = math.fsum(within_variance(case) * count for case, count in repeated.items())
    margin = normal_quantile((1 + CONFIDENCE) / 2) * math.sqrt(variance) / tasks
    shown = tasks >= FEWEST_TASKS and variance > 0
    p_value, test = stratified_p(repeated)
    low, high = (max(-1.0, delta - margin), min(1.0, delta + margin)) if shown else (None, None)
    return OnTheseTasks(tasks, delta, low, high, p_value, test)


def stratified_p(cases: Cases) -> tuple[float, SignificanceTest]:
    """Two-sided mid-p of the hypothesis that in each task both sides solve an attempt equally often, and its test.

    Each task's solved attempts in all are taken as given; then the new side's number of them is hypergeometric, and
    the sum over the tasks has the convolution of these as its distribution. With S the sum found and X one by chance,

        p = min(1, 2 min(P(X < S) + P(X = S) / 2, P(X > S) + P(X = S) / 2)).

    Sums with a variance above 1,000 take the normal distribution of the same mean and variance: its error is then below
    0.001, and the exact one would take over a second.

    Sources: N. Mantel and W. Haenszel, J. Natl. Cancer Inst. 22 (1959) 719-748; the exact distribution: C. Mehta,
    N. Patel and R. Gray, J. Am. Stat. Assoc. 80 (1985) 969-973; mid-p: H. Lancaster, J. Am. Stat. Assoc. 56 (1961) 223.
    """
    tables: Counter[tuple[int, int, int]] = Counter()
    for case, tasks in cases.items():
        tables[case.old, case.new, case.solved] += tasks
    found = sum(case.new_solved * tasks for case, tasks in cases.items())
    mean = math.fsum(tasks * new * solved / (old + new) for (old, new, solved), tasks in tables.items())
    variance = math.fsum(tasks * _variance(*table) for table, tasks in tables.items())
    if variance > _LARGEST_EXACT_VARIANCE:
        return math.erfc(abs(found - mean) / math.sqrt(2 * variance)), SignificanceTest.STRATIFIED_NORMAL
    chances, first = _sum_of(_power(_hypergeometric(*table), tasks) for table, tasks in tables.items())
    place = found - first
    here = chances[place] / 2 if 0 <= place < len(chances) else 0.0
    below = math.fsum(chances[: max(0, place)]) + here
    above = math.fsum(chances[max(0, place + 1) :]) + here
    return min(1.0, 2 * min(below, above) / math.fsum(chances)), SignificanceTest.STRATIFIED


def _variance(old: int, new: int, solved: int) -> float:
    every = old + new
    return new * solved * (every - solved) * old / (every * every * (every - 1))


def _hypergeometric(old: int, new: int, solved: int) -> Distribution:
    """How many of the solved attempts are the new side's, by chance."""
    weights, first = hypergeometric_weights(new, old, solved)
    every = exact_sum(weights)
    return [weight / every for weight in weights], first


def _power(distribution: Distribution, times: int) -> Distribution:
    """The distribution of the sum of so many independent numbers of one distribution."""
    power: Distribution = ([1.0], 0)
    while times:
        if times % 2:
            power = _plus(power, distribution)
        times //= 2
        if times:
            distribution = _plus(distribution, distribution)
    return power


def _sum_of(distributions: Iterable[Distribution]) -> Distribution:
    """The distribution of the sum of independent numbers, narrow ones first."""
    total: Distribution = ([1.0], 0)
    return reduce(_plus, sorted(distributions, key=lambda one: len(one[0])), total)


def _plus(one: Distribution, other: Distribution) -> Distribution:
    """The distribution of a sum: the convolution, without ends that hold nothing."""
    short, long = sorted((one[0], other[0]), key=len)
    chances = [0.0] * (len(short) + len(long) - 1)
    for i, chance in enumerate(short):
        chances[i : i + len(long)] = map(add, chances[i : i + len(long)], map(chance.__mul__, long))
    start = next(i for i, chance in enumerate(chances) if chance > _NEGLIGIBLE)
    end = next(i for i in range(len(chances), 0, -1) if chances[i - 1] > _NEGLIGIBLE)
    return chances[start:end], one[1] + other[1] + start
