"""Several attempts at one task."""

from typing import Any

import pytest

from nemo_gym.rollout_compare.compare.repeats import compare_repeats, is_flaky, solved_of
from nemo_gym.rollout_compare.schema import Mask, MaskKind, Measured, Repeats, TaskSide


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
def test_fewer_than_four_attempts_a_side_cannot_tell(tried: int) -> None:
    for new in range(tried):
        repeats = compare_repeats(attempts(tried, tried), attempts(new, tried))
        assert repeats is not None
        assert (repeats.within_noise, repeats.too_few_attempts) == (False, True)


def test_measured_attempts_count_where_others_are_masked() -> None:
    """By hand: 4 of 4 against 0 of 4 comes up in 2 of C(8, 4) = 70 ways."""
    old = TaskSide(5, 0.8, 5, Mask(MaskKind.MASK_SAMPLE), masked_rows=1, measured_part=Measured(4, 1.0, 4))
    assert compare_repeats(old, attempts(0, 4)) == Repeats(4, 4, 0, 4, near(2 / 70), False)
    assert compare_repeats(TaskSide(2, 0.5, 2, Mask(MaskKind.MASK_SAMPLE), masked_rows=2), attempts(0, 4)) is None


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
