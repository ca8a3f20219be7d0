"""Why a figure is null: what the data would have to be for it to mean something."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_gym.rollout_compare.schema import Conclusion, Statistics, Verdict, Why

#: With these verdicts it is asked what would decide, where there is no margin.
UNDECIDED = frozenset({Verdict.NO_SIGNIFICANT_CHANGE, Verdict.CANNOT_TELL})

_EXPLAINED = frozenset(Statistics.__struct_fields__) - {"reason", "why_null"}


def why_null(figures: Statistics, *, too_large: bool = False) -> dict[str, Why]:
    """The reason for each figure that is None, by name; `subsets` and the like by `Why.NOT_ASKED`."""
    reasons = dict(_reasons(figures))
    general = _general(figures, too_large=too_large)
    absent = [name for name in Statistics.__struct_fields__ if name in _EXPLAINED and getattr(figures, name) is None]
    return {name: Why.NOT_ASKED if name in _ASKED else general or reasons[name] for name in absent}


_ASKED = {"margin", "subsets", "clustered"}


def _general(figures: Statistics, *, too_large: bool) -> Why | None:
    """Why there is hardly any figure at all."""
    if too_large:
        return Why.TOO_LARGE
    return None if figures.n else Why.NO_TASK


def _reasons(figures: Statistics) -> Iterator[tuple[str, Why]]:
    """For each figure that may be None, why it is if it is."""
    changed = figures.old_wins + figures.new_wins
    no_spread = Why.ONE_TASK if figures.n == 1 else Why.NO_SPREAD if changed else Why.NO_CHANGE
    for name in ("ci_low", "ci_high", "interval", "detectable"):
        yield name, no_spread
    for name in ("p_value", "test"):
        yield name, Why.ONE_TASK if figures.n == 1 else Why.NO_CHANGE
    repeated = Why.ONE_ATTEMPT if figures.pass_fail else Why.NOT_BINARY
    for name in ("on_these_tasks", "by_chance", "attempts"):
        yield name, repeated
    yield "without_agent_errors", Why.NO_AGENT_ERROR
    yield "carried_by", Why.NO_LARGEST if figures.pass_fail else Why.ONE_CHANGE if changed == 1 else Why.CARRIED_BY_NONE
    yield "wins_say", Why.WINS_AGREE
    yield "to_decide", _nothing_to_find(figures, no_spread)
    yield "chance_better", Why.ONE_TASK if figures.n == 1 else Why.NOT_BINARY_TASKS
    yield "unmeasured", Why.NO_TASK


def _nothing_to_find(figures: Statistics, no_spread: Why) -> Why:
    """Why it is not said what would decide."""
    margin = figures.margin
    undecided = margin.conclusion is Conclusion.NOT_SHOWN if margin else figures.verdict in UNDECIDED
    if not undecided:
        return Why.DECIDED
    nothing = (margin.margin if margin else figures.delta) == 0
    return Why.NOTHING_TO_FIND if nothing and figures.detectable is not None else no_spread
