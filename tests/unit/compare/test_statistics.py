"""The paired statistics of a comparison as a whole: figures, verdicts, and what is said where there is none."""

import doctest
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import to_builtins
from scipy import stats

from nemo_gym.rollout_compare.compare.attempts import Case
from nemo_gym.rollout_compare.compare.categories import compare_rollouts
from nemo_gym.rollout_compare.compare.interval import tango_interval
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask
from nemo_gym.rollout_compare.schema import (
    Conclusion,
    IntervalKind,
    SignificanceTest,
    Statistics,
    Unmeasured,
    Verdict,
    Why,
)


def near(figure: float) -> Any:
    return pytest.approx(figure, rel=1e-9, abs=1e-15)


def solved(*, old: int = 0, new: int = 0, both: int = 0, neither: int = 0) -> tuple[list[float], list[float]]:
    """Rewards of so many tasks that only the old side solved, only the new one, both, or neither."""
    return (
        [1.0] * old + [0.0] * new + [1.0] * both + [0.0] * neither,
        [0.0] * old + [1.0] * new + [1.0] * both + [0.0] * neither,
    )


def figures_of(
    old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask] = (), **asked: Any
) -> Statistics:
    return paired_statistics(MeasuredTasks(old=old, new=new, unmeasured=unmeasured), **asked)


def test_the_examples_of_the_documentation() -> None:
    path = Path(__file__).parents[3] / "docs" / "how-figures-are-computed.md"
    failed, tried = doctest.testfile(str(path), module_relative=False)
    assert (failed, tried > 0) == (0, True)


def test_a_comparison_of_pass_rates() -> None:
    old, new = solved(old=31, new=41, both=100, neither=68)
    error = math.sqrt((72 - 240 * (10 / 240) ** 2) / 239 / 240)
    low, high = tango_interval(31, 41, 240)
    found = figures_of(old, new)
    assert (found.n, found.pass_fail, found.old_wins, found.new_wins) == (240, True, 31, 41)
    assert (found.mean_old, found.mean_new, found.delta) == (near(131 / 240), near(141 / 240), near(10 / 240))
    assert (found.ci_low, found.ci_high, found.interval) == (low, high, IntervalKind.TANGO)
    exact = stats.binomtest(31, 72).pvalue
    assert (found.p_value, found.test) == (near(exact - stats.binom.pmf(31, 72, 0.5)), SignificanceTest.MCNEMAR)
    assert found.detectable == near((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error)
    assert (found.verdict, found.reason, found.borderline) == (Verdict.NO_SIGNIFICANT_CHANGE, None, False)
    assert found.p_value is not None
    assert found.chance_better == near(1 - found.p_value / 2)
    assert found.to_decide is not None
    assert found.unmeasured == Unmeasured(0, near(10 / 240), near(10 / 240), low, high, near(10 / 240))


def test_a_comparison_of_partial_rewards() -> None:
    draw = Random(1)
    old = [draw.randint(0, 8) / 8 for _ in range(12)]
    new = [min(1.0, reward + draw.randint(0, 3) / 8) for reward in old]
    found = figures_of(old, new)
    expected = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected), rel=1e-9)
    assert (found.interval, found.test) == (IntervalKind.PAIRED_T, SignificanceTest.SIGN_FLIP)
    assert found.p_value == 1 / 2 ** (found.old_wins + found.new_wins)
    assert (found.verdict, found.pass_fail, found.chance_better) == (Verdict.BETTER, False, None)


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize(("old_wins", "new_wins"), [(0, 5), (6, 0), (1, 7), (2, 8), (8, 1), (3, 3)])
def test_with_all_changes_of_one_size_the_sign_flip_test_is_mcnemars(
    old_wins: int, new_wins: int, scale: float
) -> None:
    old, new = ([reward * scale for reward in side] for side in solved(old=old_wins, new=new_wins, both=90))
    expected = figures_of(*solved(old=old_wins, new=new_wins, both=90))
    found = figures_of(old, new)
    assert found.verdict is expected.verdict
    assert found.p_value == pytest.approx(expected.p_value)


