"""Tango's interval, held to published figures, to its definition and to enumeration."""

import math

import numpy
import pytest
from scipy import optimize, stats

from nemo_gym.rollout_compare.compare.interval import paired_t_interval, tango_interval


def test_tango_of_children_with_airways_that_react() -> None:
    """M. Fagerland, S. Lydersen and P. Laake, Statistics in Medicine 33 (2014) 2850-2875: -0.517 to -0.026."""
    assert tango_interval(7, 1, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize("n", [1, 2, 20, 500, 200_000])
def test_tango_where_nothing_changed(n: int) -> None:
    square = stats.norm.ppf(0.975) ** 2
    low, high = tango_interval(0, 0, n)
    assert high == pytest.approx(square / (n + square), rel=1e-9)
    assert low == -high


@pytest.mark.parametrize("n", [1, 5, 40])
def test_tango_where_everything_changed_one_way(n: int) -> None:
    low, high = tango_interval(0, n, n)
    assert high == 1.0
    assert -1 < low < 1
    assert tango_interval(n, 0, n) == (-1.0, -low)


@pytest.mark.parametrize(("c", "b", "n"), [(1, 7, 21), (3, 0, 10), (0, 3, 10), (5, 5, 30), (40, 60, 500), (1, 1, 2)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_ends_are_where_a_score_test_begins_to_reject(c: int, b: int, n: int, confidence: float) -> None:
    """The likelihood under the hypothesis is maximised by brute force."""
    for end in tango_interval(c, b, n, confidence):
        z = abs(b - c - n * end) / math.sqrt(n * (2 * likeliest(c, b, n, end) + end - end * end))
        assert z == pytest.approx(stats.norm.ppf((1 + confidence) / 2), rel=1e-4)


def likeliest(c: int, b: int, n: int, delta: float) -> float:
    """The chance that the old side alone solves a task, given the difference, that makes the split likeliest."""
    low, high = max(0.0, -delta), (1 - delta) / 2

    def unlikely(chance: float) -> float:
        cells = ((c, chance), (b, chance + delta), (n - b - c, 1 - 2 * chance - delta))
        return -sum(count * math.log(max(cell, 1e-300)) for count, cell in cells)

    found = optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return float(found.x)


@pytest.mark.parametrize(("changed", "true"), [(0.02, 0.0), (0.1, 0.0), (0.4, 0.0), (0.15, 0.05), (0.3, -0.2)])
@pytest.mark.parametrize("n", [50, 100])
def test_tango_holds_the_true_difference_in_93_of_100_runs_or_more(n: int, changed: float, true: float) -> None:
    """By enumeration of every split."""
    new, old = (changed + true) / 2, (changed - true) / 2
    held = 0.0
    for total in range(n + 1):
        chance = stats.binom.pmf(total, n, changed)
        if chance < 1e-9:
            continue
        for wins, share in enumerate(stats.binom.pmf(numpy.arange(total + 1), total, new / (new + old))):
            low, high = tango_interval(total - wins, wins, n)
            held += chance * share * (low <= true <= high)
    assert held >= 0.93


def test_the_paired_t_interval_has_the_confidence_that_was_asked_for() -> None:
    assert paired_t_interval(0.5, 0.1, 10, 0.9) == pytest.approx(stats.t.interval(0.9, 9, 0.5, 0.1), rel=1e-9)
