"""Related tasks kept together: tasks of one source rise and fall together, and are fewer than they seem."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nemo_gym.rollout_compare.compare.interval import paired_t_interval
from nemo_gym.rollout_compare.compare.paired import mean, sign_flip_permutation
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, Clustered

#: With fewer groups neither the interval nor the test says anything.
FEWEST_GROUPS = 6


def clustered(
    field: str,
    values: Sequence[str],
    differences: Sequence[float],
    tolerance: float = REWARD_TOLERANCE,
    *,
    bounded: bool = False,
) -> Clustered:
    """The interval and the p of delta when whole groups, not tasks, are what was drawn.

    With S_g the sum of the differences of group g, n_g its tasks, G groups and n tasks in all:

        error^2 = G / (G - 1) sum (S_g - n_g delta)^2 / n^2
        ci      = delta -+ t(0.975; G - 1) error

    cut off at -1 and 1 where all rewards lie from 0 to 1. p is that of the sign-flip test of the sums S_g: within a
    group all signs turn together.

    Sources: K.-Y. Liang and S. Zeger, Biometrika 73 (1986) 13-22, with the usual correction for few groups; for evals
    Miller (2024, arXiv 2411.00640), section 2.2.
    """
    sums: dict[str, float] = {}
    sizes: dict[str, int] = {}
    for value, difference in zip(values, differences, strict=True):
        sums[value] = sums.get(value, 0.0) + difference
        sizes[value] = sizes.get(value, 0) + 1
    groups, n = len(sums), len(differences)
    if groups < FEWEST_GROUPS:
        return Clustered(field, groups, None, None, None)
    delta = mean(differences)
    squares = math.fsum((total - sizes[value] * delta) ** 2 for value, total in sums.items())
    error = math.sqrt(groups / (groups - 1) * squares) / n
    none = min(REWARD_TOLERANCE, tolerance)
    low, high = paired_t_interval(delta, error, groups) if error > none else (None, None)
    if bounded and low is not None and high is not None:
        low, high = max(-1.0, low), min(1.0, high)
    changed = any(abs(total) > none for total in sums.values())
    return Clustered(field, groups, low, high, sign_flip_permutation(sums.values(), none) if changed else None)
