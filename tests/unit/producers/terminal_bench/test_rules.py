"""terminal-bench's trials: what counts, what masks, what is the agent's own error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.terminal_bench.rules import TerminalBenchReader
from nemo_gym.rollout_compare.producers.trials import Asked, Told, Trial
from nemo_gym.rollout_compare.schema import Wanted
from tests.producers_support import Row, again, only_row, put_json, table_at, terminal_bench_result
from tests.support import put

KEY = "task_id"


@pytest.mark.parametrize(
    ("resolved", "mode", "said"),
    [
        (True, "unset", Row(1.0)),
        (False, "unset", Row(0.0)),
        (False, "none", Row(0.0)),
        (False, None, Row(0.0)),
        (True, "agent_timeout", Row(1.0)),
        (False, "agent_timeout", Row(0.0, None, "agent_timeout")),
        (False, "context_length_exceeded", Row(0.0, None, "context_length_exceeded")),
        (False, "unknown_agent_error", Row(0.0, None, "unknown_agent_error")),
        (False, "agent_installation_failed", Row(0.0, "agent_installation_failed")),
        (None, "test_timeout", Row(None, "test_timeout")),
        (None, "parse_error", Row(None, "parse_error")),
        (None, "unset", Row(None, "is_resolved is null: the tests gave no result")),
    ],
)
def test_what_a_result_says(tmp_path: Path, resolved: bool | None, mode: str | None, said: Row) -> None:
    put_json(tmp_path / "one/one.1-of-1.run/results.json", terminal_bench_result("one", resolved, failure_mode=mode))
    assert only_row(tmp_path, KEY) == said


def test_another_field_is_the_reward_where_it_is_chosen(tmp_path: Path) -> None:
    put_json(tmp_path / "one.1-of-1/results.json", terminal_bench_result("one", True, total_output_tokens=50))
    assert only_row(tmp_path, KEY, reward="total_output_tokens") == Row(50.0)
    assert only_row(tmp_path, KEY, reward="style") == Row(None, "no reward 'style': the verifier gave is_resolved")


def test_what_an_attempt_cost_and_was_run_with() -> None:
    reader = TerminalBenchReader((("agent", "terminus"),))
    result = terminal_bench_result("one", True, total_input_tokens=1000, total_output_tokens=0)
    result |= {"trial_started_at": "2026-01-01T00:00:00+00:00", "trial_ended_at": "2026-01-01T00:03:00+00:00"}
    told = Told(tuple(result.get(name) for name in reader.paths), None, {})
    one = reader.attempt(Trial("one", "results.json", 0, 0), told, 1, 0, Asked("is_resolved", False, (KEY,)))
    assert one.measures == {"input-tokens": 1000.0, "seconds": 180.0}
    assert one.settings == {"agent": "terminus"}
    assert one.asked == "Do one."
    assert one.attempt == 1


def test_settings_are_those_of_the_run(tmp_path: Path) -> None:
    put_json(tmp_path / "one.1-of-1/results.json", terminal_bench_result("one", True))
    put_json(tmp_path / "run_metadata.json", {"agent_name": "terminus", "model_name": "m", "dataset_name": None})
    source: Any = table_at(tmp_path).place(0).source
    assert source.reader.settings == (("agent", "terminus"), ("model", "m"))


def test_the_tests_and_the_terminal_are_the_output(tmp_path: Path) -> None:
    tests = {"test_a": "passed", "test_b": "failed"}
    put_json(tmp_path / "one.1-of-1/results.json", terminal_bench_result("one", False, parser_results=tests))
    put(tmp_path / "one.1-of-1/panes/post-test.txt", "1 failed")
    record = again(table_at(tmp_path), Wanted(output=True, transcript=True, task_input=True))
    assert record.output is not None
    assert record.output.files == (tmp_path / "one.1-of-1/panes/post-test.txt",)
    assert record.output.texts == (("parser_results", "PASSED test_a\nFAILED test_b"),)
    assert record.output.tests == tests
    assert record.transcript is None
    assert record.task_input == "=Do one."


def test_a_result_in_a_list_has_no_files(tmp_path: Path) -> None:
    results = [
        terminal_bench_result("one", False, parser_results={"a": "failed"}),
        terminal_bench_result("two", False),
    ]
    put_json(tmp_path / "results.json", {"results": results})
    table = table_at(tmp_path)
    assert list(table.has_output) == [1, 0]
    output = again(table, Wanted(output=True), row=1).output
    assert output is not None
    assert (output.files, output.texts, output.tests) == ((), (), None)
