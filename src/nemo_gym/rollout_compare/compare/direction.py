"""Figures where the lower of two rewards is the better one.

They are computed with the sides swapped, so that every rule means the better side where it says the higher one; then
told in rewards as they are: old and new in their places, the signs of changes turned. Wins, verdicts and the chance
that new is better stay, since they are about the better side. pass@k and pass^k stay too: they are about attempts
solved, and an attempt is solved by 0 then.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from nemo_gym.rollout_compare.schema import (
    Clustered,
    Margin,
    OnTheseTasks,
    Selection,
    Side,
    Statistics,
    Subset,
    TaskSide,
    Unmeasured,
)

Figure = TypeVar("Figure", OnTheseTasks, Clustered, Subset)


def solved_by_zero(side: TaskSide | None) -> TaskSide | None:
    """A side whose solved attempts are those with the reward 0; only where every reward is 0 or 1 is any solved."""
    if side is None:
        return None
    part = side.measured_part
    return replace(
        side,
        solved=None if side.solved is None else side.rows - side.solved,
        measured_part=part and replace(part, solved=None if part.solved is None else part.rows - part.solved),
    )


def in_rewards(figures: Statistics) -> Statistics:
    """Figures of swapped sides as those of the rewards as they are."""
    ci_low, ci_high = _turned(figures.ci_low, figures.ci_high)
    carried, without, these = figures.carried_by, figures.without_agent_errors, figures.on_these_tasks
    return replace(
        figures,
        lower_is_better=True,
        mean_old=figures.mean_new,
        mean_new=figures.mean_old,
        delta=_minus(figures.delta),
        ci_low=ci_low,
        ci_high=ci_high,
        margin=figures.margin and _margin(figures.margin),
        on_these_tasks=these and replace(_ends(these), delta=0.0 - these.delta),
        without_agent_errors=without and replace(without, delta=_minus(without.delta)),
        carried_by=carried and replace(carried, delta_without=0.0 - carried.delta_without),
        unmeasured=figures.unmeasured and _unmeasured(figures.unmeasured),
        subsets=figures.subsets
        and tuple(replace(one, groups=tuple(map(_subset, one.groups))) for one in figures.subsets),
        clustered=figures.clustered and _ends(figures.clustered),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value  # never -0


def _turned(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    return _minus(high), _minus(low)


def _margin(margin: Margin) -> Margin:
    low, high = _turned(margin.low, margin.high)
    return replace(margin, low=low, high=high)


def _ends(figure: Figure) -> Figure:
    low, high = _turned(figure.ci_low, figure.ci_high)
    return replace(figure, ci_low=low, ci_high=high)


def _subset(group: Subset) -> Subset:
    return replace(_ends(group), old=group.new, new=group.old, delta=0.0 - group.delta)


def _unmeasured(bounds: Unmeasured) -> Unmeasured:
    low, high = _turned(bounds.low, bounds.high)
    return replace(
        bounds,
        delta_worst=_minus(bounds.delta_worst),
        delta_best=_minus(bounds.delta_best),
        low=low,
        high=high,
        as_failed=_minus(bounds.as_failed),
        selection=tuple(map(_selection, bounds.selection)),
    )


def _selection(selected: Selection) -> Selection:
    return replace(selected, side=Side(selected.side).other.value)
