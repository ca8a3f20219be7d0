"""What the package exports, used as a script uses it."""

from __future__ import annotations

import gc
import io
import json
import math
import re
from collections.abc import Callable
from importlib import resources
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

import pytest

import nemo_gym.rollout_compare as api
from nemo_gym.rollout_compare import (
    Category,
    CompareInputError,
    RolloutCompareConfig,
    compare_rollouts,
    detect_task_key,
    explain_flips,
    load_rollouts,
    render_report,
    run_compare,
    summarize_side,
    summary_dict,
    tail_lines,
    verifier_output,
)
from nemo_gym.rollout_compare.compare import Questions
from nemo_gym.rollout_compare.report.notes import note_message, note_names, note_text
from tests import typing_user_code
from tests.support import write_rows

FUNCTIONS = {
    "run_compare": ["config", "out=None"],
    "load_rollouts": ["path"],
    "compare_rollouts": ["old_rows", "new_rows", "key=None", f"questions={Questions()!r}"],
    "render_report": ["result", "roots", "tail=15"],
    "summary_dict": ["result"],
    "explain_flips": ["result", "roots", "tail=15"],
    "detect_task_key": ["rows"],
    "task_id_of": ["row", "key", "*with_taskset=False"],
    "tasksets_of": ["rows", "key"],
    "mask_reason": ["row"],
    "agent_error": ["row"],
    "measured_failure_kind": ["row"],
    "summarize_side": ["rows"],
    "verifier_output": ["row", "roots"],
    "tail_lines": ["text", "count"],
}
CLASSES = {
    "RolloutCompareConfig": ["old_rollouts", "new_rollouts", "key", "tail", "json_output", "json_stdout", "logs_root"],
    "CompareInputError": [],
    "CompareResult": [
        *["tasks", "old_key", "new_key", "old_rows", "new_rows", "old_masked_rows", "new_masked_rows"],
        *["old_prefix_stripped", "new_prefix_stripped", "keyed_by_taskset", "notes", "by_category", "counts"],
    ],
    "TaskComparison": ["task", "category", "old", "new", "winner", "loser"],
    "TaskSide": ["rows", "reward", "masked", "agent_error", "reward_rows", "failure_kind", "repeated", "reward_text"],
}

Rows = list[dict[str, Any]]


def _categories(result: api.CompareResult) -> dict[str, str]:
    return {task.task: str(task.category) for task in result.tasks}


class TestExports:
    @pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
    def test_every_documented_name_is_exported(self, name: str) -> None:
        assert name in api.__all__
        assert callable(getattr(api, name))

    @pytest.mark.parametrize("name", api.__all__)
    def test_every_exported_name_exists_and_is_documented(self, name: str) -> None:
        assert getattr(api, name).__doc__

    @pytest.mark.parametrize(("name", "parameters"), FUNCTIONS.items())
    def test_a_function_takes_what_is_documented(self, name: str, parameters: list[str]) -> None:
        found = []
        for parameter in signature(getattr(api, name)).parameters.values():
            star = "*" if parameter.kind is parameter.KEYWORD_ONLY else ""
            default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
            found.append(f"{star}{parameter.name}{default}")
        assert found == parameters

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_function_is_typed(self, name: str) -> None:
        function = getattr(api, name)
        assert get_type_hints(function).keys() == {*signature(function).parameters, "return"}

    @pytest.mark.parametrize(("name", "attributes"), CLASSES.items())
    def test_a_class_has_what_is_documented(self, name: str, attributes: list[str]) -> None:
        cls = getattr(api, name)
        fields = {**getattr(cls, "__dataclass_fields__", {}), **getattr(cls, "model_fields", {})}
        assert not [attribute for attribute in attributes if attribute not in fields and not hasattr(cls, attribute)]

    def test_the_package_says_that_it_is_typed(self) -> None:
        assert resources.files(api).joinpath("py.typed").is_file()


