"""Where lower is better, rewards r say what 1 - r say where higher is: the same winners, verdicts and chances."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.compare.categories import compare_rollouts
from nemo_gym.rollout_compare.compare.questions import Questions
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.schema import CompareResult, Selection, Side, Statistics, Verdict
from tests.properties import PROPERTY

Rewards = Sequence[Sequence[float | None]]

#: Halves and quarters are exact, and so is 1 less any of them.
REWARDS = st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0])
BINARY = st.sampled_from([None, 0.0, 1.0])
SIDE = st.one_of(
    *(st.lists(st.lists(one, min_size=1, max_size=4), min_size=1, max_size=12) for one in (REWARDS, BINARY))
)


def rows(rewards: Rewards, *, mirrored: bool) -> list[dict[str, object]]:
    return [
        {"task_id": f"t{task}", "group": "ab"[task % 2], "reward": one if one is None or not mirrored else 1 - one}
        for task, attempts in enumerate(rewards)
        for one in attempts
    ]


def result(old: Rewards, new: Rewards, *, lower: bool, margin: float | None = None) -> CompareResult:
    """Lower is better with the rewards as they are, or higher is with their mirror images."""
    asked = Questions(lower_is_better=lower, margin=margin, by=("group",), cluster="group")
    return compare_rollouts(rows(old, mirrored=not lower), rows(new, mirrored=not lower), questions=asked)


def near(value: float | None) -> object:
    return value if value is None else pytest.approx(value, abs=1e-9)


def minus(value: float | None) -> float | None:
    return None if value is None else -value


def assert_mirrored(lower: Statistics, higher: Statistics) -> None:
    """Every figure: the same where it is about the better side, the other sign where it is about rewards."""
    for name in ("n", "verdict", "old_wins", "new_wins", "pass_fail", "interval", "test", "borderline", "wins_say"):
        assert getattr(lower, name) == getattr(higher, name), name
    for name in ("p_value", "detectable", "chance_better"):
        assert getattr(lower, name) == near(getattr(higher, name)), name
    assert lower.delta == near(minus(higher.delta))
    assert (lower.ci_low, lower.ci_high) == (near(minus(higher.ci_high)), near(minus(higher.ci_low)))
    for one, other in ((lower.mean_old, higher.mean_old), (lower.mean_new, higher.mean_new)):
        assert one == near(other if other is None else 1 - other)
    assert lower.attempts == higher.attempts  # how often a task is solved
    assert lower.by_chance == higher.by_chance
    assert (lower.to_decide is None) == (higher.to_decide is None)
    if lower.to_decide and higher.to_decide:
        assert lower.to_decide.delta == near(higher.to_decide.delta)  # a size, not a sign
    for mine, theirs in ((lower.on_these_tasks, higher.on_these_tasks), (lower.clustered, higher.clustered)):
        assert (mine is None) == (theirs is None)
        if mine and theirs:
            assert (mine.ci_low, mine.ci_high) == (near(minus(theirs.ci_high)), near(minus(theirs.ci_low)))
            assert mine.p_value == near(theirs.p_value)
    if lower.margin and higher.margin:
        assert lower.margin.conclusion == higher.margin.conclusion
        assert (lower.margin.low, lower.margin.high) == (
            near(minus(higher.margin.high)),
            near(minus(higher.margin.low)),
        )


def assert_parts_mirrored(lower: Statistics, higher: Statistics) -> None:
    """The bounds of what was not measured, and the groups."""
    if lower.unmeasured and higher.unmeasured:
        for name in ("delta_worst", "delta_best", "as_failed"):
            assert getattr(lower.unmeasured, name) == near(minus(getattr(higher.unmeasured, name))), name
        assert lower.unmeasured.low == near(minus(higher.unmeasured.high))
        assert lower.unmeasured.could_overturn == higher.unmeasured.could_overturn
        chosen = [[(one.side, one.tasks) for one in side.selection] for side in (lower.unmeasured, higher.unmeasured)]
        assert chosen[0] == chosen[1]
    for mine_, theirs_ in zip(lower.subsets or (), higher.subsets or (), strict=True):
        for group, image in zip(mine_.groups, theirs_.groups, strict=True):
            assert (group.name, group.n, group.p_value) == (image.name, image.n, near(image.p_value))
            assert (group.old, group.new) == (near(1 - image.old), near(1 - image.new))
            assert group.delta == near(-image.delta)


@PROPERTY
@given(SIDE, SIDE, st.sampled_from([None, 0.1, 0.5]))
@example([[0.0], [None], [0.0]], [[0.0], *[[0.5]] * 2, *[[0.5]] * 4], None)  # a half is solved, whichever is better
def test_lower_is_better_is_the_mirror_image_of_higher_is_better(
    old: Rewards, new: Rewards, margin: float | None
) -> None:
    lower, higher = (result(old, new, lower=lower, margin=margin) for lower in (True, False))
    assert [(task.task, task.category, task.winner) for task in lower.tasks] == [
        (task.task, task.category, task.winner) for task in higher.tasks
    ]
    assert [flip.repeats for flip in lower.flips] == [flip.repeats for flip in higher.flips]
    assert [flip.rows.old.line for flip in lower.flips] == [flip.rows.old.line for flip in higher.flips]
    assert lower.statistics is not None
    assert higher.statistics is not None
    assert lower.statistics.lower_is_better
    assert not higher.statistics.lower_is_better
    assert_mirrored(lower.statistics, higher.statistics)
    assert_parts_mirrored(lower.statistics, higher.statistics)


def test_fewer_errors_win() -> None:
    old = [{"task_id": f"t{i}", "reward": 12.0} for i in range(8)]
    new = [{"task_id": f"t{i}", "reward": 9.0 - i / 10} for i in range(8)]
    found = compare_rollouts(old, new, questions=Questions(lower_is_better=True))
    figures = found.statistics
    assert figures is not None
    assert {task.winner for task in found.tasks} == {Side.NEW}
    assert (figures.verdict, figures.old_wins, figures.new_wins) == (Verdict.BETTER, 0, 8)
    assert figures.mean_old == 12.0
    assert figures.mean_new == pytest.approx(8.65)
    assert figures.delta == pytest.approx(-3.35)
    assert figures.carried_by is None


def test_the_one_task_that_decides_is_told_with_the_sign_of_its_reward() -> None:
    ones, new = [1.0] * 8, [9.0, *[0.9] * 7]
    higher = paired_statistics(MeasuredTasks(old=ones, new=new, labels="abcdefgh"))
    images = [[-one for one in side] for side in (ones, new)]
    lower = paired_statistics(MeasuredTasks(old=images[0], new=images[1], labels="abcdefgh"), lower_is_better=True)
    assert higher.carried_by is not None
    assert lower.carried_by is not None
    assert lower.carried_by.task == "a"
    assert lower.carried_by.delta_without == pytest.approx(-higher.carried_by.delta_without)


def test_without_the_flips_that_have_agent_errors_the_sign_is_that_of_the_rewards() -> None:
    figures = paired_statistics(MeasuredTasks(old=[5, 5, 5], new=[1, 4, 5], doubtful=[0]), lower_is_better=True)
    assert figures.without_agent_errors is not None
    assert figures.without_agent_errors.delta == pytest.approx(-0.5)


def test_rewards_too_large_to_compute_with_are_won_by_the_lower() -> None:
    figures = paired_statistics(MeasuredTasks(old=[1e200, 1], new=[1, 2]), lower_is_better=True)
    assert (figures.old_wins, figures.new_wins, figures.delta) == (1, 1, None)
    figures = paired_statistics(MeasuredTasks(old=[1e200, 3], new=[1, 2]), lower_is_better=True)
    assert (figures.old_wins, figures.new_wins) == (0, 2)


@pytest.mark.parametrize("side", [Side.OLD, Side.NEW])
def test_the_side_that_left_out_special_tasks_is_named_as_it_is(side: Side) -> None:
    """Ten tasks that both measured have the reward 0, the six that one side did not measure have 1 on the other."""
    whole: Rewards = [[0.0]] * 10 + [[1.0]] * 6
    part: Rewards = [[0.0]] * 10 + [[None]] * 6
    old, new = (part, whole) if side is Side.OLD else (whole, part)
    lower, higher = (result(old, new, lower=lower).statistics for lower in (True, False))
    assert lower is not None
    assert lower.unmeasured is not None
    assert higher is not None
    # All six of six against none of ten: one of the 8,008 ways to choose 6 of 16, and no other is as rare.
    (selected,) = lower.unmeasured.selection
    assert selected == Selection(side.value, 6, 1.0, 0.0, selected.p_value)
    assert selected.p_value == pytest.approx(1 / 8008)
    assert_parts_mirrored(lower, higher)


def test_one_half_is_solved_whichever_is_better() -> None:
    """Four that both measured failed; of the three that old did not measure new has one half at one."""
    for lower, failed, solved in ((True, 1.0, 0.0), (False, 0.0, 1.0)):
        old: Rewards = [[failed]] * 4 + [[None]] * 3
        new: Rewards = [[failed]] * 4 + [[solved], [solved], [0.5]]
        asked = Questions(lower_is_better=lower)
        figures = compare_rollouts(rows(old, mirrored=False), rows(new, mirrored=False), questions=asked).statistics
        assert figures is not None
        assert figures.unmeasured is not None
        # Three of three against none of four: one of the 35 ways to choose 3 of 7, and no other is as rare.
        (selected,) = figures.unmeasured.selection
        assert (selected.side, selected.tasks) == ("old", 3)
        assert selected.p_value == pytest.approx(1 / 35)
