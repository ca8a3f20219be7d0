"""The report's lines on masked tasks."""

from __future__ import annotations

from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, label
from nemo_gym.rollout_compare.schema import Side, TaskComparison, TaskSide, reward_text
from nemo_gym.rollout_compare.text import one_line


def masked_line(task: TaskComparison) -> str:
    """A masked task in the report's list of them."""
    return f"- {masked_text(task)}"


def masked_text(task: TaskComparison) -> str:
    """A masked task: its rewards and why it is masked."""
    if task.old and task.new and task.measured:
        return _partly_masked(task, task.old, task.new)
    sides = [(side, facts) for side in Side if (facts := task.side(side))]
    rewards = " ".join(f"{side}={facts.reward_text()}" for side, facts in sides)
    reasons = "; ".join(f"{side} {one_line(facts.masked, LABEL_LIMIT)}" for side, facts in sides if facts.masked)
    return f"{label(task.task)}: {rewards}; {reasons}"


def _partly_masked(task: TaskComparison, old: TaskSide, new: TaskSide) -> str:
    """A task that both sides measured, though not in all attempts: what the measured ones say comes first."""
    told, reasons = [], []
    for side, facts in ((Side.OLD, old), (Side.NEW, new)):
        measured = facts.measured
        assert measured
        solved = f"{measured.solved}/{measured.rows}" if measured.solved is not None else reward_text(measured.reward)
        masked = facts.rows - measured.rows
        told.append(f"{side} {solved}" + (f" ({masked} masked)" if masked else ""))
        if facts.masked:
            reasons.append(f"{side} {one_line(facts.masked, LABEL_LIMIT)}")
    return f"{label(task.task)}: {' '.join(told)}; {'; '.join(reasons)}"


def changed_first(task: TaskComparison) -> tuple[bool, float]:
    """Of masked tasks those first whose measured attempts changed, the largest changes before all."""
    old, new = task.old and task.old.measured, task.new and task.new.measured
    if not old or not new or old.reward is None or new.reward is None or old.reward == new.reward:
        return (True, 0.0)
    return (False, -abs(new.reward - old.reward))
