"""The lines on masked tasks."""

from __future__ import annotations

from typing import Any

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines


def attempts(**tasks: str) -> list[dict[str, Any]]:
    """Rows of tasks by their marks: solved 1, failed 0, half solved h, masked a dash."""
    return [
        {"task_id": task, "reward": {"1": 1, "h": 0.5}.get(mark, 0), "mask_sample": mark == "-"}
        for task, marks in tasks.items()
        for mark in marks
    ]


def test_what_was_measured_of_a_partly_masked_task_is_told_and_the_largest_changes_come_first() -> None:
    old = attempts(a="1-", b="1-1", c="1h-", d="-", e="10")
    new = attempts(a="1", b="0-01", c="00", d="0", e="--")
    both = "old 1/3 rows masked: mask_sample; new 1/4 rows masked: mask_sample"
    lines = list(report_lines(compare_rollouts(old, new), Shown(categories=("masked",))))
    assert lines[lines.index("## Masked (5)") + 1 : -2] == [
        "- c: old 0.75 (1 masked) new 0/2; old 1/3 rows masked: mask_sample",
        f"- b: old 2/2 (1 masked) new 1/3 (1 masked); {both}",
        "- a: old 1/1 (1 masked) new 1/1; old 1/2 rows masked: mask_sample",
        "- d: old=0.0 new=0.0; old mask_sample",
        "- e: old=0.5 (mean of 2 rows) new=0.0 (mean of 2 rows); new 2/2 rows masked: mask_sample",
    ]
