"""Is it real? What the measured tasks of two runs allow to say about their difference.

Input is one value a task and side, the mean of its measured attempts, over the tasks with such attempts on both sides.
Output is a finished value of numbers; where a number would have no meaning it is None, and `why_null` says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.compare.attempts import Cases, of_attempts
from nemo_gym.rollout_compare.compare.by_chance import flips_by_chance
from nemo_gym.rollout_compare.compare.carried import carried_by, without_agent_errors
from nemo_gym.rollout_compare.compare.cluster import clustered
from nemo_gym.rollout_compare.compare.decisions import (
    chance_better,
    could_overturn,
    is_borderline,
    margin_of,
    reason_of,
    verdict_of,
    wins_say,
)
from nemo_gym.rollout_compare.compare.direction import in_rewards
from nemo_gym.rollout_compare.compare.on_these_tasks import on_these_tasks
from nemo_gym.rollout_compare.compare.paired import (
    AS_REWARDS,
    Basics,
    Scale,
    basics_of,
    detectable_difference,
    differences_of,
)
from nemo_gym.rollout_compare.compare.power import to_decide
from nemo_gym.rollout_compare.compare.subsets import subsets_of
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask, unmeasured_bounds
from nemo_gym.rollout_compare.compare.why_null import UNDECIDED, why_null
from nemo_gym.rollout_compare.schema import (
    REWARD_TOLERANCE,
    Conclusion,
    Margin,
    Statistics,
    Subsets,
    Unmeasured,
    Verdict,
)

#: Rewards beyond this cannot be squared and summed within a double's range, and no verifier means them.
LARGEST_REWARD = 1e140


class MeasuredTasks(Struct, frozen=True, kw_only=True):
    """The tasks with a measured attempt on both sides, in columns; and beside them those without.

    Attributes:
        old: The mean reward of the old side's measured attempts, for each task.
        new: The same of the new side.
        labels: The tasks' labels.
        cases: How many tasks had which attempts solved; None where some reward is neither 0 nor 1.
        scale: What rewards single attempts have, those at unmeasured tasks included.
        doubtful: The places of the flips that have an agent error.
        groups: By the name of a field its value for each task, for `subsets`.
        cluster: A field's name and its value for each task, for `clustered`.
        unmeasured: The tasks that a side did not measure, with the rewards of the sides that did.
    """

    old: Sequence[float]
    new: Sequence[float]
    labels: Sequence[str] = ()
    cases: Cases | None = None
    scale: Scale = AS_REWARDS
    doubtful: Sequence[int] = ()
    groups: Mapping[str, Sequence[str]] = {}
    cluster: tuple[str, Sequence[str]] | None = None
    unmeasured: Sequence[UnmeasuredTask] = ()


def paired_statistics(
    tasks: MeasuredTasks,
    *,
    margin: float | None = None,
    tolerance: float = REWARD_TOLERANCE,
    lower_is_better: bool = False,
) -> Statistics:
    """Compare two sides, task by task.

    Args:
        tasks: The tasks.
        margin: The difference that would matter, in units of reward; None where nobody asked.
        tolerance: Rewards that differ by at most this are the same.
        lower_is_better: Whether of two rewards the lower one is the better one; then `cases` count zeros as solved.

    Raises:
        ValueError: If the sides differ in length, or a reward is not finite.
    """
    _check(tasks)
    if lower_is_better:
        return in_rewards(_figures(_swapped(tasks), margin, tolerance, failed=1.0))
    return _figures(tasks, margin, tolerance)


def _swapped(tasks: MeasuredTasks) -> MeasuredTasks:
    """The tasks with the rewards of the sides swapped; the cases say already who solved what."""
    unmeasured = [(new, old) for old, new in tasks.unmeasured]
    return replace(tasks, old=tasks.new, new=tasks.old, unmeasured=unmeasured)


def _figures(tasks: MeasuredTasks, margin: float | None, tolerance: float, failed: float = 0.0) -> Statistics:
    """The figures where the higher reward is the better one; `failed` is the reward of a failed attempt."""
    if not all(map(_computable, (tasks.old, tasks.new))):
        return _too_large(tasks, tolerance)
    figures = basics_of(tasks.old, tasks.new, tolerance, tasks.scale) if tasks.old else None
    bounds = unmeasured_bounds(figures, tasks.old, tasks.new, tasks.unmeasured, tolerance, failed)
    if bounds and not tasks.scale.bounded:
        bounds = Unmeasured(bounds.tasks)
    if figures is None:
        return _explained(
            Statistics(
                n=0,
                pass_fail=tasks.scale.pass_fail
                and all(reward in {0.0, 1.0} for task in tasks.unmeasured for reward in task if reward is not None),
                old_wins=0,
                new_wins=0,
                verdict=Verdict.CANNOT_TELL,
                reason=reason_of(None, None),
                unmeasured=bounds,
            ),
            tasks,
        )
    judged = margin_of(figures, margin)
    return _explained(_statistics(tasks, figures, judged, bounds, tolerance), tasks)


def _statistics(
    tasks: MeasuredTasks, figures: Basics, margin: Margin | None, bounds: Unmeasured | None, tolerance: float
) -> Statistics:
    verdict = verdict_of(figures, margin)
    interval = figures.interval()
    repeated = tasks.cases is not None and any(case.old > 1 or case.new > 1 for case in tasks.cases)
    undecided = margin.conclusion is Conclusion.NOT_SHOWN if margin else verdict in UNDECIDED
    return Statistics(
        n=figures.n,
        pass_fail=tasks.cases is not None or figures.pass_fail,
        mean_old=figures.mean_old,
        mean_new=figures.mean_new,
        delta=figures.delta,
        ci_low=interval and interval.low,
        ci_high=interval and interval.high,
        interval=interval and interval.kind,
        old_wins=figures.old_wins,
        new_wins=figures.new_wins,
        p_value=figures.p_value,
        test=figures.test,
        borderline=is_borderline(figures),
        detectable=None if figures.error is None else detectable_difference(figures.error),
        verdict=verdict,
        reason=reason_of(figures, margin) if verdict is Verdict.CANNOT_TELL else None,
        margin=margin,
        on_these_tasks=on_these_tasks(tasks.cases) if tasks.cases else None,
        by_chance=flips_by_chance(tasks.cases, tolerance) if tasks.cases else None,
        without_agent_errors=without_agent_errors(tasks.old, tasks.new, tasks.doubtful, margin, tolerance, tasks.scale),
        carried_by=carried_by(figures, tasks.old, tasks.new, tasks.labels, margin, tolerance),
        wins_say=wins_say(figures),
        attempts=tuple(of_attempts(tasks.cases)) if repeated and tasks.cases else None,
        to_decide=to_decide(figures, tasks.cases, margin.margin if margin else figures.delta) if undecided else None,
        chance_better=chance_better(figures),
        unmeasured=bounds and _judged(bounds, verdict, margin),
        subsets=tuple(_subsets(tasks, tolerance)) or None,
        clustered=clustered(
            *tasks.cluster, differences_of(tasks.old, tasks.new, tolerance), tolerance, bounded=figures.bounded
        )
        if tasks.cluster
        else None,
    )


def _judged(bounds: Unmeasured, verdict: Verdict, margin: Margin | None) -> Unmeasured:
    return replace(bounds, could_overturn=could_overturn(verdict, bounds, margin))


def _subsets(tasks: MeasuredTasks, tolerance: float) -> Iterator[Subsets]:
    for field, values in tasks.groups.items():
        yield subsets_of(field, values, tasks.old, tasks.new, tolerance, tasks.scale)


def _explained(figures: Statistics, tasks: MeasuredTasks) -> Statistics:
    return replace(figures, why_null=why_null(figures, too_large=not all(map(_computable, (tasks.old, tasks.new)))))


def _too_large(tasks: MeasuredTasks, tolerance: float) -> Statistics:
    return _explained(
        Statistics(
            n=len(tasks.old),
            old_wins=sum(old - new > tolerance for old, new in zip(tasks.old, tasks.new, strict=True)),
            new_wins=sum(new - old > tolerance for old, new in zip(tasks.old, tasks.new, strict=True)),
            verdict=Verdict.CANNOT_TELL,
            reason=f"a reward is beyond {LARGEST_REWARD:g}, too large to compute with: "
            "look at what the verifier reported",
            unmeasured=Unmeasured(len(tasks.unmeasured)),
        ),
        tasks,
    )


def _computable(rewards: Sequence[float]) -> bool:
    return not rewards or (min(rewards) >= -LARGEST_REWARD and max(rewards) <= LARGEST_REWARD)


def _check(tasks: MeasuredTasks) -> None:
    if len(tasks.old) != len(tasks.new):
        raise ValueError(f"{len(tasks.old)} old rewards and {len(tasks.new)} new ones are not pairs")
    if not all(map(math.isfinite, chain(tasks.old, tasks.new, _known(tasks.unmeasured)))):
        raise ValueError("a reward that is not finite is not measured: its task is masked")


def _known(unmeasured: Sequence[UnmeasuredTask]) -> Iterator[float]:
    """The rewards of the sides that did measure a task."""
    return (reward for task in unmeasured for reward in task if reward is not None)
