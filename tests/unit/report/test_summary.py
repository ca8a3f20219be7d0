from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines, summary_schema
from nemo_gym.rollout_compare.schema import (
    Category,
    Cluster,
    CompareResult,
    Evidence,
    Flip,
    JoinCheck,
    Mark,
    Mask,
    MaskKind,
    Note,
    NoteKind,
    OtherReasons,
    Provenance,
    ReadFile,
    Repeats,
    Rule,
    RunSource,
    Side,
    SignificanceTest,
    Statistics,
    TaskComparison,
    TaskRows,
    TaskSide,
    TestChanges,
    Unmeasured,
    Verdict,
)
from tests.support import NOWHERE

MASKED = TaskSide(3, 0.5, 2, Mask(MaskKind.NO_REWARD), None, "tests", masked_rows=1)
TASKS = (
    TaskComparison("a", Category.IDENTICAL, TaskSide(1, 1.0, 1), TaskSide(1, 1.0, 1)),
    TaskComparison("b", Category.FLIPPED, TaskSide(1, 1.0, 1), TaskSide(2, 0.5, 2, failure_kind="tests"), Side.OLD),
    TaskComparison(
        "c", Category.FLIPPED_AGENT_ERROR, TaskSide(1, 0.0, 1, None, Mark("error", "x")), TaskSide(1, 1.0, 1), Side.NEW
    ),
    TaskComparison("d", Category.MASKED, MASKED, TaskSide(1, None, 0, Mask(MaskKind.NO_REWARD))),
    TaskComparison("e", Category.MISSING, None, TaskSide(1, 0.25, 1)),
)
FLIPS = (
    Flip(
        TASKS[1],
        TaskRows(TASKS[1], NOWHERE, NOWHERE),
        Evidence(None, unavailable="not found: logs/b"),
        Evidence("file", "new/logs/b/test-stdout.txt", ("one", "two"), "passed over"),
        TestChanges(("x", "y"), ("z",)),
        "ValueError: <n>",
        Repeats(3, 4, 1, 4, 0.5, True),
    ),
    Flip(
        TASKS[2],
        TaskRows(TASKS[2], NOWHERE, NOWHERE),
        Evidence("field", "test_output", ()),
        Evidence(None, unavailable="nothing"),
    ),
)
STATISTICS = Statistics(
    n=3,
    mean_old=0.5,
    mean_new=0.75,
    delta=0.25,
    ci_low=-1.0,
    ci_high=1.5,
    old_wins=1,
    new_wins=1,
    p_value=1.0,
    test=SignificanceTest.SIGN_FLIP,
    detectable=0.9,
    verdict=Verdict.CANNOT_TELL,
    reason="few tasks",
    unmeasured=Unmeasured(2, -0.25, 0.5),
)
RESULT = CompareResult(
    TASKS,
    old_key="task_name",
    new_key="_ng_task_id",
    old_rows=6,
    new_rows=6,
    old_masked_rows=1,
    new_masked_rows=1,
    old_prefix_stripped="bench/",
    notes=(Note(NoteKind.OTHER_INPUT, tasks=tuple(f"t{i}" for i in range(30))), Note(NoteKind.NO_ROWS, Side.NEW)),
    join_check=JoinCheck(4, 3, 2, ("b", "d")),
    statistics=STATISTICS,
    flips=FLIPS,
    clusters=(Cluster("ValueError: <n>", 1, 0, ("b",)),),
    other_reasons=(OtherReasons("KeyError: <n>", "ValueError: <n>", ("a",)),),
    gate=(Rule("lost>2", 1, False), Rule("worse", "worse", True)),
    run=Provenance(
        "1.2",
        {"tail": 3, "logs_root": ["a", "b"]},
        RunSource((ReadFile("old.jsonl", 123, 1_793_628_600), ReadFile("old_failures.jsonl", 4, 0)), "rollouts", 6),
        RunSource((ReadFile("standard input", 5, None),), "rollouts", 6),
    ),
)
EMPTY = CompareResult((), "k", "k", 0, 0, 0, 0, statistics=paired_statistics(MeasuredTasks(old=[], new=[])))
VALIDATOR = Draft202012Validator(summary_schema())