class TestLoadRollouts:
    def test_gives_every_row_whole_and_in_order(self, tmp_path: Path) -> None:
        rows: Rows = [{"task_id": "b", "reward": 1, "response": {"output": [1, 2]}}, {"task_id": "a", "reward": None}]
        assert load_rollouts(write_rows(tmp_path / "run.jsonl", rows)) == rows

    @pytest.mark.parametrize("kind", [Path, str])
    def test_takes_a_path_or_its_text(self, tmp_path: Path, kind: Callable[[Path], Path | str]) -> None:
        path = write_rows(tmp_path / "run.jsonl", [{"task_id": "a"}])
        assert load_rollouts(kind(path)) == [{"task_id": "a"}]

    def test_gives_no_rows_of_an_empty_file(self, tmp_path: Path) -> None:
        assert load_rollouts(write_rows(tmp_path / "run.jsonl", [])) == []

    def test_reads_lines_as_the_command_does(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        path.write_bytes(
            b'\xef\xbb\xbf{"task_id": "a", "reward": NaN}\r\n \t\n\n'
            b'{"task_id": "caf\xe9\xe2\x80\xa8", "reward": 0, "reward": 1}'
        )
        first, second = load_rollouts(path)
        assert first["task_id"] == "a"
        assert math.isnan(first["reward"])
        assert second == {"task_id": "caf\ufffd\u2028", "reward": 1}

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"task_id": "t", "reward": "1"}', "reward '1' is not a number (task t)"),
            ('{"task_id": "t", "reward": true}', "reward True is not a number (task t)"),
            ('{"name": "t", "reward": []}', "reward [] is not a number (task unknown)"),
            (
                '{"verifier_metadata": {"id": "v"}, "reward": 1, "mask_sample": "no"}',
                "mask_sample 'no' is not true or false (task v)",
            ),
            ("[1]", "expected a JSON object per line"),
        ],
    )
    def test_names_the_line_and_the_task_of_a_broken_row(self, tmp_path: Path, line: str, message: str) -> None:
        path = tmp_path / "run.jsonl"
        path.write_text(f'{{"task_id": "fine", "reward": 1}}\n\n{line}\n{{"task_id": "z", "reward": 0}}\n')
        with pytest.raises(CompareInputError) as caught:
            load_rollouts(path)
        assert str(caught.value) == f"{path}:3: {message}"

    def test_names_the_line_that_is_no_json(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        path.write_text('{"reward": 1}\n{"reward": \n{"reward": 1}\n')
        with pytest.raises(CompareInputError) as caught:
            load_rollouts(path)
        assert str(caught.value).startswith(f"{path}:2: invalid JSON (")
        assert "killed" not in str(caught.value)

    def test_says_of_a_last_line_cut_off_that_the_run_may_still_write(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        path.write_text('{"reward": 1}\n{"task_id": "b", "rewa')
        with pytest.raises(CompareInputError) as caught:
            load_rollouts(path)
        assert str(caught.value).startswith(f"{path}:2: invalid JSON (")
        assert "may still be writing" in str(caught.value)
        assert "killed" in str(caught.value)

    @pytest.mark.parametrize("name", ["absent.jsonl", ".", "absent/run.jsonl"])
    def test_says_of_what_cannot_be_opened_why(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        with pytest.raises(CompareInputError) as caught:
            load_rollouts(path)
        assert str(caught.value).startswith(f"cannot read {path}: ")

    def test_adds_a_masked_row_for_a_failure_that_stands(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "run.jsonl", [{"task_id": "a", "reward": 1.0}])
        failure = {
            "task_id": "b",
            "_ng_task_index": 1,
            "_ng_rollout_index": 0,
            "reward": 1.0,
            "_ng_failure_class": "timeout",
            "_ng_failure_message": "took too long",
        }
        write_rows(tmp_path / "run_failures.jsonl", [failure])
        first, second = load_rollouts(path)
        assert first == {"task_id": "a", "reward": 1.0}
        masked = {name: second[name] for name in ("task_id", "mask_sample", "reward", "failure_kind", "failure_reason")}
        assert masked == {
            "task_id": "b",
            "mask_sample": True,
            "reward": None,
            "failure_kind": "timeout",
            "failure_reason": "took too long",
        }

    @pytest.mark.parametrize(
        ("recorded", "kind", "reason"),
        [
            ({}, "failure", None),
            ({"_ng_failure_class": "oom", "_ng_failure_message": "no memory"}, "oom", "no memory"),
            (
                {
                    "failure_kind": "timeout",
                    "failure_reason": "late",
                    "_ng_failure_class": "oom",
                    "_ng_failure_message": "no memory",
                },
                "timeout",
                "late",
            ),
        ],
    )
    def test_a_failures_kind_and_reason_are_as_recorded(
        self, tmp_path: Path, recorded: dict[str, str], kind: str, reason: str | None
    ) -> None:
        write_rows(tmp_path / "run_failures.jsonl", [{"task_id": "b", **recorded}])
        (row,) = load_rollouts(write_rows(tmp_path / "run.jsonl", []))
        assert (row["failure_kind"], row.get("failure_reason")) == (kind, reason)

    @pytest.mark.parametrize(
        ("records", "standing"),
        [
            ([{"_ng_task_index": 0, "_ng_rollout_index": 0}], []),
            ([{"_ng_task_index": 0, "_ng_rollout_index": 1}], [(0, 1)]),
            ([{"_ng_task_index": 0}, {"_ng_task_index": 0}], [(0, None), (0, None)]),
            ([{"_ng_task_index": 5, "_ng_rollout_index": 0}] * 3, [(5, 0)]),
            ([{"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_unrouted_run_error": True}], []),
            ([{"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_dispatch_drained": True}], []),
            ([{"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_omitted_rollout": True}], []),
            (
                [
                    {"_ng_task_index": 5, "_ng_rollout_index": 0},
                    {"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_omitted_rollout": True},
                ],
                [],
            ),
            (
                [
                    {"_ng_task_index": 5, "_ng_rollout_index": 0},
                    {"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_dispatch_drained": True},
                ],
                [(5, 0)],
            ),
            (
                [
                    {"_ng_task_index": 5, "_ng_rollout_index": 0, "_ng_omitted_rollout": True},
                    {"_ng_task_index": 5, "_ng_rollout_index": 0},
                ],
                [(5, 0)],
            ),
        ],
    )
    def test_which_failures_stand(
        self, tmp_path: Path, records: list[dict[str, Any]], standing: list[tuple[int, int | None]]
    ) -> None:
        main = [{"_ng_task_index": 0, "_ng_rollout_index": 0, "task_id": "a", "reward": 1.0}]
        write_rows(tmp_path / "run_failures.jsonl", [{"task_id": "a", **record} for record in records])
        _, *failures = load_rollouts(write_rows(tmp_path / "run.jsonl", main))
        assert [(row["_ng_task_index"], row.get("_ng_rollout_index")) for row in failures] == standing

    def test_the_last_record_of_an_attempt_is_the_one_that_stands(self, tmp_path: Path) -> None:
        attempt = {"task_id": "a", "_ng_task_index": 0, "_ng_rollout_index": 0}
        records = [{**attempt, "failure_kind": "first"}, {**attempt, "failure_kind": "last"}]
        write_rows(tmp_path / "run_failures.jsonl", records)
        (row,) = load_rollouts(write_rows(tmp_path / "run.jsonl", []))
        assert row["failure_kind"] == "last"

    def test_names_the_sidecars_line_that_is_broken(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "run.jsonl", [{"task_id": "a", "reward": 1.0}])
        sidecar = tmp_path / "run_failures.jsonl"
        sidecar.write_text('{"task_id": "a"}\n[]\n')
        with pytest.raises(CompareInputError) as caught:
            load_rollouts(path)
        assert str(caught.value) == f"{sidecar}:2: expected a JSON object per line"


class TestCompareRollouts:
    @pytest.mark.parametrize(
        ("old", "new", "category", "winner"),
        [
            ({"reward": 1.0}, {"reward": 1}, "identical", None),
            ({"reward": 0.0}, {"reward": -0.0}, "identical", None),
            ({"reward": 0.0}, {"reward": 1e-9}, "identical", None),
            ({"reward": 1e-9}, {"reward": 0.0}, "identical", None),
            ({"reward": 0.0}, {"reward": 1.1e-9}, "flipped", "new"),
            ({"reward": 1e12}, {"reward": 1e12 + 1}, "flipped", "new"),
            ({"reward": 1.0}, {"reward": 0.0}, "flipped", "old"),
            ({"reward": -1}, {"reward": -2}, "flipped", "old"),
            ({"reward": 1e308}, {"reward": -1e308}, "flipped", "old"),
            ({"reward": 1.0}, {"reward": 0.0, "error": "x"}, "flipped_agent_error", "old"),
            ({"reward": 1.0, "error": "x"}, {"reward": 0.0}, "flipped_agent_error", "old"),
            ({"reward": 1.0, "error": "x"}, {"reward": 1.0}, "identical", None),
            ({"reward": 1.0, "failure_kind": "k"}, {"reward": 0.0}, "flipped", "old"),
            ({"reward": 1.0, "mask_sample": True}, {"reward": 1.0}, "masked", None),
            ({"reward": 1.0}, {"reward": 0.0, "mask_sample": True, "error": "x"}, "masked", None),
            ({"reward": 1.0}, {}, "masked", None),
            ({"reward": None}, {"reward": None}, "masked", None),
            ({"reward": math.nan}, {"reward": math.nan}, "masked", None),
            ({"reward": math.inf}, {"reward": math.inf}, "masked", None),
        ],
    )
    def test_the_first_rule_that_applies_is_the_category(
        self, old: dict[str, Any], new: dict[str, Any], category: str, winner: str | None
    ) -> None:
        (task,) = compare_rollouts([{"task_id": "a", **old}], [{"task_id": "a", **new}]).tasks
        loser = {"old": "new", "new": "old", None: None}[winner]
        assert (task.category, task.winner, task.loser) == (category, winner, loser)

    @pytest.mark.parametrize("row", [{"reward": 1.0}, {"reward": None}, {"reward": 1.0, "mask_sample": True}])
    def test_a_task_on_one_side_is_missing_masked_or_not(self, row: dict[str, Any]) -> None:
        here, there = {"task_id": "a", **row}, {"task_id": "b", "reward": 1.0}
        assert _categories(compare_rollouts([here, there], [there])) == {"a": "missing", "b": "identical"}
        assert _categories(compare_rollouts([there], [there, here])) == {"a": "missing", "b": "identical"}

    def test_tasks_stand_in_the_order_of_their_labels(self) -> None:
        labels = ["b", "a10", "a2", "B", "\u00e9", "", "unknown#1", "10", "9", "\U0001f600", "\uffff"]
        old = [{"task_id": label, "reward": 1} for label in labels[:6]]
        new = [{"task_id": label, "reward": 1} for label in labels[5:]]
        assert [task.task for task in compare_rollouts(old, new).tasks] == [
            *["", "10", "9", "B", "a10", "a2", "b", "unknown#1", "\u00e9", "\uffff", "\U0001f600"]
        ]

    def test_anonymous_failures_stand_last_numbered_through_old_then_new(self, tmp_path: Path) -> None:
        for side in ("old", "new"):
            write_rows(
                tmp_path / f"{side}.jsonl", [{"task_id": "unknown#1", "reward": 1}, {"task_id": "z", "reward": 1}]
            )
        write_rows(tmp_path / "old_failures.jsonl", [{"failure_kind": "k1"}])
        write_rows(tmp_path / "new_failures.jsonl", [{"failure_kind": "k2"}, {"failure_kind": "k3"}])
        result = compare_rollouts(load_rollouts(tmp_path / "old.jsonl"), load_rollouts(tmp_path / "new.jsonl"))
        told = [
            (task.task, task.category, task.old and task.old.masked, task.new and task.new.masked)
            for task in result.tasks
        ]
        assert told == [
            ("unknown#1", "identical", None, None),
            ("z", "identical", None, None),
            ("unknown#1", "masked", "mask_sample (failure_kind=k1)", None),
            ("unknown#2", "masked", None, "mask_sample (failure_kind=k2)"),
            ("unknown#3", "masked", None, "mask_sample (failure_kind=k3)"),
        ]
        assert (result.counts()["masked_old"], result.counts()["masked_new"]) == (1, 2)

    def test_an_anonymous_failure_is_the_task_of_the_first_row_with_its_index(self, tmp_path: Path) -> None:
        rows = [
            {"_ng_task_index": 4, "_ng_rollout_index": 0, "task_id": "a", "reward": 1.0},
            {"_ng_task_index": 4, "_ng_rollout_index": 1, "task_id": "b", "reward": 1.0},
        ]
        write_rows(tmp_path / "run.jsonl", rows)
        write_rows(tmp_path / "run_failures.jsonl", [{"_ng_task_index": 4, "_ng_rollout_index": 2}])
        result = compare_rollouts(load_rollouts(tmp_path / "run.jsonl"), rows)
        assert _categories(result) == {"a": "masked", "b": "identical"}

    def test_an_anonymous_failure_is_not_the_task_of_another_failure_with_its_index(self, tmp_path: Path) -> None:
        main = [{"task_id": "a", "reward": 1.0}]
        write_rows(tmp_path / "run.jsonl", main)
        failures: Rows = [{"_ng_task_index": 4, "task_id": "b"}, {"_ng_task_index": 4}]
        write_rows(tmp_path / "run_failures.jsonl", failures)
        result = compare_rollouts(load_rollouts(tmp_path / "run.jsonl"), main)
        assert _categories(result) == {"a": "identical", "b": "missing", "unknown#1": "masked"}

    def test_counts_rows_and_masked_rows_of_each_side(self) -> None:
        old: Rows = [{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": None}, {"task_id": "b", "reward": 1}]
        result = compare_rollouts(old, [{"task_id": "a", "reward": 1, "mask_sample": 1}])
        assert (result.old_rows, result.new_rows) == (3, 1)
        assert (result.old_masked_rows, result.new_masked_rows) == (1, 1)

    def test_finds_each_sides_key_by_itself(self) -> None:
        old: Rows = [{"task_name": "a", "task_id": 1, "reward": 1}, {"task_name": None, "task_id": 2, "reward": 1}]
        new: Rows = [{"verifier_metadata": {"id": 2}, "reward": 1}]
        result = compare_rollouts(old, new)
        assert (result.old_key, result.new_key) == ("task_id", "verifier_metadata.id")
        assert _categories(result) == {"1": "missing", "2": "identical"}

    @pytest.mark.parametrize("swap", [False, True])
    def test_an_empty_side_takes_the_others_key(self, swap: bool) -> None:
        sides: list[list[dict[str, Any]]] = [[], [{"task_name": "a", "reward": 1}]]
        old, new = sides[::-1] if swap else sides
        result = compare_rollouts(old, new)
        assert (result.old_key, result.new_key) == ("task_name", "task_name")
        assert _categories(result) == {"a": "missing"}

    def test_a_given_key_is_used_for_both_sides_and_not_second_guessed(self) -> None:
        old = [{"task_id": "a", "slot": {"n": 1}, "reward": 1}, {"task_id": "b", "slot": {"n": 1}, "reward": 0}]
        result = compare_rollouts(old, [{"slot": {"n": 1}, "reward": 0.5}], key="slot.n")
        assert (result.old_key, result.new_key) == ("slot.n", "slot.n")
        assert _categories(result) == {"1": "identical"}

    def test_a_given_key_that_a_row_lacks_is_an_error_that_names_the_rows_keys(self) -> None:
        with pytest.raises(CompareInputError, match=r"row has no 'slot' field \(keys: task_id, reward\)$"):
            compare_rollouts([{"task_id": "a", "reward": 1}], [{"slot": 1, "reward": 1}], "slot")

    def test_without_a_key_the_error_says_how_far_each_candidate_stands(self) -> None:
        rows = [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 1}, {"task_name": "c", "reward": 1}]
        with pytest.raises(CompareInputError) as caught:
            compare_rollouts(rows, rows)
        message = str(caught.value)
        stands = {
            "task_id": 2,
            "task_name": 1,
            "_ng_task_id": 0,
            "verifier_metadata.task_id": 0,
            "verifier_metadata.id": 0,
        }
        told = {path: re.search(rf"(?<![\w.]){re.escape(path)}[ a-z]* (\d+)\b", message) for path in stands}
        assert {path: match and int(match[1]) for path, match in told.items()} == stands
        assert re.search(r"\b3 rows\b", message)
        assert "--key" in message
        assert "row 3" in message

    def test_strips_the_prefix_that_one_side_alone_has(self) -> None:
        old = [{"task_id": "bench/a", "reward": 1}, {"task_id": "bench/b", "reward": 1}]
        result = compare_rollouts(old, [{"task_id": "a", "reward": 1}])
        assert (result.old_prefix_stripped, result.new_prefix_stripped) == ("bench/", None)
        assert _categories(result) == {"a": "identical", "b": "missing"}

    def test_strips_the_prefix_even_if_no_task_joins_then(self) -> None:
        result = compare_rollouts([{"task_id": "a", "reward": 1}], [{"task_id": "bench/b", "reward": 1}])
        assert (result.old_prefix_stripped, result.new_prefix_stripped) == (None, "bench/")
        assert _categories(result) == {"a": "missing", "b": "missing"}

    def test_failures_without_a_vote_are_not_among_the_rows_that_a_key_is_missing_from(self, tmp_path: Path) -> None:
        write_rows(tmp_path / "run.jsonl", [{"task_id": "a", "reward": 1}, {"task_name": "b", "reward": 1}])
        write_rows(tmp_path / "run_failures.jsonl", [{"failure_kind": "x"}] * 3)
        rows = load_rollouts(tmp_path / "run.jsonl")
        with pytest.raises(CompareInputError, match=r"\b2 rows\b"):
            compare_rollouts(rows, rows)

    @pytest.mark.parametrize("swap", [False, True])
    def test_strips_a_prefix_of_several_parts_whole(self, swap: bool) -> None:
        sides = [[{"task_id": f"org/bench/{task}", "reward": 1} for task in "ab"], [{"task_id": "a", "reward": 1}]]
        old, new = sides[::-1] if swap else sides
        result = compare_rollouts(old, new)
        prefixes = (result.old_prefix_stripped, result.new_prefix_stripped)
        assert prefixes == ((None, "org/bench/") if swap else ("org/bench/", None))
        assert _categories(result) == {"a": "identical", "b": "missing"}

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (["bench/a"], ["a", "bench/x"]),
            (["bench/a", "b"], ["a"]),
            (["bench/a", "other/b"], ["a", "b"]),
            (["bench/a", "bench/b"], ["bench/a", "b"]),
            (["bench/a"], ["bench/b"]),
            (["bencha"], ["a"]),
        ],
    )
    def test_strips_nothing_else(self, old: list[str], new: list[str]) -> None:
        old_rows, new_rows = ([{"task_id": label, "reward": 1} for label in labels] for labels in (old, new))
        result = compare_rollouts(old_rows, new_rows)
        assert (result.old_prefix_stripped, result.new_prefix_stripped) == (None, None)
        assert set(_categories(result)) == {*old, *new}

    def test_never_strips_both_sides(self) -> None:
        old, new = ([{"task_id": f"{prefix}/a", "reward": 1}] for prefix in ("one", "two"))
        result = compare_rollouts(old, new)
        assert None in (result.old_prefix_stripped, result.new_prefix_stripped)

    @pytest.mark.parametrize("field", ["task_id", "id"])
    def test_sides_of_several_tasksets_join_within_them(self, field: str) -> None:
        ids = [("R", "a"), ("S", "a"), ("S", "b")]
        rows = [{"task_id": {"taskset": taskset, field: task}, "reward": i} for i, (taskset, task) in enumerate(ids)]
        result = compare_rollouts(rows, rows[::-1])
        assert result.keyed_by_taskset
        assert _categories(result) == {"R/a": "identical", "S/a": "identical", "S/b": "identical"}

    def test_a_plain_id_joins_the_only_task_of_that_id_and_an_ambiguous_one_is_noted(self) -> None:
        ids = [("R", "only"), ("R", "shared"), ("S", "shared")]
        old = [{"task_id": {"taskset": taskset, "task_id": task}, "reward": 1} for taskset, task in ids]
        new = [{"task_id": "only", "reward": 1}, {"task_id": "shared", "reward": 1}]
        result = compare_rollouts(old, new)
        assert not result.keyed_by_taskset
        assert _categories(result) == {
            "R/shared": "missing",
            "S/shared": "missing",
            "only": "identical",
            "shared": "missing",
        }
        assert any("shared" in note_text(note) for note in result.notes)

    def test_a_shared_id_joins_in_the_plain_sides_own_taskset(self) -> None:
        keyed = [{"task_id": {"taskset": taskset, "task_id": "a"}, "reward": 1} for taskset in ("R", "S")]
        own = [{"task_id": {"taskset": "S", "task_id": "a"}, "reward": 1}]
        counts = compare_rollouts(keyed, own).counts()
        assert (counts["identical"], counts["missing_old_only"], counts["tasks"]) == (1, 1, 2)

    def test_one_taskset_on_each_side_joins_by_the_id(self) -> None:
        old = [{"task_id": {"taskset": "v1", "task_id": "a"}, "reward": 1}]
        new = [{"task_id": {"taskset": "v2", "task_id": "a"}, "reward": 1}]
        assert _categories(compare_rollouts(old, new)) == {"a": "identical"}

    @pytest.mark.parametrize("both", [False, True])
    def test_notes_name_the_tasksets_of_a_keyed_side(self, both: bool) -> None:
        keyed = [{"task_id": {"taskset": taskset, "task_id": taskset.lower()}, "reward": 1} for taskset in ("R", "S")]
        notes = compare_rollouts(keyed, keyed if both else [{"task_id": "r", "reward": 1}]).notes
        assert [note_names(note) for note in notes if "taskset" in note_message(note)] == [("R", "S")] * (
            2 if both else 1
        )
        assert not compare_rollouts(keyed[:1], keyed[:1]).notes

    def test_notes_say_which_tasks_have_several_rows_on_either_side(self) -> None:
        one, two = ([{"task_id": task, "reward": 1}] for task in ("one", "two"))
        old, new, unequal = compare_rollouts(one + two * 2, one * 2 + two).notes
        assert (old.tasks, new.tasks, unequal.tasks) == (("two",), ("one",), ("one", "two"))
        assert note_message(old).startswith("the old run has several rows a task (1 task x 2 attempts)")
        assert note_message(new).startswith("the new run has several rows a task (1 task x 2 attempts)")
        assert note_message(unequal) == "2 of 2 joined tasks have different numbers of attempts on the two sides"
        (both,) = compare_rollouts(one * 2 + two * 3, one * 2 + two * 3).notes
        assert both.tasks == ("one", "two")
        assert note_message(both).startswith("both runs have several rows a task (2 tasks x 2 to 3 attempts)")

    def test_notes_say_that_a_task_has_several_rows(self) -> None:
        rows = [
            {"task_id": "many-rows", "reward": 1},
            {"task_id": "many-rows", "reward": 0},
            {"task_id": "once", "reward": 1},
        ]
        several, unequal = compare_rollouts(rows, rows[1:]).notes
        assert several.tasks == unequal.tasks == ("many-rows",)
        assert "old" in note_message(several)
        assert note_message(unequal) == "1 of 2 joined tasks has different numbers of attempts on the two sides"

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"reward": "1"}, "reward '1' is not a number (task b)"),
            ({"reward": 10**400}, "(task b)"),
            ({"reward": 1, "mask_sample": 2}, "mask_sample 2 is not true or false (task b)"),
        ],
    )
    def test_a_broken_row_is_an_error_that_names_its_task(self, row: dict[str, Any], message: str) -> None:
        rows = [{"task_id": "a", "reward": 1}]
        with pytest.raises(CompareInputError) as caught:
            compare_rollouts(rows, [*rows, {"task_id": "b", **row}])
        assert str(caught.value).endswith(message)
        assert "row 2" in str(caught.value)

    def test_takes_any_mappings_and_any_sequences(self) -> None:
        row = MappingProxyType({"verifier_metadata": MappingProxyType({"task_id": "a"}), "reward": 1.0})
        assert _categories(compare_rollouts((row,), [row])) == {"a": "identical"}

    def test_leaves_the_rows_as_they_were(self) -> None:
        rows = [{"task_id": {"taskset": "S", "task_id": "a"}, "reward": 1.0, "response": {"metadata": {}}}]
        before = json.dumps(rows)
        compare_rollouts(rows, rows)
        assert json.dumps(rows) == before


