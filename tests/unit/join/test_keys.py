"""Which field is the key: the ladder, what is rejected, what joins, and what the report says of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import Category, CompareInputError, compare_rollouts, detect_task_key
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.report.notes import note_message, note_text
from tests.support import assert_refused, attempt, compare, join_rows, rows_by_task, summary, write_rows, write_run

Row = dict[str, Any]

FIRST = (
    "_ng_task_id",
    "task_name",
    "task_id",
    "verifier_metadata.task_id",
    "verifier_metadata.task_name",
    "verifier_metadata.instance_id",
    "verifier_metadata.id",
)
FURTHER = (
    "instance_id",
    "problem_id",
    "question_id",
    "uuid",
    "id",
    "task_idx",
    "scenario_id",
    "responses_create_params.metadata.instance_id",
    "responses_create_params.metadata.task_name",
)
INPUT = "responses_create_params.input"
INDEX = "_ng_task_index"
NOTHING_USUAL = "no field that usually names the task is on every row"
BY_INPUT = "joined by the task input, what the system was asked"
BY_INDEX = "joined by _ng_task_index, the position in the input file, under which both runs were asked the same"
A, B, C, D = (f"What is {letter}?" for letter in "ABCD")


def rows(path: str, *values: Any) -> list[Row]:
    return [attempt(at={path: value}) for value in values]


def keys(old: Sequence[Row], new: Sequence[Row], **given: Any) -> tuple[str, ...]:
    return tuple(join_rows(old, new, **given).keys.values())


def notes(old: Sequence[Row], new: Sequence[Row], **given: Any) -> list[str]:
    """The notes on the keys."""
    return [note_text(note) for note in join_rows(old, new, **given).notes if " joined by " in note_message(note)]


def pairs(old: Sequence[Row], new: Sequence[Row], **given: Any) -> list[tuple[list[int], list[int]]]:
    return sorted(rows_by_task(join_rows(old, new, **given)).values())


def refusal(old: Sequence[Row], new: Sequence[Row], **given: Any) -> str:
    with pytest.raises(CompareInputError) as caught:
        join_rows(old, new, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestLadder:
    @pytest.mark.parametrize("path", FURTHER)
    def test_each_further_candidate_joins_and_a_note_says_why(self, path: str) -> None:
        old, new = rows(path, "a", "b", 7), rows("task_id", "7", "b", "c")
        assert keys(old, new) == (path, "task_id")
        assert pairs(old, new) == [([], [2]), ([0], []), ([1], [1]), ([2], [0])]
        assert notes(old, new) == [f"the old run is joined by {path} ({NOTHING_USUAL})"]
        assert notes(new, old) == [f"the new run is joined by {path} ({NOTHING_USUAL})"]
        assert notes(old, old) == [f"both runs are joined by {path} ({NOTHING_USUAL})"]
        assert detect_task_key(old) == path

    @pytest.mark.parametrize("first", range(len(FIRST + FURTHER)))
    def test_the_earliest_is_the_key(self, first: int) -> None:
        paths = (FIRST + FURTHER)[first:]
        run = [attempt(f"Q{i}", i, 0, {path: f"{path}{i}" for path in reversed(paths)}) for i in range(2)]
        assert detect_task_key(run) == paths[0]
        assert keys(run, run) == (paths[0], paths[0])

    @pytest.mark.parametrize("path", FIRST)
    def test_a_first_candidate_needs_no_note(self, path: str) -> None:
        assert notes(rows(path, "a", "b"), rows(path, "b", "a")) == []

    def test_a_key_stands_on_every_row(self) -> None:
        run = [attempt(A, uuid="u", id=1), attempt(B, instance_id="i", id=2), attempt(C, id=3)]
        assert keys(run, run) == ("id", "id")

    def test_the_task_input_comes_after_every_field_and_the_index_last(self) -> None:
        run = [attempt(A, 0), attempt(B, 1)]
        assert keys(run, run) == (INPUT, INPUT)
        assert detect_task_key(run) == INPUT
        assert keys([attempt(A, 0), attempt(None, 1)], [attempt(A, 0), attempt(None, 1)]) == (INDEX, INDEX)

    def test_an_index_is_no_key_of_a_run_alone(self) -> None:
        assert detect_task_key([attempt(None, 0), attempt(None, 1)]) is None

    def test_ids_of_mixed_types_are_compared_as_text(self) -> None:
        old, new = rows("id", 1, "2", 3.5, True, "x"), rows("id", "x", "true", "3.5", 2, "1")
        assert pairs(old, new) == [([0], [4]), ([1], [3]), ([2], [2]), ([3], [1]), ([4], [0])]

    def test_names_join_structured_ids(self) -> None:
        named = rows("task_name", "a", "b")
        structured = rows("_ng_task_id", {"taskset": "S", "task_id": "b"}, {"taskset": "S", "id": "a"})
        assert keys(named, structured) == ("task_name", "_ng_task_id")
        assert pairs(named, structured) == [([0], [1]), ([1], [0])]
        assert notes(named, structured) == []


class TestMerging:
    def test_a_field_that_merges_is_rejected_and_the_note_shows_how(self) -> None:
        run = [attempt(f"{i}?", i, 0, task_name="syllogism") for i in range(5)]
        assert keys(run, run) == (INPUT, INPUT)
        assert len(join_rows(run, run).tasks) == 5
        assert notes(run, run) == [
            f"both runs are {BY_INPUT} (task_name: rejected, 5 rows share 'syllogism' with 5 different inputs)"
        ]
        assert detect_task_key(run) == INPUT

    def test_rows_and_inputs_are_those_of_the_worst_value(self) -> None:
        names: dict[str, list[str | None]] = {"x": [A, A, B], "y": [A, B, C, None, C], "z": [A]}
        run = [attempt(asked, task_name=name, id=i) for i, (name, asked) in enumerate(
            (name, asked) for name, some in names.items() for asked in some
        )]  # fmt: skip
        assert notes(run, run) == [
            "both runs are joined by id (task_name: rejected, 5 rows share 'y' with 3 different inputs)"
        ]

    def test_every_rejected_field_is_named(self) -> None:
        run = [attempt(text, task_name="x", task_id={"taskset": "S", "task_id": 1}, uuid=text) for text in (A, B)]
        assert notes(run, run) == [
            (
                "both runs are joined by uuid (task_name: rejected, 2 rows share 'x' with 2 different inputs; "
                "task_id: rejected, 2 rows share 'S/1' with 2 different inputs)"
            )
        ]

    def test_a_first_candidate_after_a_rejected_one_has_a_note_too(self) -> None:
        run = [attempt(text, task_name="x", task_id=text) for text in (A, B)]
        assert notes(run, run) == [
            "both runs are joined by task_id (task_name: rejected, 2 rows share 'x' with 2 different inputs)"
        ]

    def test_a_field_that_merges_on_one_side_is_rejected_there(self) -> None:
        old = [attempt(A, task_name="a", task_id="b"), attempt(B, task_name="a", task_id="c")]
        new = [attempt(A, task_name="b", task_id="a")]
        assert keys(old, new) == ("task_id", "task_name")
        assert keys(new, old) == ("task_name", "task_id")
        assert pairs(old, new) == [([0], [0]), ([1], [])]

    @pytest.mark.parametrize("inputs", [(A, A), (A, None), (None, None), (A, ""), ([], B)])
    def test_unknown_or_equal_inputs_reject_nothing(self, inputs: tuple[Any, Any]) -> None:
        run = [attempt(asked, task_name="x", id=i) for i, asked in enumerate(inputs)]
        assert keys(run, run) == ("task_name", "task_name")

    def test_an_empty_label_merges_too(self) -> None:
        run = [attempt(A, task_name=""), attempt(B, task_name="")]
        assert "2 rows share '' with 2 different inputs" in notes(run, run)[0]

    def test_the_other_parameters_of_a_request_are_no_input(self) -> None:
        run = [attempt(A, task_name="x", at={"responses_create_params.temperature": i}) for i in range(2)]
        assert keys(run, run) == ("task_name", "task_name")

    def test_ng_task_id_is_never_questioned(self) -> None:
        run = [attempt(A, 0, 0, _ng_task_id="a", task_id="x"), attempt(B, 0, 1, _ng_task_id="a", task_id="y")]
        assert keys(run, run) == ("_ng_task_id", "_ng_task_id")
        assert notes(run, run) == []

    def test_a_given_key_is_never_questioned(self) -> None:
        run = [attempt(A, task_name="a", task_id="x"), attempt(B, task_name="a", task_id="y")]
        assert keys(run, run, old_key="task_name") == ("task_name", "task_name")
        assert notes(run, run, old_key="task_name") == []

    def test_one_task_that_is_asked_in_other_words_each_time_does_not_merge(self) -> None:
        run = [attempt(f"Your hand: {i}", task, i, task_name=f"poker-{task}") for task in range(2) for i in range(2)]
        assert keys(run, run) == ("task_name", "task_name")
        assert len(join_rows(run, run).tasks) == 2
        assert notes(run, run) == []

    @pytest.mark.parametrize("index", [None, 1])
    def test_rows_that_may_be_of_another_task_do(self, index: int | None) -> None:
        run = [attempt(A, 0, 0, task_name="x", id="a"), attempt(B, index, 1, task_name="x", id="b")]
        assert keys(run, run) == ("id", "id")
        assert "(task_name: rejected, 2 rows share 'x' with 2 different inputs)" in notes(run, run)[0]

    def test_so_do_rows_of_one_index_in_different_shards(self, tmp_path: Path) -> None:
        for shard, asked in enumerate((A, B)):
            write_rows(tmp_path / f"old-{shard}.jsonl", [attempt(asked, 0, 0, task_name="x", id=shard)])
            write_rows(tmp_path / f"new-{shard}.jsonl", [attempt(asked, task_name="x", id=shard)])
        for pattern in (tmp_path / "old-?.jsonl", tmp_path / "new-?.jsonl"):
            assert summary(pattern, pattern)["join"]["old_key"] == "id"

    def test_where_all_merge_the_earliest_is_taken_and_a_note_says_so(self) -> None:
        run = [attempt(A, task_id="a", id=1), attempt(B, task_id="a", id=1), attempt(None, task_id="b", id=2)]
        assert keys(run, run) == ("task_id", "task_id")
        assert notes(run, run) == [
            (
                "both runs are joined by task_id, which may be wrong: 2 rows share 'a' with 2 different inputs, "
                "and no other field tells its tasks apart"
            )
        ]
        assert detect_task_key(run) == "task_id"


class TestWhatJoins:
    def test_the_earliest_that_joins_a_task_is_taken(self) -> None:
        old = [attempt(task_name="x", task_id="y", id=i) for i in range(2)]
        new = [attempt(task_name="z", task_id="w", id=i) for i in range(2)]
        assert keys(old, new) == ("id", "id")
        assert pairs(old, new) == [([0], [0]), ([1], [1])]

    def test_one_task_in_common_is_enough(self) -> None:
        old = [attempt(task_name=f"o{i}", id=i) for i in range(9)]
        new = [attempt(task_name="o0" if i == 8 else f"n{i}", id=i) for i in range(9)]
        assert keys(old, new) == ("task_name", "task_name")

    def test_a_prefix_is_taken_off_before(self) -> None:
        old = [attempt(task_name="p/a", id=1), attempt(task_name="p/b", id=2)]
        new = [attempt(task_name="a", id=1), attempt(task_name="c", id=2)]
        assert keys(old, new) == ("task_name", "task_name")
        assert pairs(old, new) == [([], [1]), ([0], [0]), ([1], [])]

    def test_sides_may_use_different_fields(self) -> None:
        old = [attempt(uuid=f"u{i}", task_idx=i) for i in range(2)]
        new = [attempt(uuid=f"v{i}", scenario_id=i) for i in range(2)]
        assert keys(old, new) == ("task_idx", "scenario_id")

    def test_of_equally_early_pairs_that_with_more_tasks_is_taken(self) -> None:
        old = [attempt(task_name="a", task_id="x"), attempt(task_name="b", task_id="y")]
        new = [attempt(task_name="y", task_id="a"), attempt(task_name="x", task_id="c")]
        assert keys(old, new) == ("task_id", "task_name")
        assert keys(new, old) == ("task_name", "task_id")

    def test_one_field_for_both_is_taken_before_two(self) -> None:
        old, new = [attempt(task_name="n", task_id="x")], [attempt(task_name="x", task_id="x", id="n")]
        assert keys(old, new) == ("task_id", "task_id")
        assert keys(new, old) == ("task_id", "task_id")
        assert notes(old, new) == ["both runs are joined by task_id (task_name: passed over)"]

    def test_two_early_fields_are_taken_before_a_later_one(self) -> None:
        old, new = [attempt(task_name="x", uuid="u")], [attempt(instance_id="x", uuid="u")]
        assert keys(old, new) == ("task_name", "instance_id")
        assert keys(new, old) == ("instance_id", "task_name")

    def test_the_first_field_of_either_comes_first_however_far_down_one_is(self) -> None:
        old, new = [attempt(task_id="x", uuid="u")], [attempt(id="x", scenario_id="u", task_idx="y")]
        assert keys(old, new) == ("task_id", "id")

    def test_every_field_that_joins_nothing_is_named(self) -> None:
        old = [attempt(A, task_name="x", id=1), attempt(B, task_name="y", id=2)]
        new = [attempt(A, task_name="z", id=3), attempt(B, task_name="w", id=4)]
        assert notes(old, new) == [
            f"both runs are {BY_INPUT} (task_name: by it the runs share no task; id: by it the runs share no task)"
        ]

    def test_what_is_said_of_a_field_that_was_passed_over_is_true(self) -> None:
        old, new = [attempt(uuid="u", id="i")], [attempt(uuid="u", instance_id="i")]
        assert keys([attempt(id="i")], new) == ("id", "instance_id")
        assert "instance_id: by it the runs share no task" not in "".join(notes(old, new))

    def test_one_planned_field_for_both_is_taken_before_two(self, tmp_path: Path) -> None:
        """Planned fields stand where the ladder has them, however many of them a run has."""
        run = [attempt(None, i, 0) for i in range(2)]
        old_planned = [row | {"instance_id": f"o{i}", "id": f"t{i}"} for i, row in enumerate(run)]
        new_planned = [
            row | {"task_name": f"n{i}", "instance_id": f"t{1 - i}", "id": f"t{i}"} for i, row in enumerate(run)
        ]
        old = write_run(tmp_path / "old.jsonl", run, (), old_planned)
        new = write_run(tmp_path / "new.jsonl", run, (), new_planned)
        for pair in ((old, new), (new, old)):
            join = summary(*pair)["join"]
            assert join["old_key"] == join["new_key"] == "materialized_inputs:id"

    def test_where_nothing_joins_it_is_the_earliest_that_does_not_merge(self) -> None:
        old = [attempt(A, task_name="x", id=1), attempt(B, task_name="x", id=2)]
        new = [attempt(C, task_name="y", id=3)]
        assert keys(old, new) == ("id", "task_name")
        assert pairs(old, new) == [([], [0]), ([0], []), ([1], [])]

    def test_an_index_joins_no_id(self) -> None:
        assert refusal(rows("id", "0"), [attempt(None, 0)])

    def test_an_input_joins_no_id(self) -> None:
        [label] = join_rows([attempt(A)], [attempt(A)]).tasks
        assert keys(rows("id", "1"), [attempt(A, id="2")]) == ("id", "id")
        assert keys([attempt(A, id=label)], [attempt(A)]) == (INPUT, INPUT)


class TestEmptySides:
    @pytest.mark.parametrize("empty", [[], [failed_attempt({})], [failed_attempt(attempt(None, 0, 0))]])
    def test_a_side_without_a_say_takes_the_others_key(self, empty: list[Row]) -> None:
        for run, key in ((rows("id", "a", "b"), "id"), ([attempt(A), attempt(B)], INPUT)):
            assert keys(run, empty) == (key, key)
            assert keys(empty, run) == (key, key)
            assert len(join_rows(empty, run).tasks) == 2
            assert len(notes(run, empty)) == 1

    @pytest.mark.parametrize(("more", "key"), [({}, INPUT), ({"id": 0}, "id")])
    def test_it_takes_no_field_that_the_other_rejects(self, more: Row, key: str) -> None:
        run = [attempt(A, task_name="x"), attempt(B, task_name="x", **more)]
        run[0].update(dict.fromkeys(more, 1))
        assert keys(run, []) == (key, key)
        assert keys([], run) == (key, key)

    def test_an_index_cannot_be_checked_against_nothing(self) -> None:
        assert "--key _ng_task_index" in refusal([attempt(None, 0)], [])

    def test_two_sides_without_a_say_are_refused(self) -> None:
        assert (
            refusal([], [failed_attempt({})]) == "neither run has a row that names a task: there is nothing to compare"
        )


class TestInput:
    def test_tasks_are_called_by_what_was_asked(self) -> None:
        run = [
            attempt([{"role": "user", "content": " Add\n 1 and 1. "}, {"role": "assistant", "content": "2"}]),
            attempt("y" * 70),
        ]
        labels = join_rows(run, run).tasks
        assert [label.rpartition(" #")[0] for label in labels] == ["Add 1 and 1.", "y" * 60]
        assert all(len(label.rpartition(" #")[2]) == 8 for label in labels)

    def test_several_rows_of_a_question_are_one_task(self) -> None:
        assert pairs([attempt(A), attempt(B), attempt(A)], [attempt(B), attempt(A)]) == [([0, 2], [1]), ([1], [0])]

    def test_it_must_be_known_of_every_row(self) -> None:
        run = [attempt(A), attempt(None)]
        assert "row 1 has no '_ng_task_id' field" in refusal(run, run)

    def test_a_failure_without_a_say_needs_none(self) -> None:
        old = [attempt(A, 0, 0), attempt(B, 1, 0), failed_attempt(attempt(None, 1, 1)), failed_attempt({})]
        assert pairs(old, [attempt(A), attempt(B)]) == [([0], [0]), ([1, 2], [1])]

    def test_one_question_at_two_indexes_refuses_it(self) -> None:
        old, new = [attempt(A, 0), attempt(A, 1), attempt(B, 2)], [attempt(A, 0), attempt(A, 1), attempt(B, 2)]
        assert keys(old, new) == (INDEX, INDEX)
        assert len(join_rows(old, new).tasks) == 3
        assert notes(old, new) == [
            f"both runs are {BY_INDEX} ({INPUT}: rejected, rows with different _ng_task_index share an input)"
        ]

    def test_one_side_where_it_is_refused_is_enough(self) -> None:
        old, new = [attempt(A, 0), attempt(A, 1)], [attempt(A, 0)]
        assert keys(old, new) == keys(new, old) == (INDEX, INDEX)

    def test_so_does_one_question_under_two_ids_that_are_never_questioned(self) -> None:
        old = [attempt("Go.", _ng_task_id=f"a{i}") for i in range(2)]
        assert keys(old, [attempt("Go.")]) == ("_ng_task_id", INPUT)
        assert keys([attempt("Go.")], old) == (INPUT, "_ng_task_id")
        assert len(join_rows(old, [attempt("Go.")]).tasks) == 3

    @pytest.mark.parametrize("name", ["a", None])
    def test_one_such_id_or_none_does_not(self, name: str | None) -> None:
        old = [attempt(A, _ng_task_id="a"), attempt(A, _ng_task_id=name), attempt(B, _ng_task_id="b")]
        assert keys(old, [attempt(A)]) == (INPUT, INPUT)

    def test_rows_without_an_index_refuse_nothing(self) -> None:
        run = [attempt(A, 0), attempt(A), attempt(B)]
        assert keys(run, run) == (INPUT, INPUT)
        assert len(join_rows(run, run).tasks) == 2

    def test_inputs_in_another_order_join_whatever_their_indexes(self) -> None:
        assert pairs([attempt(A, 0), attempt(B, 1)], [attempt(B, 0), attempt(A, 1)]) == [([0], [1]), ([1], [0])]


class TestIndex:
    def test_one_task_whose_prompt_differs_from_repeat_to_repeat(self) -> None:
        run = [attempt(f"Your hand: {i}", 0, i) for i in range(4)]
        other = [attempt(f"Your hand: {i}", 0, i) for i in (2, 0, 3, 1)]
        assert rows_by_task(join_rows(run, other)) == {"0": ([0, 1, 2, 3], [0, 1, 2, 3])}
        assert notes(run, other) == [
            f"both runs are {BY_INDEX} ({INPUT}: rejected, rows with one _ng_task_index have different inputs)"
        ]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({0: A, 1: None}, {0: A, 1: None}),
            ({0: A, 1: None}, {0: A, 1: B}),
            ({0: A, 1: None, 2: B}, {0: A, 1: None, 3: C}),
            ({0: None, "x": A}, {0: B, "x": A}),
        ],
    )
    def test_it_joins_where_some_input_is_on_both_sides_and_all_agree(
        self, old: dict[Any, Any], new: dict[Any, Any]
    ) -> None:
        for one, other in ((old, new), (new, old)):
            made = join_rows(
                [attempt(asked, index) for index, asked in one.items()],
                [attempt(asked, index) for index, asked in other.items()],
            )
            assert set(made.keys.values()) == {INDEX}
            assert made.tasks == sorted({str(index) for index in (*old, *new)})
            assert BY_INDEX in note_text(made.notes[0])

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ([(0, A), (1, None)], [(0, B), (1, None)]),
            ([(0, A), (1, B), (2, None)], [(0, A), (1, C), (2, None)]),
            ([(0, A), (1, None)], [(0, None), (1, B)]),
            ([(0, None), (1, None)], [(0, None), (1, None)]),
            ([(0, A), (1, None)], [(2, A), (1, None)]),
            ([(0, A), (0, B), (1, None)], [(0, A), (1, None)]),
        ],
    )
    def test_else_it_is_refused_and_the_error_says_when_it_would_be_right(self, old: Any, new: Any) -> None:
        for one, other in ((old, new), (new, old)):
            message = refusal(*([attempt(asked, index) for index, asked in run] for run in (one, other)))
            assert message.endswith(
                "; name the field with --key; --key _ng_task_index is right if both runs read the same inputs file"
            )

    def test_a_failure_without_one_joins_nothing(self) -> None:
        run = [attempt("Go.", 0), attempt("Go.", 1), failed_attempt({})]
        made = join_rows(run, run)
        assert made.keys == {"old": INDEX, "new": INDEX}
        assert rows_by_task(made) == {"0": ([0], [0]), "1": ([1], [1])}

    def test_shards_with_indexes_of_their_own_are_joined_by_it(self, tmp_path: Path) -> None:
        for shard in range(2):
            write_rows(tmp_path / f"old-{shard}.jsonl", [attempt("Go.", shard, 0)])
        old = tmp_path / "old-?.jsonl"
        said = summary(old, old)
        assert (said["join"]["old_key"], said["counts"]["identical"]) == (INDEX, 2)

    def test_shards_whose_indexes_start_anew_are_not_told_of_it(self, tmp_path: Path) -> None:
        for shard in range(2):
            write_run(tmp_path / f"old-{shard}.jsonl", [attempt("Go.", 0, 0)], [attempt(None, 1, 0), {}])
        done = compare(tmp_path / "old-?.jsonl", tmp_path / "old-?.jsonl")
        assert_refused(done, "; name the field with --key\n")

    def test_nor_where_nothing_joins(self, tmp_path: Path) -> None:
        for shard, asked in enumerate((A, B)):
            write_rows(tmp_path / f"old-{shard}.jsonl", [attempt(asked, 0, 0)])
        new = write_rows(tmp_path / "new.jsonl", [attempt(C, 0, 0), attempt(D, 1, 0)])
        assert "--key _ng_task_index" not in "".join(summary(tmp_path / "old-?.jsonl", new)["notes"])

    def test_rows_without_it_are_not_told_of_it(self) -> None:
        assert refusal([attempt()], [attempt()]).endswith("; name the field with --key")
        whole, without = [attempt(A, 0), attempt(None, 1)], [attempt(A, 0), attempt(B), attempt(None, 1)]
        for one, other in ((whole, without), (without, whole)):
            assert refusal(one, other).endswith("; name the field with --key")

    def test_the_command_can_be_told_to_use_it(self, tmp_path: Path) -> None:
        old = write_rows(tmp_path / "old.jsonl", [attempt(f"Solve {i}.", i) for i in range(5)])
        new = write_rows(tmp_path / "new.jsonl", [attempt(f"Use a tool to solve {i}.", i) for i in (3, 1, 0, 4, 2)])
        said = summary(old, new)
        assert said["counts"]["missing"] == 10
        assert said["join_check"] == {"joined": 0, "inputs_compared": 0, "inputs_differ": 0, "tasks_differ": []}
        assert (
            "the runs have no task in common; if both read the same inputs file, "
            "--key _ng_task_index joins them by the position there"
        ) in said["notes"]
        said = summary(old, new, "--key", "_ng_task_index")
        assert said["counts"]["identical"] == said["counts"]["tasks"] == 5
        assert said["join_check"] == {
            "joined": 5,
            "inputs_compared": 5,
            "inputs_differ": 5,
            "tasks_differ": ["0", "1", "2", "3", "4"],
        }
        assert said["notes"] == ["same id, different task input: 0, 1, 2, 3, 4"]


class TestGivenKeys:
    OLD = tuple(attempt(A, i, 0, task_id=f"t{i}", mine=f"m{i}") for i in range(2))
    NEW = tuple(attempt(A, i, 0, task_id=f"t{i}", yours=f"m{i}") for i in range(2))

    @pytest.fixture
    def runs(self, tmp_path: Path) -> tuple[Path, Path]:
        return write_rows(tmp_path / "old.jsonl", self.OLD), write_rows(tmp_path / "new.jsonl", self.NEW)

    def test_each_side_may_have_its_own(self, runs: tuple[Path, Path]) -> None:
        said = summary(*runs, "--old-key", "mine", "--new-key", "yours")
        assert (said["join"]["old_key"], said["join"]["new_key"]) == ("mine", "yours")
        assert [task["task"] for task in said["tasks"]] == ["m0", "m1"]
        assert said["counts"]["identical"] == 2

    def test_the_other_side_is_detected_to_fit(self, tmp_path: Path) -> None:
        old = write_rows(tmp_path / "old.jsonl", [attempt(task_name="x", mine=i) for i in range(2)])
        new = write_rows(tmp_path / "new.jsonl", [attempt(task_name=f"n{i}", id=i) for i in range(2)])
        said = summary(old, new, "--old-key", "mine")
        assert (said["join"]["old_key"], said["join"]["new_key"]) == ("mine", "id")
        assert said["counts"]["identical"] == 2
        said = summary(new, old, "--new-key", "mine")
        assert (said["join"]["old_key"], said["join"]["new_key"]) == ("id", "mine")

    def test_one_sides_own_comes_before_key(self, runs: tuple[Path, Path]) -> None:
        said = summary(*runs, "--old-key", "mine", "--key", "task_id")
        assert (said["join"]["old_key"], said["join"]["new_key"]) == ("mine", "task_id")

    def test_a_key_that_joins_nothing_stays(self, runs: tuple[Path, Path]) -> None:
        said = summary(*runs, "--new-key", "reward")
        assert said["join"]["new_key"] == "reward"
        assert said["counts"]["missing"] == 3

    def test_a_row_without_it_is_an_error(self, runs: tuple[Path, Path]) -> None:
        old, new = runs
        assert_refused(compare(old, new, "--old-key", "yours"), f"{old}:1: row has no 'yours' field (keys: reward, ")
        assert_refused(compare(old, new, "--new-key", "mine"), f"{new}:1: row has no 'mine' field (keys: reward, ")
        assert_refused(compare(old, new, "--key", "mine"), f"{new}:1: row has no 'mine' field")

    def test_a_row_of_many_fields_shows_twenty(self) -> None:
        row = {f"f{i}": i for i in range(23)}
        shown = ", ".join(f"f{i}" for i in range(20))
        assert refusal([row], [row], old_key="id") == f"row 1: row has no 'id' field (keys: {shown} and 3 more)"
        row = {f"f{i}": i for i in range(20)}
        assert refusal([row], [row], old_key="id") == f"row 1: row has no 'id' field (keys: {shown})"

    def test_it_does_not_make_up_for_what_an_index_lacks(self) -> None:
        assert refusal([attempt(mine="0")], [attempt(None, 0)], old_key="mine")


class TestErrors:
    def test_nothing_found(self) -> None:
        assert refusal([attempt(), attempt()], rows("id", "a")) == (
            "no task id field found: row 1 has no '_ng_task_id' field, and no other field names the task of every row "
            "(of 2 rows: "
            f"{', '.join(f'{path} 0' for path in FIRST)}); name the field with --key"
        )

    def test_fields_on_some_rows_only(self) -> None:
        run = [attempt(id=1, task_id="a"), attempt(id=2), attempt(task_id="c"), attempt(id=4, uuid="u")]
        stands = {"task_id": 2}
        counted = ", ".join(f"{path} {stands.get(path, 0)}" for path in FIRST)
        assert refusal(rows("id", 1), run) == (
            "no task id field found: row 3 has no 'id' field, and no other field names the task of every row "
            "(of 4 rows: "
            f"{counted}, uuid 1, id 3); name the field with --key"
        )

    def test_one_row_is_one_row_and_failures_without_a_say_are_none(self) -> None:
        assert "(of 1 row: " in refusal([failed_attempt({}), attempt()], rows("id", 1))


class TestCommand:
    """By files, in the words that a user reads."""

    def told(self, tmp_path: Path, old: Sequence[Row], new: Sequence[Row]) -> list[str]:
        done = compare(write_rows(tmp_path / "old.jsonl", old), write_rows(tmp_path / "new.jsonl", new))
        assert (done.status, done.stderr) == (0, "")
        provenance = ("old: ", "new: ", "join check: ")
        return [line for line in done.stdout.splitlines() if not line.startswith(provenance)]

    def test_a_category_in_task_name(self, tmp_path: Path) -> None:
        run = [attempt(f"Q{i}", i, 0, task_name="syllogism") for i in range(5)]
        lines = self.told(tmp_path, run, run[::-1])
        assert lines[:4] == [
            "gym dev compare: 5 tasks (old 5 rows, new 5 rows)",
            f"join key: old={INPUT}, new={INPUT}",
            f"note: both runs are {BY_INPUT} (task_name: rejected, 5 rows share 'syllogism' with 5 different inputs)",
            "",
        ]
        assert "identical                    5" in lines

    def test_an_id_at_top_level(self, tmp_path: Path) -> None:
        run = [attempt(f"Q{i}", i, 0, uuid=f"u{i}") for i in range(3)]
        lines = self.told(tmp_path, run, run[::-1])
        assert lines[1:4] == [
            "join key: old=uuid, new=uuid",
            f"note: both runs are joined by uuid ({NOTHING_USUAL})",
            "",
        ]
        assert "identical                    3" in lines

    def test_an_id_only_in_the_requests_metadata_and_an_empty_input(self, tmp_path: Path) -> None:
        path = "responses_create_params.metadata.instance_id"
        run = [attempt([], i, 0, {path: f"repo-{i}"}) for i in range(3)]
        lines = self.told(tmp_path, run, run[::-1])
        assert lines[1:3] == [
            f"join key: old={path}, new={path}",
            f"note: both runs are joined by {path} ({NOTHING_USUAL})",
        ]
        assert "identical                    3" in lines

    def test_the_reason_of_each_side_where_they_differ(self, tmp_path: Path) -> None:
        old = [attempt(f"Q{i}", id=f"x{i}", task_name="gen") for i in range(2)]
        lines = self.told(tmp_path, old, [attempt(problem_id=f"x{i}") for i in range(2)])
        assert lines[1:4] == [
            "join key: old=id, new=problem_id",
            "note: the old run is joined by id (task_name: rejected, 2 rows share 'gen' with 2 different inputs)",
            f"note: the new run is joined by problem_id ({NOTHING_USUAL})",
        ]

    def test_only_an_index(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "old.jsonl", [attempt(None, i, 0) for i in range(3)])
        assert_refused(
            compare(path, path),
            f"no task id field found: {path}:1 has no ",
            "--key _ng_task_index is right if both runs read the same inputs file",
        )
        assert summary(path, path, "--key", "_ng_task_index")["counts"]["identical"] == 3


@pytest.mark.slow
def test_twenty_thousand_tasks_joined_by_their_inputs() -> None:
    run = [attempt(f"{i} + {i}?", i, 0, task_name="sums") for i in range(20_000)]
    result = compare_rollouts(run, [*run[1::2], *run[0::2]])
    assert len(result.by_category(Category.IDENTICAL)) == len(result.tasks) == 20_000
    assert result.join_check.inputs_compared == 20_000
    assert result.join_check.inputs_differ == 0


class TestNeverWrongQuietly:
    """What would join runs wrongly, or not at all, without a word."""

    def test_a_refused_input_joins_nothing(self) -> None:
        old, new = [attempt(A, 0), attempt(A, 1), attempt(B, 2)], [attempt(A, 0), attempt(A, 1), attempt(C, 2)]
        assert "--key _ng_task_index" in refusal(old, new)

    def test_indexes_that_start_anew_in_each_shard_merge_nothing(self, tmp_path: Path) -> None:
        for shard, asked in enumerate((A, B)):
            write_rows(tmp_path / f"old-{shard}.jsonl", [attempt(asked, 0, 0)])
        old = tmp_path / "old-?.jsonl"
        assert summary(old, old)["counts"]["tasks"] == 2

    def test_an_id_beside_an_input_is_whole(self) -> None:
        assert "problem-0001" in join_rows(rows("task_id", "problem-0001"), [attempt(A)]).tasks

    def test_a_structured_id_beside_an_input_has_its_label(self) -> None:
        made = join_rows(rows("task_id", {"taskset": "S", "task_id": "x"}), [attempt(A)])
        assert "x" in made.tasks

    def test_a_failure_of_a_run_that_takes_the_others_given_key(self, tmp_path: Path) -> None:
        old = write_rows(tmp_path / "old.jsonl", [attempt(mine="a")])
        pair = attempt(None, 0, 0)
        new = write_run(tmp_path / "new.jsonl", [], [pair], [pair | {"mine": "a"}])
        assert compare(old, new, "--old-key", "mine").status == 0

    def test_a_failure_with_an_id_of_its_own_spoils_nothing(self, tmp_path: Path) -> None:
        run = [attempt(None, i, 0, task_id=f"t{i}") for i in range(2)]
        path = write_run(tmp_path / "old.jsonl", run, [attempt(None, 0, 1, id="failure-77")])
        assert summary(path, path)["join"]["old_key"] == "task_id"

    def test_leaving_a_key_that_joins_nothing_is_said(self) -> None:
        old = [attempt(_ng_task_id=f"a{i}", task_name="sums") for i in range(2)]
        new = [attempt(_ng_task_id=f"b{i}", task_name="sums") for i in range(2)]
        made = join_rows(old, new)
        assert made.keys == {"old": "_ng_task_id", "new": "_ng_task_id"} or "_ng_task_id" in str(made.notes)

    def test_one_prompt_for_all_tasks_does_not_merge_them(self) -> None:
        old = [attempt("Go.", _ng_task_id=f"a{i}") for i in range(2)]
        new = [attempt("Go.", _ng_task_id=f"b{i}") for i in range(2)]
        made = join_rows(old, new)
        assert len(made.tasks) == 4

    def test_the_reason_for_a_further_candidate_is_true(self) -> None:
        [note] = notes([attempt(task_name="x", id=5)], [attempt(task_name="y", id=5)])
        assert NOTHING_USUAL not in note
        assert "task_name" in note

    def test_the_choice_between_equals_does_not_depend_on_the_side(self) -> None:
        old, new = [attempt(task_name="p/x", task_id="x")], [attempt(task_name="q/x", task_id="x")]
        assert keys(old, new) == keys(new, old)[::-1]