def test_the_whole_summary() -> None:
    told = summary_dict(RESULT)
    assert told.pop("facts")["new_rows"] == 6  # what only the other renderers need: `test_reading` has it
    assert told.pop("transcripts") == []
    assert told == {
        "schema_version": 1,
        "run": {
            "version": "1.2",
            "options": {"tail": 3, "logs_root": ["a", "b"]},
            "old": {
                "files": [
                    {"path": "old.jsonl", "size": 123, "modified": "2026-11-02T14:10:00Z"},
                    {"path": "old_failures.jsonl", "size": 4, "modified": "1970-01-01T00:00:00Z"},
                ],
                "reader": "rollouts",
                "rows": 6,
            },
            "new": {
                "files": [{"path": "standard input", "size": 5, "modified": None}],
                "reader": "rollouts",
                "rows": 6,
            },
        },
        "counts": {
            "tasks": 5,
            "identical": 1,
            "flipped": 1,
            "flipped_old_win": 1,
            "flipped_new_win": 0,
            "flipped_agent_error": 1,
            "masked": 1,
            "masked_old": 1,
            "masked_new": 1,
            "missing": 1,
            "missing_old_only": 0,
            "missing_new_only": 1,
        },
        "join": {
            "old_key": "task_name",
            "new_key": "_ng_task_id",
            "old_prefix_stripped": "bench/",
            "new_prefix_stripped": None,
            "keyed_by_taskset": False,
        },
        "join_check": {"joined": 4, "inputs_compared": 3, "inputs_differ": 2, "tasks_differ": ["b", "d"]},
        "statistics": {
            "n": 3,
            "verdict": "cannot tell",
            "old_wins": 1,
            "new_wins": 1,
            "lower_is_better": False,
            "pass_fail": False,
            "mean_old": 0.5,
            "mean_new": 0.75,
            "delta": 0.25,
            "ci_low": -1.0,
            "ci_high": 1.5,
            "interval": None,
            "p_value": 1.0,
            "test": "sign-flip permutation mid-p",
            "borderline": False,
            "detectable": 0.9,
            "reason": "few tasks",
            "margin": None,
            "on_these_tasks": None,
            "by_chance": None,
            "without_agent_errors": None,
            "carried_by": None,
            "wins_say": None,
            "attempts": None,
            "to_decide": None,
            "chance_better": None,
            "unmeasured": {
                "tasks": 2,
                "delta_worst": -0.25,
                "delta_best": 0.5,
                "low": None,
                "high": None,
                "as_failed": None,
                "could_overturn": False,
                "selection": [],
            },
            "subsets": None,
            "clustered": None,
            "why_null": {},
        },
        "settings_compared": [],
        "changes": [],
        "costs": [],
        "truncated": None,
        "flips": [
            {
                "task": "b",
                "category": "flipped",
                "winner": "old",
                "old": {"source": None, "path": None, "lines": [], "unavailable": "not found: logs/b"},
                "new": {
                    "source": "file",
                    "path": "new/logs/b/test-stdout.txt",
                    "lines": ["one", "two"],
                    "unavailable": "passed over",
                },
                "tests": {"broken": ["x", "y"], "fixed": ["z"], "not_run": [], "changed": []},
                "signature": "ValueError: <n>",
                "repeats": {
                    "old": "3/4",
                    "new": "1/4",
                    "p_value": 0.5,
                    "within_noise": True,
                    "too_few_attempts": False,
                },
                "same_answer": False,
                "parted": None,
                "settings": [],
            },
            {
                "task": "c",
                "category": "flipped_agent_error",
                "winner": "new",
                "old": {"source": "field", "path": "test_output", "lines": [], "unavailable": None},
                "new": {"source": None, "path": None, "lines": [], "unavailable": "nothing"},
                "tests": None,
                "signature": None,
                "repeats": None,
                "same_answer": False,
                "parted": None,
                "settings": [],
            },
        ],
        "clusters": [{"signature": "ValueError: <n>", "old_wins": 1, "new_wins": 0, "tasks": ["b"]}],
        "other_reasons": [{"old_signature": "KeyError: <n>", "new_signature": "ValueError: <n>", "tasks": ["a"]}],
        "gate": {
            "passed": False,
            "rules": [
                {"rule": "lost>2", "value": 1, "tripped": False},
                {"rule": "worse", "value": "worse", "tripped": True},
            ],
        },
        "notes": ["same id, different task input: " + ", ".join(f"t{i}" for i in range(30)), "the new run has no rows"],
        "tasks": [
            {"task": "a", "category": "identical", "winner": None, "old": _json_side(1.0), "new": _json_side(1.0)},
            {
                "task": "b",
                "category": "flipped",
                "winner": "old",
                "old": _json_side(1.0),
                "new": _json_side(0.5, rows=2, failure_kind="tests"),
            },
            {
                "task": "c",
                "category": "flipped_agent_error",
                "winner": "new",
                "old": _json_side(0.0, agent_error="error: x"),
                "new": _json_side(1.0),
            },
            {
                "task": "d",
                "category": "masked",
                "winner": None,
                "old": _json_side(0.5, rows=3, masked="1/3 rows masked: no reward", failure_kind="tests"),
                "new": _json_side(None, masked="no reward"),
            },
            {"task": "e", "category": "missing", "winner": None, "old": None, "new": _json_side(0.25)},
        ],
    }


