"""Several attempts at one task: how often a side solved it, and whether a flip is more than the attempts' own noise."""

from collections.abc import Sequence

from nemo_gym.rollout_compare.compare.distributions import fisher_exact_two_sided
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, Repeats, TaskSide

#: A flip, or a test's pass rate, whose attempts differ by chance more often than this is not told from noise.
NOISE_LEVEL = 0.05


def compare_repeats(old: TaskSide, new: TaskSide) -> Repeats | None:
    """Compare both sides' measured attempts at one task; None unless both have two or more, all of them 0 or 1."""
    before, after = old.measured, new.measured
    if before is None or before.solved is None or after is None or after.solved is None:
        return None
    if min(before.rows, after.rows) < 2:
        return None
    p_value = fisher_exact_two_sided(
        before.solved, before.rows - before.solved, after.solved, after.rows - after.solved
    )
    too_few = fisher_exact_two_sided(before.rows, 0, 0, after.rows) > NOISE_LEVEL
    return Repeats(
        old_solved=before.solved,
        old_attempts=before.rows,
        new_solved=after.solved,
        new_attempts=after.rows,
        p_value=p_value,
        within_noise=p_value > NOISE_LEVEL and not too_few,
        too_few_attempts=too_few,
    )


def solved_of(rewards: Sequence[float]) -> int | None:
    """How many attempts were solved; None if there is no attempt or some reward is neither 0 nor 1."""
    solved = rewards.count(1.0)
    return solved if rewards and solved + rewards.count(0.0) == len(rewards) else None


def is_flaky(rewards: Sequence[float], tolerance: float = REWARD_TOLERANCE) -> bool:
    """Whether attempts at one task disagree by more than the tolerance."""
    return max(rewards, default=0.0) - min(rewards, default=0.0) > tolerance
