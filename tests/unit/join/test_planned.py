"""The planned rows of a run, joined to its rows by the attempt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.planned import planned_columns, planned_identity, planned_places, unrecorded_note
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.producers.gym.fields import SHARD
from nemo_gym.rollout_compare.report.notes import note_text
from nemo_gym.rollout_compare.schema import Side
from nemo_gym.rollout_compare.table.table import Table
from tests.support import assert_refused, attempt, compare, summary, write_rows, write_run

Row = dict[str, Any]


def run_table(rows: Sequence[Row], planned: Sequence[Row], failures: Sequence[Row] = ()) -> Table:
    """A run of one rollouts file, its failed attempts and its planned rows."""
    table = table_of([*rows, *(failed_attempt(failure) for failure in failures)])
    table.planned = {0: table_of(planned)}
    return table


def unrecorded(rows: Sequence[Row], planned: Sequence[Row], failures: Sequence[Row] = ()) -> str | None:
    note = unrecorded_note(run_table(rows, planned, failures), Side.OLD)
    return note_text(note) if note else None


class TestPlaces:
    def test_a_row_has_the_planned_row_of_its_attempt(self) -> None:
        planned = [attempt(None, 0, 0), attempt(None, 0, 1), attempt(None, 1, 0), attempt(None, "0", 0)]
        rows = [attempt(None, 1, 0), attempt(None, 0, 1), attempt(None, "0", 0), attempt(None, 0, 1)]
        places = planned_places(run_table(rows, planned))
        assert [place and place[1] for place in places] == [2, 1, 3, 1]

    def test_it_has_none_without_the_pair_or_where_none_was_planned(self) -> None:
        rows = [attempt(), attempt(None, 0), attempt(None, None, 0), attempt(None, 0, 1), attempt(None, 0, 0)]
        assert [place is not None for place in planned_places(run_table(rows, [attempt(None, 0, 0)]))] == [
            0,
            0,
            0,
            0,
            1,
        ]

    def test_planned_rows_without_the_pair_are_of_no_attempt(self) -> None:
        assert planned_places(run_table([attempt(None, 0)], [attempt(None, 0), attempt()])) == [None]

    def test_of_two_planned_rows_of_an_attempt_the_first_counts(self) -> None:
        planned = [attempt(None, 0, 0, task_id="a"), attempt(None, 0, 0, task_id="b")]
        [place] = planned_places(run_table([attempt(None, 0, 0)], planned))
        assert place is not None
        assert planned_identity(place, "task_id") == "a"

    def test_failed_attempts_have_theirs_too(self) -> None:
        table = run_table([attempt(None, 0, 0)], [attempt(None, 1, 0), attempt(None, 0, 0)], [attempt(None, 1, 0)])
        assert [place and place[1] for place in planned_places(table)] == [1, 0]

    def test_without_planned_rows_there_are_none(self) -> None:
        assert planned_places(table_of([attempt(None, 0, 0)])) == [None]
        assert planned_columns(table_of([attempt(None, 0, 0)])) == {}

    def test_each_shard_has_planned_rows_of_its_own(self) -> None:
        table = table_of([attempt(None, 0, 0, at={SHARD: shard}) for shard in (0, 1)])
        table.planned = {
            0: table_of([attempt(None, 0, 0, task_id="a")]),
            1: table_of([attempt(None, 0, 0, task_id="b")]),
        }
        column = planned_columns(table)["task_id"]
        assert [column[0], column[1]] == ["a", "b"]


class TestColumns:
    def test_a_field_of_every_planned_row_names_the_rows_tasks(self) -> None:
        planned = [
            attempt(None, 0, 0, id={"taskset": "S", "id": 7}, uuid="u", at={"verifier_metadata.id": "v"}),
            attempt(None, 1, 0, id="b", at={"verifier_metadata.id": "w"}),
        ]
        columns = planned_columns(run_table([attempt(None, 1, 0), attempt(None, 0, 0)], planned))
        assert {path: [column[0], column[1]] for path, column in columns.items()} == {
            "verifier_metadata.id": ["w", "v"],
            "id": ["b", ("S", "7")],
        }

    def test_it_must_do_so_for_every_row_with_a_say(self) -> None:
        planned = [attempt(None, 0, 0, id="a")]
        assert planned_columns(run_table([attempt(None, 0, 0), attempt(None, 9, 0)], planned)) == {}
        assert planned_columns(run_table([attempt(None, 0, 0), attempt()], planned)) == {}

    def test_a_failure_that_names_no_task_has_no_say(self) -> None:
        table = run_table([attempt(None, 0, 0)], [attempt(None, 0, 0, id="a")], [attempt(None, 9, 0), {}])
        column = planned_columns(table)["id"]
        assert [column[row] for row in range(3)] == ["a", None, None]

    def test_a_failure_that_names_one_has(self) -> None:
        table = run_table([attempt(None, 0, 0)], [attempt(None, 0, 0, id="a")], [attempt(None, 9, 0, task_id="x")])
        assert planned_columns(table) == {}

    def test_a_field_that_some_planned_row_lacks_names_none(self) -> None:
        table = run_table([attempt(None, 0, 0)], [attempt(None, 0, 0, id="a"), attempt(None, 1, 0, uuid="u")])
        [place] = planned_places(table)
        assert place is not None
        assert planned_identity(place, "id") is None
        assert planned_columns(table) == {}


class TestUnrecorded:
    PLANNED = tuple(attempt(None, task, repeat) for task in range(2) for repeat in range(2))

    def test_none_where_each_attempt_left_a_row_or_a_failure(self) -> None:
        assert unrecorded(self.PLANNED[:3], self.PLANNED, self.PLANNED[3:]) is None
        assert unrecorded_note(table_of(self.PLANNED), Side.OLD) is None

    @pytest.mark.parametrize(
        ("recorded", "text"),
        [
            (3, "1 planned attempt of the old run left no record: killed or never started"),
            (1, "3 planned attempts of the old run left no record: killed or never started"),
        ],
    )
    def test_others_are_counted(self, recorded: int, text: str) -> None:
        assert unrecorded(self.PLANNED[:recorded], self.PLANNED) == text

    def test_an_attempt_that_was_planned_or_recorded_twice_counts_once(self) -> None:
        rows = [self.PLANNED[0], self.PLANNED[0]]
        assert unrecorded(rows, [*self.PLANNED[:2], self.PLANNED[1]]) == (
            "1 planned attempt of the old run left no record: killed or never started"
        )

    def test_nobody_can_say_where_a_row_does_not_tell_its_attempt(self) -> None:
        assert unrecorded([attempt(None, 0)], self.PLANNED) is None
        assert unrecorded(self.PLANNED[:1], self.PLANNED, [{}]) is None

    def test_a_row_that_nobody_planned_makes_up_for_none(self) -> None:
        assert unrecorded([attempt(None, 7, 0)], self.PLANNED[:1]) == (
            "1 planned attempt of the old run left no record: killed or never started"
        )


class TestCommand:
    """By the files of a run, as a user has them."""

    PLANNED = tuple(attempt(f"What is {i}+{i}?", i, 0, id=f"sum-{i}") for i in range(4))

    def test_ids_that_only_the_planned_rows_have_join(self, tmp_path: Path) -> None:
        old = write_run(tmp_path / "old.jsonl", [attempt(None, i, 0) for i in (2, 0, 1, 3)], (), self.PLANNED)
        new = write_rows(tmp_path / "new.jsonl", [attempt(id=f"sum-{i}") for i in range(4)])
        said = summary(old, new)
        assert said["join"] | {"old_key": "materialized_inputs:id", "new_key": "id"} == said["join"]
        assert said["counts"]["identical"] == said["counts"]["tasks"] == said["join_check"]["joined"] == 4
        assert said["notes"] == [
            (
                "the old run is joined by id of the rows planned in the materialized inputs "
                "(no field that usually names the task is on every row)"
            ),
            "the new run is joined by id (no field that usually names the task is on every row)",
        ]
        assert "join key: old=materialized_inputs:id, new=id\n" in compare(old, new).stdout

    def test_a_rows_own_id_comes_before_a_planned_one(self, tmp_path: Path) -> None:
        rows = [attempt(None, i, 0, at={"responses_create_params.metadata.task_name": f"t{i}"}) for i in range(4)]
        path = write_run(tmp_path / "old.jsonl", rows, (), self.PLANNED)
        assert summary(path, path)["join"]["old_key"] == "responses_create_params.metadata.task_name"

    def test_a_planned_id_comes_before_the_task_input(self, tmp_path: Path) -> None:
        rows = [attempt(f"What is {i}+{i}?", i, 0) for i in range(4)]
        path = write_run(tmp_path / "old.jsonl", rows, (), self.PLANNED)
        assert summary(path, path)["join"]["old_key"] == "materialized_inputs:id"

    def test_a_planned_field_that_merges_is_rejected(self, tmp_path: Path) -> None:
        planned = [attempt(None, i, 0, task_name="sums") for i in range(3)]
        path = write_run(tmp_path / "old.jsonl", [attempt(f"{i}+{i}?", i, 0) for i in range(3)], (), planned)
        said = summary(path, path)
        assert said["join"]["old_key"] == "responses_create_params.input"
        assert said["notes"][1:] == [
            (
                "both runs are joined by the task input, what the system was asked "
                "(materialized_inputs:task_name: rejected, 3 rows share 'sums' with 3 different inputs)"
            )
        ]

    @pytest.mark.parametrize("key", [None, "id"])
    def test_a_failure_that_names_no_task_is_named_by_its_planned_row(self, tmp_path: Path, key: str | None) -> None:
        rows = [attempt(None, i, 0, id=f"sum-{i}") for i in range(3)]
        failures = [attempt(None, 3, 0), attempt(None, 9, 0), {}]
        old = write_run(tmp_path / "old.jsonl", rows, failures, self.PLANNED)
        new = write_rows(tmp_path / "new.jsonl", [attempt(id=f"sum-{i}") for i in range(4)])
        said = summary(old, new, *(["--key", key] if key else []))
        assert [task["task"] for task in said["tasks"] if task["category"] == "masked"] == [
            "sum-3",
            "unknown#1",
            "unknown#2",
        ]

    def test_where_the_key_is_planned_too(self, tmp_path: Path) -> None:
        old = write_run(tmp_path / "old.jsonl", [attempt(None, 0, 0)], [attempt(None, 1, 0)], self.PLANNED[:2])
        said = summary(old, old)
        assert [(task["task"], task["category"]) for task in said["tasks"]] == [
            ("sum-0", "identical"),
            ("sum-1", "masked"),
        ]

    def test_where_tasks_are_joined_by_input(self, tmp_path: Path) -> None:
        planned = [attempt(f"What is {i}?", i, 0) for i in range(3)]
        old = write_run(tmp_path / "old.jsonl", planned[:2], [attempt(None, 2, 0)], planned)
        said = summary(old, write_rows(tmp_path / "new.jsonl", planned))
        assert [task["task"][:10] for task in said["tasks"]] == ["What is 0?", "What is 1?", "What is 2?"]
        assert [task["category"] for task in said["tasks"]] == ["identical", "identical", "masked"]

    def test_where_tasks_are_joined_by_index(self, tmp_path: Path) -> None:
        rows = [attempt("Go.", 0, 0), attempt("Go.", 1, 0)]
        planned = [*rows, attempt("Go.", 2, 0)]
        old = write_run(tmp_path / "old.jsonl", rows, [attempt(None, 2, 0)], planned)
        said = summary(old, write_rows(tmp_path / "new.jsonl", planned))
        assert said["join"]["old_key"] == "_ng_task_index"
        assert [(task["task"], task["category"]) for task in said["tasks"]] == [
            ("0", "identical"),
            ("1", "identical"),
            ("2", "masked"),
        ]

    def test_its_task_index_among_the_rows_comes_first(self, tmp_path: Path) -> None:
        planned = [attempt(None, 0, 0, task_id="a"), attempt(None, 0, 1, task_id="b")]
        rows = [attempt(None, 0, 0, task_id="a")]
        old = write_run(tmp_path / "old.jsonl", rows, [attempt(None, 0, 1)], planned)
        assert [task["task"] for task in summary(old, old)["tasks"]] == ["a"]

    def test_attempts_without_a_record_are_counted(self, tmp_path: Path) -> None:
        failures = [attempt(None, 1, 0), attempt(None, 2, 0, _ng_dispatch_drained=True)]
        old = write_run(tmp_path / "old.jsonl", [attempt(None, 0, 0, id="sum-0")], failures, self.PLANNED)
        assert "2 planned attempts of the old run left no record: killed or never started" in summary(old, old)["notes"]
        assert "note: 2 planned attempts of the new run left no record" in compare(old, old).stdout

    def test_they_need_no_result_and_none_is_judged(self, tmp_path: Path) -> None:
        broken = {"reward": "to be told", "mask_sample": "no", "failure_kind": ["x"], "error": 7}
        rows = [attempt(None, i, 0) for i in range(4)]
        old = write_run(tmp_path / "old.jsonl", rows, (), [{**row, **broken} for row in self.PLANNED])
        said = summary(old, old)
        assert said["join"]["old_key"] == "materialized_inputs:id"
        assert said["counts"]["identical"] == 4

    def test_lines_of_them_that_are_no_rows_are_an_error_or_left_out(self, tmp_path: Path) -> None:
        old = write_run(tmp_path / "old.jsonl", [attempt(None, 0, 0)], (), self.PLANNED[:1])
        planned = old.with_name("old_materialized_inputs.jsonl")
        with planned.open("a", encoding="utf-8") as file:
            file.write("[]\n")
        assert_refused(compare(old, old), f"{planned}:2: expected a JSON object per line")
        assert f"{planned}: 1 line " in summary(old, old, "--skip-bad-lines")["notes"][1]

    def test_those_of_a_link_are_beside_what_it_leads_to(self, tmp_path: Path) -> None:
        (tmp_path / "run").mkdir()
        rows = [attempt(None, i, 0) for i in range(3)]
        old = write_run(tmp_path / "run/old.jsonl", rows, [attempt(None, 3, 0)], self.PLANNED)
        link = tmp_path / "latest.jsonl"
        link.symlink_to(old)
        said = summary(link, old)
        assert said["join"]["old_key"] == "materialized_inputs:id"
        assert (said["counts"]["identical"], said["counts"]["masked_old"]) == (3, 1)

    def test_shards_without_a_row_have_planned_rows_and_failures_each(self, tmp_path: Path) -> None:
        """Their rows are the same range of rows, but not the same shard."""
        for shard in range(3):
            planned = [attempt(None, 0, 0, id=f"{shard}-a")]
            rows = planned if shard == 2 else []
            write_run(tmp_path / f"old-{shard}.jsonl", rows, [attempt(None, 0, 0)], planned)
        new = write_rows(tmp_path / "new.jsonl", [attempt(id=f"{shard}-a") for shard in range(3)])
        said = summary(tmp_path / "old-?.jsonl", new)
        assert [(task["task"], task["category"]) for task in said["tasks"]] == [
            ("0-a", "masked"),
            ("1-a", "masked"),
            ("2-a", "identical"),
        ]

    def test_shards_have_planned_rows_each(self, tmp_path: Path) -> None:
        for shard in range(2):
            planned = [attempt(None, 0, 0, id=f"{shard}-a"), attempt(None, 1, 0, id=f"{shard}-b")]
            write_run(tmp_path / f"old-{shard}.jsonl", [attempt(None, 0, 0)], [attempt(None, 1, 0)], planned)
        new = write_rows(tmp_path / "new.jsonl", [attempt(id=f"{shard}-{x}") for shard in range(2) for x in "ab"])
        said = summary(tmp_path / "old-?.jsonl", new)
        assert [(task["task"], task["category"]) for task in said["tasks"]] == [
            ("0-a", "identical"),
            ("0-b", "masked"),
            ("1-a", "identical"),
            ("1-b", "masked"),
        ]
