"""The paired statistics of a comparison as a whole: figures, verdicts, and what is said where there is none."""

import doctest
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import to_builtins
from scipy import stats

from nemo_gym.rollout_compare.compare.statistics import (
    UnmeasuredTask,
    paired_statistics,
    task_statistics,
    unmeasured_bounds,
)
from nemo_gym.rollout_compare.schema import (
    Category,
    Mask,
    MaskKind,
    Side,
    SignificanceTest,
    Statistics,
    TaskComparison,
    TaskSide,
    Unmeasured,
    Verdict,
)


def near(figure: float) -> Any:
    return pytest.approx(figure, rel=1e-9, abs=1e-15)


def solved(*, old: int = 0, new: int = 0, both: int = 0, neither: int = 0) -> tuple[list[float], list[float]]:
    """Rewards of so many tasks that only the old side solved, only the new one, both, or neither."""
    return (
        [1.0] * old + [0.0] * new + [1.0] * both + [0.0] * neither,
        [0.0] * old + [1.0] * new + [1.0] * both + [0.0] * neither,
    )


def without_figures(n: int, reason: str, **known: object) -> Statistics:
    figures: dict[str, object] = dict.fromkeys(Statistics.__struct_fields__)
    figures |= {"n": n, "old_wins": 0, "new_wins": 0, "verdict": Verdict.CANNOT_TELL, "reason": reason}
    return Statistics(**(figures | known))  # type: ignore[arg-type]


def test_the_examples_of_the_documentation() -> None:
    path = Path(__file__).parents[3] / "docs" / "how-figures-are-computed.md"
    failed, tried = doctest.testfile(str(path), module_relative=False)
    assert (failed, tried > 0) == (0, True)


def test_the_fields_are_those_of_the_summary() -> None:
    names = (
        "n mean_old mean_new delta ci_low ci_high old_wins new_wins p_value test detectable verdict reason unmeasured"
    )
    assert Statistics.__struct_fields__ == tuple(names.split())
    assert Unmeasured.__struct_fields__ == ("tasks", "delta_worst", "delta_best")


