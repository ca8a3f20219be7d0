"""Runs of OpenHands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.openhands.history import steps_of
from nemo_gym.rollout_compare.producers.openhands.rows import RowReader
from nemo_gym.rollout_compare.producers.records import Told
from nemo_gym.rollout_compare.schema import Step
from tests.producer_support import found_in, record_in, table_of_run
from tests.record_support import judged, listed, put_json
from tests.support import assert_refused, compare, put, write_rows

JUDGED, ERRORS = "output.swebench_eval.jsonl", "output_errors.jsonl"


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (judged("a"), 1.0),
        (judged("a", False), 0.0),
        (judged("a", False, report={"empty_generation": True}), 0.0),
        (judged("a", False, report={"error_eval": True}), "error: the evaluation failed"),
        (judged("a", True, error="x\nlast"), "error: last"),
        (judged("a", None), "no value of test_result.report.resolved"),
    ],
)
def test_an_error_masks_and_an_empty_patch_counts_0(row: Any, found: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / JUDGED, [judged("first"), row])
    assert found_in(tmp_path) == [("first", 1.0), ("a", found)]


def test_tests_that_took_too_long_make_a_flip_doubtful(tmp_path: Path) -> None:
    for side, more in {"old": {}, "new": {"report": {"test_timeout": True}}}.items():
        (tmp_path / side).mkdir()
        write_rows(tmp_path / side / JUDGED, [judged("a", side == "old", **more)])
    told = compare(tmp_path / "old", tmp_path / "new").stdout
    assert "flipped (agent error)        1" in told
    assert "test_timeout=true" in told


def test_failed_rows_are_masked_unless_there_is_another_of_the_instance(tmp_path: Path) -> None:
    write_rows(tmp_path / JUDGED, [judged("a")])
    write_rows(tmp_path / ERRORS, [judged("a", None, error="e"), judged("b", None, error="late"), judged("c", None)])
    assert found_in(tmp_path) == [("a", 1.0), ("b", "error: late"), ("c", "error")]
    assert found_in(tmp_path / JUDGED) == found_in(tmp_path)


def test_a_failed_row_has_its_own_model_and_cost(tmp_path: Path) -> None:
    def row(name: str, model: str, dollars: float) -> Any:
        metadata, metrics = {"llm": {"model": model}}, {"accumulated_cost": dollars}
        return judged(name, None, metadata=metadata, metrics=metrics)

    write_rows(tmp_path / JUDGED, [judged("a")])
    write_rows(tmp_path / ERRORS, [row("a", "another", 9.0), row("b", "its own", 0.5)])
    table = table_of_run(tmp_path)
    assert [table.settings.columns["model"][row] for row in range(2)] == ["m", "its own"]
    assert list(table.measures.columns["dollars"]) == [0.25, 0.5]


def test_a_failed_row_that_is_not_json(tmp_path: Path) -> None:
    write_rows(tmp_path / JUDGED, [judged("a")])
    put(tmp_path / ERRORS, "no\n")
    assert_refused(compare(tmp_path, tmp_path), f"{ERRORS}:1: invalid JSON")
    assert found_in(tmp_path, skip_bad_lines=True) == [("a", 1.0)]


@pytest.mark.parametrize(
    ("result", "found"),
    [({"resolved": True}, 1.0), ({"passed": False}, 0.0), ({"result": 1}, 1.0), ({"score": 0.5}, 0.5)],
)
def test_other_benchmarks_have_their_verdict_elsewhere(result: Any, found: float, tmp_path: Path) -> None:
    write_rows(tmp_path / "output.jsonl", [{**judged("a"), "test_result": result}])
    assert found_in(tmp_path) == [("a", found)]


def test_rows_of_2024_are_called_by_id(tmp_path: Path) -> None:
    row = {**judged("x"), "id": 3, "report": {"resolved": False}, "test_result": {}}
    del row["instance_id"]
    write_rows(tmp_path / "output.jsonl", [row])
    assert found_in(tmp_path) == [("3", 0.0)]


def test_rows_without_a_verdict_name_the_numbers_that_they_have(tmp_path: Path) -> None:
    rows = [{"instance_id": name, "test_result": {"final_score": {"total": 2, "result": 1}}} for name in "ab"]
    path = write_rows(tmp_path / "scores.jsonl", rows)
    assert_refused(compare(path, path), "no row has a verdict", "takes one of: test_result.final_score.result (2 rows)")
    assert found_in(path, reward="final_score.result") == [("a", 1.0), ("b", 1.0)]


def test_the_report_is_read_where_the_judged_rows_are_gone(tmp_path: Path) -> None:
    write_rows(tmp_path / "output.jsonl", [judged("a", None)])
    assert_refused(compare(tmp_path, tmp_path), "output.swebench_eval.jsonl or output.report.json")
    put_json(tmp_path / "output.report.json", listed(resolved=["a"], unresolved=["b"], error=["c"], incomplete=["c"]))
    assert [label for label, _ in found_in(tmp_path)] == ["a", "b", "c"]


def test_a_folder_without_rows_and_standard_input(tmp_path: Path) -> None:
    put(tmp_path / "x.txt", "x")
    assert_refused(compare(tmp_path, tmp_path, "--format", "openhands"), "without output.swebench_eval.jsonl")


def test_a_row_is_read_again(tmp_path: Path) -> None:
    row = judged("a", instance={"problem_statement": "It is broken"})
    write_rows(tmp_path / JUDGED, [row])
    record = record_in(tmp_path)
    assert record.task_input == "=It is broken"
    assert record.output is not None
    assert record.output.texts[0] == ("test_result.report", "resolved: true")
    row["test_result"]["test_output"] = "1 failed"
    write_rows(tmp_path / JUDGED, [row])
    assert (output := record_in(tmp_path).output)
    assert output.texts[0] == ("test_result.test_output", "1 failed")


def test_what_a_row_was_made_with_and_what_it_cost() -> None:
    reader = RowReader("report.resolved")
    values: dict[str, Any] = {"metrics.accumulated_cost": 0.25, "metadata.llm_config.model": "m", "instance_id": "a"}
    told = Told(tuple(values.get(path) for path in reader.paths), {"instance_id": "a"}, None, None, 1, 0)
    attempt = reader.attempt(told)
    assert (attempt.settings, attempt.measures) == ({"model": "m"}, {"dollars": 0.25})
    assert reader.fields("x").said


EVENTS = [
    {"kind": "SystemPromptEvent", "system_prompt": {"text": "Be good."}},
    {"kind": "MessageEvent", "source": "user", "llm_message": {"content": [{"type": "text", "text": "Fix it"}]}},
    {"kind": "ActionEvent", "thought": [{"text": "hm"}], "tool_name": "bash", "tool_call": {"arguments": "ls"}},
    {"kind": "ObservationEvent", "observation": {"output": "a.py"}},
    {"kind": "AgentErrorEvent", "error": "no such tool"},
    {"kind": "PauseEvent"},
    "odd",
]
PAIRS = [
    [{"action": "run", "args": {"command": "ls", "thought": "hm"}}, {"observation": "run", "content": "a.py"}],
    [{"source": "user", "action": "message", "args": {"content": "go on"}}, {"cause": 1}],
]


def test_events_are_steps() -> None:
    assert steps_of(EVENTS, "asked") == (
        Step("system", "Be good."),
        Step("user", "Fix it"),
        Step("assistant", "hm", "bash", "ls"),
        Step("tool", output="a.py"),
        Step("tool", output="no such tool"),
    )


def test_actions_and_observations_of_2024_are_steps() -> None:
    assert steps_of(PAIRS, None) == (
        Step("assistant", "hm", "run", '{"command":"ls"}'),
        Step("tool", output="a.py"),
        Step("user", "go on"),
    )
    assert steps_of(PAIRS[:1], "asked")[0] == Step("user", "asked")
    assert steps_of(None, "asked") == ()


def test_rows_from_standard_input() -> None:
    from nemo_gym.rollout_compare.producers import locate_run

    assert [str(path) for path in locate_run("-", "openhands").files()] == ["standard input"]
