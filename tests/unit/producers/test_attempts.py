"""Attempts that a reader finds one by one, made into a batch."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of, slices
from nemo_gym.rollout_compare.producers.gym import RowsAtHand
from nemo_gym.rollout_compare.schema import Fault, Fields, Mark, Mask, MaskKind, input_numbers
from nemo_gym.rollout_compare.table.table import Table
from tests.support import facts, places

ATTEMPTS = [
    Attempt(ids={"name": "a", "id": 7}, reward=1, number=1, asked="do it", task_index=0.0, attempt="first"),
    Attempt(ids={"name": "b"}, reward=None, masked="no reward", agent_error="verifier_error=E", number=3, offset=40),
    Attempt(ids={"name": {"taskset": "S", "id": "a"}}, reward=0.5, failure_kind="k", has_output=True, number=4),
]


def test_each_attempt_is_a_row_and_each_thing_that_it_says_a_column() -> None:
    fault = Fault(2, "cut off")
    batch = batch_of(ATTEMPTS, ("name", "id"), [fault], 4)
    assert repr(list(batch.rewards)) == repr([1.0, math.nan, 0.5])
    assert list(batch.masked) == [None, Mask(MaskKind.SAID, "no reward"), None]
    assert list(batch.agent_errors) == [None, Mark("verifier_error", "E"), None]
    assert list(batch.failure_kinds) == [None, None, "k"]
    assert (list(batch.task_indexes), list(batch.rollout_indexes)) == ([0, None, None], ["first", None, None])
    assert list(batch.inputs) == [input_numbers(["do it"])[0], 0, 0]
    assert batch.has_output == b"\0\0\1"
    assert batch.identities == {"name": ["a", "b", ("S", "a")], "id": ["7", None, None]}
    assert (list(batch.lines), list(batch.offsets)) == ([1, 3, 4], [0, 40, 0])
    assert (batch.faults, batch.last_line, len(batch)) == ([fault], 4, 3)
    assert batch.has_a_say is None


def test_a_table_takes_the_batch_as_it_is() -> None:
    source = RowsAtHand([{}] * 4, Path("folder"))
    table = Table(Fields(("name",), ("id",)))
    table.add(batch_of(ATTEMPTS, table.open_fields()), source)
    table.add(batch_of([], table.open_fields()), source)
    assert [row[0] for row in facts(table)["rows"]] == ["1.0", "nan", "0.5"]
    assert facts(table)["keys"] == {"name": None, "id": 1}
    assert facts(table)["attempts"] == ["(0, 'first')"]
    assert places(table) == [["row 1", 0], ["row 3", 40], ["row 4", 0]]


def test_no_attempts_are_a_batch_that_says_what_was_looked_at() -> None:
    batch = batch_of([], ("name",), [Fault(1, "empty")], 1)
    assert (len(batch), list(batch.inputs), batch.last_line, str(batch.faults[0])) == (0, [], 1, "line 1 (empty)")


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [([], [(0, 0)]), ([9], [(0, 1)]), ([3, 3, 3, 9], [(0, 2), (2, 4)]), ([5, 0, 5, 5], [(0, 1), (1, 3), (3, 4)])],
)
def test_slices_have_about_so_many_bytes_and_none_is_empty(sizes: list[int], ends: list[tuple[int, int]]) -> None:
    assert slices(sizes, 5) == ends
