"""The check after the join: what makes a reader doubt it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.report.notes import note_text
from nemo_gym.rollout_compare.schema import JoinCheck, Side
from tests.support import attempt, compare, join_rows, summary, write_rows, write_run

Row = dict[str, Any]
A, B, C = "What is A?", "What is B?", "What is C?"


def ids(*values: Any, name: str = "task_id") -> list[Row]:
    return [{name: value, "reward": 1} for value in values]


def notes(old: Sequence[Row], new: Sequence[Row], key: str | None = None) -> list[str]:
    return [note_text(note) for note in join_rows(old, new, key).notes]


class TestInputs:
    def check(self, old: Sequence[tuple[str, Any]], new: Sequence[tuple[str, Any]]) -> JoinCheck:
        runs = ([attempt(asked, _ng_task_id=task) for task, asked in run] for run in (old, new))
        return join_rows(next(runs), next(runs)).check

    def test_joined_compared_and_different_tasks_are_counted(self) -> None:
        old = [("same", A), ("other", A), ("unknown", A), ("silent", None), ("old", A), ("another", B)]
        new = [("another", A), ("other", B), ("same", A), ("unknown", None), ("silent", None), ("new", A)]
        assert self.check(old, new) == JoinCheck(5, 3, 2, ("another", "other"))
        assert self.check(new, old) == JoinCheck(5, 3, 2, ("another", "other"))

    def test_all_inputs_of_a_task_count(self) -> None:
        assert self.check([("a", A), ("a", B)], [("a", B), ("a", A), ("a", A)]) == JoinCheck(1, 1, 0)
        assert self.check([("a", A), ("a", B)], [("a", A)]) == JoinCheck(1, 1, 1, ("a",))
        assert self.check([("a", A)], [("a", A), ("a", B)]) == JoinCheck(1, 1, 1, ("a",))
        assert self.check([("a", A), ("a", None)], [("a", A)]) == JoinCheck(1, 1, 0)

    def test_nothing_is_known_of_runs_without_inputs(self) -> None:
        assert self.check([("a", None)], [("a", None)]) == JoinCheck(1, 0, 0)
        assert self.check([("a", None)], [("a", A)]) == JoinCheck(1, 0, 0)
        assert self.check([("a", A)], [("b", B)]) == JoinCheck(0, 0, 0)

    def test_failures_that_join_nothing_are_no_task(self) -> None:
        run = [attempt(A, _ng_task_id="a"), failed_attempt(attempt(C))]
        assert join_rows(run, run).check == JoinCheck(1, 1, 0)

    def test_a_difference_is_noted_under_the_label_that_a_reader_sees(self) -> None:
        old, new = [attempt(A, task_id="p/a"), attempt(A, task_id="p/b")], [attempt(B, task_id="a")]
        assert notes(old, new) == ["same id, different task input: a"]

    def test_no_difference_is_no_note(self) -> None:
        assert notes([attempt(A, task_id="a")], [attempt(A, task_id="a")]) == []

    def test_the_report_names_ten_and_the_summary_all(self, tmp_path: Path) -> None:
        labels = [f"task-{i:02}" for i in range(13)]
        old = write_rows(tmp_path / "old.jsonl", [attempt(A, task_id=label) for label in labels])
        new = write_rows(tmp_path / "new.jsonl", [attempt(B, task_id=label) for label in labels])
        assert f"note: same id, different task input: {', '.join(labels[:10])} and 3 more\n" in compare(old, new).stdout
        said = summary(old, new)
        assert said["join_check"] == {
            "joined": 13,
            "inputs_compared": 13,
            "inputs_differ": 13,
            "tasks_differ": labels,
        }
        assert said["notes"] == [f"same id, different task input: {', '.join(labels)}"]


class TestNothingInCommon:
    def test_three_labels_of_each_side_and_their_keys_are_shown(self, tmp_path: Path) -> None:
        old = write_rows(tmp_path / "old.jsonl", ids("o3", "o1", "o4", "o2"))
        new = write_rows(tmp_path / "new.jsonl", ids("n2", "n1", name="task_name"))
        said = [
            "the runs have no task in common",
            "first old tasks by task_id: o1, o2, o3",
            "first new tasks by task_name: n1, n2",
        ]
        assert summary(old, new)["notes"] == said
        assert "".join(f"note: {note}\n" for note in said) in compare(old, new).stdout

    def test_one_in_common_is_enough(self) -> None:
        assert notes(ids("a", "b"), ids("b", "c")) == []

    def test_a_side_without_a_task_has_none_to_show(self) -> None:
        assert notes(ids("a"), []) == []
        assert notes([failed_attempt({})], ids("a")) == []

    def test_it_names_the_index_where_the_wording_may_differ(self) -> None:
        why, *nothing = notes([attempt(A, 0)], [attempt(B, 0)])
        assert why.startswith("both runs are joined by the task input, ")
        [old_label] = join_rows([attempt(A)], [attempt(A)]).tasks
        [new_label] = join_rows([attempt(B)], [attempt(B)]).tasks
        assert nothing == [
            (
                "the runs have no task in common; if both read the same inputs file, "
                "--key _ng_task_index joins them by the position there"
            ),
            f"first old tasks by responses_create_params.input: {old_label}",
            f"first new tasks by responses_create_params.input: {new_label}",
        ]

    @pytest.mark.parametrize(("old", "new"), [(None, None), (0, None), (None, 0)])
    def test_it_does_not_where_a_row_has_none(self, old: int | None, new: int | None) -> None:
        said = notes([attempt(A, 0), attempt(A, old)], [attempt(B, 0), attempt(B, new)])
        assert "the runs have no task in common" in said
        assert "_ng_task_index" not in "".join(said)


class TestNearMisses:
    def near(self, old: Sequence[Any], new: Sequence[Any]) -> list[str]:
        said = "missing on both sides, but alike save for case, spaces or Unicode form: "
        return [note.removeprefix(said) for note in notes(ids("both", *old), ids("both", *new)) if said in note]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Fix-Add", "fix-add"),
            ("fix add", "fixadd"),
            (" fix\tadd\u00a0", "fix add"),
            ("caf\u00e9", "cafe\u0301"),
            ("\uff46ix", "fix"),
            ("Stra\u00dfe", "STRASSE"),
        ],
    )
    def test_labels_that_look_alike_are_shown_next_to_each_other(self, old: str, new: str) -> None:
        assert self.near([old], [new]) == [f"{old!r} and {new!r}"]
        assert self.near([new], [old]) == [f"{new!r} and {old!r}"]

    @pytest.mark.parametrize(("old", "new"), [("fix-add", "fix_add"), ("a1", "a2"), ("e", "\u00e9"), ("a", "b")])
    def test_others_are_not(self, old: str, new: str) -> None:
        assert self.near([old], [new]) == []

    def test_all_are_in_the_order_of_what_they_have_in_common(self) -> None:
        assert self.near(["A", "b", "X"], ["B", "a", "y"]) == ["'A' and 'a', 'b' and 'B'"]

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [(["Fix", "FIX"], ["fix"], "'FIX', 'Fix' and 'fix'"), (["a"], ["A", "a "], "'a' and 'A', 'a '")],
    )
    def test_swapping_the_runs_mirrors_them(self, old: list[str], new: list[str], told: str) -> None:
        assert self.near(old, new) == [told]
        assert self.near(new, old) == [" and ".join(reversed(told.split(" and ")))]

    def test_only_tasks_of_one_side_each_count(self) -> None:
        assert self.near(["a", "A"], ["A"]) == []
        assert self.near(["a"], ["a", "A"]) == []
        assert self.near(["a"], []) == []

    def test_a_user_sees_them(self, tmp_path: Path) -> None:
        old = write_rows(tmp_path / "old.jsonl", ids("a", "Fix Add"))
        new = write_rows(tmp_path / "new.jsonl", ids("a", "fix add"))
        said = "missing on both sides, but alike save for case, spaces or Unicode form: 'Fix Add' and 'fix add'"
        assert summary(old, new)["notes"] == [said]


class TestRepeatedAttempts:
    def said(self, folder: Path, rows: Sequence[Row], **beside: Sequence[Row]) -> list[str]:
        old = write_run(folder / "old.jsonl", rows, **beside)
        new = write_rows(folder / "new.jsonl", ids("a", "b", "c"))
        notes: list[str] = summary(old, new)["notes"]
        return [note for note in notes if "more than once" in note]

    def words(self, note: str) -> tuple[str, str, str]:
        """How many attempts stand twice, in which run, and the tasks."""
        what, _, tasks = note.partition(": ")
        assert "more than once in one file" in what
        assert what.endswith("every row counts")
        [count] = re.findall(r"\b\d+ attempts?\b", what)
        [side] = re.findall(r"\bthe (old|new) run\b", what)
        return count, side, tasks

    def test_an_attempt_that_stands_twice_is_noted_with_its_task(self, tmp_path: Path) -> None:
        rows = [attempt(None, i, 0, task_id=task) for i, task in ((0, "a"), (1, "b"), (0, "a"))]
        [note] = self.said(tmp_path, rows)
        assert self.words(note) == ("1 attempt", "old", "a")

    def test_several_are_counted(self, tmp_path: Path) -> None:
        halves = [
            (1, 0, "b"),
            (0, 0, "a"),
            (0, 1, "a"),
            (1, 0, "b"),
            (0, 0, "a"),
            (0, 0, "a"),
            (0, 1, "a"),
            (2, 0, "c"),
        ]
        [note] = self.said(tmp_path, [attempt(None, i, k, task_id=task) for i, k, task in halves])
        assert self.words(note) == ("3 attempts", "old", "b, a")

    def test_repeats_are_attempts_of_their_own(self, tmp_path: Path) -> None:
        assert self.said(tmp_path, [attempt(None, 0, i, task_id="a") for i in range(3)]) == []

    @pytest.mark.parametrize("pair", [(None, None), (0, None), (None, 0)])
    def test_rows_that_do_not_tell_their_attempt_are_none(self, tmp_path: Path, pair: tuple[Any, Any]) -> None:
        assert self.said(tmp_path, [attempt(None, *pair, task_id="a") for _ in range(2)]) == []

    def test_halves_may_be_of_any_type(self, tmp_path: Path) -> None:
        assert self.said(tmp_path, [attempt(None, "x", 0, task_id="a") for _ in range(2)])
        assert not self.said(tmp_path, [attempt(None, i, 0, task_id="a") for i in ("0", 0)])

    def test_a_failed_attempt_is_no_second_row(self, tmp_path: Path) -> None:
        pair = attempt(None, 0, 0, task_id="a")
        assert self.said(tmp_path, [pair], failures=[pair, pair]) == []

    def test_shards_have_attempts_each(self, tmp_path: Path) -> None:
        for shard in range(2):
            write_rows(
                tmp_path / f"old-{shard}.jsonl", [attempt(None, 0, 0, task_id="a"), attempt(None, 1, 0, task_id="b")]
            )
        new = write_rows(tmp_path / "new.jsonl", [attempt(None, 0, 0, task_id="b")] * 2)
        said = summary(tmp_path / "old-?.jsonl", new)["notes"]
        [note] = [note for note in said if "more than once" in note]
        assert self.words(note) == ("1 attempt", "new", "b")

    def test_one_that_joins_nothing_is_counted_all_the_same(self, tmp_path: Path) -> None:
        rows = [attempt(None, 0, 0, task_id="a")] * 2
        write_rows(tmp_path / "old-0.jsonl", rows)
        write_rows(tmp_path / "old-1.jsonl", rows)
        said = summary(tmp_path / "old-?.jsonl", tmp_path / "old-0.jsonl")["notes"]
        assert [self.words(note) for note in said if "more than once" in note] == [
            ("2 attempts", "old", "a"),
            ("1 attempt", "new", "a"),
        ]


class TestOneValue:
    def test_a_key_with_one_value_for_a_whole_side_is_noted(self) -> None:
        assert notes(ids("a", "a"), ids("a", "b")) == ["every row of the old run has one task by task_id: a"]
        assert notes(ids("a", "b"), ids("a", "a")) == ["every row of the new run has one task by task_id: a"]

    def test_a_run_of_one_row_has_one_task(self) -> None:
        assert notes(ids("a"), ids("a", "b")) == []

    def test_it_is_noted_of_a_given_key_too(self) -> None:
        assert notes(ids("a", "a"), ids("a", "b"), "task_id") == ["every row of the old run has one task by task_id: a"]

    def test_it_is_noted_where_both_sides_have_the_same(self) -> None:
        run = ids("sums", "sums", name="task_name")
        assert notes(run, run) == [f"every row of the {side} run has one task by task_name: sums" for side in Side]

    def test_failures_that_join_nothing_are_no_rows_of_it(self) -> None:
        assert notes([*ids("a"), failed_attempt({})], ids("a", "b")) == []


class TestSeveralFiles:
    """Of a run in several files: attempts that stand in more than one of them."""

    def notes(self, folder: Path, *files: Sequence[tuple[str, int | None]]) -> list[str]:
        names = sorted({name for file in files for name, _ in file})
        old = write_rows(folder / "old.jsonl", ids(*names))
        for number, file in enumerate(files):
            rows = [
                {"task_id": name, "reward": 1, "_ng_task_index": names.index(name), "_ng_rollout_index": attempt_number}
                for name, attempt_number in file
            ]
            write_rows(folder / f"new{number}.jsonl", [{k: v for k, v in row.items() if v is not None} for row in rows])
        return [note for note in summary(old, folder / "new*.jsonl")["notes"] if "in several files" in note]

    def test_a_file_that_was_filled_up_with_another_ones_rows_is_told(self, tmp_path: Path) -> None:
        first, second = [("a", 0), ("c", 0)], [("b", 0), ("c", 0)]
        assert self.notes(tmp_path, first, second) == [
            "1 attempt of the new run stands in several files; every row counts: c"
        ]

    def test_other_attempts_at_a_task_are_not(self, tmp_path: Path) -> None:
        assert self.notes(tmp_path, [("a", 0), ("c", 0)], [("b", 0), ("c", 1)]) == []

    def test_files_of_one_attempt_each_are_not(self, tmp_path: Path) -> None:
        tasks = [("a", 0), ("b", 0), ("c", 0)]
        assert self.notes(tmp_path, tasks, tasks) == []

    def test_what_is_not_numbered_is_not(self, tmp_path: Path) -> None:
        assert self.notes(tmp_path, [("a", None), ("c", None)], [("b", None), ("c", None)]) == []

    def test_an_index_counts_within_its_own_inputs_file(self, tmp_path: Path) -> None:
        for side in ("old", "new"):
            for taskset, tasks in (("math", 2), ("code", 9)):
                numbers = {"reward": 1, "_ng_rollout_index": 0}
                rows = [{"task_id": f"{taskset}{i}", "_ng_task_index": i, **numbers} for i in range(tasks)]
                write_rows(tmp_path / f"{side}-{taskset}.jsonl", rows)
        found = summary(tmp_path / "old-*.jsonl", tmp_path / "new-*.jsonl")["notes"]
        assert [note for note in found if "several files" in note] == []
