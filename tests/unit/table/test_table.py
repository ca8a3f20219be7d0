from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.asked import count_fields
from nemo_gym.rollout_compare.producers.gym import RowsAtHand
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.producers.gym.fields import key_fields
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table.table import Table
from tests.support import attempts_of, batch_of, facts, places, row_at, rows_file, write_rows

#: Rows that say everything that a row can say, and what their table says of them.
ROWS: list[dict[str, Any]] = [
    {"task_id": "a", "reward": 1},
    {"task_id": "b", "reward": 0.25, "_ng_task_index": 0, "_ng_rollout_index": 1},
    {"task_id": "a", "reward": 0.5, "mask_sample": True, "failure_kind": "timeout"},
    {"task_id": 7, "reward": None, "error": "first\nlast"},
    {"task_id": "7", "reward": -2, "failure_kind": "timeout", "_ng_task_index": "x"},
    {"task_id": {"taskset": "S", "id": "a"}, "reward": math.inf, "instance_config": {"mask_sample": 0}},
    {"task_id": True, "reward": 1e300, "response": {"metadata": {"n": 1, "my_error_type": "E"}}, "mask_sample": 0},
    {"task_id": "e", "reward": 0, "error": "only an error"},
    {"task_id": "f", "reward": 0, "response": {"metadata": {"error_type": "E"}}},
    {"task_id": "g", "reward": 0, "failure_kind": "only a kind"},
    {"task_id": "h", "reward": -math.inf},
    {"task_id": "i", "reward": 0, "mask_sample": True},
    {"task_id": "j", "reward": 0, "instance_config": {"mask_sample": True}},
]
SAID = [
    ("1.0", None, None, None, "a"),
    ("0.25", None, None, None, "b"),
    ("0.5", "mask_sample (failure_kind=timeout)", None, None, "a"),
    ("nan", "no reward", "error: last", None, "7"),
    ("-2.0", None, None, "timeout", "7"),
    ("nan", "non-finite reward (inf)", None, None, ("S", "a")),
    ("1e+300", None, "my_error_type=E", None, "true"),
    ("0.0", None, "error: only an error", None, "e"),
    ("0.0", None, "error_type=E", None, "f"),
    ("0.0", None, None, "only a kind", "g"),
    ("nan", "non-finite reward (-inf)", None, None, "h"),
    ("0.0", "mask_sample", None, None, "i"),
    ("0.0", "mask_sample", None, None, "j"),
]
FACTS = {
    "masked": 6,
    "rows": [[*said, {"task_id": label}] for *said, label in SAID],
    "keys": {
        "_ng_task_id": 0,
        "task_name": 0,
        "task_id": None,
        "verifier_metadata.task_id": 0,
        "verifier_metadata.task_name": 0,
        "verifier_metadata.instance_id": 0,
        "verifier_metadata.id": 0,
        "instance_id": 0,
        "problem_id": 0,
        "question_id": 0,
        "example_id": 0,
        "uuid": 0,
        "id": 0,
        "task_idx": 0,
        "scenario_id": 0,
        "responses_create_params.metadata.instance_id": 0,
        "responses_create_params.metadata.task_name": 0,
    },
    "anonymous": [],
    "attempts": ["(0, 1)"],
}


def empty() -> Table:
    return Table(key_fields(None))


