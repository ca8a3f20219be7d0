from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

import pytest

from nemo_gym.rollout_compare.producers.gym.facts import mask_reason, measured_failure_kind, row_facts
from nemo_gym.rollout_compare.producers.gym.failures import (
    attempt_of,
    failed_attempt,
    named_by_index,
    standing_failures,
)
from nemo_gym.rollout_compare.schema import Attempt

Record = dict[str, Any]


def record(index: Any, rollout: Any, name: str, **others: Any) -> Record:
    """A record of an attempt, with a name to know it by."""
    return {"_ng_task_index": index, "_ng_rollout_index": rollout, "failure_kind": name, **others}


def with_place(line: int, offset: int, row: Record) -> tuple[int, int, Record]:
    return line, offset, row


def standing(records: Iterable[Record], finished: Collection[Attempt] = ()) -> list[str]:
    """The names of the failures that stand."""
    numbered = ((line, line * 10, record) for line, record in enumerate(records, 1))
    return [row["failure_kind"] for _, _, row in standing_failures(numbered, finished, with_place)]


class TestWhichStand:
    def test_the_last_record_of_an_attempt_stands(self) -> None:
        records = [record(0, 0, "a"), record(1, 0, "b"), record(0, 0, "c"), record(0, 1, "d"), record(0, 0, "e")]
        assert sorted(standing(records)) == ["b", "d", "e"]

    def test_a_row_of_the_attempt_in_the_main_file_replaces_it(self) -> None:
        records = [record(0, 0, "a"), record(0, 1, "b"), record(1, 0, "c"), record(0, 0, "d")]
        assert standing(records, finished={(0, 0), (7, 7)}) == ["b", "c"]

    @pytest.mark.parametrize(
        "part",
        [
            {"_ng_task_index": 0},
            {"_ng_rollout_index": 0},
            {},
            {"_ng_task_index": 0, "_ng_rollout_index": None},
            {"_ng_task_index": None, "_ng_rollout_index": 0},
        ],
    )
    def test_records_without_the_pair_all_stand(self, part: Record) -> None:
        records = [{**part, "failure_kind": "a"}, {**part, "failure_kind": "b"}]
        assert standing(records, finished={(0, 0)}) == ["a", "b"]

    @pytest.mark.parametrize("mark", ["_ng_unrouted_run_error", "_ng_dispatch_drained"])
    def test_a_marked_record_is_skipped_before_the_choice(self, mark: str) -> None:
        assert standing([record(0, 0, "a"), record(0, 0, "b", **{mark: True})]) == ["a"]
        assert standing([record(0, 0, "a", **{mark: True})]) == []
        assert standing([{"failure_kind": "a", mark: True}, {"failure_kind": "b", mark: False}]) == ["b"]

    def test_an_omitted_rollout_replaces_older_failures_but_is_no_row(self) -> None:
        omitted = record(0, 0, "omitted", _ng_omitted_rollout=True)
        assert standing([record(0, 0, "a"), omitted]) == []
        assert standing([omitted, record(0, 0, "a")]) == ["a"]
        assert standing([record(0, 1, "a"), omitted]) == ["a"]
        assert standing([{"failure_kind": "a"}, {"failure_kind": "b", "_ng_omitted_rollout": True}]) == ["a"]
        assert standing([record(0, 0, "a"), record(0, 0, "b", _ng_omitted_rollout=False)]) == ["b"]

    def test_an_omitted_rollout_that_is_skipped_replaces_nothing(self) -> None:
        marks = {"_ng_omitted_rollout": True, "_ng_dispatch_drained": True}
        assert standing([record(0, 0, "a"), record(0, 0, "b", **marks)]) == ["a"]

    def test_0_and_0_point_0_are_one(self) -> None:
        assert standing([record(0.0, 1, "a"), record(0, 1.0, "b")]) == ["b"]
        assert standing([record(0.0, 1.0, "a"), record(1.5, 0, "b")], finished={(0, 1)}) == ["b"]

    def test_they_come_in_the_order_of_their_records_with_their_places(self) -> None:
        records = [record(1, 0, "a"), {"failure_kind": "b"}, record(0, 0, "c"), record(1, 0, "d")]
        numbered = [(line, line * 10, record) for line, record in enumerate(records, 1)]
        stood = standing_failures(numbered, (), with_place)
        found = [(line, offset, row["failure_kind"]) for line, offset, row in stood]
        assert found == [(2, 20, "b"), (3, 30, "c"), (4, 40, "d")]

    def test_a_record_without_the_pair_is_not_taken_for_an_attempt_of_its_line_number(self) -> None:
        assert standing([{"failure_kind": "a"}, record(1, 0, "b"), record(1, 1, "c"), record(1, 1, "d")]) == [
            "a",
            "b",
            "d",
        ]

    @pytest.mark.parametrize("value", [[1], {"a": 1}, 1.5, True, "x", ""])
    def test_any_value_may_tell_attempts_apart(self, value: Any) -> None:
        attempt = attempt_of({"_ng_task_index": value, "_ng_rollout_index": 0})
        assert attempt
        assert standing([record(value, 0, "a"), record(1, 0, "b"), record(value, 0, "c")]) == ["b", "c"]
        assert standing([record(value, 0, "a"), record(1, 0, "b")], finished={attempt}) == ["b"]


