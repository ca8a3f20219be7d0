"""NeMo Evaluator's bundles: what is found in them, what counts, what masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.producers.nemo_evaluator.rows import BenchmarkRows
from nemo_gym.rollout_compare.schema import CompareInputError, Step, Wanted
from tests.producers_support import Row, again, evaluator_row, harbor_trial, only_row, put_json, rows_of, table_at
from tests.support import assert_refused, compare, put, source_of, write_rows

KEY = "problem_idx"


def bundle(path: Path, *rows: dict[str, Any], benchmark: str = "math") -> Path:
    put_json(path / "nel_run.json", {"run_id": "x"})
    (path / benchmark).mkdir(parents=True, exist_ok=True)
    return write_rows(path / benchmark / "results.jsonl", rows)


@pytest.mark.parametrize(
    ("reward", "details", "said"),
    [
        (1.0, {"method": "exact"}, Row(1.0)),
        (0.5, None, Row(0.5)),
        (0.0, {"method": "infra_error"}, Row(0.0, "infra_error")),
        (0.0, {"method": "solve_failed", "error_category": "infra_error"}, Row(0.0, "infra_error")),
        (0.0, {"method": "system_error", "error_category": "system"}, Row(0.0, "system")),
        (0.0, {"method": "graceful_error", "error_category": "graceful"}, Row(0.0, None, "graceful")),
        (None, {"score": 1}, Row(None, "no reward 'reward': the verifier gave scoring_details.score")),
        (None, None, Row(None, "no reward: the verifier gave none")),
        ("much", None, Row(None, "reward is not a number ('much')")),
    ],
)
def test_what_a_row_says(tmp_path: Path, reward: Any, details: Any, said: Row) -> None:
    bundle(tmp_path, evaluator_row(3, reward, scoring_details=details))
    assert only_row(tmp_path, KEY) == said


@pytest.mark.parametrize("named", [".", "math", "math/results.jsonl"])
def test_a_bundle_a_benchmark_or_its_results_are_a_run(tmp_path: Path, named: str) -> None:
    bundle(tmp_path, evaluator_row(0, 1.0), evaluator_row(0, 0.0, 1))
    table = table_at(tmp_path / named)
    assert rows_of(table, KEY) == {("math", "0"): [Row(1.0), Row(0.0)]}
    assert list(table.attempts_of([0, 1])) == [(0, 0), (0, 1)]


def test_tasks_are_told_apart_by_their_benchmarks(tmp_path: Path) -> None:
    bundle(tmp_path, evaluator_row(0, 1.0))
    bundle(tmp_path, evaluator_row(0, 0.0), benchmark="code")
    assert rows_of(table_at(tmp_path), KEY) == {("code", "0"): [Row(0.0)], ("math", "0"): [Row(1.0)]}


def test_parts_of_a_benchmark_are_one_by_the_name_in_their_reports(tmp_path: Path) -> None:
    for part in range(2):
        bundle(tmp_path / "math", evaluator_row(part, 1.0), benchmark=f"shard_{part}")
        put_json(tmp_path / f"math/shard_{part}/eval-x-math.json", {"benchmark": {"name": "math"}})
    assert set(rows_of(table_at(tmp_path), KEY)) == {("math", "0"), ("math", "1")}


def test_the_data_set_s_own_id_comes_first(tmp_path: Path) -> None:
    bundle(tmp_path, evaluator_row(0, 1.0, metadata={"id": "add"}))
    assert set(rows_of(table_at(tmp_path), "metadata.id")) == {("math", "add")}
    assert set(rows_of(table_at(tmp_path, key="prompt"), "prompt")) == {("math", "What is 0?")}


def test_another_metric_is_the_reward_where_it_is_chosen(tmp_path: Path) -> None:
    bundle(tmp_path, evaluator_row(0, 1.0, scorer_rewards={"style": 0.25}, scoring_details={"short": True}))
    assert only_row(tmp_path, KEY, reward="style") == Row(0.25)
    assert only_row(tmp_path, KEY, reward="scoring_details.short") == Row(1.0)
    named = "no reward 'x': the verifier gave reward, scorer_rewards.style, scoring_details.short"
    assert only_row(tmp_path, KEY, reward="x") == Row(None, named)


def test_a_benchmark_that_did_not_end_is_read_as_far_as_it_was_verified(tmp_path: Path) -> None:
    bundle(tmp_path).rename(tmp_path / "math/verified_log.jsonl")
    write_rows(tmp_path / "math/verified_log.jsonl", [evaluator_row(0, 1.0)])
    table = table_at(tmp_path)
    assert rows_of(table, KEY) == {("math", "0"): [Row(1.0)]}
    said = "no results.jsonl, killed or still running: what was verified until then is compared"
    assert [str(note) for note in table.notes] == [f"{tmp_path / 'math'}: {said}"]


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        ({"code": "x"}, ["1 benchmark failed and left no result: code"]),
        ({"code": "x", "art": "y"}, ["2 benchmarks failed and left no result: art, code"]),
        ({}, []),
        (["code"], []),
    ],
)
def test_benchmarks_that_failed_are_named(tmp_path: Path, failed: Any, said: list[str]) -> None:
    bundle(tmp_path, evaluator_row(0, 1.0))
    put_json(tmp_path / "checkpoint.json", {"failed_benchmarks": failed})
    assert [str(note) for note in table_at(tmp_path).notes] == [f"{tmp_path}: {one}" for one in said]


def test_a_bundle_without_results_is_no_run(tmp_path: Path) -> None:
    put_json(tmp_path / "nel_run.json", {})
    with pytest.raises(CompareInputError, match=r"it is a folder without results\.jsonl of a benchmark"):
        locate_run(str(tmp_path))


def test_how_an_answer_was_scored_is_the_output(tmp_path: Path) -> None:
    details = {"method": "exact", "correct": False}
    bundle(tmp_path, evaluator_row(0, 0.0, extracted_answer="5", expected_answer="4", scoring_details=details))
    record = again(table_at(tmp_path), Wanted(fields=(KEY, "nothing"), output=True, task_input=True, row=True))
    assert record.output is not None
    text = "extracted_answer: 5\nexpected_answer: 4\nmethod: exact\ncorrect: false"
    assert record.output.texts == (("scoring_details", text),)
    assert record.values == ({"taskset": "math", "task_id": 0}, None)
    assert record.task_input == "=What is 0?"
    assert record.row is not None


def test_a_row_that_does_not_say_how_it_was_scored_has_no_output(tmp_path: Path) -> None:
    bundle(tmp_path, evaluator_row(0, 0.0))
    output = again(table_at(tmp_path), Wanted(output=True)).output
    assert output is not None
    assert output.texts == ()


@pytest.mark.parametrize(
    ("row", "steps"),
    [
        ({"trajectory": [{"steps": [{"source": "agent", "message": "4"}]}]}, (Step("assistant", "4"),)),
        ({"trajectory": {"steps": [{"source": "agent", "message": "4"}]}}, (Step("assistant", "4"),)),
        ({"model_response": "4"}, (Step("user", "What is 0?"), Step("assistant", "4"))),
        ({"response": "4", "trajectory": 1}, (Step("user", "What is 0?"), Step("assistant", "4"))),
        ({"prompt": None}, None),
    ],
)
def test_what_the_model_did(tmp_path: Path, row: dict[str, Any], steps: tuple[Step, ...] | None) -> None:
    bundle(tmp_path, evaluator_row(0, 0.0, **row))
    assert again(table_at(tmp_path), Wanted(transcript=True)).transcript == steps


def test_what_a_row_cost_and_was_run_with(tmp_path: Path) -> None:
    bundle(tmp_path, evaluator_row(0, 0.0, tokens=29, latency_ms=1500))
    report = {"config": {"model": "m"}, "config_hash": "sha256:1", "benchmark": {"name": "maths"}}
    put_json(tmp_path / "math/eval-1-math.json", report)
    with locate_run(str(tmp_path)).opened() as run:
        source = run.shards[0].main
        assert isinstance(source, BenchmarkRows)
        one = source._attempt((0.0, None, None, 0, 0, None, "", 29, 1500, 0.0), "reward", (), 1, 0)
    assert source.benchmark == "maths"
    assert one.settings == {"model": "m", "configuration": "sha256:1"}
    assert one.measures == {"total-tokens": 29.0, "seconds": 1.5}


def test_a_broken_line_is_one_error_that_names_it_or_left_out(tmp_path: Path) -> None:
    for side in ("old", "new"):
        bundle(tmp_path / side, evaluator_row(0, 1.0), evaluator_row(1, 1.0))
    path = tmp_path / "new/math/results.jsonl"
    put(path, path.read_bytes() + b"{\n")
    old, new = tmp_path / "old", tmp_path / "new"
    assert_refused(compare(old, new), f"error: {path}:3: invalid JSON")
    done = compare(old, new, "--skip-bad-lines")
    assert "1 line that is not a row was left out: line 3 (invalid JSON" in done.stdout
    assert "identical                    2" in done.stdout


def test_rows_without_the_key_are_one_error(tmp_path: Path) -> None:
    for side in ("old", "new"):
        bundle(tmp_path / side, evaluator_row(0, 1.0))
    assert_refused(compare(tmp_path / "old", tmp_path / "new", "--key", "metadata.id"), "metadata.id")


def test_a_row_s_task_in_messages(tmp_path: Path) -> None:
    rows = BenchmarkRows(source_of(bundle(tmp_path)), "math")
    assert rows.label({"problem_idx": 3}, None) == "math/3"
    assert rows.label({}, "metadata.id") == "math/unknown"
    assert rows.doubt() is None


def test_results_join_trials_of_harbor_by_the_ids_of_the_data_set(tmp_path: Path) -> None:
    bundle(tmp_path / "old", evaluator_row(0, 1.0, metadata={"id": "add"}))
    harbor_trial(tmp_path / "new", "add", task="acme/add", rewards={"reward": 0.0})
    done = compare(tmp_path / "old", tmp_path / "new")
    assert "### add: old=1.0 new=0.0 -> old wins" in done.stdout