class TestDetectTaskKey:
    @pytest.mark.parametrize(
        ("rows", "key"),
        [
            ([{"task_name": "a"}, {"task_name": "b", "_ng_task_id": 1}], "task_name"),
            ([{"task_name": "a", "_ng_task_id": 1}, {"_ng_task_id": 2}], "_ng_task_id"),
            ([{"task_name": "a", "task_id": "a"}], "task_name"),
            ([{"task_id": 0}], "task_id"),
            ([{"task_id": "", "verifier_metadata": {"task_id": "x"}}], "task_id"),
            ([{"task_id": None, "verifier_metadata": {"task_id": "x"}}], "verifier_metadata.task_id"),
            ([{"verifier_metadata": {"task_name": "n", "instance_id": "i", "id": 1}}], "verifier_metadata.task_name"),
            ([{"verifier_metadata": {"instance_id": "i", "id": 1}}], "verifier_metadata.instance_id"),
            ([{"verifier_metadata": {"id": 1}}], "verifier_metadata.id"),
            ([{"task_id": "a"}, {"task_name": "b"}], None),
            ([{"id": "a"}], "id"),
            ([{"id": "a", "verifier_metadata": {"id": 1}}], "verifier_metadata.id"),
            ([{"id": "a", "uuid": "u", "instance_id": "i"}, {"id": "b", "uuid": "v"}], "uuid"),
            ([{"name": "a"}], None),
            ([], None),
        ],
    )
    def test_is_the_first_candidate_that_every_row_carries(self, rows: list[dict[str, Any]], key: str | None) -> None:
        assert detect_task_key(rows) == key

    def test_failures_that_name_no_task_have_no_vote(self, tmp_path: Path) -> None:
        write_rows(tmp_path / "run_failures.jsonl", [{"failure_kind": "x"}])
        rows = load_rollouts(write_rows(tmp_path / "run.jsonl", [{"task_id": "a", "reward": 1}]))
        assert len(rows) == 2
        assert detect_task_key(rows) == "task_id"

    def test_failures_that_name_a_task_have_one(self, tmp_path: Path) -> None:
        write_rows(tmp_path / "run_failures.jsonl", [{"task_name": "a"}])
        main = [{"task_id": 1, "task_name": "a", "reward": 1}, {"task_id": 2, "task_name": "b", "reward": 1}]
        write_rows(tmp_path / "run.jsonl", main)
        assert detect_task_key(load_rollouts(tmp_path / "run.jsonl")) == "task_name"
        write_rows(tmp_path / "run_failures.jsonl", [{"task_id": 1}])
        assert detect_task_key(load_rollouts(tmp_path / "run.jsonl")) == "task_id"