FIELDS: Record = {
    "_ng_task_id": {"taskset": "S", "task_id": "T"},
    "task_id": 1,
    "verifier_metadata": {"task_id": "t", "id": [2], "other": 3},
    "_ng_task_index": 5,
    "error": "e",
    "id": {"n": 7},
}


class TestRow:
    def test_it_is_a_masked_row_without_a_reward(self) -> None:
        row = failed_attempt({"reward": 1.0, "mask_sample": False, "task_id": "a"})
        assert (row["mask_sample"], row["reward"]) == (True, None)
        assert row["_ng_failed_attempt"] is True
        assert row_facts(row).reward is None
        assert measured_failure_kind(row) is None

    @pytest.mark.parametrize("reward", ["broken", True, [1], float("nan"), 10**400])
    def test_its_reward_is_null_whatever_was_recorded(self, reward: Any) -> None:
        assert failed_attempt({"reward": reward})["reward"] is None

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"failure_kind": "k", "_ng_failure_class": "c"}, "k"),
            ({"_ng_failure_class": "c"}, "c"),
            ({"failure_kind": None, "_ng_failure_class": "c"}, "c"),
            ({}, "failure"),
            ({"failure_kind": None, "_ng_failure_class": None}, "failure"),
        ],
    )
    def test_its_kind_is_as_recorded_else_the_class_else_failure(self, fields: Record, kind: str) -> None:
        row = failed_attempt(fields)
        assert row["failure_kind"] == kind
        assert mask_reason(row) == f"mask_sample (failure_kind={kind})"

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"failure_reason": "r", "_ng_failure_message": "m"}, "r"),
            ({"_ng_failure_message": "m"}, "m"),
            ({"failure_reason": None, "_ng_failure_message": "m"}, "m"),
            ({}, None),
        ],
    )
    def test_its_reason_is_as_recorded_else_the_message(self, fields: Record, reason: str | None) -> None:
        assert failed_attempt(fields)["failure_reason"] == reason

    def test_it_keeps_every_field(self) -> None:
        row = failed_attempt(FIELDS)
        assert {name: row[name] for name in FIELDS} == FIELDS

    def test_the_record_itself_stays_as_it_was(self) -> None:
        fields: Record = {"reward": 1, "verifier_metadata": {"id": 1, "other": 2}, "_ng_failure_class": "c"}
        failed_attempt(fields)
        assert fields == {"reward": 1, "verifier_metadata": {"id": 1, "other": 2}, "_ng_failure_class": "c"}


class TestNames:
    """A failure that names no task has the names of the first row with its task index."""

    FIRST: ClassVar[Record] = {"task_id": "a", "verifier_metadata": {"id": "m", "other": 1}, "reward": 1}

    def test_it_takes_each_name_and_nothing_else(self) -> None:
        found = named_by_index({"_ng_task_index": 3, "mask_sample": True}, {3: self.FIRST})
        assert found == {
            "_ng_task_index": 3,
            "mask_sample": True,
            "task_id": "a",
            "verifier_metadata": {"id": "m"},
        }

    def test_what_it_has_beside_the_names_stays_and_the_row_is_not_touched(self) -> None:
        own: Record = {"other": 2}
        found = named_by_index({"_ng_task_index": 3.0, "verifier_metadata": own}, {3: self.FIRST})
        assert found["verifier_metadata"] == {"other": 2, "id": "m"}
        assert own == {"other": 2}
        assert self.FIRST["verifier_metadata"] == {"id": "m", "other": 1}

    @pytest.mark.parametrize(
        "failure",
        [{}, {"_ng_task_index": 4}, {"_ng_task_index": "3"}, {"_ng_task_index": 3, "uuid": "own"}],
        ids=["no index", "another index", "another type", "a name of its own"],
    )
    def test_without_such_a_row_or_with_a_name_of_its_own_it_stays_as_it_is(self, failure: Record) -> None:
        assert named_by_index(dict(failure), {3: self.FIRST}) == failure


@pytest.mark.parametrize(
    ("row", "attempt"),
    [
        ({"_ng_task_index": 1, "_ng_rollout_index": 2}, (1, 2)),
        ({"_ng_task_index": "1", "_ng_rollout_index": 0}, ("1", 0)),
        ({"_ng_task_index": 0, "_ng_rollout_index": 0}, (0, 0)),
        ({"_ng_task_index": 0.0, "_ng_rollout_index": -1.0}, (0, -1)),
        ({"_ng_task_index": 1}, None),
        ({"_ng_rollout_index": 1}, None),
        ({"_ng_task_index": None, "_ng_rollout_index": 0}, None),
        ({}, None),
    ],
)
def test_an_attempt_is_a_pair(row: Record, attempt: Attempt | None) -> None:
    assert attempt_of(row) == attempt
