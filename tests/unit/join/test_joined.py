from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.joined import Join, detect_task_key, join
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.producers.gym.fields import KEY_CANDIDATES
from nemo_gym.rollout_compare.report.notes import note_message, note_names, note_text
from nemo_gym.rollout_compare.schema import CompareInputError, Side
from tests.support import read_files, write_rows

Row = dict[str, Any]
Found = dict[str, tuple[list[int], list[int]]]
"""For each label the rows of the old and of the new run, from 0."""


def joined(old: Sequence[Row], new: Sequence[Row], key: str | None = None) -> Join:
    return join({Side.OLD: table_of(old, key), Side.NEW: table_of(new, key)})


def found_in(made: Join) -> Found:
    assert made.tasks == sorted(made.tasks)
    return {
        label: (list(made.rows[Side.OLD].of(number)), list(made.rows[Side.NEW].of(number)))
        for number, label in enumerate(made.tasks)
    }


def found(old: Sequence[Row], new: Sequence[Row], key: str | None = None) -> Found:
    return found_in(joined(old, new, key))


def keys(old: Sequence[Row], new: Sequence[Row], key: str | None = None) -> tuple[str, str]:
    made = joined(old, new, key)
    return made.keys[Side.OLD], made.keys[Side.NEW]


def refusal(old: Sequence[Row], new: Sequence[Row], key: str | None = None) -> str:
    with pytest.raises(CompareInputError) as caught:
        joined(old, new, key)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def row(path: str, value: Any, **others: Any) -> Row:
    """A row with a value at a dotted path."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return {"reward": 1, **others, **value}


def ids(*values: Any) -> list[Row]:
    return [row("task_id", value) for value in values]


def failure(**fields: Any) -> Row:
    return failed_attempt(fields)


def deep_merge(*rows: Row) -> Row:
    merged: Row = {}
    for one in rows:
        for name, value in one.items():
            merged[name] = deep_merge(merged.get(name, {}), value) if isinstance(value, dict) else value
    return merged


class TestDetection:
    @pytest.mark.parametrize("path", KEY_CANDIDATES)
    def test_each_candidate_is_found_by_its_path(self, path: str) -> None:
        rows = [row(path, "a"), row(path, "b")]
        assert keys(rows, ids("a")) == (path, "task_id")
        assert found(rows, ids("b", "a")) == {"a": ([0], [1]), "b": ([1], [0])}
        assert detect_task_key(rows) == path

    @pytest.mark.parametrize("first", range(len(KEY_CANDIDATES)))
    def test_the_first_candidate_of_those_on_every_row_is_the_key(self, first: int) -> None:
        rows = [deep_merge(*(row(path, f"{path}{i}") for path in KEY_CANDIDATES[first:])) for i in range(2)]
        assert detect_task_key(rows) == KEY_CANDIDATES[first]

    def test_a_candidate_that_is_not_on_every_row_is_passed_over(self) -> None:
        rows: list[Row] = [
            {"_ng_task_id": 1, "task_name": "n", "task_id": "a", "reward": 1},
            {"task_name": None, "task_id": "b", "reward": 1},
        ]
        assert keys(rows, rows) == ("task_id", "task_id")

    def test_each_side_has_its_own_key(self) -> None:
        assert keys([row("task_name", "a")], [row("_ng_task_id", "a")]) == ("task_name", "_ng_task_id")
        assert found([row("task_name", "a")], [row("_ng_task_id", "a")]) == {"a": ([0], [0])}

    @pytest.mark.parametrize("value", [None, {}, "text", ["task_id"], 5])
    def test_null_counts_as_absent_and_so_does_a_path_that_ends_early(self, value: Any) -> None:
        rows = [
            {"task_name": None, "verifier_metadata": value, "reward": 1},
            {"task_name": "a", "verifier_metadata": {"task_id": "b"}, "reward": 1},
        ]
        assert detect_task_key(rows) is None

    @pytest.mark.parametrize("value", ["", 0, False, [], {}])
    def test_any_other_value_stands(self, value: Any) -> None:
        assert detect_task_key([{"task_name": value, "task_id": "a"}]) == "task_name"

    def test_several_rows_of_a_task_keep_their_order(self) -> None:
        assert found(ids("b", "a", "b", "b", "a"), ids("a", "b", "a")) == {
            "a": ([1, 4], [0, 2]),
            "b": ([0, 2, 3], [1]),
        }

    def test_a_task_of_one_side_only_has_no_rows_on_the_other(self) -> None:
        assert found(ids("a", "b"), ids("b", "c")) == {"a": ([0], []), "b": ([1], [0]), "c": ([], [1])}


class TestAnonymousFailures:
    def test_a_failure_that_names_no_task_has_no_vote(self) -> None:
        assert keys([*ids("a"), failure()], [failure(_ng_task_index=1), row("task_name", "a")]) == (
            "task_id",
            "task_name",
        )

    def test_a_failure_that_names_a_task_has_one(self) -> None:
        rows: list[Row] = [row("task_name", "n", task_id="a"), failure(task_id="b")]
        assert keys(rows, rows) == ("task_id", "task_id")
        assert found(rows, rows) == {"a": ([0], [0]), "b": ([1], [1])}

    def test_a_failure_that_names_its_task_in_no_field_of_the_rows_spoils_every_key(self) -> None:
        message = refusal([*ids("a", "b"), failure(task_name="a")], ids("a"))
        assert message.startswith("no task id field found: row 3 has no ")
        assert "3 rows" in message

    def test_a_side_of_nothing_but_such_failures_takes_the_others_key(self) -> None:
        failures = [failure(), failure(_ng_task_index=0)]
        named = [row("task_name", "a")]
        assert keys(failures, named) == ("task_name", "task_name")
        assert keys(named, failures) == ("task_name", "task_name")
        assert list(joined(named, failures).rows[Side.NEW].anonymous()) == [0, 1]

    def test_a_masked_row_that_is_no_failed_attempt_has_a_vote(self) -> None:
        assert refusal([*ids("a"), {"mask_sample": True}], ids("a")).startswith("no task id field found: row 2 has no ")

    def test_an_empty_side_takes_the_others_key(self) -> None:
        assert keys([], [row("verifier_metadata.id", "a")]) == ("verifier_metadata.id",) * 2
        assert keys([row("verifier_metadata.id", "a")], []) == ("verifier_metadata.id",) * 2
        assert found([], ids("a")) == {"a": ([], [0])}

    def test_two_sides_without_a_named_row_cannot_be_compared(self) -> None:
        assert refusal([], [])
        assert refusal([failure()], [])
        assert detect_task_key([]) is None
        assert detect_task_key([failure()]) is None

    def test_an_anonymous_failure_is_the_task_of_the_first_main_row_with_its_index(self) -> None:
        old = [
            row("task_id", "a", _ng_task_index=4),
            row("task_id", "b", _ng_task_index=5),
            row("task_id", "c", _ng_task_index=5),
            failure(_ng_task_index=5),
            failure(_ng_task_index="5"),
            failure(_ng_task_index=6),
            failure(),
        ]
        made = joined(old, ids("b"))
        assert found_in(made) == {"a": ([0], []), "b": ([1, 3], [0]), "c": ([2], [])}
        assert list(made.rows[Side.OLD].anonymous()) == [4, 5, 6]
        assert list(made.rows[Side.NEW].anonymous()) == []

    def test_the_other_sides_rows_do_not_name_it(self) -> None:
        made = joined([row("task_id", "a", _ng_task_index=1)], [*ids("a"), failure(_ng_task_index=1)])
        assert list(made.rows[Side.NEW].anonymous()) == [1]

    def test_another_failure_does_not_name_it(self) -> None:
        made = joined(ids("a"), [*ids("a"), failure(task_id="b", _ng_task_index=1), failure(_ng_task_index=1)])
        assert found_in(made) == {"a": ([0], [0]), "b": ([], [1])}
        assert list(made.rows[Side.NEW].anonymous()) == [2]

    @pytest.mark.parametrize("index", [0, "x", 2**64, 1.5])
    def test_the_index_may_be_any_value(self, index: Any) -> None:
        old = [*ids("z"), row("task_id", "a", _ng_task_index=index), failure(_ng_task_index=index)]
        assert found(old, ids("a")) == {"a": ([1, 2], [0]), "z": ([0], [])}

    def test_an_anonymous_failure_joins_no_task_of_any_name(self) -> None:
        made = joined([*ids("unknown#1"), failure()], ids("unknown#1", "unknown"))
        assert found_in(made) == {"unknown": ([], [1]), "unknown#1": ([0], [0])}


class TestGivenKey:
    def test_it_sets_both_sides_and_is_never_second_guessed(self) -> None:
        old = [row("_ng_task_id", "x", id={"n": "a"}), row("_ng_task_id", "y", id={"n": "a"})]
        new = [row("task_id", "z", id={"n": "a"})]
        assert keys(old, new, "id.n") == ("id.n", "id.n")
        assert found(old, new, "id.n") == {"a": ([0, 1], [0])}

    def test_it_may_be_a_candidate(self) -> None:
        rows = [row("task_name", "same", task_id=i) for i in range(2)]
        assert found(rows, rows, "task_id") == {"0": ([0], [0]), "1": ([1], [1])}

    def test_it_holds_for_empty_sides_too(self) -> None:
        assert keys([], ids("a"), "task_id") == ("task_id", "task_id")
        assert keys([failure()], ids("a"), "task_id") == ("task_id", "task_id")

    @pytest.mark.parametrize("sides", [(0, 1), (1, 0)])
    def test_a_row_without_it_is_an_error_that_names_the_row_and_its_fields(self, sides: tuple[int, int]) -> None:
        runs = [[row("id", 1), {"id": None, "task_id": "a", "reward": 1}, {}], [row("id", 1)]]
        message = refusal(runs[sides[0]], runs[sides[1]], "id")
        assert message == "row 2: row has no 'id' field (keys: id, task_id, reward)"

    def test_a_file_row_is_named_by_path_and_line(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "old.jsonl", [row("id", 1)])
        with path.open("a") as file:
            file.write("\n" + json.dumps({"b": 1, "a": 2, "reward": 0}) + "\n")
        [table] = read_files(path, key="id")
        with pytest.raises(CompareInputError) as caught:
            join({Side.OLD: table, Side.NEW: table_of([row("id", 1)], "id")})
        assert str(caught.value) == f"{path}:3: row has no 'id' field (keys: b, a, reward)"


class TestNoKey:
    OLD = (
        {"task_name": "a", "verifier_metadata": {"id": 1}, "reward": 1},
        {"task_name": "b", "verifier_metadata": {"id": 2}, "reward": 1},
        {"task_id": "c", "verifier_metadata": {"id": 3}, "reward": 1},
        {"task_name": "d", "reward": 1},
        {"task_name": "e", "verifier_metadata": {"id": 5}, "task_id": "e", "reward": 1},
        {"task_name": "f", "reward": 1},
    )

    def test_the_error_says_on_how_many_rows_each_candidate_stands(self) -> None:
        message = refusal(self.OLD, ids("a"))
        assert "6 rows" in message
        stands = {"task_name": 5, "task_id": 2, "verifier_metadata.id": 4}
        for path in KEY_CANDIDATES:
            assert f"{path} {stands.get(path, 0)}" in message

    def test_it_names_the_first_row_without_the_best_candidate_and_points_to_key(self) -> None:
        message = refusal(self.OLD, ids("a"))
        assert message.startswith("no task id field found: row 3 has no ")
        assert "'task_name'" in message
        assert "--key" in message

    def test_of_two_candidates_that_stand_on_as_many_rows_the_first_is_the_best(self) -> None:
        message = refusal([row("task_id", "a"), row("task_name", "b"), row("task_id", "c"), row("task_name", "d")], [])
        assert message.startswith("no task id field found: row 1 has no ")
        assert "'task_name'" in message

    def test_the_new_side_is_checked_too(self) -> None:
        assert refusal(ids("a"), self.OLD).startswith("no task id field found: row 3 has no ")

    def test_rows_without_any_candidate_are_told_too(self) -> None:
        message = refusal(ids("a"), [{"reward": 1}])
        assert message.startswith("no task id field found: row 1 has no ")
        assert "1 row" in message

    def test_failures_without_a_vote_are_not_counted(self) -> None:
        assert "6 rows" in refusal([failure(), *self.OLD, failure()], ids("a"))
        assert refusal([failure(), *self.OLD], ids("a")).startswith("no task id field found: row 4 has no ")

    def test_a_file_row_is_named_by_path_and_line(self, tmp_path: Path) -> None:
        path = tmp_path / "new.jsonl"
        path.write_text('\n{"task_id": "a", "reward": 1}\n\n{"task_id": null}\n', "utf-8")
        [table] = read_files(path)
        with pytest.raises(CompareInputError, match=f"^no task id field found: {path}:4 "):
            join({Side.OLD: table_of(ids("a")), Side.NEW: table})


class TestLabels:
    @pytest.mark.parametrize(
        ("old", "new", "label"),
        [
            (7, "7", "7"),
            (9007199254740993, "9007199254740993", "9007199254740993"),
            (-0.5, "-0.5", "-0.5"),
            ({"task_id": "a"}, "a", "a"),
            ({"id": "a"}, "a", "a"),
            ({"id": "x", "task_id": "a"}, "a", "a"),
            ({"taskset": "S", "task_id": 5}, "5", "5"),
            ({"taskset": "S", "id": "a", "more": 1}, {"taskset": "T", "task_id": "a"}, "a"),
            ({"b": 1, "a": [2]}, '{"a":[2],"b":1}', '{"a":[2],"b":1}'),
            ({"b": 1, "a": 2}, {"a": 2, "b": 1}, '{"a":2,"b":1}'),
            ("", "", ""),
        ],
    )
    def test_a_label_is_the_value_as_text(self, old: Any, new: Any, label: str) -> None:
        assert found(ids(old), ids(new)) == {label: ([0], [0])}

    @pytest.mark.parametrize("pair", [("a", "A"), ("a", "a "), ("caf\u00e9", "cafe\u0301"), ("1", "1.0"), ("", " ")])
    def test_other_texts_are_other_tasks(self, pair: tuple[str, str]) -> None:
        assert len(found(ids(pair[0]), ids(pair[1]))) == 2

    def test_labels_come_in_python_string_order(self) -> None:
        labels = ["a10", "a2", "B", "_", "\u00e9", "\ud800", "", "\U0001f600", "\uffff"]
        assert joined(ids(*labels), ids("a2")).tasks == sorted(labels)


def of_set(taskset: str, *tasks: Any) -> list[Row]:
    return ids(*({"taskset": taskset, "task_id": task} for task in tasks))


class TestTasksets:
    def test_two_keyed_sides_join_within_their_tasksets(self) -> None:
        made = joined([*of_set("A", "x"), *of_set("B", "x")], [*of_set("B", "x", "y"), *of_set("A", "x")])
        assert found_in(made) == {"A/x": ([0], [2]), "B/x": ([1], [0]), "B/y": ([], [1])}
        assert made.keyed_by_taskset
        assert not made.rows[Side.OLD].anonymous()

    def test_one_taskset_a_side_is_not_keyed(self) -> None:
        made = joined(of_set("A", "x"), of_set("B", "x"))
        assert found_in(made) == {"x": ([0], [0])}
        assert not made.keyed_by_taskset
        assert [note_text(note) for note in made.notes] == [
            "the runs name different tasksets, and tasks join by their ids alone: old A; new B"
        ]
        assert joined(of_set("A", "x"), [*of_set("A", "x")]).notes == ()

    @pytest.mark.parametrize("swap", [False, True])
    def test_a_plain_id_joins_the_keyed_task_that_lives_in_one_taskset(self, swap: bool) -> None:
        keyed, plain = [*of_set("A", "x"), *of_set("B", "y")], ids("y", "x", "z")
        made = joined(plain, keyed) if swap else joined(keyed, plain)
        expected = {"x": ([0], [1]), "y": ([1], [0]), "z": ([], [2])}
        assert found_in(made) == {label: pair[::-1] if swap else pair for label, pair in expected.items()}
        assert not made.keyed_by_taskset

    def test_an_id_of_several_tasksets_is_ambiguous_and_joins_no_plain_id(self) -> None:
        keyed = [*of_set("A", "x", "y"), *of_set("B", "x")]
        made = joined(keyed, ids("x", "y"))
        assert found_in(made) == {"A/x": ([0], []), "B/x": ([2], []), "x": ([], [0]), "y": ([1], [1])}
        assert [note.tasks for note in made.notes if "x" in note.tasks] == [("x",)]

    def test_no_id_is_called_ambiguous_where_each_is_clear(self) -> None:
        made = joined([*of_set("A", "x"), *of_set("B", "y")], ids("x"))
        assert not [note for note in made.notes if {"x", "y"} & {*note.tasks}]

    @pytest.mark.parametrize("swap", [False, True])
    def test_a_shared_id_joins_in_the_plain_sides_own_taskset(self, swap: bool) -> None:
        keyed, plain = [*of_set("A", "x"), *of_set("B", "x", "y"), *of_set("C", "y")], of_set("B", "x", "y")
        made = joined(plain, keyed) if swap else joined(keyed, plain)
        expected: Found = {"A/x": ([0], []), "C/y": ([3], []), "x": ([1], [0]), "y": ([2], [1])}
        assert found_in(made) == {label: pair[::-1] if swap else pair for label, pair in expected.items()}
        assert not [note for note in made.notes if {"x", "y"} & {*note.tasks}]

    def test_a_shared_id_is_ambiguous_where_the_plain_sides_own_taskset_has_it_not(self) -> None:
        made = joined([*of_set("A", "x"), *of_set("B", "x"), *of_set("C", "z")], of_set("C", "x", "z"))
        assert found_in(made) == {"A/x": ([0], []), "B/x": ([1], []), "x": ([], [0]), "z": ([2], [1])}
        assert [note.tasks for note in made.notes if "x" in note.tasks] == [("x",)]

    def test_several_tasksets_on_a_side_are_noted(self) -> None:
        made = joined([*of_set("A", "x"), *of_set("B", "y")], ids("x"))
        assert [note_names(note) for note in made.notes] == [("A", "B")]
        assert "old" in note_message(made.notes[0])
        both = joined([*of_set("A", "x"), *of_set("B", "y")], [*of_set("A", "x"), *of_set("C", "y")])
        assert [note_names(note) for note in both.notes] == [("A", "B"), ("A", "C")]

    def test_a_plain_id_among_keyed_ones_keeps_its_own_label(self) -> None:
        keyed = [*of_set("A", "x"), *of_set("B", "x"), *ids("p")]
        assert found(keyed, [*keyed, *ids("x")]) == {
            "A/x": ([0], [0]),
            "B/x": ([1], [1]),
            "p": ([2], [2]),
            "x": ([], [3]),
        }

    def test_a_failure_may_name_a_taskset(self) -> None:
        failed = failed_attempt({"task_id": {"taskset": "B", "id": "x"}})
        made = joined([*of_set("A", "x"), failed], [*of_set("A", "x"), *of_set("B", "x")])
        assert found_in(made) == {"A/x": ([0], [0]), "B/x": ([1], [1])}
        assert made.keyed_by_taskset


class TestPrefix:
    def stripped(self, old: Sequence[str], new: Sequence[str]) -> tuple[list[str], str | None, str | None]:
        made = joined(ids(*old), ids(*new))
        return made.tasks, made.prefixes[Side.OLD], made.prefixes[Side.NEW]

    @pytest.mark.parametrize(
        ("with_prefix", "without", "tasks", "prefix"),
        [
            (["p/a", "p/b"], ["a", "c"], ["a", "b", "c"], "p/"),
            (["p/a"], ["a"], ["a"], "p/"),
            (["p/q/a", "p/q/b"], ["a"], ["a", "b"], "p/q/"),
            (["p/q/a", "p/q/b"], ["q/a"], ["q/a", "q/b"], "p/"),
            (["p/r/a", "p/s/a"], ["s/a", "b"], ["b", "r/a", "s/a"], "p/"),
            (["p/a", "p/b"], ["c"], ["a", "b", "c"], "p/"),
            (["p/a/b"], ["a/b"], ["a/b"], "p/"),
            (["p/", "p/a"], ["a"], ["", "a"], "p/"),
        ],
    )
    def test_one_sides_prefix_is_stripped(
        self, with_prefix: list[str], without: list[str], tasks: list[str], prefix: str
    ) -> None:
        assert self.stripped(with_prefix, without) == (tasks, prefix, None)
        assert self.stripped(without, with_prefix) == (tasks, None, prefix)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (["p/a", "p/b", "a"], ["a", "c"]),  # the sides share a label
            (["p/a", "p/b"], ["a", "p/b"]),  # the same
            (["p/a", "b"], ["a"]),  # not on every label
            (["p/a", "q/b"], ["a", "b"]),  # not one same prefix
            (["p-a", "p-b"], ["a", "b"]),  # no slash
            (["pa/x", "pb/x"], ["x", "a/x"]),  # the same text, but not up to a slash
            (["p/a"], ["p/b"]),  # the other side has it too
            (["p/a"], ["q/a"]),  # both sides have one: never from both
            (["p/a", "p/b"], ["q/a", "q/c"]),
            (["p/1/a"], ["p/2/a"]),
            (["p/q/p/a", "p/a"], ["q/p/a"]),  # either prefix would do
            (["p/a", "p/b"], ["a", "p/c"]),  # some label of the other side has it
        ],
    )
    def test_nothing_is_stripped_otherwise(self, one: list[str], other: list[str]) -> None:
        tasks = sorted({*one, *other})
        assert self.stripped(one, other) == (tasks, None, None)
        assert self.stripped(other, one) == (tasks, None, None)

    def test_nothing_is_stripped_beside_an_empty_side(self) -> None:
        assert self.stripped([], ["p/a"]) == (["p/a"], None, None)
        assert self.stripped(["p/a"], []) == (["p/a"], None, None)

    def test_failures_have_labels_too(self) -> None:
        made = joined(ids("p/a"), [*ids("a"), failure(task_id="b"), failure()])
        assert made.prefixes == {Side.OLD: "p/", Side.NEW: None}
        assert joined([*ids("p/a"), failure(task_id="b")], ids("a")).prefixes == {Side.OLD: None, Side.NEW: None}

    def test_a_given_keys_labels_are_stripped_as_well(self) -> None:
        made = joined([row("id", "p/a")], [row("id", "a")], "id")
        assert found_in(made) == {"a": ([0], [0])}
        assert made.prefixes[Side.OLD] == "p/"

    def test_a_taskset_is_no_prefix(self) -> None:
        keyed = [*of_set("A", "x"), *of_set("B", "x")]
        assert joined(keyed, ids("x")).prefixes == {Side.OLD: None, Side.NEW: None}


def test_a_row_that_does_not_count_joins_like_any_other() -> None:
    rows: list[Row] = [{"task_id": "a", "reward": math.nan}, {"task_id": "b"}, {"task_id": "c", "mask_sample": 1}]
    assert found(rows, rows) == {"a": ([0], [0]), "b": ([1], [1]), "c": ([2], [2])}
