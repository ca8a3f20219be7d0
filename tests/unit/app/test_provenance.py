"""What a comparison says of how it was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare import CompareResult, compare_files
from nemo_gym.rollout_compare.report.summary import summary_dict
from tests.support import put, write_rows


def test_every_option_that_may_change_what_is_said_is_named_and_no_other(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "r.jsonl", [{"task_id": "a", "reward": 1.0, "score": 0.5, "group": "g"}])
    put(tmp_path / "allowed", "a\n")
    telling: dict[str, Any] = {
        "key": "id",
        "old_key": "task_id",
        "new_key": "task_id",
        "format": "harbor",
        "old_format": "rollouts",
        "new_format": "rollouts",
        "reward": "x",
        "old_reward": "score",
        "new_reward": "score",
        "lower_is_better": True,
        "skip_bad_lines": True,
        "max_line": 1000,
        "margin": 0.5,
        "tolerance": 0.25,
        "count_measured": True,
        "by": ["group"],
        "cluster": "group",
        "tail": 3,
        "logs_root": [str(tmp_path)],
        "fail_on": ["lost>3"],
        "allow": str(tmp_path / "allowed"),
    }
    result = compare_files(path, path, jobs=1, **telling)
    assert result.run
    assert result.run.options == telling
    put(tmp_path / "summary.json", json.dumps(summary_dict(result)))
    again = CompareResult.from_json(tmp_path / "summary.json").run
    assert again
    assert repr(again.options) == repr(result.run.options)
    plain = compare_files(path, path, tolerance=1e-9, tail=15).run
    assert plain
    assert plain.options == {}
