"""Fields that may be positions in a data set: they name a task only where both runs had it in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import compare, write_rows

OLD: list[dict[str, Any]] = [
    {"id": str(number), "prompt": f"question {number}", "score": number / 4} for number in range(4)
]


@pytest.mark.parametrize(
    ("prompts", "key"),
    [
        (["question 0", "question 1", "question 2", "question 3"], "id"),
        (["question 3", "question 2", "question 1", "question 0"], "prompt"),
        (["question 1", "question 2", "question 3", "question 4"], "prompt"),
        (["question 0", "other words", "question 2", "question 3"], "id"),
        (["a", "b", "c", "d"], "id"),
        (["question 0", "question 1"], "id"),
    ],
)
def test_an_id_under_which_something_else_was_asked(prompts: list[str], key: str, tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.jsonl", OLD)
    rows = [{"id": str(number), "prompt": prompt, "score": 1.0} for number, prompt in enumerate(prompts)]
    new = write_rows(tmp_path / "new.jsonl", rows)
    assert f"join key: old={key}, new={key}" in compare(old, new).stdout
    assert f"join key: old={key}, new={key}" in compare(new, old).stdout


def test_a_key_that_was_named_and_a_field_that_is_no_position(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.jsonl", OLD)
    moved = [{**row, "id": str(3 - int(row["id"]))} for row in OLD]
    new = write_rows(tmp_path / "new.jsonl", moved)
    assert "join key: old=id, new=id" in compare(old, new, "--key", "id").stdout
    for path, rows in ((old, OLD), (new, moved)):
        write_rows(path, [{"task_id": row["id"], "prompt": row["prompt"], "score": row["score"]} for row in rows])
    assert "join key: old=task_id, new=task_id" in compare(old, new).stdout