class TestSummarizeSide:
    @pytest.mark.parametrize(
        ("rewards", "mean", "reward_rows"),
        [
            ([1.0], 1.0, 1),
            ([0, 1], 0.5, 2),
            ([1, 0, 0], 1 / 3, 3),
            ([0.1] * 10, 0.1, 10),
            ([1e16, 1.0, -1e16], 1 / 3, 3),
            ([1.0, None, 0.0], 0.5, 2),
            ([math.nan, 1.0, math.inf], 1.0, 1),
            ([None], None, 0),
            ([math.nan, -math.inf], None, 0),
            ([1.7e308, 1.7e308], 1.7e308, 2),
            ([-1.7e308, -1.7e308, 1.7e308], -1.7e308 / 3, 3),
            ([5e-324, 5e-324], 5e-324, 2),
        ],
    )
    def test_the_reward_is_the_mean_of_the_finite_ones(
        self, rewards: list[float | None], mean: float | None, reward_rows: int
    ) -> None:
        side = summarize_side([{"reward": reward} for reward in rewards])
        assert (side.reward, side.reward_rows, side.rows) == (mean, reward_rows, len(rewards))

    def test_the_rewards_of_masked_rows_count_in_the_mean(self) -> None:
        assert summarize_side([{"reward": 1.0, "mask_sample": True}, {"reward": 0.0}]).reward == 0.5

    @pytest.mark.parametrize(
        ("rows", "masked"),
        [
            ([{"reward": 1.0}], None),
            ([{"reward": 1.0}, {"reward": 0.0}], None),
            ([{"reward": None}], "no reward"),
            ([{"reward": 1.0}, {}], "1/2 rows masked: no reward"),
            ([{}, {"reward": 1.0, "mask_sample": True}, {"reward": 1}], "2/3 rows masked: no reward"),
            (
                [{"reward": 1}, {"reward": 0, "mask_sample": True, "failure_kind": "k"}, {}],
                "2/3 rows masked: mask_sample (failure_kind=k)",
            ),
            ([{"reward": math.nan}, {"reward": math.inf}], "2/2 rows masked: non-finite reward (nan)"),
        ],
    )
    def test_masked_is_the_first_reason_and_of_how_many_rows(
        self, rows: list[dict[str, Any]], masked: str | None
    ) -> None:
        assert summarize_side(rows).masked == masked

    def test_the_agent_error_and_the_failure_kind_are_the_first_found(self) -> None:
        side = summarize_side(
            [
                {"reward": 1.0},
                {"reward": 1.0, "error": "first", "mask_sample": None},
                {"reward": None, "failure_kind": "of a masked row"},
                {"reward": 1.0, "error": "second", "failure_kind": "measured"},
                {"reward": 1.0, "failure_kind": "later"},
            ]
        )
        assert (side.agent_error, side.failure_kind) == ("error: first", "measured")

    def test_without_rows_there_is_no_side(self) -> None:
        with pytest.raises(ValueError, match="at least one row"):
            summarize_side([])