def _json_side(reward: float | None, rows: int = 1, **others: str) -> dict[str, Any]:
    return {"reward": reward, "rows": rows, "masked": None, "agent_error": None, "failure_kind": None, **others}


def plain(value: Any) -> bool:
    """Whether a value is made of what JSON has, and of nothing else."""
    if type(value) is dict:
        return all(type(name) is str and plain(held) for name, held in value.items())
    return all(map(plain, value)) if type(value) is list else type(value) in (str, int, float, bool, type(None))


@pytest.mark.parametrize("result", [RESULT, EMPTY], ids=["full", "empty"])
def test_it_is_made_of_plain_values_alone(result: CompareResult) -> None:
    """A script may change it, and hand it to any library."""
    assert plain(summary_dict(result))


def test_without_statistics_there_are_none() -> None:
    assert summary_dict(CompareResult((), "k", "k", 0, 0, 0, 0))["statistics"] is None


def test_the_schema_version_stands_first() -> None:
    assert next(iter(summary_dict(RESULT))) == "schema_version"


def test_taskset_keys_and_both_prefixes_are_told() -> None:
    result = CompareResult((), "k", "k", 0, 0, 0, 0, new_prefix_stripped="x/y", keyed_by_taskset=True)
    join = summary_dict(result)["join"]
    assert (join["old_prefix_stripped"], join["new_prefix_stripped"], join["keyed_by_taskset"]) == (None, "x/y", True)


def test_a_reward_is_not_rounded() -> None:
    task = TaskComparison("a", Category.MISSING, TaskSide(3, 1 / 3, 3), None)
    assert summary_dict(CompareResult((task,), "k", "k", 3, 0, 0, 0))["tasks"][0]["old"]["reward"] == 1 / 3


