from __future__ import annotations

import json
import re
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import compare_rollouts, load_rollouts
from nemo_gym.rollout_compare.app import comparison
from nemo_gym.rollout_compare.compare import categories
from nemo_gym.rollout_compare.compare.categories import compare_tables
from nemo_gym.rollout_compare.compare.task_side import sides_of
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run
from nemo_gym.rollout_compare.producers.depth import MOST_LEVELS
from nemo_gym.rollout_compare.report.notes import note_message
from nemo_gym.rollout_compare.schema import CompareInputError, Side
from nemo_gym.rollout_compare.table.table import Table
from tests.support import compare, facts, places, row_at, write_rows

Record = dict[str, Any]


def run_of(folder: Path, main: Sequence[Record], failures: Sequence[Record] | None = None) -> Path:
    """A run's rollouts, with a sidecar if there are failures; the path of the rollouts."""
    folder.mkdir(exist_ok=True)
    if failures is not None:
        write_rows(folder / "rollouts_failures.jsonl", failures)
    return write_rows(folder / "rollouts.jsonl", main)


def tables_of(*paths: Path, key: str | None = None, jobs: int | None = None, skip: bool = False) -> list[Table]:
    with ExitStack() as stack:
        runs = [stack.enter_context(locate_run(str(path)).opened()) for path in paths]
        return run_tables(runs, [Plan(key, skip)] * len(runs), jobs)


def attempt(index: int, rollout: int, **fields: Any) -> Record:
    return {"_ng_task_index": index, "_ng_rollout_index": rollout, **fields}


def failures_of(path: Path, main_rows: int) -> list[tuple[Any, str]]:
    """The task and kind of each row after those of the main file, by either road."""
    rows = load_rollouts(path)
    [table] = tables_of(path)
    assert facts(table) == facts(table_of(rows))
    assert all(row["mask_sample"] is True and row["reward"] is None for row in rows[main_rows:])
    assert [row[1] for row in facts(table)["rows"][main_rows:]] == [
        f"mask_sample (failure_kind={row['failure_kind']})" for row in rows[main_rows:]
    ]
    return [(row.get("task_id"), row["failure_kind"]) for row in rows[main_rows:]]


