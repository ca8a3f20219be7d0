"""Rows that a script has at hand say what they are themselves: nothing is lost when they or their table are copied."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import compare_rollouts, load_rollouts, summary_dict
from nemo_gym.rollout_compare.compare.categories import compare_tables
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.explain.findings import explain_flips
from nemo_gym.rollout_compare.schema import CompareInputError, Side
from nemo_gym.rollout_compare.table.table import Table
from tests.support import facts, summary, write_run

Rows = list[dict[str, Any]]


def by_json(rows: Rows) -> Rows:
    made: Rows = json.loads(json.dumps(rows))
    return made


COPIES: list[Callable[[Rows], Rows]] = [
    lambda rows: rows,
    lambda rows: [{**row} for row in rows],
    by_json,
    copy.deepcopy,
    lambda rows: pickle.loads(pickle.dumps(rows)),  # noqa: S301  # made in this line
]
NAMES = ["themselves", "copied", "by way of JSON", "deep-copied", "pickled"]


def attempt(index: int, rollout: int, **fields: Any) -> dict[str, Any]:
    return {"_ng_task_index": index, "_ng_rollout_index": rollout, **fields}


@pytest.fixture
def pattern(tmp_path: Path) -> Path:
    """A run of two shards, both with failures that name no task."""
    write_run(
        tmp_path / "s1.jsonl",
        [attempt(0, 0, task_id="a", reward=1), attempt(1, 0, task_id="b", reward=1)],
        [attempt(1, 1), {"failure_kind": "k"}],
    )
    write_run(tmp_path / "s2.jsonl", [attempt(0, 0, task_id="c", reward=0)], [attempt(0, 1), attempt(1, 1)])
    return tmp_path / "s?.jsonl"


@pytest.mark.parametrize("copied", COPIES, ids=NAMES)
class TestCopies:
    def test_rows_of_shards_with_failures_compare_as_the_command_does(
        self, pattern: Path, copied: Callable[[Rows], Rows]
    ) -> None:
        rows = copied(load_rollouts(pattern))
        result = explain_flips(compare_rollouts(rows, rows), [])
        told, commands = json.loads(json.dumps(summary_dict(result))), summary(pattern, pattern)
        for name in ("run", "facts"):  # rows at hand are of no file
            del told[name], commands[name]
        commands["notes"] = [note for note in commands["notes"] if "compared with itself" not in note]
        assert told == commands
        assert {task.task: task.new.rows for task in result.tasks if task.new} == {
            "a": 1,
            "b": 2,
            "c": 2,
            "unknown#3": 1,
            "unknown#4": 1,
        }

    def test_a_failure_that_names_no_task_has_no_say(self, tmp_path: Path, copied: Callable[[Rows], Rows]) -> None:
        path = write_run(tmp_path / "r.jsonl", [attempt(0, 0, task_id="a", reward=1)], [attempt(5, 0)])
        table = table_of(copied(load_rollouts(path)))
        assert facts(table)["anonymous"] == [1]
        assert table.keys["task_id"].first_missing is None


def shuffled_kinds(*kinds: tuple[int, bool]) -> Rows:
    return [
        {
            "task_id": f"t{i}",
            "_ng_shard": shard,
            **({"_ng_failed_attempt": True, "mask_sample": True} if failed else {}),
        }
        for i, (shard, failed) in enumerate(kinds)
    ]


class TestShards:
    def test_the_rows_of_a_shard_may_stand_anywhere(self) -> None:
        table = table_of(shuffled_kinds((1, False), (0, False), (1, True), (1, False), (0, True), (0, True)))
        assert table.shards == [0, 1]
        assert [list(table.rows_of(shard)) for shard in (0, 1)] == [[1], [0, 3]]
        assert [list(table.rows_beside(shard)) for shard in (0, 1)] == [[1, 4, 5], [0, 3, 2]]

    @pytest.mark.parametrize("shard", [None, "1", True, 1.0, [1]])
    def test_what_is_not_a_number_is_the_first_shard(self, shard: Any) -> None:
        assert table_of([{"task_id": "a", "_ng_shard": shard}]).shards == [0]

    def test_an_error_names_the_row_by_its_number_among_all(self) -> None:
        rows = shuffled_kinds((0, False), (1, False), (1, False))
        rows[2]["reward"] = "x"
        with pytest.raises(CompareInputError, match=r"^row 3: reward 'x' is not a number \(task t2\)$"):
            table_of(rows)


@pytest.fixture
def tables(pattern: Path) -> dict[Side, Table]:
    old = load_rollouts(pattern)
    new = [
        {**row, "reward": 0, "test_output": "E   AssertionError: boom"} if i == 0 else row for i, row in enumerate(old)
    ]
    return {Side.OLD: table_of(old), Side.NEW: table_of(new)}


def said(tables: dict[Side, Table]) -> Any:
    return summary_dict(explain_flips(compare_tables(tables), []))


def test_tables_are_not_used_up(tables: dict[Side, Table]) -> None:
    before = {side: facts(table) for side, table in tables.items()}
    first = said(tables)
    assert first["counts"]["flipped"] == 1
    assert said(tables) == first
    assert {side: facts(table) for side, table in tables.items()} == before
    assert said({Side.OLD: tables[Side.OLD], Side.NEW: tables[Side.OLD]})["counts"]["flipped"] == 0


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))],  # noqa: S301  # made in this line
    ids=["deep-copied", "pickled"],
)
@pytest.mark.parametrize("sides", [(Side.OLD,), (Side.NEW,), tuple(Side)], ids=str)
def test_a_copied_table_joins_the_same(
    tables: dict[Side, Table], copied: Callable[[Table], Table], sides: Sequence[Side]
) -> None:
    expected = said(tables)
    assert said({side: copied(table) if side in sides else table for side, table in tables.items()}) == expected


ASKED: list[Any] = ["do it", "x" * 500, [{"role": "user", "content": "a"}, {"role": "assistant", "content": "é"}], None]


def test_every_interpreter_gives_an_input_the_same_number() -> None:
    code = (
        "import json, sys; from nemo_gym.rollout_compare.engine.rows_at_hand import table_of; "
        "print([*table_of(json.loads(sys.argv[1])).inputs])"
    )
    rows = [{"task_id": "a", "responses_create_params": {"input": asked}} for asked in ASKED]
    told = [
        subprocess.run(
            [sys.executable, "-c", code, json.dumps(rows)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    numbers = json.loads(told[0])
    assert numbers == list(table_of(rows).inputs)
    assert numbers[-1] == 0
    assert len(set(numbers)) == 4
