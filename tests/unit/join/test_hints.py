"""What an error says where no field tells tasks apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join import hints
from nemo_gym.rollout_compare.join.hints import key_hints, no_key, no_results
from nemo_gym.rollout_compare.schema import CompareInputError, Side
from tests.support import assert_refused, compare, read_files, write_rows


def fields(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    return [hint.field for hint in key_hints({Side.OLD: table_of(old), Side.NEW: table_of(new)})]


def rows(**values: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def test_the_field_with_most_values_in_common_comes_first(tmp_path: Path) -> None:
    old = [{"provenance_id": f"p{i}", "x": {"n": i}, "reward": i / 5} for i in range(5)]
    new = [{"provenance_id": f"p{i}", "x": {"n": i + 2}, "reward": i / 5} for i in range(5)]
    done = compare(write_rows(tmp_path / "old.jsonl", old), write_rows(tmp_path / "new.jsonl", new))
    assert_refused(
        done,
        "error: no task id field found: ",
        "; provenance_id names 5 of 5 rows on both sides, 5 values in common: try --key provenance_id; "
        "x.n names 5 of 5 rows on both sides, 3 values in common: try --key x.n\n",
    )


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (rows(a=["x", "y"]), rows(a=["y", "z", "w"]), ["a"]),
        (rows(a=["x", "y", "x", "y"]), rows(a=["y", "x"]), ["a"]),  # two attempts at each task
        (rows(a=["x", "y", "x"]), rows(a=["y", "x"]), []),  # a value on some rows more than on others
        (rows(a=["x", "x"]), rows(a=["x", "x"]), []),  # one value for all
        (rows(a=["x", "y"]), rows(a=["v", "w"]), []),  # nothing in common
        (rows(a=["x", None]), rows(a=["x", "y"]), []),  # not on every row
        (rows(a=["x", "y"]), rows(b=["x", "y"]), []),  # on one side only
        (rows(a=[0.5, 1.5]), rows(a=[0.5, 1.5]), []),  # a measure, not an id
        (rows(a=[True, False]), rows(a=[True, False]), []),
        (rows(a=["x" * 201, "y"]), rows(a=["x" * 201, "y"]), []),
        (rows(_ng_task_index=[0, 1]), rows(_ng_task_index=[0, 1]), []),
        ([{"a.b": 1}, {"a.b": 2}], [{"a.b": 1}, {"a.b": 2}], []),
    ],
)
def test_it_stands_on_every_row_and_tells_them_or_their_tasks_apart(
    old: list[dict[str, Any]], new: list[dict[str, Any]], named: list[str]
) -> None:
    assert fields(old, new) == named


def test_no_more_than_the_first_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "MOST_ROWS", 2)
    assert fields(rows(a=["x", "y", "y"]), rows(a=["y", "x"])) == ["a"]


def test_what_a_file_is_comes_before_its_key(tmp_path: Path) -> None:
    metrics = write_rows(tmp_path / "metrics.jsonl", [{"accuracy": 0.5, "n": 3}] * 2)
    rollouts = write_rows(tmp_path / "new.jsonl", [{"task_id": "a", "reward": 1}])
    done = compare(metrics, rollouts)
    said = "the file does not seem to hold rollouts: no row has a reward or a response (fields: accuracy, n)"
    assert_refused(done, f"error: {metrics}:1: {said}\n")
    assert "--key" not in done.stderr
    masked = write_rows(tmp_path / "masked.jsonl", [{"mask_sample": True}])
    assert_refused(compare(masked, rollouts), "error: no task id field found: ", "; name the field with --key")


def test_two_runs_without_any_row_are_said_to_be_empty(tmp_path: Path) -> None:
    empty = write_rows(tmp_path / "empty.jsonl", [])
    assert_refused(compare(empty, empty), "error: no rows in either input\n")


def test_of_a_run_that_cannot_be_read_any_more_nothing_is_made_up(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "metrics.jsonl", [{"accuracy": 0.5}, {"accuracy": 0.5, "n": 3}])
    [table] = read_files(path)
    [asked] = read_files(path, key="name")
    assert no_results(table) is not None
    assert "(keys: accuracy)" in str(no_key(asked, {}, by_index=False))
    path.unlink()
    assert no_results(table) is None
    with pytest.raises(CompareInputError, match=f"^cannot read {path}: No such file or directory$"):
        no_key(asked, {}, by_index=False)
