"""A script as users write it. Strict type checkers must accept it: `make check` runs mypy over it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, assert_type

from nemo_gym.rollout_compare import (
    Category,
    CompareInputError,
    CompareResult,
    RolloutCompareConfig,
    Side,
    TaskComparison,
    TaskSide,
    agent_error,
    compare_rollouts,
    detect_task_key,
    load_rollouts,
    mask_reason,
    measured_failure_kind,
    render_report,
    run_compare,
    summarize_side,
    summary_dict,
    tail_lines,
    task_id_of,
    tasksets_of,
    verifier_output,
)


def tell(old: Path, new: str) -> str:
    """Every flip of two runs, a line each, then what the categories are."""
    result = compare_rollouts(load_rollouts(old), load_rollouts(new))
    assert_type(result, CompareResult)
    lines = [line for task in result.by_category("flipped") if (line := tell_flip(task))]
    counts = result.counts()
    assert_type(counts, dict[str, int])
    lines += [f"{category.value}: {counts[category.value]}" for category in Category]
    lines += [f"note: {note}" for note in result.notes]
    return "".join(f"{line}\n" for line in lines)


def tell_flip(task: TaskComparison) -> str | None:
    """One flip in words."""
    assert_type(task.winner, Side | None)
    assert_type(task.loser, Side | None)
    if task.old is None or task.new is None or task.winner is None:
        return None
    assert_type(task.old, TaskSide)
    return f"{task.task}: {task.winner} wins ({task.old.reward_text()} -> {task.new.reward_text()})"


def keys(result: CompareResult) -> tuple[str, str | None, bool]:
    """How the rows were joined."""
    assert_type(result.tasks, Sequence[TaskComparison])
    assert_type(result.old_rows + result.new_rows + result.old_masked_rows + result.new_masked_rows, int)
    assert_type(result.new_prefix_stripped, str | None)
    return f"{result.old_key} {result.new_key}", result.old_prefix_stripped, result.keyed_by_taskset


def side(rows: list[dict[str, Any]]) -> tuple[float | None, int, int, str | None, str | None, str | None, bool]:
    """A task's rows in one value."""
    facts = summarize_side(rows)
    kind = facts.failure_kind
    return facts.reward, facts.rows, facts.reward_rows, facts.masked, facts.agent_error, kind, facts.repeated


def row(one: Mapping[str, Any]) -> list[str | None]:
    """What a row says."""
    key = detect_task_key([one, {"task_id": "plain dict", "reward": 1}, MappingProxyType({"task_id": 7})])
    assert_type(key, str | None)
    assert_type(tasksets_of([one], "task_id"), set[str])
    text, source = verifier_output(one, [Path(), "logs"])
    assert_type(text, str | None)
    shown = tail_lines(text or "", 3)
    assert_type(shown, list[str])
    label = task_id_of(one, key or "task_id", with_taskset=True)
    return [label, mask_reason(one), agent_error(one), measured_failure_kind(one), source, *shown]


def main() -> int:
    """A command of one's own."""
    try:
        result = compare_rollouts([{"task_id": "a", "reward": 1}], [{"task_id": "a", "reward": 0}], key="task_id")
    except CompareInputError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(render_report(result, roots=[Path("runs"), "logs"], tail=5))
    assert_type(summary_dict(result), dict[str, Any])
    return run_compare(RolloutCompareConfig(old_rollouts="old.jsonl", new_rollouts="new.jsonl"), out=sys.stdout)
