"""Rollouts of whose fields another one than `reward` is the reward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.app.comparison import compare_files
from nemo_gym.rollout_compare.schema import Side
from tests.support import write_rows


@pytest.mark.parametrize(
    ("value", "reward"),
    [(0.25, 0.25), (3, 3.0), (True, 1.0), (False, 0.0), ("0.5", 0.5), ("good", None), (None, None), ([1], None)],
)
def test_the_chosen_field_is_the_reward_and_no_other(tmp_path: Path, value: Any, reward: float | None) -> None:
    rows = [{"task_id": "a", "reward": 0.75, "metrics": {"accuracy": value}}, {"task_id": "b", "reward": 0.75}]
    rows.append({"task_id": "c", "metrics": {"accuracy": 0.125}})
    path = write_rows(tmp_path / "r.jsonl", rows)
    first, second, third = compare_files(path, path, reward="metrics.accuracy").tasks
    for task, expected in ((first, reward), (second, None), (third, 0.125)):
        for side in (task.old, task.new):
            assert side is not None
            assert side.reward == expected
            assert (side.masked is None) == (expected is not None)


def test_each_side_may_have_its_own(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.jsonl", [{"task_id": "a", "reward": 0}])
    new = write_rows(tmp_path / "new.jsonl", [{"task_id": "a", "reward": 0, "passed": True}])
    (task,) = compare_files(old, new, new_reward="passed").tasks
    assert task.winner is Side.NEW