class TestVerifierOutput:
    @pytest.mark.parametrize(
        ("row", "text", "field"),
        [
            ({"test_output": "a", "verifier_stdout": "b", "verifier_output": "c"}, "a", "test_output"),
            ({"test_output": " \n", "verifier_stdout": "b", "verifier_output": "c"}, "b", "verifier_stdout"),
            ({"test_output": ["a"], "verifier_stdout": None, "verifier_output": "c"}, "c", "verifier_output"),
        ],
    )
    def test_is_the_first_field_that_is_a_string_and_not_blank(
        self, row: dict[str, Any], text: str, field: str
    ) -> None:
        assert verifier_output(row, []) == (text, f"row field '{field}'")

    @pytest.mark.parametrize("row", [{}, {"test_output": ""}, {"verifier_output": {"text": "x"}}])
    def test_is_none_and_why_without_any(self, row: dict[str, Any]) -> None:
        text, why = verifier_output(row, [])
        assert text is None
        assert "verifier_logs_dir" in why
        assert "test_output" in why

    @pytest.mark.parametrize("kind", [Path, str])
    def test_is_the_log_under_a_root(self, tmp_path: Path, kind: Callable[[Path], Path | str]) -> None:
        log = tmp_path / "logs" / "1" / "test-stdout.txt"
        log.parent.mkdir(parents=True)
        log.write_bytes(b"caf\xe9\n1 failed\n")
        row = {"verifier_logs_dir": "logs/1", "test_output": "from the field"}
        assert verifier_output(row, [kind(tmp_path)]) == ("caf\ufffd\n1 failed\n", str(log))

    def test_is_the_field_where_the_log_is_not_found(self, tmp_path: Path) -> None:
        text, source = verifier_output({"verifier_logs_dir": "logs/1", "test_output": "1 failed"}, [tmp_path])
        assert text == "1 failed"
        assert source.startswith("row field 'test_output'")

    def test_says_where_it_looked(self, tmp_path: Path) -> None:
        text, why = verifier_output({"verifier_logs_dir": "logs/1"}, [tmp_path])
        assert text is None
        assert str(tmp_path / "logs" / "1") in why


