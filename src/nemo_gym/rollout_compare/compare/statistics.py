"""Is it real? What the paired rewards of two runs allow to say about their difference.

Input is one reward a task and side, over the tasks measured on both sides. Output is a finished value of numbers; where
a number would have no meaning it is None, and the reason says why and what it would take.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import sub

from nemo_gym.rollout_compare.compare.paired import (
    detectable_difference,
    mcnemar_exact,
    paired_t_interval,
    sign_flip_permutation,
    standard_error,
)
from nemo_gym.rollout_compare.schema import (
    REWARD_TOLERANCE,
    Category,
    SignificanceTest,
    Statistics,
    TaskComparison,
    TaskSide,
    Unmeasured,
    Verdict,
)

#: A p-value below this is called a change.
SIGNIFICANCE_LEVEL = 0.05

#: With k changed tasks either test's smallest p is 2 / 2^k: five give 0.0625, six 0.03125.
FEWEST_CHANGED_TASKS = 6

#: Rewards beyond this cannot be squared and summed within a double's range, and no verifier means them.
LARGEST_REWARD = 1e140

#: A task that some side did not measure: its old and its new reward, None for each that is missing or masked.
UnmeasuredTask = tuple[float | None, float | None]


def task_statistics(tasks: Sequence[TaskComparison]) -> Statistics:
    """The figures of a comparison: over the tasks that both sides measured, with bounds for the others."""
    old: list[float] = []
    new: list[float] = []
    unmeasured: list[UnmeasuredTask] = []
    for task in tasks:
        if task.category is Category.MASKED or task.category is Category.MISSING:
            unmeasured.append((_measured(task.old), _measured(task.new)))
        elif task.old and task.new and task.old.reward is not None and task.new.reward is not None:
            old.append(task.old.reward)
            new.append(task.new.reward)
    return paired_statistics(old, new, unmeasured)


def _measured(side: TaskSide | None) -> float | None:
    return None if side is None or side.masked else side.reward


def paired_statistics(
    old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask] = ()
) -> Statistics:
    """Compare the rewards of two sides, task by task.

    Args:
        old: The old side's reward of each task that both sides measured.
        new: The new side's rewards, of the same tasks in the same order.
        unmeasured: The tasks that a side did not measure, with the rewards of the sides that did.

    Raises:
        ValueError: If old and new differ in length, or a reward is not finite.
    """
    _check(old, new, unmeasured)
    n = len(old)
    differences = list(map(sub, new, old))
    old_wins = sum(map((-REWARD_TOLERANCE).__gt__, differences))
    new_wins = sum(map(REWARD_TOLERANCE.__lt__, differences))
    if not _within(-LARGEST_REWARD, LARGEST_REWARD, old, new):
        return _too_large(n, old_wins, new_wins)
    test, p_value = _significance(old, new, differences, old_wins, new_wins)
    delta = _mean(differences)
    error = standard_error(differences) if old_wins + new_wins else None
    ci_low, ci_high = (None, None) if delta is None or error is None else paired_t_interval(delta, error, n)
    bounds = unmeasured_bounds(old, new, unmeasured)
    return Statistics(
        n=n,
        mean_old=_mean(old),
        mean_new=_mean(new),
        delta=delta,
        ci_low=ci_low,
        ci_high=ci_high,
        old_wins=old_wins,
        new_wins=new_wins,
        p_value=p_value,
        test=test,
        detectable=None if error is None else detectable_difference(error),
        verdict=_verdict(p_value, old_wins, new_wins, delta),
        reason="; ".join(_reasons(n, old_wins + new_wins, error, bounds, len(unmeasured))) or None,
        unmeasured=bounds,
    )


def unmeasured_bounds(
    old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask]
) -> Unmeasured | None:
    """Bound delta over all tasks by giving every unmeasured side the worst and the best reward it could have had.

    Worst: an unmeasured new side counts 0 and an unmeasured old side 1; best: 1 and 0. A measured side keeps its
    reward. delta_worst and delta_best are the means of new minus old, so filled in, over measured and unmeasured tasks.
    Source: C. Manski, "Nonparametric bounds on treatment effects", American Economic Review 80 (1990) 319-323.

    Returns:
        The bounds, or None if a measured reward lies outside 0 to 1, or there is no task at all.
    """
    tasks = len(old) + len(unmeasured)
    if not tasks or not _within(0.0, 1.0, old, new, _measured_sides(unmeasured)):
        return None

    def delta(missing_old: float, missing_new: float) -> float:
        filled_old = (missing_old if reward is None else reward for reward, _ in unmeasured)
        filled_new = (missing_new if reward is None else reward for _, reward in unmeasured)
        return math.fsum(chain(differences, map(sub, filled_new, filled_old))) / tasks

    differences = list(map(sub, new, old))
    return Unmeasured(len(unmeasured), delta_worst=delta(1.0, 0.0), delta_best=delta(0.0, 1.0))


def _check(old: Sequence[float], new: Sequence[float], unmeasured: Sequence[UnmeasuredTask]) -> None:
    if len(old) != len(new):
        raise ValueError(f"{len(old)} old rewards and {len(new)} new ones are not pairs")
    if not all(map(math.isfinite, chain(old, new, _measured_sides(unmeasured)))):
        raise ValueError("a reward that is not finite is not measured: its task is masked")


def _measured_sides(unmeasured: Sequence[UnmeasuredTask]) -> list[float]:
    return [reward for task in unmeasured for reward in task if reward is not None]


def _within(low: float, high: float, *sides: Sequence[float]) -> bool:
    return all(low <= min(side) and max(side) <= high for side in sides if side)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _significance(
    old: Sequence[float], new: Sequence[float], differences: Sequence[float], old_wins: int, new_wins: int
) -> tuple[SignificanceTest, float] | tuple[None, None]:
    """The test the data allow and its p-value; none for a single task or where no task changed."""
    if len(differences) < 2 or old_wins + new_wins == 0:
        return None, None
    if all(side.count(0.0) + side.count(1.0) == len(side) for side in (old, new)):
        return SignificanceTest.MCNEMAR, mcnemar_exact(old_wins, new_wins)
    return SignificanceTest.SIGN_FLIP, sign_flip_permutation(differences)


def _verdict(p_value: float | None, old_wins: int, new_wins: int, delta: float | None) -> Verdict:
    if p_value is None or delta is None or old_wins + new_wins < FEWEST_CHANGED_TASKS:
        return Verdict.CANNOT_TELL
    if p_value >= SIGNIFICANCE_LEVEL:
        return Verdict.NO_SIGNIFICANT_CHANGE
    return Verdict.BETTER if delta > 0 else Verdict.WORSE


def _reasons(
    n: int, changed: int, error: float | None, bounds: Unmeasured | None, unmeasured_tasks: int
) -> Iterator[str]:
    """Why a figure is None or nothing can be told, each with what it would take."""
    if n == 0:
        yield "no task was measured on both sides: run the masked and missing tasks again"
    elif n == 1:
        yield f"one task cannot tell a difference from noise: it takes {FEWEST_CHANGED_TASKS} changed tasks or more"
    elif changed == 0:
        yield (
            f"none of the {n} tasks changed, so there is no difference to judge and no spread for an interval: "
            f"it takes {FEWEST_CHANGED_TASKS} changed tasks or more to show one"
        )
    elif changed < FEWEST_CHANGED_TASKS:
        yield (
            f"with {_tasks(changed)} changed, p cannot be below {2 / 2**changed:g}: "
            f"it takes {FEWEST_CHANGED_TASKS} changed tasks or more"
        )
    if n > 1 and changed and error is None:
        yield (
            f"all {n} tasks changed by the same amount, so there is no spread for an interval: "
            "it takes tasks that change by different amounts"
        )
    if bounds is None and unmeasured_tasks:
        yield (
            f"no bounds for {_tasks(unmeasured_tasks)} not measured on both sides: "
            "it takes rewards that all lie from 0 to 1"
        )


def _tasks(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"


def _too_large(n: int, old_wins: int, new_wins: int) -> Statistics:
    return Statistics(
        n=n,
        mean_old=None,
        mean_new=None,
        delta=None,
        ci_low=None,
        ci_high=None,
        old_wins=old_wins,
        new_wins=new_wins,
        p_value=None,
        test=None,
        detectable=None,
        verdict=Verdict.CANNOT_TELL,
        reason=f"a reward is beyond {LARGEST_REWARD:g}, too large to compute with: look at what the verifier reported",
        unmeasured=None,
    )