def test_mcnemar_is_for_rewards_that_are_all_0_or_1() -> None:
    old, new = solved(old=2, new=9, both=3)
    assert figures_of(old, new).test is SignificanceTest.MCNEMAR
    assert figures_of([*old, 0.5], [*new, 0.5]).test is SignificanceTest.SIGN_FLIP
    assert figures_of([*old, 0.0], [*new, 0.5]).test is SignificanceTest.SIGN_FLIP
    assert figures_of([*old, 1], [*new, -0.0]).test is SignificanceTest.MCNEMAR


def test_sums_are_rounded_once() -> None:
    found = figures_of([1e100, 1.0, -1e100], [-1e100, 1e100, 2.0])
    assert (found.mean_old, found.mean_new) == (1 / 3, 2 / 3)
    bounds = figures_of([], [], [(0.1, None)] * 10).unmeasured
    assert bounds is not None
    assert (bounds.delta_worst, bounds.delta_best) == (-0.1, 0.9)


def test_no_task() -> None:
    found = figures_of([], [], [(1.0, None), (None, None)])
    assert found.reason == "no task was measured on both sides: run the masked and missing tasks again"
    assert (found.n, found.verdict, found.delta, found.p_value) == (0, Verdict.CANNOT_TELL, None, None)
    assert found.unmeasured is not None
    assert (found.unmeasured.tasks, found.unmeasured.delta_worst, found.unmeasured.delta_best) == (2, -1.0, 0.5)
    nothing = figures_of([], [])
    assert (nothing.unmeasured, nothing.why_null["unmeasured"]) == (None, Why.NO_TASK)


def test_one_task_has_a_difference_and_cannot_tell() -> None:
    found = figures_of([0.0], [1.0])
    assert (found.n, found.delta, found.p_value, found.verdict) == (1, 1.0, None, Verdict.CANNOT_TELL)
    assert found.why_null["p_value"] is Why.ONE_TASK
    assert found.reason is not None


def test_nothing_changed_is_the_best_answer_a_migration_can_get() -> None:
    found = figures_of(*solved(both=350, neither=150))
    square = stats.norm.ppf(0.975) ** 2
    assert found.ci_high == near(square / (500 + square))
    assert found.ci_high is not None
    assert found.ci_low == -found.ci_high
    assert (found.verdict, found.p_value, found.reason) == (Verdict.NO_SIGNIFICANT_CHANGE, None, None)
    assert found.why_null["p_value"] is Why.NO_CHANGE
    assert figures_of(*solved(both=350, neither=150), margin=0.02).verdict is Verdict.SAME


def test_no_spread_leaves_a_p_but_no_interval() -> None:
    found = figures_of([0.6] * 7, [0.9] * 7)
    assert (found.ci_low, found.ci_high, found.interval, found.detectable) == (None, None, None, None)
    assert (found.p_value, found.verdict) == (1 / 2**7, Verdict.BETTER)
    assert found.why_null["interval"] is Why.NO_SPREAD


def test_three_of_three_lost_thirty_times_is_no_noise() -> None:
    cases = Counter({Case(3, 3, 0, 3): 30, Case(3, 3, 3, 3): 70})
    found = paired_statistics(MeasuredTasks(old=[1.0] * 100, new=[0.0] * 30 + [1.0] * 70, cases=cases))
    assert found.verdict is Verdict.WORSE
    assert found.on_these_tasks is not None
    assert found.on_these_tasks.p_value < 1e-15
    assert found.by_chance is not None
    assert (found.by_chance.flips, found.by_chance.expected) == (30, near(30 * 0.9 + 30 * 0.1))
    assert found.attempts is not None
    assert [one.k for one in found.attempts] == [1, 2]


def test_a_margin_that_is_not_shown_says_what_would_show_it() -> None:
    found = figures_of(*solved(old=3, new=2, both=45), margin=0.02)
    assert found.margin is not None
    assert found.margin.conclusion is Conclusion.NOT_SHOWN
    assert found.to_decide is not None
    assert found.to_decide.delta == 0.02


def test_what_is_decided_takes_nothing_more() -> None:
    found = figures_of(*solved(old=30, both=10))
    assert (found.to_decide, found.why_null["to_decide"]) == (None, Why.DECIDED)
    same = figures_of(*solved(both=400), margin=0.05)
    assert (same.to_decide, same.why_null["to_decide"]) == (None, Why.DECIDED)