def add(table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows as one batch."""
    table.add(batch_of(rows, fields=table.open_fields()), RowsAtHand(rows))


def added(*together: Sequence[dict[str, Any]]) -> Table:
    """A table to which rows were added a batch at a time."""
    table = empty()
    for rows in together:
        add(table, rows)
    return table


def sent(table: Table) -> Table:
    """A table as another process hands it over."""
    copy: Table = pickle.loads(pickle.dumps(table))  # noqa: S301  # made in this line
    return copy


def whole_and_pieces(rows: Sequence[dict[str, Any]]) -> list[Table]:
    """The table of rows, put together from any two pieces, which other processes read or not; and row by row."""
    tables = [added(*([row] for row in rows))]
    for cut in range(len(rows) + 1):
        whole, rest = added(rows[:cut]), added(rows[cut:])
        whole.extend(sent(rest), 0)
        tables.append(whole)
        together = empty()
        together.extend(added(rows[:cut]), 0)
        together.extend(rest, 0)
        tables.append(together)
    return tables


class TestTable:
    def test_it_says_what_the_rows_say(self) -> None:
        table = table_of(ROWS)
        assert facts(table) == FACTS
        assert len(table) == 13
        assert table.masked_rows == 6

    def test_rows_added_at_once_or_one_by_one_or_in_pieces_make_the_same_table(self) -> None:
        for table in whole_and_pieces(ROWS):
            assert facts(table) == FACTS

    @pytest.mark.parametrize(
        "rows",
        [
            [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 0.5}] * 3,
            [{"reward": 0}],
            [{"task_name": "a", "task_id": 1}, {"task_name": "b"}, {"task_id": 2}],
            [{"task_id": "a", "reward": 1, "mask_sample": False, "failure_kind": "", "error": None, "response": {}}]
            * 2,
            [{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": 1, "error": "x"}],
            [{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": 1, "instance_config": {"mask_sample": True}}],
            [{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": math.nan}],
            [{"task_id": "a", "reward": 1}, {"task_id": "a"}],
        ],
        ids=range(8),
    )
    def test_what_a_row_says_does_not_depend_on_its_neighbours(self, rows: list[dict[str, Any]]) -> None:
        expected = facts(added(*([row] for row in rows)))
        assert [row[0] for row in expected["rows"]] == [  # a reward that is no finite number is kept as nan
            repr(float(row.get("reward", math.nan))) for row in rows
        ]
        for table in whole_and_pieces(rows):
            assert facts(table) == expected

    def test_a_whole_block_at_once_says_the_same_as_row_by_row(self) -> None:
        rows = [{"task_id": f"t{i % 50}", "reward": i % 3 / 2, "_ng_task_index": i % 50} for i in range(500)]
        table = added(rows)
        assert [table.keys["task_id"][i] for i in range(500)] == [row["task_id"] for row in rows]
        assert list(table.reward) == [row["reward"] for row in rows]
        assert facts(table) == facts(added(*([row] for row in rows)))

    @pytest.mark.parametrize("halves", [(1, True, 1.5, "1", -1, 2**63, 2**64, [1], None), (1, 2**64), (2**70, 0, -5)])
    def test_attempts_are_told_apart_by_value_and_type(self, halves: tuple[Any, ...]) -> None:
        rows = [{"task_id": "a", "reward": 1, "_ng_task_index": half, "_ng_rollout_index": 0} for half in halves]
        named = [half for half in halves if half is not None]
        for table in [table_of(rows), *whole_and_pieces(rows)]:
            attempts = attempts_of(table)
            assert len(attempts) == len(named)
            whole = {value for value in named if type(value) is int}
            assert {index for index, _ in attempts if type(index) is int} == whole
        swapped = [{**row, "_ng_task_index": 0, "_ng_rollout_index": row["_ng_task_index"]} for row in rows]
        assert len(attempts_of(table_of(swapped))) == len(named)

    def test_attempts_0_and_0_point_0_are_one(self) -> None:
        rows = [
            {"task_id": "a", "_ng_task_index": 0, "_ng_rollout_index": half} for half in (0, 0.0, -0.0, 1.0, 1, -1.0)
        ]
        for table in [table_of(rows), *whole_and_pieces(rows)]:
            assert attempts_of(table) == {(0, 0), (0, 1), (0, -1)}
            assert len({*table.rollout_index.codes}) == 3

    def test_an_attempt_has_both_halves(self) -> None:
        halves = [(0, 0), (0, 1), (None, 2), (3, None), (None, None), (0, 0), ("0", 0)]
        rows = [{"task_id": "a", "_ng_task_index": index, "_ng_rollout_index": rollout} for index, rollout in halves]
        rows.append({"task_id": "a"})
        assert attempts_of(table_of(rows)) == {(0, 0), (0, 1), ("0", 0)}

    def test_failed_attempts_that_name_no_task_have_no_say(self) -> None:
        rows = [
            {"task_id": "a", "reward": 1},
            failed_attempt({}),
            failed_attempt({"task_id": "b"}),
            failed_attempt({"_ng_task_index": 3}),
            failed_attempt({"task_name": "c"}),
        ]
        table = table_of(rows)
        assert facts(table)["anonymous"] == [1, 3]
        assert table.keys["task_id"].first_missing == 4
        assert table.keys["task_name"].first_missing == 0
        assert (count_fields(table)["task_id"], count_fields(table)["task_name"]) == (2, 1)
        assert table.masked_rows == 4

    def test_a_row_that_is_no_failed_attempt_always_has_a_say(self) -> None:
        table = table_of([{"task_id": "a", "reward": 1}, {"reward": None, "mask_sample": True}])
        assert facts(table)["anonymous"] == []
        assert table.keys["task_id"].first_missing == 1

    def test_with_a_key_only_its_field_names_tasks(self) -> None:
        rows = [{"id": {"n": 1}, "task_id": "a", "reward": 1}, {"id": {"n": "b"}, "reward": 0}]
        table = table_of(rows, "id.n")
        assert facts(table)["rows"] == [
            ["1.0", None, None, None, {"id.n": "1"}],
            ["0.0", None, None, None, {"id.n": "b"}],
        ]
        assert facts(table)["keys"] == {"id.n": None}

    def test_a_broken_row_leaves_the_table_as_it_was(self) -> None:
        table = added(ROWS[:2])
        before = facts(table)
        with pytest.raises(CompareInputError, match=r"^reward 'x' is not a number$"):
            add(table, [{"task_id": "c", "reward": 1}, {"task_id": "d", "reward": "x"}])
        assert facts(table) == before
        add(table, ROWS[2:])
        assert facts(table) == FACTS

    @pytest.mark.slow
    @pytest.mark.parametrize("field", ["failure_kind", "task_id", "_ng_task_index", "_ng_rollout_index"])
    def test_a_row_that_is_nested_too_deeply_leaves_the_table_as_it_was(self, field: str) -> None:
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        table = added(ROWS[:2])
        before = facts(table)
        with pytest.raises(RecursionError):
            add(table, [{"task_id": "b", "reward": 1}, {"task_id": "c", "reward": 1, field: deep}])
        assert facts(table) == before
        columns = (table.masked, table.agent_error, table.failure_kind, table.keys["task_id"])
        assert {len(column.ids) for column in columns} == {2}
        assert [len(table.task_index.codes), len(table.rollout_index.codes)] == [2, 2]
        assert [len(table.has_output), len(table.inputs)] == [2, 2]
        add(table, ROWS[2:])
        assert facts(table) == FACTS

    @pytest.mark.parametrize(
        ("row", "error"),
        [
            ({"reward": True}, "reward True is not a number"),
            ({"reward": "1"}, "reward '1' is not a number"),
            ({"reward": [1]}, r"reward \[1\] is not a number"),
            ({"reward": 10**400}, "reward 1000.* is not a number"),
            ({"reward": 1, "mask_sample": "no"}, "mask_sample 'no' is not true or false"),
            ({"reward": 1, "mask_sample": 2}, "mask_sample 2 is not true or false"),
            ({"reward": 1, "mask_sample": 0.0}, "mask_sample 0.0 is not true or false"),
            ({"reward": 1, "mask_sample": []}, r"mask_sample \[\] is not true or false"),
            ({"reward": 1, "instance_config": {"mask_sample": ""}}, "mask_sample '' is not true or false"),
        ],
    )
    def test_a_broken_row_among_others_is_named_by_its_number_and_task(self, row: dict[str, Any], error: str) -> None:
        rows = [{"task_id": "a", "reward": 1}, {"task_id": "b", **row}, {"task_id": "c", "reward": "also"}]
        with pytest.raises(CompareInputError, match=rf"^row 2: {error} \(task b\)$"):
            table_of(rows)
        with pytest.raises(CompareInputError, match=rf"^row 3: {error} \(task unknown\)$"):
            table_of([failed_attempt({}), rows[0], row])

    def test_a_row_that_is_nested_too_deeply_is_an_error_too(self) -> None:
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(CompareInputError, match=r"^row 2: .*nested too deeply"):
            table_of([{"task_id": "a", "reward": 1}, {"task_id": "b", "failure_kind": deep}])

    def test_no_rows_make_an_empty_table(self) -> None:
        table = table_of([])
        add(table, [])
        table.extend(empty(), 5)
        assert len(table) == 0
        assert facts(table)["keys"]["task_id"] is None


class TestPlaces:
    def test_a_row_at_hand_is_named_by_its_number(self) -> None:
        table = table_of(ROWS)
        origin = table.place(2)
        assert origin.where == "row 3"
        assert row_at(origin) is ROWS[2]

    def test_a_table_of_pieces_knows_where_its_rows_are(self, tmp_path: Path) -> None:
        source = rows_file(write_rows(tmp_path / "a", [{"task_id": f"a{i}"} for i in range(3)]))  # lines of 18 bytes
        tables = []
        for line in (1, 2, 3):
            table = empty()
            batch = batch_of([{"task_id": f"a{line - 1}", "reward": 1}])
            table.add(replace(batch, lines=range(1, 2), offsets=[(line - 1) * 18]), source)
            tables.append(table)
        whole = tables[0]
        whole.extend(sent(tables[1]), 1)
        whole.extend(sent(tables[2]), 2)
        assert places(whole) == [[f"{source.path}:{line}", (line - 1) * 18] for line in (1, 2, 3)]
        assert [row_at(whole.place(i))["task_id"] for i in range(3)] == ["a0", "a1", "a2"]