def test_a_comparison_of_pass_rates() -> None:
    old, new = solved(old=31, new=41, both=100, neither=68)
    error = math.sqrt((72 - 240 * (10 / 240) ** 2) / 239 / 240)
    margin = stats.t.ppf(0.975, 239) * error
    assert paired_statistics(old, new) == Statistics(
        n=240,
        mean_old=near(131 / 240),
        mean_new=near(141 / 240),
        delta=near(10 / 240),
        ci_low=near(10 / 240 - margin),
        ci_high=near(10 / 240 + margin),
        old_wins=31,
        new_wins=41,
        p_value=near(stats.binomtest(31, 72).pvalue),
        test=SignificanceTest.MCNEMAR,
        detectable=near((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error),
        verdict=Verdict.NO_SIGNIFICANT_CHANGE,
        reason=None,
        unmeasured=Unmeasured(0, near(10 / 240), near(10 / 240)),
    )


def test_a_comparison_of_partial_rewards() -> None:
    draw = Random(1)
    old = [draw.randint(0, 8) / 8 for _ in range(12)]
    new = [min(1.0, reward + draw.randint(0, 3) / 8) for reward in old]
    statistics = paired_statistics(old, new)
    expected = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert (statistics.ci_low, statistics.ci_high) == pytest.approx(tuple(expected), rel=1e-9)
    assert statistics.test is SignificanceTest.SIGN_FLIP
    assert statistics.p_value == 2 / 2 ** (statistics.old_wins + statistics.new_wins)
    assert statistics.verdict is Verdict.BETTER


@pytest.mark.parametrize(
    ("old_wins", "new_wins", "verdict"),
    [
        (0, 5, Verdict.CANNOT_TELL),
        (5, 0, Verdict.CANNOT_TELL),
        (0, 6, Verdict.BETTER),
        (6, 0, Verdict.WORSE),
        (1, 7, Verdict.NO_SIGNIFICANT_CHANGE),
        (1, 8, Verdict.BETTER),
        (8, 1, Verdict.WORSE),
        (3, 3, Verdict.NO_SIGNIFICANT_CHANGE),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_verdict(old_wins: int, new_wins: int, verdict: Verdict, scale: float) -> None:
    """With all changes of one size the sign-flip test is McNemar's."""
    old, new = ([reward * scale for reward in side] for side in solved(old=old_wins, new=new_wins, both=90))
    statistics = paired_statistics(old, new)
    assert statistics.verdict is verdict
    assert statistics.p_value == pytest.approx(stats.binomtest(old_wins, old_wins + new_wins).pvalue)


def test_mcnemar_is_for_rewards_that_are_all_0_or_1() -> None:
    old, new = solved(old=2, new=9, both=3)
    assert paired_statistics(old, new).test is SignificanceTest.MCNEMAR
    assert paired_statistics([*old, 0.5], [*new, 0.5]).test is SignificanceTest.SIGN_FLIP
    assert paired_statistics([*old, 0.0], [*new, 0.5]).test is SignificanceTest.SIGN_FLIP
    assert paired_statistics([*old, 1], [*new, -0.0]).test is SignificanceTest.MCNEMAR


def test_sums_are_rounded_once() -> None:
    statistics = paired_statistics([1e100, 1.0, -1e100], [-1e100, 1e100, 2.0])
    assert (statistics.mean_old, statistics.mean_new) == (1 / 3, 2 / 3)
    assert unmeasured_bounds([], [], [(0.1, None)] * 10) == Unmeasured(10, delta_worst=-0.1, delta_best=0.9)


def test_no_task() -> None:
    reason = "no task was measured on both sides: run the masked and missing tasks again"
    assert paired_statistics([], []) == without_figures(0, reason)
    bounds = Unmeasured(2, delta_worst=-1.0, delta_best=0.5)
    assert paired_statistics([], [], [(1.0, None), (None, None)]) == without_figures(0, reason, unmeasured=bounds)


def test_one_task_has_a_difference_and_nothing_else() -> None:
    assert paired_statistics([0.0], [1.0]) == without_figures(
        1,
        "one task cannot tell a difference from noise: it takes 6 changed tasks or more",
        mean_old=0.0,
        mean_new=1.0,
        delta=1.0,
        new_wins=1,
        unmeasured=Unmeasured(0, 1.0, 1.0),
    )


def test_no_changed_task_has_neither_interval_nor_p() -> None:
    old, new = [0.5, 0.25, 1.0], [0.5 + 9e-10, 0.25 - 9e-10, 1.0]
    assert paired_statistics(old, new) == without_figures(
        3,
        "none of the 3 tasks changed, so there is no difference to judge and no spread for an interval: "
        "it takes 6 changed tasks or more to show one",
        mean_old=near(1.75 / 3),
        mean_new=near(1.75 / 3),
        delta=near(0.0),
        unmeasured=Unmeasured(0, near(0.0), near(0.0)),
    )


@pytest.mark.parametrize(
    ("changed", "words"), [(1, "1 task changed, p cannot be below 1"), (5, "5 tasks changed, p cannot be below 0.0625")]
)
def test_too_few_changed_tasks_keep_their_figures_but_cannot_tell(changed: int, words: str) -> None:
    statistics = paired_statistics(*solved(old=changed, both=20))
    assert statistics.reason == f"with {words}: it takes 6 changed tasks or more"
    assert statistics.verdict is Verdict.CANNOT_TELL
    assert statistics.p_value == min(1.0, 2 / 2**changed)
    assert statistics.ci_low is not None
    assert statistics.detectable is not None


@pytest.mark.parametrize("rewards", [(0.0, 1.0), (0.6, 0.9)])
def test_no_spread_leaves_a_p_but_no_interval(rewards: tuple[float, float]) -> None:
    old, new = rewards
    statistics = paired_statistics([old] * 7, [new] * 7)
    assert (statistics.ci_low, statistics.ci_high, statistics.detectable) == (None, None, None)
    assert statistics.p_value == 2 / 2**7
    assert statistics.verdict is Verdict.BETTER
    assert statistics.reason == (
        "all 7 tasks changed by the same amount, so there is no spread for an interval: "
        "it takes tasks that change by different amounts"
    )


def test_few_tasks_without_spread_have_both_reasons() -> None:
    reason = paired_statistics([0.0] * 3, [1.0] * 3).reason
    assert reason is not None
    assert [part.split(":")[0] for part in reason.split("; ")] == [
        "with 3 tasks changed, p cannot be below 0.25",
        "all 3 tasks changed by the same amount, so there is no spread for an interval",
    ]


def test_rewards_outside_0_to_1_have_no_bounds() -> None:
    old, new = [2.0] * 4 + [0.0] * 6, [0.0] * 4 + [3.0] * 6
    assert paired_statistics(old, new).unmeasured is None
    assert paired_statistics(old, new).reason is None
    statistics = paired_statistics(old, new, [(0.0, None)])
    assert statistics.unmeasured is None
    assert statistics.reason == (
        "no bounds for 1 task not measured on both sides: it takes rewards that all lie from 0 to 1"
    )


@pytest.mark.parametrize("largest", [1e141, 1.7e308, -1.7e308])
def test_rewards_too_large_to_compute_with(largest: float) -> None:
    reason = "a reward is beyond 1e+140, too large to compute with: look at what the verifier reported"
    assert paired_statistics([largest, -largest, 1.0], [-largest, largest, 1.0]) == without_figures(
        3, reason, old_wins=1, new_wins=1
    )
    assert paired_statistics([0.0], [largest]).delta is None


def test_the_largest_and_the_smallest_rewards_give_finite_figures() -> None:
    for size in (1e140, 1e-300, 5e-324):
        old, new = [size, -size, 0.0] * 10, [-size, -size, size] * 10
        statistics = paired_statistics(old, new, [(size, None)])
        json.dumps(to_builtins(statistics), allow_nan=False)
        assert (statistics.p_value is None) == (size < 1)


@pytest.mark.parametrize(("old", "new"), [([1.0], []), ([math.nan], [1.0]), ([0.0], [math.inf])])
def test_what_is_no_pair_of_measured_rewards_is_refused(old: list[float], new: list[float]) -> None:
    with pytest.raises(ValueError, match=r"not pairs|not measured"):
        paired_statistics(old, new)
    with pytest.raises(ValueError, match="not measured"):
        paired_statistics([1.0], [1.0], [(None, math.nan)])


@pytest.mark.parametrize(
    ("unmeasured", "worst", "best"),
    [
        ([], 0.5, 0.5),
        ([(None, None)], 0.0, 2 / 3),
        ([(1.0, None)], 0.0, 1 / 3),
        ([(0.0, None)], 1 / 3, 2 / 3),
        ([(None, 1.0)], 1 / 3, 2 / 3),
        ([(None, 0.25)], 0.25 / 3, 1.25 / 3),
        ([(0.5, 1.0)], 0.5, 0.5),
        ([(None, None), (0.5, None)], -0.5 / 4, 2.5 / 4),
    ],
)
def test_bounds_over_unmeasured_tasks(unmeasured: list[UnmeasuredTask], worst: float, best: float) -> None:
    """Two measured tasks, one won by the new side: delta 0.5."""
    expected = Unmeasured(len(unmeasured), near(worst), near(best))
    assert unmeasured_bounds([0.0, 1.0], [1.0, 1.0], unmeasured) == expected


@pytest.mark.parametrize("outside", [-1e-12, 1 + 1e-12])
def test_no_bounds_when_any_measured_reward_lies_outside_0_to_1(outside: float) -> None:
    assert unmeasured_bounds([outside], [1.0], []) is None
    assert unmeasured_bounds([1.0], [outside], []) is None
    assert unmeasured_bounds([1.0], [1.0], [(outside, None)]) is None
    assert unmeasured_bounds([1.0], [1.0], [(None, outside)]) is None
    assert unmeasured_bounds([], [], []) is None


def side(reward: float | None, masked: str | None = None) -> TaskSide:
    return TaskSide(1, reward, int(reward is not None), Mask(MaskKind.MASK_SAMPLE, masked) if masked else None)


def test_measured_tasks_are_compared_and_the_others_bound_the_difference() -> None:
    """By hand: the measured tasks change by -1, 0.5 and 0. The others, in their order, add in the worst case -1, -1,
    -0.25, -0.25 and -1, in the best 0, 1, 0.75, 0.75 and 1."""
    tasks = [
        TaskComparison("flip", Category.FLIPPED, side(1.0), side(0.0), Side.OLD),
        TaskComparison("doubtful", Category.FLIPPED_AGENT_ERROR, side(0.5), side(1.0), Side.NEW),
        TaskComparison("same", Category.IDENTICAL, side(1.0), side(1.0)),
        TaskComparison("masked", Category.MASKED, side(1.0), side(0.0, "mask_sample")),
        TaskComparison("both masked", Category.MASKED, side(None, "no reward"), side(0.5, "mask_sample")),
        TaskComparison("old only", Category.MISSING, side(0.25), None),
        TaskComparison("new only", Category.MISSING, None, side(0.75)),
        TaskComparison("masked and missing", Category.MISSING, None, side(0.75, "mask_sample")),
    ]
    statistics = task_statistics(tasks)
    assert (statistics.n, statistics.old_wins, statistics.new_wins) == (3, 1, 1)
    assert (statistics.mean_old, statistics.mean_new, statistics.delta) == (near(2.5 / 3), near(2 / 3), near(-0.5 / 3))
    assert statistics.unmeasured == Unmeasured(5, near(-4 / 8), near(3 / 8))


def test_a_task_without_a_reward_is_in_no_figure() -> None:
    """No comparison makes one; whoever does makes no figure of it."""
    rewardless = side(None)
    tasks = [TaskComparison("a", Category.IDENTICAL, *sides) for sides in ((rewardless, side(1.0)), (side(1.0), None))]
    assert task_statistics([*tasks, TaskComparison("b", Category.IDENTICAL, side(1.0), rewardless)]).n == 0