def test_unmeasured_tasks_that_could_take_a_verdict_back_are_told() -> None:
    """9 lost and 1 won of 20 is a loss; 9 unmeasured new results could all have been wins."""
    old, new = solved(old=9, new=1, both=10)
    assert figures_of(old, new).verdict is Verdict.WORSE
    few, many = (figures_of(old, new, [(0.0, None)] * tasks).unmeasured for tasks in (1, 9))
    assert few is not None
    assert many is not None
    assert (few.could_overturn, many.could_overturn) == (False, True)


def test_groups_and_clusters_that_were_asked_for() -> None:
    old, new = solved(old=6, both=18)
    values = ["a"] * 6 + ["b"] * 18
    tasks = MeasuredTasks(old=old, new=new, groups={"kind": values}, cluster=("text", list("abcdef") * 4))
    found = paired_statistics(tasks)
    assert found.subsets is not None
    assert found.clustered is not None
    assert ([group.name for group in found.subsets[0].groups], found.clustered.groups) == (["b", "a"], 6)
    asked_nothing = figures_of(old, new)
    assert (asked_nothing.subsets, asked_nothing.clustered) == (None, None)
    assert {asked_nothing.why_null[name] for name in ("subsets", "clustered", "margin")} == {Why.NOT_ASKED}


def test_flips_with_agent_errors_are_left_out_for_once() -> None:
    old, new = solved(old=6, both=30)
    found = paired_statistics(MeasuredTasks(old=old, new=new, doubtful=[0, 1]))
    assert found.verdict is Verdict.WORSE
    assert found.without_agent_errors is not None
    assert (found.without_agent_errors.n, found.without_agent_errors.verdict) == (34, Verdict.CANNOT_TELL)
    assert figures_of(old, new).why_null["without_agent_errors"] is Why.NO_AGENT_ERROR


def test_differences_within_the_tolerance_are_none() -> None:
    old, new = [0.5] * 100, [0.505] * 100
    assert figures_of(old, new).verdict is Verdict.BETTER
    found = figures_of(old, new, tolerance=0.01)
    assert (found.verdict, found.new_wins, found.delta) == (Verdict.NO_SIGNIFICANT_CHANGE, 0, 0.0)


def test_rewards_outside_0_to_1_have_no_bounds() -> None:
    old, new = [2.0] * 4 + [0.0] * 6, [0.0] * 4 + [3.0] * 6
    assert figures_of(old, new, [(0.0, None)]).unmeasured == Unmeasured(1)


@pytest.mark.parametrize("largest", [1e141, 1.7e308, -1.7e308])
def test_rewards_too_large_to_compute_with(largest: float) -> None:
    found = figures_of([largest, -largest, 1.0], [-largest, largest, 1.0], [(1.0, None)])
    assert (found.n, found.old_wins, found.new_wins, found.unmeasured) == (3, 1, 1, Unmeasured(1))
    assert found.reason == "a reward is beyond 1e+140, too large to compute with: look at what the verifier reported"
    assert (found.delta, found.why_null["delta"]) == (None, Why.TOO_LARGE)


def test_the_largest_and_the_smallest_rewards_give_finite_figures() -> None:
    for size in (1e140, 1e-300, 5e-324):
        old, new = [size, -size, 0.0] * 10, [-size, -size, size] * 10
        found = figures_of(old, new, [(size, None)])
        json.dumps(to_builtins(found), allow_nan=False)
        assert (found.p_value is None) == (size < 1)


@pytest.mark.parametrize(("old", "new"), [([1.0], []), ([math.nan], [1.0]), ([0.0], [math.inf])])
def test_what_is_no_pair_of_measured_rewards_is_refused(old: list[float], new: list[float]) -> None:
    with pytest.raises(ValueError, match=r"not pairs|not measured"):
        figures_of(old, new)
    with pytest.raises(ValueError, match="not measured"):
        figures_of([1.0], [1.0], [(None, math.nan)])


@pytest.mark.parametrize(
    ("rewards", "why"),
    [
        (([], []), Why.NO_TASK),
        (([1.0, 0.0], [1.0, 0.0]), Why.ONE_ATTEMPT),
        (([0.5, 0.0], [1.0, 0.0]), Why.NOT_BINARY),
    ],
)
def test_every_figure_that_is_null_has_its_reason(rewards: tuple[list[float], list[float]], why: Why) -> None:
    found = figures_of(*rewards)
    absent = {name for name in Statistics.__struct_fields__ if getattr(found, name) is None}
    assert set(found.why_null) == absent - {"reason"}
    assert found.why_null["by_chance"] is why


