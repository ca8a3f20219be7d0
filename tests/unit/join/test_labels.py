"""What the identities of two runs are called, so that one task has one label and two tasks never share one."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import pytest

from nemo_gym.rollout_compare.join.labels import Labels, input_labels, labels_of
from nemo_gym.rollout_compare.report.notes import note_message, note_names, note_text
from nemo_gym.rollout_compare.schema import Identity, Side

Ids = Sequence[Identity | None]


def labels(old: Ids, new: Ids) -> tuple[list[str | None], list[str | None]]:
    made = labels_of({Side.OLD: old, Side.NEW: new})
    return list(made.of[Side.OLD]), list(made.of[Side.NEW])


def both_ways(old: Ids, new: Ids) -> tuple[Labels, Labels]:
    """The labels, and those of the runs exchanged, which are the same but for the sides."""
    one, other = labels_of({Side.OLD: old, Side.NEW: new}), labels_of({Side.OLD: new, Side.NEW: old})
    for side in Side:
        assert one.of[side] == other.of[side.other]
        assert one.prefixes[side] == other.prefixes[side.other]
    assert one.keyed_by_taskset == other.keyed_by_taskset
    return one, other


class TestIds:
    def test_each_identity_keeps_its_place_and_none_has_no_label(self) -> None:
        assert labels([None, "b", "a", None], [None, "a"]) == ([None, "b", "a", None], [None, "a"])

    def test_a_run_without_identities_changes_nothing_of_the_other(self) -> None:
        one, _ = both_ways(["p/a", "p/b"], [None])
        assert list(one.of[Side.OLD]) == ["p/a", "p/b"]
        assert one.notes == ()

    def test_one_taskset_a_side_is_left_out(self) -> None:
        made, _ = both_ways([("S", "a")], [("T", "a"), "b"])
        assert made.of == {Side.OLD: ["a"], Side.NEW: ["a", "b"]}
        assert not made.keyed_by_taskset
        assert [note_text(note) for note in made.notes] == [
            "the runs name different tasksets, and tasks join by their ids alone: old S; new T"
        ]


class TestTasksets:
    def test_both_sides_of_several_are_named_by_them(self) -> None:
        made, _ = both_ways([("S", "a"), ("T", "a"), "p"], [("T", "a"), ("U", "a")])
        assert made.of == {Side.OLD: ["S/a", "T/a", "p"], Side.NEW: ["T/a", "U/a"]}
        assert made.keyed_by_taskset
        assert [(note_message(note), note_names(note)) for note in made.notes] == [
            ("tasks join within their taskset; the old run names 2 tasksets", ("S", "T")),
            ("tasks join within their taskset; the new run names 2 tasksets", ("T", "U")),
        ]

    def test_two_identities_of_one_label_are_told_apart_by_their_json(self) -> None:
        made, _ = both_ways([("S", "a"), ("S/a", "b"), None], [("S", "a/b"), ("T", "a"), ("S", "a")])
        assert made.of == {
            Side.OLD: ["S/a", '["S/a", "b"]', None],
            Side.NEW: ['["S", "a/b"]', "T/a", "S/a"],
        }

    def test_a_plain_id_may_name_taskset_and_task(self) -> None:
        made, _ = both_ways([("S", "a"), ("T", "a")], [("T", "b"), ("S", "b"), "T/a"])
        assert made.of == {Side.OLD: ["S/a", "T/a"], Side.NEW: ["T/b", "S/b", "T/a"]}

    def test_a_plain_id_means_the_one_task_that_has_it(self) -> None:
        made, swapped = both_ways([("S", "a"), ("T", "b"), ("S", "c"), ("T", "c"), None], ["b", "a", "c"])
        assert made.of == {Side.OLD: ["a", "b", "S/c", "T/c", None], Side.NEW: ["b", "a", "c"]}
        assert not made.keyed_by_taskset
        plain = "plain ids join where they can mean one task only; the {} run names 2 tasksets"
        ambiguous = "ids that several tasksets share stay under TASKSET/ID and join no plain id"
        assert [(note_message(note), note_names(note)) for note in made.notes] == [
            (plain.format("old"), ("S", "T")),
            (ambiguous, ("c",)),
        ]
        assert [note_message(note) for note in swapped.notes] == [plain.format("new"), ambiguous]

    def test_of_several_tasks_it_means_that_of_its_own_sides_taskset(self) -> None:
        made, _ = both_ways([("S", "c"), ("T", "c")], [("T", "c"), "d"])
        assert made.of == {Side.OLD: ["S/c", "c"], Side.NEW: ["c", "d"]}
        assert len(made.notes) == 1


class TestPrefix:
    @pytest.mark.parametrize(
        ("prefixed", "plain", "prefix"),
        [
            (["p/a", None, "p/b"], ["a"], "p/"),
            (["p/q/a", "p/q/b"], ["b"], "p/q/"),
            (["p/q/a", "p/q/b"], ["q/b"], "p/"),
            (["p/a"], ["z"], "p/"),
            (["p/q/a"], ["p/z", "a"], "p/q/"),
        ],
    )
    def test_one_sides_own_prefix_is_taken_off(self, prefixed: Ids, plain: Ids, prefix: str) -> None:
        made, _ = both_ways(prefixed, plain)
        assert made.prefixes == {Side.OLD: prefix, Side.NEW: None}
        assert list(made.of[Side.OLD]) == [one and str(one).removeprefix(prefix) for one in prefixed]
        assert list(made.of[Side.NEW]) == list(plain)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (["p/a", "a"], ["b"]),
            (["p/a"], ["p/b"]),
            (["p/a"], ["q/a"]),
            (["/a"], ["a"]),
            (["pa"], ["a"]),
            (["p/a"], ["a", "p/a"]),
            (["p/a"], []),
            ([], []),
        ],
    )
    def test_else_none_is(self, old: Ids, new: Ids) -> None:
        made, _ = both_ways(old, new)
        assert made.prefixes == {Side.OLD: None, Side.NEW: None}
        assert made.of == {Side.OLD: list(old), Side.NEW: list(new)}


class TestInputs:
    """Identities of inputs, as `task_input` gives them: long ones tell their digits, then what is shown."""

    ONE, TWO = "#0123456789abcdefAdd.", "#fedcba9876543210Sub."

    def test_they_have_eight_digits(self) -> None:
        made = input_labels({Side.OLD: [None, self.ONE], Side.NEW: [self.TWO, self.ONE]})
        assert made.of == {Side.OLD: [None, "Add. #01234567"], Side.NEW: ["Sub. #fedcba98", "Add. #01234567"]}
        assert made.prefixes == {Side.OLD: None, Side.NEW: None}
        assert not made.keyed_by_taskset
        assert made.notes == ()

    def test_both_sides_have_all_digits_where_eight_are_too_few(self) -> None:
        close = "#0123456700000000Add."
        made = input_labels({Side.OLD: [self.ONE, None], Side.NEW: [close, self.ONE]})
        one, other = "Add. #0123456789abcdef", "Add. #0123456700000000"
        assert made.of == {Side.OLD: [one, None], Side.NEW: [other, one]}

    def test_a_slash_in_a_question_is_no_prefix(self) -> None:
        made = input_labels({Side.OLD: [f"{self.ONE[:17]}a/b/Add."], Side.NEW: [self.ONE]})
        assert made.of[Side.OLD] == ["a/b/Add. #01234567"]
        assert made.prefixes == {Side.OLD: None, Side.NEW: None}


class TestMeeting:
    @pytest.mark.parametrize(
        ("old", "new", "shared"),
        [
            (["a", "b", None], ["c", "b", "a"], {"a", "b"}),
            (["p/a", "p/b"], ["a"], {"a"}),
            ([("S", "a"), ("T", "a")], [("S", "a"), ("U", "a")], {"S/a"}),
            (["a"], ["b"], set()),
            ([None], [None], set()),
            ([None, "a"], [None, "b"], set()),
            ([], ["a"], set()),
        ],
    )
    def test_runs_meet_by_the_labels_that_both_have(self, old: Ids, new: Ids, shared: set[str]) -> None:
        for made in both_ways(old, new):
            assert made.shared() == shared
            assert made.meet() is bool(shared)

    @pytest.mark.parametrize(
        ("keyed", "plain", "stripped", "labels"),
        [
            # the plain ids have it: those of one taskset join, the ambiguous one does not
            ([("A", "x"), ("B", "x"), ("A", "y")], ["p/x", "p/y"], (None, "p/"), (["A/x", "B/x", "y"], ["x", "y"])),
            ([("A", "x"), ("B", "x")], ["p/x"], (None, "p/"), (["A/x", "B/x"], ["x"])),
            # the bare ids have it, ambiguous ones too
            ([("A", "p/x"), ("B", "p/x"), ("B", "p/y")], ["x", "y"], ("p/", None), (["A/x", "B/x", "y"], ["x", "y"])),
            # one bare id does not have it
            ([("A", "p/x"), ("B", "y")], ["x"], (None, None), (["p/x", "y"], ["x"])),
            # the bare ids are shared already, though they are ambiguous
            ([("A", "p/x"), ("B", "p/x")], ["p/x"], (None, None), (["A/p/x", "B/p/x"], ["p/x"])),
        ],
    )
    def test_it_is_looked_for_in_the_bare_ids_of_a_side_with_tasksets(
        self, keyed: Ids, plain: Ids, stripped: tuple[str | None, str | None], labels: tuple[list[str], list[str]]
    ) -> None:
        made, _ = both_ways(keyed, plain)
        assert (made.prefixes[Side.OLD], made.prefixes[Side.NEW]) == stripped
        assert (list(made.of[Side.OLD]), list(made.of[Side.NEW])) == labels

    def test_the_cost_is_that_of_the_labels_however_many_slashes_they_have(self) -> None:
        """Before, 2,000 labels of 2,000 slashes took ten seconds, and twice as many eight times as long."""
        old, new = ([f"{letter}/" * 2000 + str(i) for i in range(2000)] for letter in "ab")
        start = process_time()
        made = labels_of({Side.OLD: old, Side.NEW: new})
        assert process_time() - start < 3
        assert made.prefixes == {Side.OLD: None, Side.NEW: None}
