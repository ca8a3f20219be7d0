"""What it cost, against scipy, and where a figure has no meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nemo_gym.rollout_compare import Cost, Truncated, compare_rollouts
from nemo_gym.rollout_compare.compare.costs import FEWEST_TASKS, ratio_of
from nemo_gym.rollout_compare.schema import Carrier, Ratio
from tests.properties import PROPERTY

COSTS = st.floats(1e-3, 1e6)


def rows(*costs: float | None, rewards: list[float] | None = None) -> list[dict[str, Any]]:
    return [
        {"task_id": f"t{i}", "reward": rewards[i] if rewards else 1, "response": {"usage": {"output_tokens": cost}}}
        for i, cost in enumerate(costs)
    ]


def cost_of(old: list[dict[str, Any]], new: list[dict[str, Any]], measure: str = "output-tokens") -> Cost:
    (cost,) = (one for one in compare_rollouts(old, new).costs if one.measure == measure)
    return cost


@PROPERTY
@given(st.lists(st.tuples(COSTS, COSTS), min_size=FEWEST_TASKS, max_size=40))
def test_the_ratio_and_its_interval_agree_with_scipy(pairs: list[tuple[float, float]]) -> None:
    old, new = np.array(pairs).T
    ratio = ratio_of(pairs)
    assert ratio.tasks == len(pairs)
    assert ratio.times == pytest.approx(stats.gmean(new) / stats.gmean(old), rel=1e-9)
    if ratio.ci_low is not None:
        interval = stats.ttest_rel(np.log(new), np.log(old)).confidence_interval(0.95)
        assert math.log(ratio.ci_low) == pytest.approx(interval.low, rel=1e-9, abs=1e-9)
        assert math.log(ratio.ci_high or 0) == pytest.approx(interval.high, rel=1e-9, abs=1e-9)
        assert ratio.reason is None


def test_a_worked_example() -> None:
    # Logarithms of the factors: four times ln 2, four times ln 4; their mean is 1.5 ln 2.
    ratio = ratio_of([(1, 2)] * 4 + [(1, 4)] * 4)
    assert ratio.times == pytest.approx(2**1.5)
    margin = 2.364624 * math.log(2) / 2 * math.sqrt(8 / 7) / math.sqrt(8)  # t(0.975; 7)
    assert ratio.ci_low == pytest.approx(2**1.5 / math.exp(margin), rel=1e-6)
    assert ratio.ci_high == pytest.approx(2**1.5 * math.exp(margin), rel=1e-6)


def test_a_few_tasks_have_no_ratio() -> None:
    assert ratio_of([(1, 2)] * 5) == Ratio(5, reason="5 tasks with such a cost on both sides, it takes 6")
    assert ratio_of([(0, 2), (2, 0)]).tasks == 0


def test_where_every_task_is_the_same_there_is_no_interval() -> None:
    ratio = ratio_of([(10, 20)] * 6)
    assert (ratio.tasks, ratio.ci_low, ratio.ci_high) == (6, None, None)
    assert ratio.times == pytest.approx(2)
    assert ratio.reason == "no interval: it is the same factor in every task"


def test_intervals_beyond_a_double_end_at_its_range() -> None:
    ratio = ratio_of([(1e-300, 1e300)] * 3 + [(1e300, 1e-300)] * 3)
    assert ratio.times == pytest.approx(1)
    assert ratio.ci_high is not None
    assert math.isfinite(ratio.ci_high)


def test_means_are_over_tasks_measured_on_both_sides_that_tell() -> None:
    old, new = rows(10, 20, 30, None, 50), rows(1, None, 3, 4, 5)
    new[4]["mask_sample"] = True
    cost = cost_of(old, new)
    assert (cost.tasks, cost.mean_old, cost.mean_new) == (2, 20, 2)


def test_a_task_costs_the_mean_of_its_measured_attempts() -> None:
    old = [{**row, "task_id": "a"} for row in rows(10, 30, None)]
    new = [{**row, "task_id": "a"} for row in rows(5, 1000)]
    new[1]["mask_sample"] = True
    cost = cost_of(old, new)
    assert (cost.tasks, cost.mean_old, cost.mean_new) == (1, 20, 5)


def test_the_same_over_tasks_that_both_solved() -> None:
    solved = [1.0] * 6 + [0.0] * 2
    old, new = rows(*[10] * 8, rewards=solved), rows(*[20] * 6, 1000, 1000, rewards=[1.0] * 8)
    cost = cost_of(old, new)
    assert (cost.ratio.tasks, cost.solved.tasks) == (8, 6)
    assert cost.solved.times == pytest.approx(2)


def test_one_task_may_make_up_most_of_it() -> None:
    old, new = rows(*[10] * 8), rows(*[11] * 7, 1010)
    assert cost_of(old, new).carried_by == Carrier("t7", 1000 / 1007)
    assert cost_of(old, rows(*[11] * 8)).carried_by is None
    assert cost_of(old, old).carried_by is None
    assert cost_of(rows(1, 1), rows(1, 100)).carried_by is None  # of two tasks one always does


def test_a_measure_that_one_run_lacks_is_not_compared() -> None:
    assert compare_rollouts(rows(1), [{"task_id": "t0", "reward": 1}]).costs == ()
    assert compare_rollouts(rows(1, None), rows(None, 1)).costs == ()


def test_answers_that_a_limit_cut_off_are_counted() -> None:
    old, new = rows(1, 2, 3), [*rows(1, 2), {"task_id": "t2", "reward": 1}]
    new[0]["response"]["incomplete_details"] = {"reason": "max_output_tokens"}
    assert compare_rollouts(old, new).truncated == Truncated(0, 3, 1, 2)
    assert compare_rollouts(new[2:], new[2:]).truncated is None