class TestRun:
    MAIN: Sequence[Record] = [attempt(0, 0, task_id="a", reward=1), attempt(1, 0, task_id="b", reward=0.5)]

    def test_without_a_sidecar_the_rows_are_those_of_the_main_file(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, self.MAIN)
        assert load_rollouts(path) == self.MAIN
        assert load_rollouts(str(path)) == self.MAIN
        [table] = tables_of(path)
        assert facts(table) == facts(table_of(self.MAIN))
        assert [where for where, _ in places(table)] == [f"{path}:1", f"{path}:2"]

    def test_failures_that_stand_are_masked_rows_after_those_of_the_main_file(self, tmp_path: Path) -> None:
        failures = [
            attempt(2, 0, task_id="c", failure_kind="old"),
            attempt(0, 0, task_id="a", failure_kind="retried with success"),
            attempt(1, 1, task_id="b", _ng_failure_class="class", _ng_failure_message="message", reward=1.0),
            {"task_id": "d"},
            attempt(2, 0, task_id="c", failure_kind="last"),
            attempt(3, 0, task_id="e", _ng_dispatch_drained=True),
            attempt(4, 0, task_id="f", _ng_unrouted_run_error=True),
            attempt(5, 0, task_id="g"),
            attempt(5, 0, task_id="g", _ng_omitted_rollout=True),
        ]
        path = run_of(tmp_path, self.MAIN, failures)
        assert failures_of(path, 2) == [("b", "class"), ("d", "failure"), ("c", "last")]
        assert load_rollouts(path)[:2] == self.MAIN
        assert load_rollouts(path)[2]["failure_reason"] == "message"

    def test_a_failure_is_found_again_where_it_was_recorded(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, self.MAIN, [attempt(0, 0), {"task_id": "c"}])
        [table] = tables_of(path)
        sidecar = path.with_name("rollouts_failures.jsonl")
        assert places(table)[2] == [f"{sidecar}:2", len(json.dumps(attempt(0, 0))) + 1]
        assert row_at(table.place(2)) == {"task_id": "c"}
        assert row_at(table.place(1)) == self.MAIN[1]

    def test_attempts_are_matched_by_both_halves_of_the_pair(self, tmp_path: Path) -> None:
        main = [attempt(0, 1, task_id="a", reward=1), attempt(1, 0, task_id="a", reward=1), {"task_id": "a"}]
        failures = [attempt(0, 0, task_id="a"), attempt(1, 1, task_id="a"), attempt(0, 1, task_id="a")]
        assert len(failures_of(run_of(tmp_path, main, failures), 3)) == 2

    def test_a_masked_row_of_the_main_file_replaces_a_failure_too(self, tmp_path: Path) -> None:
        main = [attempt(0, 0, task_id="a", mask_sample=True)]
        assert failures_of(run_of(tmp_path, main, [attempt(0, 0, task_id="a")]), 1) == []

    def test_a_failure_that_has_become_a_row_does_not_replace_another(self, tmp_path: Path) -> None:
        failures = [attempt(0, 0, task_id="a", failure_kind="1"), {"task_id": "a", "failure_kind": "2"}]
        assert len(failures_of(run_of(tmp_path, [], failures), 0)) == 2

    def test_an_empty_sidecar_adds_nothing(self, tmp_path: Path) -> None:
        assert failures_of(run_of(tmp_path, self.MAIN, []), 2) == []

    def test_an_empty_main_file_may_have_a_sidecar(self, tmp_path: Path) -> None:
        assert failures_of(run_of(tmp_path, [], [{"task_id": "a"}]), 0) == [("a", "failure")]

    def test_each_run_has_its_own_sidecar(self, tmp_path: Path) -> None:
        old = run_of(tmp_path / "old", self.MAIN[:1], [{"task_id": "c"}])
        new = run_of(tmp_path / "new", self.MAIN, [])
        assert [len(table) for table in tables_of(old, new)] == [2, 2]
        assert [table.masked_rows for table in tables_of(old, new)] == [1, 0]

    def test_the_sidecar_is_read_by_the_same_rules(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, self.MAIN)
        content = b'\xef\xbb\xbf{"task_id": "\xff", "reward": NaN}\r\n\n{"task_id": "b", "failure_kind": "k"}'
        path.with_name("rollouts_failures.jsonl").write_bytes(content)
        assert failures_of(path, 2) == [("\ufffd", "failure"), ("b", "k")]

    @pytest.mark.parametrize(
        ("line", "error"),
        [("{", r"invalid JSON \(.+\)"), ("[]", "expected a JSON object per line")],
    )
    @pytest.mark.parametrize("name", ["rollouts.jsonl", "rollouts_failures.jsonl"])
    def test_a_line_that_is_no_object_is_an_error_in_either_file(
        self, tmp_path: Path, name: str, line: str, error: str
    ) -> None:
        path = run_of(tmp_path, self.MAIN, [{"task_id": "c"}, {"task_id": "d"}])
        with (tmp_path / name).open("a") as file:
            file.write(f"\n{line}\n")
        pattern = f"^{re.escape(str(tmp_path / name))}:4: {error}$"
        for road in (load_rollouts, tables_of):
            with pytest.raises(CompareInputError, match=pattern):
                road(path)

    def test_a_broken_reward_is_the_same_error_by_either_road(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, [*self.MAIN, {"task_id": "c", "reward": "x"}])
        for road in (load_rollouts, tables_of):
            with pytest.raises(CompareInputError, match=rf"^{path}:3: reward 'x' is not a number \(task c\)$"):
                road(path)

    def test_faults_of_rollouts_come_before_those_of_sidecars(self, tmp_path: Path) -> None:
        old = run_of(tmp_path / "old", self.MAIN, [])
        old.with_name("rollouts_failures.jsonl").write_text("junk\n", "utf-8")
        new = run_of(tmp_path / "new", [])
        new.write_text("junk\n", "utf-8")
        with pytest.raises(CompareInputError, match=f"^{new}:1: "):
            tables_of(old, new)

    def test_a_sidecar_that_is_cut_off_is_said_to_be(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, self.MAIN)
        sidecar = path.with_name("rollouts_failures.jsonl")
        sidecar.write_text('{"task_id": "a"}\n{"task_id": ', "utf-8")
        for road in (load_rollouts, tables_of):
            with pytest.raises(CompareInputError, match=rf"^{sidecar}:2: invalid JSON .*cut off"):
                road(path)

    @pytest.mark.parametrize("road", [load_rollouts, tables_of])
    def test_a_sidecar_that_cannot_be_read_is_an_error(self, tmp_path: Path, road: Any) -> None:
        path = run_of(tmp_path, self.MAIN)
        sidecar = path.with_name("rollouts_failures.jsonl")
        sidecar.mkdir()
        with pytest.raises(CompareInputError, match=f"^cannot read {sidecar}: it is not a regular file$"):
            road(path)
        sidecar.rmdir()
        sidecar.symlink_to("nowhere")
        with pytest.raises(CompareInputError, match=f"^cannot read {sidecar}: No such file or directory$"):
            road(path)

    @pytest.mark.parametrize("field", ["failure_kind", "task_id", "_ng_task_index", "other"])
    def test_a_failure_that_is_nested_too_deeply_is_an_error(self, tmp_path: Path, field: str) -> None:
        path = run_of(tmp_path, self.MAIN)
        sidecar = path.with_name("rollouts_failures.jsonl")
        for levels in (MOST_LEVELS, MOST_LEVELS + 1):
            lists = "[" * (levels - 1) + "]" * (levels - 1)
            sidecar.write_text(f'{{"task_id": "c"}}\n{{"task_id": "d", "{field}": {lists}}}\n', "utf-8")
            for road in (load_rollouts, tables_of):
                if levels == MOST_LEVELS:
                    assert road(path)
                    continue
                with pytest.raises(CompareInputError, match=rf"^{sidecar}:2: invalid JSON \(nested too deeply\)$"):
                    road(path)

    @pytest.mark.parametrize("road", [load_rollouts, tables_of])
    def test_rollouts_that_cannot_be_read_are_an_error(self, tmp_path: Path, road: Any) -> None:
        path = tmp_path / "none.jsonl"
        with pytest.raises(CompareInputError, match=f"^cannot read {path}: No such file or directory$"):
            road(path)

    def test_the_number_of_processes_changes_nothing(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, self.MAIN, [{"task_id": "c"}])
        expected = facts(tables_of(path)[0])
        assert [facts(tables_of(path, jobs=jobs)[0]) for jobs in (1, 2)] == [expected] * 2