class TestTailLines:
    @pytest.mark.parametrize(
        ("text", "count", "lines"),
        [
            ("a\nb\nc\n", 2, ["b", "c"]),
            ("a\nb\nc", 2, ["b", "c"]),
            ("a\nb", 5, ["a", "b"]),
            ("a\n\nb\n\n", 3, ["", "b", ""]),
            ("a", 0, []),
            ("a\r\nb\r\n", 2, ["a", "b"]),
            ("10%\r50%\r100%", 1, ["100%"]),
            ("10%\r50%\r100%\r\nnext", 2, ["100%", "next"]),
            ("\x1b[1;31mred\x1b[0m", 1, ["red"]),
            ("bell\x07", 1, [r"bell\x07"]),
            ("a\u2028b", 1, [r"a\u2028b"]),
            ("caf\u00e9", 1, ["caf\u00e9"]),
        ],
    )
    def test_gives_the_last_lines_safe_to_print(self, text: str, count: int, lines: list[str]) -> None:
        assert tail_lines(text, count) == lines


class TestRenderReport:
    ROWS = (
        [{"task_id": "a", "reward": 1}],
        [{"task_id": "a", "reward": 0, "test_output": "".join(f"l{i}\n" for i in range(40))}],
    )

    def _shown(self, report: str) -> list[str]:
        return [line.removeprefix("    | ") for line in report.splitlines() if line.startswith("    | ")]

    def test_ends_each_line(self) -> None:
        report = render_report(compare_rollouts(*self.ROWS), [])
        assert report.startswith("gym dev compare: 1 task (old 1 row, new 1 row)\n")
        assert report.endswith("## Missing (0)\n\ncannot tell: 100% -> 0% (-100 points); 1 lost, 0 won\n")

    def test_shows_fifteen_lines_of_output_unless_asked_otherwise(self) -> None:
        assert self._shown(render_report(compare_rollouts(*self.ROWS), [])) == [f"l{i}" for i in range(25, 40)]

    @pytest.mark.parametrize("tail", [1, 3, 40, 100])
    def test_shows_as_many_lines_as_asked(self, tail: int) -> None:
        report = render_report(compare_rollouts(*self.ROWS), [], tail)
        assert self._shown(report) == [f"l{i}" for i in range(max(0, 40 - tail), 40)]

    def test_shows_no_output_at_all_for_zero_lines(self) -> None:
        report = render_report(compare_rollouts(*self.ROWS), [], tail=0)
        assert "### a: old=1.0 new=0.0 -> old wins\n" in report
        assert "verifier output" not in report

    def test_shows_the_first_of_the_losing_sides_worst_rows(self) -> None:
        old = [{"task_id": "a", "reward": 1, "test_output": "winner"}]
        rewards = [0.5, 0.25, 0.75, 0.25]
        new = [{"task_id": "a", "reward": reward, "test_output": f"row {i}"} for i, reward in enumerate(rewards)]
        assert self._shown(render_report(compare_rollouts(old, new), [])) == ["row 1"]

    def test_looks_for_logs_under_the_roots(self, tmp_path: Path) -> None:
        log = tmp_path / "logs" / "test-stdout.txt"
        log.parent.mkdir()
        log.write_text("1 failed\n")
        rows = ([{"task_id": "a", "reward": 1}], [{"task_id": "a", "reward": 0, "verifier_logs_dir": "logs"}])
        report = render_report(compare_rollouts(*rows), [tmp_path])
        assert f"    new verifier output (last 1 line of {log}):\n    | 1 failed\n" in report


