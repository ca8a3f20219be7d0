"""Flips by chance, held to enumeration and to a simulation."""

from collections import Counter
from itertools import combinations
from random import Random
from statistics import fmean

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.attempts import Case
from nemo_gym.rollout_compare.compare.by_chance import flips_by_chance


@pytest.mark.parametrize("case", [Case(4, 4, 0, 4), Case(1, 3, 2, 5), Case(0, 4, 0, 4), Case(2, 2, 1, 2)])
def test_the_expected_flips_are_those_of_all_ways_to_deal_the_attempts(case: Case) -> None:
    results = [1] * case.solved + [0] * (case.old + case.new - case.solved)
    flips = beyond = ways = 0
    for drawn in combinations(range(len(results)), case.new):
        new = sum(results[i] for i in drawn)
        old = case.solved - new
        p_value = stats.fisher_exact([[old, case.old - old], [new, case.new - new]]).pvalue
        flipped = new * case.old != old * case.new
        ways, flips, beyond = ways + 1, flips + flipped, beyond + (flipped and p_value <= 0.05 + 1e-12)
    found = flips_by_chance(Counter({case: 3}), 1e-9)
    assert found is not None
    assert (found.expected, found.expected_beyond_noise) == pytest.approx((3 * flips / ways, 3 * beyond / ways))
    assert found.tasks == 3
    assert found.flips == 3 * (case.difference != 0)


@pytest.mark.parametrize("case", [Case(3, 150, 9, 200), Case(900, 1_000, 850, 1_000), Case(5_000, 5_000, 10, 10)])
def test_many_attempts_agree_with_scipy(case: Case) -> None:
    law = stats.hypergeom(case.old + case.new, case.solved, case.new)
    chances = [law.pmf(x) for x in range(case.new + 1)]
    flips = beyond = 0.0
    for new, chance in enumerate(chances):
        if chance and new * case.old != (case.solved - new) * case.new:
            flips += chance
            beyond += chance * (sum(one for one in chances if one <= chance * (1 + 1e-7)) <= 0.05)
    found = flips_by_chance(Counter({case: 1}), 1e-9)
    assert found is not None
    assert (found.expected, found.expected_beyond_noise) == pytest.approx((flips, beyond), rel=1e-6)


def test_only_tasks_with_two_attempts_a_side_are_asked() -> None:
    assert flips_by_chance(Counter({Case(1, 1, 0, 4): 9}), 1e-9) is None
    found = flips_by_chance(Counter({Case(1, 1, 0, 4): 9, Case(4, 4, 0, 4): 2}), 1e-9)
    assert found is not None
    assert (found.tasks, found.flips, found.beyond_noise) == (2, 2, 2)


def test_a_difference_within_the_tolerance_is_no_flip() -> None:
    found = flips_by_chance(Counter({Case(4, 8, 5, 8): 1, Case(8, 8, 0, 8): 1}), 0.2)
    assert found is not None
    assert (found.flips, found.beyond_noise) == (1, 1)


def test_what_is_expected_of_equal_systems_is_what_they_show() -> None:
    draw = Random(3)
    flips, expected, beyond, expected_beyond = [], [], [], []
    for _ in range(3_000):
        chance = draw.betavariate(0.6, 0.4)
        old, new = (sum(draw.random() < chance for _ in range(8)) for _ in range(2))
        found = flips_by_chance(Counter({Case(old, 8, new, 8): 1}), 1e-9)
        assert found is not None
        flips.append(found.flips)
        expected.append(found.expected)
        beyond.append(found.beyond_noise)
        expected_beyond.append(found.expected_beyond_noise)
    assert fmean(flips) == pytest.approx(fmean(expected), abs=0.02)
    assert fmean(beyond) == pytest.approx(fmean(expected_beyond), abs=0.005)