def test_a_table_keeps_no_memory_that_only_growing_takes(tmp_path: Path) -> None:
    [table] = tables_of(run_of(tmp_path / "a", [attempt(i, 0, task_id=str(i), reward=1) for i in range(3)]))
    column = table.keys["task_id"]
    assert (len(column.ids), len(vars(column)["_places"])) == (3, 0)


def test_tables_are_given_back_once_they_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    seen: list[list[bool]] = []

    def noted_tables(*args: Any) -> list[Table]:
        tables = run_tables(*args)
        held.extend(map(weakref.ref, tables))
        return tables

    def noted_sides(*args: Any) -> Any:
        seen.append([ref() is not None for ref in held])
        return sides_of(*args)

    monkeypatch.setattr(comparison, "run_tables", noted_tables)
    monkeypatch.setattr(categories, "sides_of", noted_sides)
    path = run_of(tmp_path, [attempt(i, 0, task_id=str(i), reward=1) for i in range(3)])
    assert compare(path, path).status == 0
    assert seen == [[False, False]] * 2


class TestShards:
    """A quoted pattern: the shards of one run, in name order."""

    @pytest.fixture
    def shards(self, tmp_path: Path) -> list[Path]:
        write_rows(tmp_path / "s2.jsonl", [attempt(0, 0, task_id="c", reward=1)])
        write_rows(tmp_path / "s1.jsonl", [attempt(0, 0, task_id="a", reward=1), attempt(1, 0, task_id="b", reward=1)])
        write_rows(tmp_path / "s1_failures.jsonl", [attempt(1, 0, task_id="b"), attempt(2, 0, task_id="d")])
        write_rows(tmp_path / "s2_failures.jsonl", [attempt(1, 0, task_id="e"), attempt(0, 0, task_id="c")])
        return [tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"]

    def test_rows_come_in_name_order_and_failures_after_all_of_them(self, shards: list[Path]) -> None:
        assert failures_of(shards[0].with_name("*.jsonl"), 3) == [("d", "failure"), ("e", "failure")]
        [table] = tables_of(shards[0].with_name("*.jsonl"))
        assert [row[-1]["task_id"] for row in facts(table)["rows"]] == ["a", "b", "c", "d", "e"]
        assert [where for where, _ in places(table)] == [
            f"{shards[0]}:1",
            f"{shards[0]}:2",
            f"{shards[1]}:1",
            f"{shards[0].with_name('s1_failures.jsonl')}:2",
            f"{shards[0].with_name('s2_failures.jsonl')}:1",
        ]

    def test_a_failure_without_a_name_is_a_task_of_its_own_shard(self, shards: list[Path]) -> None:
        write_rows(shards[0].with_name("s1_failures.jsonl"), [attempt(1, 1)])
        write_rows(shards[1].with_name("s2_failures.jsonl"), [attempt(0, 1), attempt(1, 1)])
        pattern = shards[0].with_name("*.jsonl")
        result = compare_tables(dict(zip(Side, tables_of(pattern, pattern), strict=True)))
        found = {task.task: task.new.rows for task in result.tasks if task.new}
        assert found == {"a": 1, "b": 2, "c": 2, "unknown#2": 1}

    def test_a_script_finds_the_same_task_for_it(self, shards: list[Path]) -> None:
        write_rows(shards[0].with_name("s1_failures.jsonl"), [attempt(1, 1)])
        write_rows(shards[1].with_name("s2_failures.jsonl"), [attempt(0, 1), attempt(1, 1)])
        rows = load_rollouts(shards[0].with_name("*.jsonl"))
        found = {task.task: task.new.rows for task in compare_rollouts(rows, rows).tasks if task.new}
        assert found == {"a": 1, "b": 2, "c": 2, "unknown#2": 1}


class TestLeavingOut:
    def test_bad_lines_of_the_sidecar_are_left_out_too(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, [{"task_id": "a", "reward": 1}], [{"task_id": "b"}])
        sidecar = path.with_name("rollouts_failures.jsonl")
        with sidecar.open("a") as file:
            file.write('[]\n{"task_id": "c"}\n{')
        [table] = tables_of(path, skip=True)
        assert [row[-1]["task_id"] for row in facts(table)["rows"]] == ["a", "b", "c"]
        [note] = table.notes
        assert note_message(note).startswith(f"{sidecar}: 2 lines ")
        assert re.search(r"line 2 \(expected a JSON object per line.*line 4 \(invalid JSON", note_message(note))

    def test_notes_of_rollouts_and_sidecar_are_notes_of_the_comparison(self, tmp_path: Path) -> None:
        path = run_of(tmp_path, [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": "x"}], [])
        path.with_name("rollouts_failures.jsonl").write_text("junk\n", "utf-8")
        tables = tables_of(path, path, skip=True)
        result = compare_tables(dict(zip(Side, tables, strict=True)))
        assert [note_message(note).split(":")[0] for note in result.notes] == [
            str(path),
            str(path.with_name("rollouts_failures.jsonl")),
        ] * 2


def test_an_inputs_file_is_told_to_be_one(tmp_path: Path) -> None:
    inputs = [{"task_id": "a", "responses_create_params": {"input": "do it"}}] * 2
    path = write_rows(tmp_path / "inputs.jsonl", inputs)
    with pytest.raises(CompareInputError, match=rf"^{path} .*\binputs\b"):
        tables_of(path)
    write_rows(path, [*inputs, {**inputs[0], "response": {}}])
    assert len(tables_of(path)[0]) == 3
    write_rows(path, [*inputs, {**inputs[0], "reward": 0}])
    assert len(tables_of(path)[0]) == 3
    write_rows(path, [{"task_id": "a"}])
    assert len(tables_of(path)[0]) == 1


class TestKeys:
    def test_a_failure_is_named_by_the_key_that_was_given(self, tmp_path: Path) -> None:
        main = [{"id": {"n": "a"}, "task_id": "x", "reward": 1}]
        path = run_of(tmp_path, main, [{"id": {"n": "b"}}, {"task_id": "x"}])
        [table] = tables_of(path, key="id.n")
        assert [row[-1] for row in facts(table)["rows"]] == [{"id.n": "a"}, {"id.n": "b"}, {"id.n": None}]
        assert facts(table)["anonymous"] == [2]

    def test_a_script_that_gives_a_key_finds_the_tasks_that_the_command_finds(self, tmp_path: Path) -> None:
        old = run_of(tmp_path / "old", [{"id": {"n": "a"}, "reward": 1}, {"id": {"n": "b"}, "reward": 1}])
        new = run_of(tmp_path / "new", [{"id": {"n": "a"}, "reward": 1}], [{"id": {"n": "b"}}])
        command = compare_tables(dict(zip(Side, tables_of(old, new, key="id.n"), strict=True)))
        script = compare_rollouts(load_rollouts(old), load_rollouts(new), key="id.n")
        assert [(task.task, task.category) for task in command.tasks] == [("a", "identical"), ("b", "masked")]
        assert script.tasks == command.tasks

    def test_a_failure_without_a_name_is_the_task_of_the_first_main_row_with_its_index(self, tmp_path: Path) -> None:
        main = [attempt(3, 0, task_id="a", reward=1), attempt(3, 1, task_id="b", reward=1)]
        path = run_of(tmp_path, main, [attempt(3, 2), attempt(9, 0), {}, {"_ng_task_index": 3}])
        by_command = compare_tables(dict(zip(Side, tables_of(path, path), strict=True)))
        by_script = compare_rollouts(load_rollouts(path), load_rollouts(path))
        for result in (by_command, by_script):
            found = {task.task: task.new.rows for task in result.tasks if task.new}
            assert found == {"a": 3, "b": 1, "unknown#3": 1, "unknown#4": 1}
