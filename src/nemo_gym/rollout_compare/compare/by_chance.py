"""How many flips two equally able systems would show by chance."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from nemo_gym.rollout_compare.compare.attempts import Cases, repeated_cases
from nemo_gym.rollout_compare.compare.distributions import (
    as_probable,
    exact_sum,
    fisher_exact_two_sided,
    hypergeometric_weights,
)
from nemo_gym.rollout_compare.compare.repeats import NOISE_LEVEL
from nemo_gym.rollout_compare.schema import ByChance


def flips_by_chance(cases: Cases, tolerance: float) -> ByChance | None:
    """Flips, and flips beyond noise, as found and as expected of equal systems; None without repeated tasks.

    Were both sides equally able in a task, its solved attempts would have fallen to the sides as balls drawn from one
    urn: given how many were solved in all, the new side's number is hypergeometric. Summed over the tasks, the chances
    that the two shares then differ (and that Fisher's exact p is at most 0.05) are the expected numbers. They are
    without bias: what is given, the number solved in all, holds everything that the attempts say of a common ability.
    Source: R. A. Fisher, Statistical Methods for Research Workers (5th ed., 1934), section 21.02.
    """
    repeated = repeated_cases(cases)
    if not repeated:
        return None
    expected = [(_chances(case.old, case.new, case.solved, tolerance), tasks) for case, tasks in repeated.items()]
    return ByChance(
        tasks=repeated.total(),
        flips=sum(tasks for case, tasks in repeated.items() if abs(case.difference) > tolerance),
        expected=math.fsum(chances[0] * tasks for chances, tasks in expected),
        beyond_noise=sum(
            tasks
            for case, tasks in repeated.items()
            if abs(case.difference) > tolerance and _beyond(case.old_solved, case.old, case.new_solved, case.new)
        ),
        expected_beyond_noise=math.fsum(chances[1] * tasks for chances, tasks in expected),
    )


@lru_cache(maxsize=4096)
def _chances(old: int, new: int, solved: int, tolerance: float) -> tuple[float, float]:
    """The chances of a flip, and of a flip beyond noise, in a task with so many attempts a side and solved in all."""
    weights, first = hypergeometric_weights(new, old, solved)
    every = exact_sum(weights)
    rising = sorted(weights)
    sums = [0, *accumulate(rising)]
    flips, beyond = [], []
    for new_solved, weight in enumerate(weights, first):
        if abs(new_solved / new - (solved - new_solved) / old) > tolerance:
            flips.append(weight)
            # Fisher's exact p: the share of what is at most as probable
            if sums[bisect_right(rising, as_probable(weight))] / every <= NOISE_LEVEL:
                beyond.append(weight)
    return exact_sum(flips) / every, exact_sum(beyond) / every


def _beyond(old_solved: int, old: int, new_solved: int, new: int) -> bool:
    p_value = fisher_exact_two_sided(old_solved, old - old_solved, new_solved, new - new_solved)
    return p_value <= NOISE_LEVEL
