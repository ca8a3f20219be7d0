"""The ways in which terminal-bench runs are laid out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.report.notes import note_text
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.producers_support import Row, harbor_trial, put_json, rows_of, table_at, terminal_bench_result
from tests.support import assert_refused, compare, put

KEY = "task_id"
BOTH = {"one": [Row(1.0), Row(0.0)], "two": [Row(1.0)]}
KILLED = Row(None, "no result: killed or still running")
RESULTS = [
    terminal_bench_result("one", True, 1),
    terminal_bench_result("one", False, 2),
    terminal_bench_result("two", True, 1),
]


def in_folders(run: Path, *, by_task: bool = True, ending: str = ".run") -> None:
    for result in RESULTS:
        name = result["trial_name"].removesuffix(".run") + ending
        put_json(run / (result["task_id"] if by_task else ".") / name / "results.json", result)


def test_folders_of_trials_in_those_of_tasks_are_the_truth(tmp_path: Path) -> None:
    in_folders(tmp_path)
    never_run = terminal_bench_result("three", None)
    put_json(tmp_path / "results.json", {"results": [*RESULTS, never_run]})
    put_json(tmp_path / "run_metadata.json", {"task_ids": ["one", "two"]})
    put(tmp_path / "tb.lock", "{}")
    assert rows_of(table_at(tmp_path), KEY) == BOTH


@pytest.mark.parametrize("by_task", [True, False])
@pytest.mark.parametrize("ending", [".run", ""])
def test_folders_of_trials_alone(tmp_path: Path, by_task: bool, ending: str) -> None:
    in_folders(tmp_path, by_task=by_task, ending=ending)
    table = table_at(tmp_path)
    assert rows_of(table, KEY) == BOTH
    assert [table.rollout_index.value(code) for code in table.rollout_index.codes] == [1, 2, 1]


@pytest.mark.parametrize("name", ["results.json", "2026-run_results.json"])
@pytest.mark.parametrize("named", [".", "file"])
def test_one_file_of_results(tmp_path: Path, name: str, named: str) -> None:
    put_json(tmp_path / name, {"id": "x", "results": RESULTS, "accuracy": 0.5})
    assert rows_of(table_at(tmp_path / (name if named == "file" else named)), KEY) == BOTH


def test_a_list_of_results(tmp_path: Path) -> None:
    put_json(tmp_path / "results.json", RESULTS)
    assert rows_of(table_at(tmp_path), KEY) == BOTH


def test_several_files_of_results_are_several_attempts(tmp_path: Path) -> None:
    put_json(tmp_path / "a_results.json", {"results": RESULTS[:1]})
    put_json(tmp_path / "b_results.json", {"results": RESULTS[1:]})
    put_json(tmp_path / "c_results.json", {"results": "none"})
    assert rows_of(table_at(tmp_path), KEY) == BOTH


@pytest.mark.parametrize("named", ["one.1-of-2.run", "one.1-of-2.run/results.json"])
def test_a_single_trial(tmp_path: Path, named: str) -> None:
    in_folders(tmp_path / "run")
    assert rows_of(table_at(tmp_path / "run/one" / named), KEY) == {"one": [Row(1.0)]}


def test_runs_of_one_agent_are_attempts_of_one_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        put_json(tmp_path / f"{name}/run_metadata.json", {"agent_name": "terminus", "task_ids": None})
        put(tmp_path / f"{name}/tb.lock", "")
        in_folders(tmp_path / name)
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(1.0), Row(0.0)] * 2, "two": [Row(1.0)] * 2}
    put_json(tmp_path / "b/run_metadata.json", {"agent_name": "other"})
    with pytest.raises(CompareInputError, match=r"it holds runs of different agents; name one: .*/a, .*/b$"):
        table_at(tmp_path)


def test_a_trial_without_a_result_was_killed_or_runs_still(tmp_path: Path) -> None:
    in_folders(tmp_path)
    put(tmp_path / "one/one.1-of-2.run/results.json", "")
    put(tmp_path / "x.easy/x.easy.1-of-1.run/commands.txt", "ls")
    assert rows_of(table_at(tmp_path), KEY) == {"one": [KILLED, Row(0.0)], "two": [Row(1.0)], "x.easy": [KILLED]}


def test_trials_that_never_began_are_counted_and_their_tasks_named(tmp_path: Path) -> None:
    in_folders(tmp_path)
    put_json(tmp_path / "run_metadata.json", {"task_ids": ["two", "one", "four", "three"], "n_attempts": 2})
    said = f"{tmp_path}: 5 planned attempts left no record: killed or never started: four, three"
    assert [note_text(note) for note in table_at(tmp_path).notes] == [said]
    put_json(tmp_path / "run_metadata.json", {"task_ids": ["two", "one"], "n_attempts": 2})
    said = f"{tmp_path}: 1 planned attempt left no record: killed or never started"
    assert [note_text(note) for note in table_at(tmp_path).notes] == [said]
    put_json(tmp_path / "run_metadata.json", {"task_ids": ["two", "one"]})
    assert table_at(tmp_path).notes == []


def test_a_result_without_a_task_is_named_by_its_trial(tmp_path: Path) -> None:
    put_json(tmp_path / "one/one.1-of-1/results.json", {"trial_name": "one.1-of-1.run", "is_resolved": True})
    put_json(tmp_path / "two/two.1-of-1/results.json", {"trial_name": None, "is_resolved": True})
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(1.0)], "two": [Row(1.0)]}


@pytest.mark.parametrize("key", [None, "instruction"])
def test_any_field_can_be_the_key(tmp_path: Path, key: str | None) -> None:
    in_folders(tmp_path)
    assert len(rows_of(table_at(tmp_path, key=key), key or KEY)) == 2


def test_a_folder_without_results_is_no_run(tmp_path: Path) -> None:
    put(tmp_path / "note.txt", "")
    with pytest.raises(CompareInputError, match="a folder without a terminal-bench result"):
        locate_run(str(tmp_path), "terminal-bench")


def test_a_file_without_results_is_no_run(tmp_path: Path) -> None:
    put_json(tmp_path / "results.json", {"id": 1})
    with pytest.raises(CompareInputError, match=r"results\.json lists no results"):
        table_at(tmp_path / "results.json", form="terminal-bench")


def test_a_broken_result_is_one_error_or_left_out(tmp_path: Path) -> None:
    for side in ("old", "new"):
        in_folders(tmp_path / side)
    put(tmp_path / "new/two/two.1-of-2.run/results.json", '{"task_id": ')
    old, new = tmp_path / "old", tmp_path / "new"
    assert_refused(compare(old, new), f"error: {new}/two/two.1-of-2.run/results.json: invalid JSON (Expecting value")
    done = compare(old, new, "--skip-bad-lines")
    assert "1 trial that cannot be read was left out: two/two.1-of-2.run/results.json (invalid JSON" in done.stdout
    assert "identical                    1" in done.stdout


def test_a_file_of_results_that_changes_is_noticed(tmp_path: Path) -> None:
    put_json(tmp_path / "results.json", RESULTS)
    source = table_at(tmp_path).place(0).source
    assert source.unchanged()  # type: ignore[attr-defined]
    put(tmp_path / "results.json", json.dumps(RESULTS[:1]))
    assert not source.unchanged()  # type: ignore[attr-defined]


def test_trials_join_those_of_harbor(tmp_path: Path) -> None:
    in_folders(tmp_path / "old")
    harbor_trial(tmp_path / "new", "one", task="terminal-bench/one", rewards={"reward": 0.5})
    harbor_trial(tmp_path / "new", "two", task="terminal-bench/two", rewards={"reward": 0.0})
    done = compare(tmp_path / "old", tmp_path / "new")
    assert "identical                    1" in done.stdout
    assert "### two: old=1.0 new=0.0 -> old wins" in done.stdout
    assert "different task" not in done.stdout