def _made_up_run(folder: Path, name: str, rewards: list[float | None]) -> Path:
    rows = [
        {"task_name": f"t{i}", "reward": reward, "test_output": f"output {i}", "error": "boom" if i == 3 else None}
        for i, reward in enumerate(rewards)
    ]
    write_rows(
        folder / f"{name}_failures.jsonl", [{"task_name": "t9", "failure_kind": "oom"}, {"failure_kind": "lost"}]
    )
    return write_rows(folder / f"{name}.jsonl", rows)


def test_the_library_and_the_command_tell_the_same(tmp_path: Path) -> None:
    old = _made_up_run(tmp_path, "old", [1.0, 0.0, None, 0.5, 1.0])
    new = _made_up_run(tmp_path, "new", [1.0, 1.0, 1.0, 0.25])
    result = compare_rollouts(load_rollouts(old), load_rollouts(new))
    said = []
    for json_stdout in (False, True):
        out = io.StringIO()
        config = RolloutCompareConfig(old_rollouts=str(old), new_rollouts=str(new), json_stdout=json_stdout)
        assert run_compare(config, out) == 0
        said.append(out.getvalue())
    title, old_files, new_files, *rest = said[0].splitlines(keepends=True)  # rows at hand are of no file
    assert old_files.startswith(f"old: {old} and 1 more file ")
    assert new_files.startswith(f"new: {new} and 1 more file ")
    assert "".join([title, *rest]) == render_report(result, [tmp_path])
    summary = json.loads(said[1])
    assert [file["path"] for file in summary["run"]["old"]["files"]] == [str(old), str(tmp_path / "old_failures.jsonl")]
    at_hand = json.loads(json.dumps(summary_dict(explain_flips(result, [tmp_path]))))
    assert at_hand == {**summary, "run": None}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"task_id": "t", "reward": "1"}], "reward '1' is not a number (task t)"),
        ([{"task_id": "t", "reward": 1, "mask_sample": "x"}], "mask_sample 'x' is not true or false (task t)"),
    ],
)
def test_a_broken_row_is_the_same_error_in_the_library_and_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], message: str
) -> None:
    path = write_rows(tmp_path / "run.jsonl", rows)
    with pytest.raises(CompareInputError) as caught:
        load_rollouts(path)
    assert str(caught.value) == f"{path}:1: {message}"
    assert run_compare(RolloutCompareConfig(old_rollouts=str(path), new_rollouts=str(path))) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {path}:1: {message}\n")


@pytest.mark.parametrize("enabled", [True, False])
def test_a_comparison_leaves_the_collection_of_garbage_as_it_was(tmp_path: Path, enabled: bool) -> None:
    path = str(write_rows(tmp_path / "run.jsonl", [{"task_id": "a", "reward": 1}]))
    try:
        (gc.enable if enabled else gc.disable)()
        assert run_compare(RolloutCompareConfig(old_rollouts=path, new_rollouts=path), io.StringIO()) == 0
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_user_code_that_type_checkers_accept_also_runs(tmp_path: Path) -> None:
    old = _made_up_run(tmp_path, "old", [1.0, 0.0])
    new = _made_up_run(tmp_path, "new", [1.0, 1.0])
    told = typing_user_code.tell(old, str(new))
    assert told.startswith("t1: new wins (0.0 -> 1.0)\n")
    assert Category.FLIPPED in told
