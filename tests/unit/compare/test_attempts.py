"""Attempts as counts: pass@k, pass^k and the noise within a task, held to enumeration."""

import math
from collections import Counter
from itertools import combinations
from statistics import fmean, variance

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.attempts import (
    Case,
    of_attempts,
    pass_all,
    pass_at,
    repeated_cases,
    within_variance,
)


@pytest.mark.parametrize("attempts", [1, 4, 7])
def test_pass_at_and_pass_all_are_shares_of_the_draws(attempts: int) -> None:
    for solved in range(attempts + 1):
        results = [1] * solved + [0] * (attempts - solved)
        for k in range(1, attempts + 1):
            draws = list(combinations(results, k))
            assert pass_at(k, solved, attempts) == pytest.approx(fmean(map(any, draws)))
            assert pass_all(k, solved, attempts) == pytest.approx(fmean(map(all, draws)))


def test_pass_at_of_the_paper() -> None:
    """Chen et al. (2021), figure 3: 1 - prod(1 - k / i), i from n - c + 1 to n."""
    expected = 1 - math.prod(1 - 10 / i for i in range(200 - 13 + 1, 200 + 1))
    assert pass_at(10, 13, 200) == pytest.approx(expected, rel=1e-12)


def test_a_case() -> None:
    case = Case(3, 4, 1, 2)
    assert (case.solved, case.difference, case.repeated) == (4, -0.25, True)
    assert not Case(1, 1, 1, 2).repeated
    assert not Case(1, 2, 1, 1).repeated
    assert repeated_cases(Counter({case: 3, Case(1, 1, 0, 1): 2})) == {case: 3}


@pytest.mark.parametrize("case", [Case(3, 4, 1, 2), Case(0, 3, 2, 5), Case(8, 8, 4, 8)])
def test_the_variance_within_is_that_of_the_two_means(case: Case) -> None:
    old = [1.0] * case.old_solved + [0.0] * (case.old - case.old_solved)
    new = [1.0] * case.new_solved + [0.0] * (case.new - case.new_solved)
    assert within_variance(case) == pytest.approx(variance(old) / case.old + variance(new) / case.new)


def test_the_numbers_of_several_attempts_with_their_intervals() -> None:
    cases = Counter({Case(4, 4, 2, 4): 2, Case(1, 4, 1, 5): 3, Case(0, 8, 4, 4): 1})
    found = list(of_attempts(cases))
    assert [one.k for one in found] == [1, 2, 4]
    every = [case for case, tasks in cases.items() for _ in range(tasks)]
    for one in found:
        for rate, share in ((one.pass_at, pass_at), (one.pass_all, pass_all)):
            old = [share(one.k, case.old_solved, case.old) for case in every]
            new = [share(one.k, case.new_solved, case.new) for case in every]
            assert (rate.old, rate.new) == pytest.approx((fmean(old), fmean(new)))
            expected = stats.ttest_rel(new, old).confidence_interval(0.95)
            assert (rate.ci_low, rate.ci_high) == pytest.approx((max(-1, expected.low), min(1, expected.high)))
            assert rate.delta == pytest.approx(fmean(new) - fmean(old))


@pytest.mark.parametrize("cases", [Counter({Case(1, 2, 0, 2): 1}), Counter({Case(2, 2, 0, 2): 9})])
def test_no_spread_no_interval(cases: Counter[Case]) -> None:
    for one in of_attempts(cases):
        assert (one.pass_at.ci_low, one.pass_at.ci_high) == (None, None)
