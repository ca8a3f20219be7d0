"""How many flips two equally able systems would show by chance."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import starmap

from nemo_gym.rollout_compare.compare.attempts import Cases, repeated_cases
from nemo_gym.rollout_compare.compare.distributions import fisher_exact_two_sided
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
    flips, beyond = [], []
    for new_solved, ways in enumerate(starmap(_ways, ((old, new, solved, x) for x in range(new + 1)))):
        old_solved = solved - new_solved
        if ways and abs(new_solved / new - old_solved / old) > tolerance:
            flips.append(ways)
            if _beyond(old_solved, old, new_solved, new):
                beyond.append(ways)
    every = math.comb(old + new, solved)
    return sum(flips) / every, sum(beyond) / every


def _ways(old: int, new: int, solved: int, new_solved: int) -> int:
    return math.comb(new, new_solved) * math.comb(old, solved - new_solved) if 0 <= solved - new_solved <= old else 0


def _beyond(old_solved: int, old: int, new_solved: int, new: int) -> bool:
    p_value = fisher_exact_two_sided(old_solved, old - old_solved, new_solved, new - new_solved)
    return p_value <= NOISE_LEVEL
