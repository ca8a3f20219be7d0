"""The difference on exactly these tasks, held to enumeration, statsmodels and simulation."""

import math
from collections import Counter
from itertools import product
from random import Random

import numpy
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from nemo_gym.rollout_compare.compare import on_these_tasks as module
from nemo_gym.rollout_compare.compare.attempts import Case
from nemo_gym.rollout_compare.compare.on_these_tasks import on_these_tasks, stratified_p
from nemo_gym.rollout_compare.schema import SignificanceTest

EXACT, NORMAL = SignificanceTest.STRATIFIED, SignificanceTest.STRATIFIED_NORMAL


def enumerated(cases: list[Case]) -> float:
    """The mid-p from every combination of the tasks' hypergeometric numbers."""
    laws = [
        [(x, stats.hypergeom.pmf(x, case.old + case.new, case.solved, case.new)) for x in range(case.new + 1)]
        for case in cases
    ]
    found = sum(case.new_solved for case in cases)
    above = below = here = 0.0
    for combination in product(*laws):
        total, chance = sum(x for x, _ in combination), math.prod(p for _, p in combination)
        above, below, here = (
            above + chance * (total > found),
            below + chance * (total < found),
            here + chance * (total == found),
        )
    return min(1.0, 2 * min(above + here / 2, below + here / 2))


@pytest.mark.parametrize(
    "cases",
    [
        [Case(3, 3, 0, 3)],
        [Case(3, 4, 1, 4), Case(2, 2, 1, 3), Case(0, 5, 2, 4)],
        [Case(1, 2, 1, 2)] * 3,
        [Case(4, 4, 4, 4), Case(0, 2, 0, 2)],
        [Case(2, 4, 3, 8), Case(1, 2, 5, 8), Case(0, 3, 1, 2)],
    ],
)
def test_the_exact_test_agrees_with_enumeration(cases: list[Case]) -> None:
    p_value, test = stratified_p(Counter(cases))
    assert p_value == pytest.approx(enumerated(cases), rel=1e-9)
    assert test is EXACT


def test_three_of_three_lost_thirty_times() -> None:
    """Each task alone has p = 0.1; together every one of 30 went one way: 2 (1/20)^30 / 2, twice the mid-p of one."""
    p_value, _ = stratified_p(Counter({Case(3, 3, 0, 3): 30}))
    assert p_value == pytest.approx(0.05**30, abs=1e-18)
    assert p_value < 1e-15


def test_the_normal_approximation_is_close_to_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(5)
    for _ in range(10):
        cases = random_cases(draw, 300)
        exact, _ = stratified_p(cases)
        monkeypatch.setattr(module, "_LARGEST_EXACT_VARIANCE", 0)
        approximate, test = stratified_p(cases)
        monkeypatch.undo()
        assert test is NORMAL
        assert approximate == pytest.approx(exact, abs=0.002)


def test_large_runs_agree_with_statsmodels() -> None:
    """The Cochran-Mantel-Haenszel statistic is the normal approximation, squared."""
    cases = random_cases(Random(6), 2_000)
    p_value, test = stratified_p(cases)
    tables = [
        numpy.array([[case.old_solved, case.old - case.old_solved], [case.new_solved, case.new - case.new_solved]])
        for case, tasks in cases.items()
        if 0 < case.solved < case.old + case.new
        for _ in range(tasks)
    ]
    assert test is NORMAL
    assert p_value == pytest.approx(StratifiedTable(tables).test_null_odds().pvalue, rel=1e-6)


@pytest.mark.parametrize(
    "case", [Case(300, 600, 330, 600), Case(3, 600, 0, 600), Case(4_990, 5_000, 1_999, 2_000), Case(1, 9_000, 3, 7)]
)
def test_tasks_with_very_many_attempts_are_exact(case: Case) -> None:
    p_value, test = stratified_p(Counter({case: 1}))
    law = stats.hypergeom(case.old + case.new, case.solved, case.new)
    here = law.pmf(case.new_solved) / 2
    smaller = min(law.cdf(case.new_solved - 1), law.sf(case.new_solved)) + here
    assert test is EXACT
    assert p_value == pytest.approx(min(1.0, 2 * smaller), rel=1e-7)


@pytest.mark.parametrize("solved", [0, 1])
def test_very_many_attempts_that_all_agree(solved: int) -> None:
    """Nothing varies: there is no deviation to divide by."""
    found = on_these_tasks(Counter({Case(600 * solved, 600, 600 * solved, 600): 2}))
    assert found is not None
    assert (found.delta, found.ci_low, found.p_value, found.test) == (0.0, None, 1.0, EXACT)


def random_cases(draw: Random, tasks: int) -> Counter[Case]:
    cases: Counter[Case] = Counter()
    for _ in range(tasks):
        chance = draw.betavariate(1, 1)
        cases[
            Case(sum(draw.random() < chance for _ in range(8)), 8, sum(draw.random() < chance for _ in range(8)), 8)
        ] += 1
    return cases


def test_the_interval_by_hand() -> None:
    """Ten tasks, half solved of 4 attempts on the old side, none on the new: variance 1/4 / 3 each."""
    found = on_these_tasks(Counter({Case(2, 4, 0, 4): 10}))
    assert found is not None
    margin = stats.norm.ppf(0.975) * math.sqrt(10 / 12) / 10
    assert (found.tasks, found.delta) == (10, -0.5)
    assert (found.ci_low, found.ci_high) == pytest.approx((-0.5 - margin, -0.5 + margin))


@pytest.mark.parametrize("cases", [Counter({Case(2, 4, 0, 4): 9}), Counter({Case(4, 4, 0, 4): 30})])
def test_no_interval_of_few_tasks_or_of_attempts_that_all_agree(cases: Counter[Case]) -> None:
    found = on_these_tasks(cases)
    assert found is not None
    assert (found.ci_low, found.ci_high) == (None, None)
    assert found.p_value < 0.05


def test_only_tasks_with_two_attempts_a_side_count() -> None:
    assert on_these_tasks(Counter({Case(1, 1, 0, 8): 20})) is None
    found = on_these_tasks(Counter({Case(1, 1, 0, 8): 20, Case(1, 2, 1, 2): 3}))
    assert found is not None
    assert (found.tasks, found.delta, found.p_value) == (3, 0.0, 1.0)