class TestSchema:
    def test_is_a_json_schema(self) -> None:
        assert summary_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        Draft202012Validator.check_schema(summary_schema())

    @pytest.mark.parametrize("result", [RESULT, EMPTY], ids=["full", "empty"])
    def test_accepts_a_summary(self, result: CompareResult) -> None:
        assert VALIDATOR.is_valid(summary_dict(result))

    def test_allows_more_keys_at_the_top(self) -> None:
        assert VALIDATOR.is_valid({**summary_dict(RESULT), "more": {"n": 3}})

    def test_documents_every_key_that_a_summary_has(self) -> None:
        schema, summary = summary_schema(), summary_dict(RESULT)
        assert schema["properties"].keys() == summary.keys()
        for name, part in {
            "run": "SummaryRun",
            "counts": "Counts",
            "join": "JoinedBy",
            "join_check": "JoinCheck",
            "gate": "Gate",
        }.items():
            assert schema["$defs"][part]["properties"].keys() == summary[name].keys()
        assert schema["$defs"]["Statistics"]["properties"].keys() == summary["statistics"].keys()
        for name, part in {"flips": "FlipSummary", "clusters": "Cluster", "other_reasons": "OtherReasons"}.items():
            assert schema["$defs"][part]["properties"].keys() == summary[name][0].keys()
        assert schema["$defs"]["Rule"]["properties"].keys() == summary["gate"]["rules"][0].keys()

    def test_describes_every_key_in_the_words_of_json(self) -> None:
        schema = summary_schema()
        parts = [schema, *(part for part in schema["$defs"].values() if "properties" in part)]
        said = [described["description"] for part in parts for described in part["properties"].values()]
        assert len(said) > 60
        assert all(said)
        assert not [text for text in said if "None" in text]
        assert schema["$defs"]["JoinCheck"]["properties"]["tasks_differ"]["description"] == "Their labels."

    @pytest.mark.parametrize(
        "path",
        [
            *[(name,) for name in summary_dict(EMPTY)],
            *[("counts", name) for name in summary_dict(EMPTY)["counts"]],
            *[("join", name) for name in summary_dict(EMPTY)["join"]],
            *[("join_check", name) for name in ("joined", "inputs_compared", "inputs_differ", "tasks_differ")],
            *[("statistics", name) for name in summary_dict(EMPTY)["statistics"]],
            *[("statistics", "unmeasured", name) for name in ("tasks", "delta_worst", "delta_best", "could_overturn")],
            *[("flips", 0, name) for name in ("task", "category", "winner", "old", "new", "tests", "signature")],
            *[("flips", 0, "new", name) for name in ("source", "path", "lines", "unavailable")],
            *[("flips", 0, "tests", name) for name in ("broken", "fixed")],
            *[("flips", 0, "repeats", name) for name in ("old", "new", "p_value", "within_noise", "too_few_attempts")],
            *[("clusters", 0, name) for name in ("signature", "old_wins", "new_wins", "tasks")],
            *[("other_reasons", 0, name) for name in ("old_signature", "new_signature", "tasks")],
            *[("gate", name) for name in ("passed", "rules")],
            *[("gate", "rules", 0, name) for name in ("rule", "value", "tripped")],
            *[("tasks", 0, name) for name in ("task", "category", "winner", "old", "new")],
            *[("tasks", 0, "old", name) for name in ("reward", "rows", "masked", "agent_error", "failure_kind")],
        ],
        ids=lambda path: ".".join(map(str, path)),
    )
    def test_demands_every_key(self, path: tuple[str | int, ...]) -> None:
        assert not VALIDATOR.is_valid(_changed(path, lambda parent, name: parent.pop(name)))

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            (("schema_version",), 2),
            (("counts", "more"), 1),
            (("counts", "tasks"), -1),
            (("counts", "tasks"), 1.5),
            (("join", "more"), None),
            (("join", "old_key"), None),
            (("join", "old_prefix_stripped"), 1),
            (("join", "keyed_by_taskset"), "no"),
            (("join_check", "more"), None),
            (("join_check", "joined"), -1),
            (("join_check", "tasks_differ"), [7]),
            (("statistics", "more"), None),
            (("statistics", "n"), -1),
            (("statistics", "delta"), "0"),
            (("statistics", "p_value"), 1.5),
            (("statistics", "test"), "coin"),
            (("statistics", "verdict"), "fine"),
            (("statistics", "unmeasured", "more"), None),
            (("flips", 0, "more"), None),
            (("flips", 0, "same_answer"), None),
            (("gate", "passed"), "no"),
            (("gate", "more"), None),
            (("other_reasons", 0, "tasks"), None),
            (("flips", 0, "category"), "masked"),
            (("flips", 0, "winner"), None),
            (("flips", 0, "new", "source"), "pipe"),
            (("flips", 0, "new", "lines"), [1]),
            (("flips", 0, "tests", "broken"), None),
            (("flips", 0, "repeats", "old"), "3 of 4"),
            (("clusters", 0, "tasks"), None),
            (("clusters", 0, "old_wins"), None),
            (("gate", "rules", 0, "value"), None),
            (("gate", "rules", 0, "tripped"), "yes"),
            (("notes",), [{"text": "x"}]),
            (("tasks", 0, "more"), None),
            (("tasks", 0, "task"), 7),
            (("tasks", 0, "category"), "unknown"),
            (("tasks", 0, "winner"), "both"),
            (("tasks", 0, "old", "more"), None),
            (("tasks", 0, "old", "reward"), "1.0"),
            (("tasks", 0, "old", "rows"), 0),
            (("tasks", 0, "old", "masked"), True),
            (("tasks", 0, "new"), []),
        ],
        ids=str,
    )
    def test_refuses_other_shapes(self, path: tuple[str | int, ...], value: object) -> None:
        assert not VALIDATOR.is_valid(_changed(path, lambda parent, name: parent.__setitem__(name, value)))


