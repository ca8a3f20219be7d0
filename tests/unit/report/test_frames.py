"""One row a task: tables in files, data frames, notebooks."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from io import BytesIO, StringIO
from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import CompareInputError, CompareResult, compare_rollouts, explain_flips
from nemo_gym.rollout_compare.report.frames import COLUMNS, table_of

OLD: list[dict[str, Any]] = [
    {"task_id": "=lost", "reward": 1.0, "test_output": "PASSED t.py::a"},
    {"task_id": "many", "reward": 1.0},
    {"task_id": "many", "reward": 0.0},
    {"task_id": "only-old", "reward": 1.0},
    {"task_id": 'masked, "so"', "reward": 1.0},
]
NEW: list[dict[str, Any]] = [
    {"task_id": "=lost", "reward": 0.0, "error": "Boom", "test_output": "FAILED t.py::a\nE   ValueError: x"},
    {"task_id": "many", "reward": 1.0},
    {"task_id": "many", "reward": 1.0},
    {"task_id": 'masked, "so"', "reward": None},
]


@pytest.fixture
def result() -> CompareResult:
    return explain_flips(compare_rollouts(OLD, NEW), [])


LOST = {
    "task": "=lost",
    "category": "flipped_agent_error",
    "winner": "old",
    "old_reward": 1.0,
    "old_rows": 1,
    "old_solved": 1,
    "old_masked": None,
    "old_agent_error": None,
    "old_failure_kind": None,
    "new_reward": 0.0,
    "new_rows": 1,
    "new_solved": 0,
    "new_masked": None,
    "new_agent_error": "error: Boom",
    "new_failure_kind": None,
    "delta": -1.0,
    "signature": "ValueError: x",
    "within_noise": None,
    "broken_tests": 1,
    "fixed_tests": 0,
}


def lines_of(result: CompareResult, kind: str) -> list[str]:
    lines = table_of(result, kind)
    assert isinstance(lines, Iterable)
    assert not isinstance(lines, bytes)
    return list(lines)


def test_a_record_says_what_became_of_a_task(result: CompareResult) -> None:
    records = {record["task"]: record for record in result.to_records()}
    assert records["=lost"] == LOST
    assert list(LOST) == list(COLUMNS)
    many, only, masked = records["many"], records["only-old"], records['masked, "so"']
    assert (many["old_reward"], many["old_solved"], many["delta"], many["within_noise"]) == (0.5, 1, 0.5, False)
    assert (only["category"], only["new_reward"], only["new_rows"], only["delta"]) == ("missing", None, 0, None)
    assert masked["new_masked"] == "no reward"


def test_a_csv_table_holds_the_records_and_no_formula(result: CompareResult) -> None:
    head, *rows = csv.reader(lines_of(result, ".csv"))
    assert head == list(COLUMNS)
    records = result.to_records()
    assert [row[0] for row in rows] == ["'=lost", "many", 'masked, "so"', "only-old"]
    for row, record in zip(rows, records, strict=True):
        as_text = [
            "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            for value in record.values()
        ]
        assert row[1:] == as_text[1:]


def test_a_jsonl_table_holds_the_records(result: CompareResult) -> None:
    assert [json.loads(line) for line in lines_of(result, ".jsonl")] == result.to_records()


def test_a_parquet_table_holds_the_records(result: CompareResult) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    written = table_of(result, ".parquet")
    assert isinstance(written, bytes)
    assert parquet.read_table(BytesIO(written)).to_pylist() == result.to_records()


def test_parquet_without_pyarrow_says_what_to_install(result: CompareResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CompareInputError, match=r"needs pyarrow: pip install 'rollout-compare\[parquet\]'"):
        table_of(result, ".parquet")


def test_data_frames_hold_the_records(result: CompareResult) -> None:
    pandas: Any = pytest.importorskip("pandas")
    polars: Any = pytest.importorskip("polars")
    frame = result.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["task"]) == [record["task"] for record in result.to_records()]
    assert frame["delta"].sum() == pandas.Series([-1.0, 0.5]).sum()
    assert result.to_polars().to_dicts() == result.to_records()
    assert isinstance(result.to_polars(), polars.DataFrame)


def test_a_notebook_shows_the_decision_and_the_counts(result: CompareResult) -> None:
    shown = result._repr_html_()
    assert shown.startswith("<table><caption>cannot tell: ")
    assert "<th>tasks</th><th>identical</th><th>flipped</th><th>flipped agent error</th>" in shown
    assert "<td>4</td><td>0</td><td>1</td><td>1</td><td>1</td><td>1</td>" in shown
    hostile = compare_rollouts([{"task_id": "<b>", "reward": 1.0}], [{"task_id": "<b>", "reward": 0.0}])
    assert "<b>" not in hostile._repr_html_()


def test_a_repr_is_one_short_line(result: CompareResult) -> None:
    assert repr(result) == (
        "CompareResult(tasks=4, flipped=1, flipped_new_win=1, flipped_agent_error=1, masked=1, masked_new=1, "
        "missing=1, missing_old_only=1, verdict='cannot tell')"
    )
    assert repr(replace(result, tasks=[], statistics=None)) == "CompareResult(tasks=0)"


@pytest.mark.parametrize("task", ["a\nb", "c\r=1+1", "\n=1+1", "d\r\n@x", "plain"])
def test_a_line_break_in_a_text_does_not_end_a_row_of_a_csv_table(task: str) -> None:
    row = {"task_id": task, "reward": 1}
    text = "".join(f"{line}\n" for line in lines_of(compare_rollouts([row], [row]), ".csv"))
    head, *rows = csv.reader(StringIO(text, newline=""))
    assert [len(cells) for cells in rows] == [len(head)]
    assert rows[0][0] == (f"'{task}" if task.startswith("\n") else task)
