"""What it would take to find a difference."""

import math
from collections import Counter

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.attempts import Case, Cases, within_variance
from nemo_gym.rollout_compare.compare.paired import basics_of, errors_to_find
from nemo_gym.rollout_compare.compare.power import to_decide

Z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)


def test_tasks_by_hand() -> None:
    """100 tasks of which 20 changed, 9 and 11: delta 0.02, variance 20 / 100 - 0.0004, corrected by 100 / 99."""
    old = [1.0] * 9 + [0.0] * 11 + [1.0] * 80
    new = [0.0] * 9 + [1.0] * 11 + [1.0] * 80
    need = to_decide(basics_of(old, new), None, 0.02)
    assert need is not None
    assert need.tasks == math.ceil(Z**2 * (0.1996 * 100 / 99) / 0.02**2)
    assert (need.delta, need.attempts, need.attempts_enough) == (0.02, None, None)
    assert to_decide(basics_of(old, new), Counter({Case(1, 1, 1, 1): 100}), -0.02) == need


def figures_of(cases: Cases) -> tuple[list[float], list[float]]:
    every = [case for case, tasks in cases.items() for _ in range(tasks)]
    return [case.old_solved / case.old for case in every], [case.new_solved / case.new for case in every]


def test_so_many_attempts_bring_the_error_to_where_the_difference_is_found() -> None:
    """All noise is of the attempts: tasks do not differ in what changed."""
    cases = Counter({Case(1, 4, 3, 4): 25, Case(3, 4, 2, 4): 25, Case(2, 4, 2, 4): 50})
    figures = basics_of(*figures_of(cases))
    need = to_decide(figures, cases, 0.05)
    assert need is not None
    assert need.attempts is not None
    assert figures.error is not None
    within = sum(within_variance(case) * tasks for case, tasks in cases.items()) / 100
    between = max(0.0, figures.error**2 * 100 - within)

    def error_with(attempts: int) -> float:
        return math.sqrt((between + within * 4 / attempts) / 100)

    assert errors_to_find() * error_with(need.attempts) <= 0.05 < errors_to_find() * error_with(need.attempts - 1)
    assert need.attempts_enough is True


def test_no_number_of_attempts_will_do_where_tasks_differ() -> None:
    cases = Counter({Case(4, 4, 0, 4): 11, Case(0, 4, 4, 4): 9, Case(2, 4, 2, 4): 5})
    need = to_decide(basics_of(*figures_of(cases)), cases, 0.08)
    assert need is not None
    assert (need.attempts, need.attempts_enough) == (None, False)


@pytest.mark.parametrize(("new", "size"), [([1.0, 1.0], 0.0), ([1.0, 0.0], 0.1)])
def test_nothing_to_find_or_no_spread(new: list[float], size: float) -> None:
    assert to_decide(basics_of([1.0, 0.0], new), None, size) is None


@pytest.mark.parametrize("size", [1e-100, 1e-160, 1e-320])
def test_a_difference_beyond_what_squares_hold_takes_more_than_anybody_has(size: float) -> None:
    """All that varies is the attempts, so that only the difference divides."""
    cases = Counter({Case(1, 2, 2, 2): 1, Case(1, 2, 1, 2): 9})
    need = to_decide(basics_of(*figures_of(cases)), cases, size)
    assert need is not None
    assert (need.tasks, need.attempts, need.attempts_enough) == (10**9, None, False)


def test_it_takes_one_attempt_at_least() -> None:
    cases = Counter({Case(2, 2, 0, 2): 3, Case(2, 2, 2, 2): 97})
    need = to_decide(basics_of(*figures_of(cases)), cases, 0.5)
    assert need is not None
    assert (need.attempts, need.attempts_enough) == (1, True)


def test_a_difference_that_hardly_is_one_takes_more_than_anybody_has() -> None:
    cases = Counter({Case(1, 2, 2, 2): 50, Case(2, 2, 1, 2): 50})
    need = to_decide(basics_of(*figures_of(cases)), cases, 1e-30)
    assert need is not None
    assert (need.tasks, need.attempts, need.attempts_enough) == (10**9, None, False)