def _changed(path: tuple[str | int, ...], change: Callable[[Any, Any], object]) -> dict[str, Any]:
    summary = copy.deepcopy(summary_dict(RESULT))
    parent: Any = summary
    for name in path[:-1]:
        parent = parent[name]
    change(parent, path[-1])
    return summary


class TestSummaryLines:
    @pytest.mark.parametrize("result", [RESULT, EMPTY], ids=["full", "empty"])
    def test_are_the_summary_as_json(self, result: CompareResult) -> None:
        assert json.loads("\n".join(summary_lines(summary_dict(result)))) == summary_dict(result)

    def test_keep_the_order_of_the_keys(self) -> None:
        text = "\n".join(summary_lines(summary_dict(RESULT)))
        assert list(json.loads(text)) == [
            *["schema_version", "run", "counts", "join", "join_check"],
            *[
                "statistics",
                "settings_compared",
                "changes",
                "costs",
                "truncated",
                "flips",
                "clusters",
                "other_reasons",
                "gate",
                "notes",
                "tasks",
                "transcripts",
                "facts",
            ],
        ]

    def test_give_each_task_a_line_of_its_own(self) -> None:
        lines = [line.strip().rstrip(",") for line in summary_lines(summary_dict(RESULT))]
        tasks = [json.loads(line) for line in lines if line.startswith('{"task"')]
        assert tasks == [*summary_dict(RESULT)["flips"], *summary_dict(RESULT)["tasks"]]

    def test_write_text_beyond_ascii_as_it_is(self) -> None:
        assert list(summary_lines({"task": "caf\u00e9 \u2717"}))[1] == '  "task": "caf\u00e9 \u2717"'

    def test_hold_no_line_break_inside(self) -> None:
        task = TaskComparison("a\nb\r\u2028c", Category.MISSING, TaskSide(1, 1.0, 1), None)
        summary = summary_dict(CompareResult((task,), "k", "k", 1, 0, 0, 0))
        lines = list(summary_lines(summary))
        assert not [line for line in lines if "\n" in line or "\r" in line]
        assert json.loads("\n".join(lines)) == summary

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
    def test_never_hold_what_is_not_json(self, value: float) -> None:
        with pytest.raises(ValueError, match="JSON"):
            list(summary_lines({"mean": value}))
