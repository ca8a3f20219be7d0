"""Bounds over tasks that a side did not measure, and whether these were special."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.interval import tango_interval
from nemo_gym.rollout_compare.compare.paired import basics_of
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask, unmeasured_bounds
from nemo_gym.rollout_compare.schema import Selection, Unmeasured


def bounds_of(old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask]) -> Unmeasured | None:
    return unmeasured_bounds(basics_of(old, new) if old else None, old, new, unmeasured, 1e-9)


def near(figure: float) -> Any:
    return pytest.approx(figure, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("unmeasured", "worst", "best", "failed"),
    [
        ([], 0.5, 0.5, 0.5),
        ([(None, None)], 0.0, 2 / 3, 1 / 3),
        ([(1.0, None)], 0.0, 1 / 3, 0.0),
        ([(0.0, None)], 1 / 3, 2 / 3, 1 / 3),
        ([(None, 1.0)], 1 / 3, 2 / 3, 2 / 3),
        ([(None, 0.25)], 0.25 / 3, 1.25 / 3, 1.25 / 3),
        ([(0.5, 1.0)], 0.5, 0.5, 0.5),
        ([(None, None), (0.5, None)], -0.5 / 4, 2.5 / 4, 0.5 / 4),
    ],
)
def test_bounds_by_hand(unmeasured: list[UnmeasuredTask], worst: float, best: float, failed: float) -> None:
    """Two measured tasks, one won by the new side: delta 0.5."""
    bounds = bounds_of([0.0, 1.0], [1.0, 1.0], unmeasured)
    assert bounds is not None
    assert (bounds.tasks, bounds.delta_worst, bounds.delta_best) == (len(unmeasured), near(worst), near(best))
    assert bounds.as_failed == near(failed)


def test_the_interval_goes_from_the_low_end_of_the_worst_to_the_high_end_of_the_best() -> None:
    """20 tasks, 2 lost, 5 won; of three more new is unknown, old 1, 1, 0: worst 4 lost, best 6 won, of 23."""
    old, new = [1.0] * 2 + [0.0] * 5 + [1.0] * 13, [0.0] * 2 + [1.0] * 5 + [1.0] * 13
    bounds = bounds_of(old, new, [(1.0, None), (1.0, None), (0.0, None)])
    assert bounds is not None
    assert bounds.low == tango_interval(4, 5, 23)[0]
    assert bounds.high == tango_interval(2, 6, 23)[1]


@pytest.mark.parametrize("outside", [-1e-12, 1 + 1e-12])
def test_no_bounds_when_any_measured_reward_lies_outside_0_to_1(outside: float) -> None:
    for old, new, unmeasured in (
        ([outside], [1.0], []),
        ([1.0], [outside], [(0.0, None)]),
        ([1.0], [1.0], [(outside, None)]),
        ([1.0], [1.0], [(None, outside)]),
    ):
        assert bounds_of(old, new, unmeasured) == Unmeasured(len(unmeasured))


def test_without_tasks_there_are_no_bounds() -> None:
    assert bounds_of([], [], []) is None
    bounds = bounds_of([], [], [(1.0, None), (None, None)])
    assert bounds is not None
    assert (bounds.delta_worst, bounds.delta_best, bounds.as_failed) == (-1.0, 0.5, -0.5)


def test_without_spread_the_bounds_have_no_interval() -> None:
    bounds = bounds_of([0.25, 0.25], [0.5, 0.5], [])
    assert bounds is not None
    assert (bounds.delta_worst, bounds.low, bounds.high) == (0.25, None, None)


def test_tasks_that_were_left_out_for_being_hard_are_noticed() -> None:
    """Old solved 40 of 50 measured tasks and none of the 6 that new did not measure."""
    old = [1.0] * 40 + [0.0] * 10
    bounds = bounds_of(old, old, [(0.0, None)] * 6 + [(None, None)])
    expected = stats.fisher_exact([[0, 6], [40, 10]]).pvalue
    assert bounds is not None
    assert bounds.selection == (Selection("new", 6, 0.0, 0.8, near(expected)),)


def test_tasks_that_were_left_out_for_being_easy_are_noticed_on_the_old_side_too() -> None:
    new = [0.0] * 20 + [1.0] * 5
    bounds = bounds_of(new, new, [(None, 1.0)] * 5)
    assert bounds is not None
    assert [(one.side, one.tasks, one.mean, one.mean_measured) for one in bounds.selection] == [("old", 5, 1.0, 0.2)]


@pytest.mark.parametrize("unmeasured", [[(0.0, None)] * 2, [(1.0, None)] * 4 + [(0.0, None)]])
def test_few_or_ordinary_tasks_are_not_said_to_be_special(unmeasured: list[UnmeasuredTask]) -> None:
    old = [1.0] * 80 + [0.0] * 20
    bounds = bounds_of(old, old, unmeasured)
    assert bounds is not None
    assert bounds.selection == ()


def test_bounds_hold_the_truth_though_failures_are_masked() -> None:
    """Equal systems, 60% solved; the new one masks 45% of its failures: the interval alone holds 0 in 6 of 10 runs."""
    draw = Random(4)
    held = alone = 0
    for _ in range(400):
        old, new, unmeasured, wins = [], [], [], [0, 0]
        for _ in range(200):
            chance = draw.betavariate(0.6, 0.4)
            before, after = (float(draw.random() < chance) for _ in range(2))
            if after == 0 and draw.random() < 0.45:
                unmeasured.append((before, None))
                continue
            old.append(before)
            new.append(after)
            wins[0] += before > after
            wins[1] += after > before
        bounds = bounds_of(old, new, unmeasured)
        assert bounds is not None
        assert bounds.low is not None
        assert bounds.high is not None
        held += bounds.low <= 0 <= bounds.high
        low, high = tango_interval(wins[0], wins[1], len(old))
        alone += low <= 0 <= high
    assert held >= 0.93 * 400
    assert alone < 0.8 * 400


def test_bounds_of_partial_rewards_have_the_interval_of_all_tasks_together() -> None:
    """Added to the measured tasks' figures, not computed from all: so held against scipy on all."""
    draw = Random(5)
    old, new = ([draw.random() for _ in range(30)] for _ in range(2))
    bounds = bounds_of(old, new, [(0.25, None), (None, 0.5), (None, None)])
    worst = stats.ttest_rel([*new, 0.0, 0.5, 0.0], [*old, 0.25, 1.0, 1.0]).confidence_interval(0.95)
    best = stats.ttest_rel([*new, 1.0, 0.5, 1.0], [*old, 0.25, 0.0, 0.0]).confidence_interval(0.95)
    assert bounds is not None
    assert (bounds.low, bounds.high) == (near(worst.low), near(best.high))
    alone = bounds_of([], [], [(0.25, None), (None, 0.5), (None, 0.75)])
    assert alone is not None
    assert alone.low == near(stats.ttest_1samp([-0.25, -0.5, -0.25], 0).confidence_interval(0.95).low)
