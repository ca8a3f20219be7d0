"""Groups of tasks, each compared by itself, and whether they tell the same story."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.compare.distributions import chi_square_upper_tail
from nemo_gym.rollout_compare.compare.paired import AS_REWARDS, Basics, Scale, basics_of
from nemo_gym.rollout_compare.schema import Subset, Subsets, Why

#: Groups of fewer tasks are put together.
FEWEST_IN_GROUP = 6


def subsets_of(
    field: str,
    values: Sequence[str],
    old: Sequence[float],
    new: Sequence[float],
    tolerance: float,
    scale: Scale = AS_REWARDS,
) -> Subsets:
    """Compare the tasks of each value of a field by themselves; groups under six tasks together.

    Args:
        field: What the field is called.
        values: The field's value of each task.
        old: The old side's reward of each.
        new: The new side's.
        tolerance: What counts as no difference.
        scale: What rewards single attempts have.
    """
    groups = dict(_groups(values))
    figures = {
        name: basics_of([old[i] for i in places], [new[i] for i in places], tolerance, scale)
        for name, places in groups.items()
    }
    adjusted = holm({name: one.p_value for name, one in figures.items() if one.p_value is not None})
    subsets = tuple(_subset(name, one, adjusted.get(name)) for name, one in figures.items())
    compared = list(figures.values())
    p_value = not_the_same(compared)
    return Subsets(field, subsets, p_value, _why_null(compared) if p_value is None else None)


def _groups(values: Sequence[str]) -> Iterator[tuple[str | None, list[int]]]:
    """The places of each value's tasks, most tasks first, then by name; those of rare values together, last."""
    places: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        places.setdefault(value, []).append(i)
    others: list[int] = []
    for name in sorted(places, key=lambda name: (-len(places[name]), name)):
        if len(places[name]) < FEWEST_IN_GROUP:
            others += places[name]
        else:
            yield name, places[name]
    if others:
        yield None, others


def _subset(name: str | None, figures: Basics, p_value: float | None) -> Subset:
    interval = figures.interval()
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Subset(name, figures.n, figures.mean_old, figures.mean_new, figures.delta, low, high, p_value)


def holm(p_values: dict[str | None, float]) -> dict[str | None, float]:
    """P-values of several groups, each so much larger that the chance of even one wrong finding stays at 5%.

    In rising order, the i-th of m (from 0) is multiplied by m - i, and none is below the one before it. Source:
    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70.
    """
    adjusted: dict[str | None, float] = {}
    largest = 0.0
    for i, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, p_value * (len(p_values) - i)))
        adjusted[name] = largest
    return adjusted


def not_the_same(groups: Sequence[Basics]) -> float | None:
    """Cochran's Q: were delta the same in every group, how often would the groups differ at least so much?

    Q = sum w (delta - average)^2, w = 1 / variance of a group's delta, average weighed by w; under the hypothesis
    chi-square with (groups - 1) degrees of freedom. So that a group in which nothing or everything changed has a
    variance, each group's tasks get one more, whose squared deviation is the pooled variance within the groups. Where
    no group has any spread there is no such variance: see `_apart`.
    Source: W. Cochran, "The combination of estimates from different experiments", Biometrics 10 (1954) 101-129.

    Returns:
        The p-value; None with fewer than two groups, or where every task changed by the same amount.
    """
    if len(groups) < 2:
        return None
    squares = [(one.error or 0.0) ** 2 * one.n * (one.n - 1) for one in groups]
    pooled = math.fsum(squares) / max(1, sum(one.n - 1 for one in groups))
    if not pooled:
        return _apart(groups)
    weights = [one.n * one.n / (square + pooled) for one, square in zip(groups, squares, strict=True)]
    average = math.fsum(w * one.delta for w, one in zip(weights, groups, strict=True)) / math.fsum(weights)
    q = math.fsum(w * (one.delta - average) ** 2 for w, one in zip(weights, groups, strict=True))
    return chi_square_upper_tail(q, len(groups) - 1)


def _apart(groups: Sequence[Basics]) -> float | None:
    """The same where within each group all tasks changed by one amount, as when one lost everything and others nothing.

    Q with the variance of all n tasks together, as the hypothesis has it, sum n_g (delta_g - delta)^2 / variance, is
    then n - 1 whatever the amounts are: the statistic of Kruskal and Wallis, J. Am. Stat. Assoc. 47 (1952) 583-621. Its
    chi-square is too sure of few tasks. So p is no smaller than the chance that tasks which are dealt out to the groups
    come to lie just so: prod m_v! / n!, m_v the number of tasks that changed by v (G. Freeman and J. Halton, Biometrika
    38 (1951) 141-149).
    """
    alike: dict[float, int] = {}
    for one in groups:
        amount = round(float(f"{one.delta:.12g}"), 9)
        alike[amount] = alike.get(amount, 0) + one.n
    if len(alike) < 2:
        return None
    n = sum(alike.values())
    dealt = math.exp(math.fsum(map(math.lgamma, (m + 1 for m in alike.values()))) - math.lgamma(n + 1))
    return max(dealt, chi_square_upper_tail(n - 1, len(groups) - 1))


def _why_null(groups: Sequence[Basics]) -> Why:
    """Why it cannot be asked whether groups differ."""
    if len(groups) < 2:
        return Why.ONE_GROUP
    return Why.NO_SPREAD if any(one.changed for one in groups) else Why.NO_CHANGE
