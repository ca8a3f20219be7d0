"""Several attempts at one task."""

from typing import Any

import pytest

from nemo_gym.rollout_compare.compare.repeats import compare_repeats, is_flaky, solved_of
from nemo_gym.rollout_compare.schema import Repeats, TaskSide


def near(p_value: float) -> Any:
    return pytest.approx(p_value, rel=1e-12)


def attempts(solved: int, tried: int) -> TaskSide:
    return side([1.0] * solved + [0.0] * (tried - solved))


def side(rewards: list[float]) -> TaskSide:
    return TaskSide(len(rewards), None, len(rewards), solved=solved_of(rewards))


def test_a_flip_within_the_noise_of_its_attempts() -> None:
    assert compare_repeats(attempts(3, 4), attempts(1, 4)) == Repeats(3, 4, 1, 4, near(34 / 70), True)


def test_a_flip_beyond_the_noise_of_its_attempts() -> None:
    assert compare_repeats(attempts(4, 4), attempts(0, 4)) == Repeats(4, 4, 0, 4, near(2 / 70), False)


def test_unequal_numbers_of_attempts() -> None:
    assert compare_repeats(attempts(2, 2), attempts(0, 8)) == Repeats(2, 2, 0, 8, near(1 / 45), False)


def test_p_exactly_at_the_noise_level_is_beyond_it() -> None:
    assert compare_repeats(attempts(2, 4), attempts(0, 12)) == Repeats(2, 4, 0, 12, 0.05, False)


@pytest.mark.parametrize("tried", [2, 3])
def test_fewer_than_four_attempts_never_leave_the_noise(tried: int) -> None:
    repeats = compare_repeats(attempts(tried, tried), attempts(0, tried))
    assert repeats is not None
    assert repeats.within_noise


@pytest.mark.parametrize(
    ("old", "new"),
    [([1.0], [0.0, 0.0]), ([1.0, 1.0], [0.0]), ([], []), ([1.0, 0.5], [0.0, 0.0]), ([1.0, 0.0], [0.0, 0.25])],
)
def test_no_comparison_without_two_attempts_a_side_all_0_or_1(old: list[float], new: list[float]) -> None:
    assert compare_repeats(side(old), side(new)) is None


def test_solved_are_the_attempts_with_the_reward_1() -> None:
    assert solved_of([0.0, 1.0, 1]) == 2
    assert solved_of([0.0, -0.0]) == 0
    assert solved_of([0.0, 0.5]) is None
    assert solved_of([1.0, 1 + 1e-12]) is None
    assert solved_of([]) is None


def test_a_side_is_flaky_when_its_attempts_disagree() -> None:
    assert is_flaky([1.0, 1.0, 0.0])
    assert is_flaky([0.25, 0.5])
    assert not is_flaky([0.5, 0.5 + 1e-9])
    assert not is_flaky([0.5])
    assert not is_flaky([])