def attempts_of(*tasks: Sequence[float]) -> list[dict[str, Any]]:
    return [{"task_id": f"t{i}", "reward": reward} for i, rewards in enumerate(tasks) for reward in rewards]


def test_rewards_that_only_their_mean_hides_are_not_from_0_to_1() -> None:
    """Of -1 and 2 the mean is 0.5: nothing bounds what a task without a reward could have had."""
    old, new = attempts_of(*[[2, -1]] * 6, [1.0]), attempts_of(*[[0.5, 0.5]] * 6)
    found = compare_rollouts(old, new).statistics
    assert found is not None
    assert found.unmeasured == Unmeasured(1)
    assert (found.n, found.interval, found.pass_fail) == (6, None, False)


def test_a_mean_of_1_is_no_solved_task_where_attempts_have_other_rewards() -> None:
    found = compare_rollouts(attempts_of(*[[2, 0]] * 6), attempts_of(*[[0, 0]] * 6)).statistics
    assert found is not None
    assert (found.pass_fail, found.test, found.chance_better) == (False, SignificanceTest.SIGN_FLIP, None)


def test_rewards_of_unmeasured_tasks_do_not_change_the_test() -> None:
    """All that is measured on both sides is 0 or 1; a half stands where the other side measured nothing."""
    old, new = attempts_of([1], [1], [0], [0.5]), attempts_of([0], [1], [0])
    found = compare_rollouts(old, new).statistics
    assert found is not None
    assert (found.pass_fail, found.interval, found.test) == (True, IntervalKind.TANGO, SignificanceTest.MCNEMAR)


@pytest.mark.parametrize("tolerance", [0.0, 1e-15])
def test_a_small_tolerance_is_that_of_every_figure(tolerance: float) -> None:
    """Twenty tasks that all gain far less than 1e-9 are a gain to who says that such differences count."""
    old = [1e-12 * i for i in range(20)]
    new = [1e-12 * (i + 1 + i % 3) for i in range(20)]
    groups = [str(i // 2) for i in range(20)]
    found = paired_statistics(MeasuredTasks(old=old, new=new, cluster=("g", groups)), tolerance=tolerance)
    scaled = figures_of([1e12 * one for one in old], [1e12 * one for one in new])
    assert (found.verdict, found.new_wins) == (Verdict.BETTER, 20)
    assert found.p_value == scaled.p_value
    assert scaled.ci_low is not None
    assert found.ci_low == pytest.approx(1e-12 * scaled.ci_low)
    assert found.clustered is not None
    assert found.clustered.p_value == 1 / 2**10
    assert found.clustered.ci_low is not None


def test_wins_of_rewards_too_large_to_compute_with_are_those_of_the_categories() -> None:
    """0.1 is not above 0.2 - 0.1 by a double, though it lies within 0.1 of 0.2."""
    tolerance = 0.1
    old, new = [1e200, 0.3, 0.2, 0.8], [0.0, 0.2, 0.3, 0.7]
    found = paired_statistics(MeasuredTasks(old=old, new=new), tolerance=tolerance)
    differ = [(one, other) for one, other in zip(old, new, strict=True) if abs(one - other) > tolerance]
    assert (found.old_wins, found.new_wins) == (
        sum(one > other for one, other in differ),
        sum(one < other for one, other in differ),
    )


def test_it_is_said_why_nothing_would_decide() -> None:
    even = figures_of(*solved(old=1, new=1, both=10))
    assert (even.delta, even.to_decide, even.why_null["to_decide"]) == (0.0, None, Why.NOTHING_TO_FIND)
    same = figures_of([0.5] * 6, [0.25] * 6, margin=0.01)
    assert (same.verdict, same.to_decide, same.why_null["to_decide"]) == (Verdict.WORSE, None, Why.NO_SPREAD)
    zero = figures_of(*solved(old=1, new=3, both=10), margin=0.0)
    assert (zero.to_decide, zero.why_null["to_decide"]) == (None, Why.NOTHING_TO_FIND)
