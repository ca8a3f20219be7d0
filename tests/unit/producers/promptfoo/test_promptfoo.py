"""promptfoo's results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nemo_gym.rollout_compare.producers import locate_run, read_again
from nemo_gym.rollout_compare.producers.promptfoo.results import Result, measures_of
from nemo_gym.rollout_compare.schema import CompareInputError, Step, Wanted
from tests.producer_support import (
    found_in,
    output_in,
    record_in,
    result,
    steps_in,
    table_of_run,
    write_results_document,
)
from tests.support import assert_refused, compare, write_rows

FORMS = ["document", "lines"]


def results(folder: Path, rows: list[Any], form: str = "document", name: str = "results") -> Path:
    if form == "lines":
        return write_rows(folder / f"{name}.jsonl", rows)
    return write_results_document(folder / f"{name}.json", rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, 1.0),
        ({"score": 0.8, "success": False}, 0.8),
        ({"score": None, "success": False}, 0.0),
        ({"score": None, "success": None}, "no score"),
        ({"score": "high"}, "score is not a number ('high')"),
        ({"failureReason": 2, "error": "API error\n503"}, "error: 503"),
        ({"failureReason": 2}, "error: no reason given"),
        ({"failureReason": 1, "error": "an assertion failed", "score": 0}, 0.0),
        ({"failureReason": None, "error": "an assertion failed", "score": 0}, 0.0),
        ({"failureReason": None, "error": "API error", "gradingResult": None, "score": 0}, "error: API error"),
    ],
)
def test_what_a_result_says(tmp_path: Path, form: str, changed: dict[str, Any], found: Any) -> None:
    row = {name: value for name, value in result(**changed).items() if value is not None}
    assert found_in(results(tmp_path, [row], form)) == [("a", found)]


@pytest.mark.parametrize("form", FORMS)
def test_repeats_of_a_test_are_attempts_at_one_task(tmp_path: Path, form: str) -> None:
    rows = [result("a", testIdx=0), result("a", 0, testIdx=1), result("b", testIdx=2)]
    assert found_in(results(tmp_path, rows, form)) == [("a", 1.0), ("a", 0.0), ("b", 1.0)]


def test_without_descriptions_the_variables_tell_tests_apart(tmp_path: Path) -> None:
    rows = [result(None, vars={"x": 1}), result(None, 0, vars={"x": 2})]
    assert found_in(results(tmp_path, rows)) == [('{"x":1}', 1.0), ('{"x":2}', 0.0)]


def test_a_description_that_several_tests_share_does_not_tell_them_apart(tmp_path: Path) -> None:
    rows = [result("same", vars={"x": n}, prompt={"raw": f"Hello {n}"}) for n in range(3)]
    path = results(tmp_path, rows)
    done = compare(path, path)
    assert "join key: old=vars, new=vars\n" in done.stdout
    assert "identical                    3\n" in done.stdout


def test_an_id_of_the_tests_own_is_asked_after_the_description(tmp_path: Path) -> None:
    case = {"metadata": {"testCaseId": "t-1"}}
    assert found_in(results(tmp_path, [result(None, testCase=case)])) == [("t-1", 1.0)]


class TestSeveral:
    def test_providers_are_never_mixed(self, tmp_path: Path) -> None:
        rows = [result(provider={"id": "x", "label": "X"}), result(score=0, provider="y")]
        assert found_in(results(tmp_path, rows)) == [("X/a", 1.0), ("y/a", 0.0)]

    def test_prompts_are_never_mixed(self, tmp_path: Path) -> None:
        rows = [result(), result(score=0, promptId="q" * 64)]
        assert found_in(results(tmp_path, rows)) == [("prompt pppppppppppp/a", 1.0), ("prompt qqqqqqqqqqqq/a", 0.0)]


class TestReward:
    @pytest.mark.parametrize(
        ("reward", "found"),
        [("success", 0.0), ("score", 0.8), ("tone", 0.25), ("namedScores.tone", 0.25), ("gradingResult.score", 0.8)],
    )
    def test_it_can_be_chosen(self, tmp_path: Path, reward: str, found: float) -> None:
        path = results(tmp_path, [result(score=0.8)])
        assert found_in(path, reward=reward) == [("a", found)]

    def test_one_that_no_result_has_is_an_error_that_lists_those_there_are(self, tmp_path: Path) -> None:
        path = results(tmp_path, [result(), result("b", namedScores=None)])
        with pytest.raises(CompareInputError) as caught:
            found_in(path, reward="cost")
        assert str(caught.value) == (
            f"{path}: no result has the score 'cost'; --reward NAME takes one of: "
            "score (2 results), success (2 results), namedScores.tone (1 result)"
        )

    def test_rows_without_it_are_masked(self, tmp_path: Path) -> None:
        path = results(tmp_path, [result(), result("b", namedScores={})])
        assert found_in(path, reward="tone") == [("a", 0.25), ("b", "no score tone (there are: score, success)")]


class TestReadAgain:
    @pytest.mark.parametrize("form", FORMS)
    def test_each_assertion_is_a_test_and_those_that_failed_are_told(self, tmp_path: Path, form: str) -> None:
        path = results(tmp_path, [result("z"), result(score=0)], form)
        output = record_in(path, 1).output
        assert output
        assert output.tests == {"is-text": "passed", "contains Hello": "failed"}
        assert output.texts == (("gradingResult.reason", "answer: Good day\ncontains Hello: no Hello in it"),)
        assert output_in(path, 0) == "answer: Good day\nAll assertions passed"

    def test_of_several_assertions_of_one_name_the_worst_counts(self, tmp_path: Path) -> None:
        parts = [{"pass": passed, "reason": "r"} for passed in (True, False, True)]
        output = record_in(results(tmp_path, [result(gradingResult={"componentResults": parts})])).output
        assert output
        assert output.tests == {"assertion": "failed"}

    def test_a_result_without_a_grade_has_its_answer_alone(self, tmp_path: Path) -> None:
        assert output_in(results(tmp_path, [result(gradingResult=None)])) == "answer: Good day"
        record = record_in(results(tmp_path, [result(gradingResult=None, response=None)]))
        assert record.output
        assert record.output.texts == ()

    @pytest.mark.parametrize(
        ("raw", "steps"),
        [
            ("Hello a", (Step("user", "Hello a"),)),
            ("[1] is a footnote", (Step("user", "[1] is a footnote"),)),
            ("[1]", (Step("user", "[1]"),)),
            ('[{"role": "system", "content": "be good"}]', (Step("system", "be good"),)),
        ],
    )
    def test_a_prompt_may_be_messages(self, tmp_path: Path, raw: str, steps: tuple[Step, ...]) -> None:
        path = results(tmp_path, [result(prompt={"raw": raw})])
        assert steps_in(path) == (*steps, Step("assistant", "Good day"))

    @pytest.mark.parametrize("form", FORMS)
    def test_a_file_that_has_changed_is_not_read_again(self, tmp_path: Path, form: str) -> None:
        path = results(tmp_path, [result(), result("b")], form)
        place = table_of_run(path).place(1)
        results(tmp_path, [result()], form)
        for grown in (False, True):
            ((_, record),) = read_again([place], Wanted(output=True), grown=grown)
            assert str(record) == f"{path} has changed or gone since it was first read"
        path.unlink()
        ((_, record),) = read_again([place], Wanted(output=True), grown=True)
        assert isinstance(record, CompareInputError)


def test_what_a_result_cost() -> None:
    made = Result(latency_ms=1500, cost=0.5, token_usage={"prompt": 8, "completion": 4, "cached": None})
    assert measures_of(made) == {"input-tokens": 8, "output-tokens": 4, "seconds": 1.5, "dollars": 0.5}
    assert measures_of(Result()) == {}


class TestOlderForms:
    CELL: ClassVar = {"pass": False, "score": 0.5, "text": "Good day", "prompt": "Hello Ada", "provider": "mock"}

    def table(self, *rows: Any) -> dict[str, Any]:
        head = {"prompts": [{"raw": "Hello {{name}}", "display": "greet"}], "vars": ["name"]}
        return {"head": head, "body": list(rows)}

    def test_a_table_is_read_where_there_are_no_results(self, tmp_path: Path) -> None:
        table = self.table(
            {"outputs": [self.CELL], "vars": ["Ada"], "test": {"description": "greet"}},
            {"outputs": [{**self.CELL, "pass": True, "score": 1}], "vars": ["Bob"], "description": "again"},
        )
        path = tmp_path / "results.json"
        for whole in ({"results": {"version": 2, "table": table}, "config": {}, "shareableUrl": None}, table):
            path.write_text(json.dumps(whole), "utf-8")
            assert found_in(path) == [("greet", 0.5), ("again", 1.0)]
        assert output_in(path) == "answer: Good day"
        assert record_in(path).task_input == "=Hello Ada"
        assert found_in(path, key="vars") == [('{"name":"Ada"}', 0.5), ('{"name":"Bob"}', 1.0)]

    def test_results_beside_a_table_come_first(self, tmp_path: Path) -> None:
        summary = {"version": 1, "results": [result()], "stats": {}, "table": self.table()}
        path = tmp_path / "results.json"
        path.write_text(json.dumps(summary), "utf-8")
        assert found_in(path) == [("a", 1.0)]

    def test_what_is_no_row_of_a_table_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "results.json"
        path.write_text(json.dumps(self.table(7, {"outputs": [7]})), "utf-8")
        with pytest.raises(CompareInputError, match=r"results.json: result 1: expected a JSON object"):
            found_in(path)


class TestFiles:
    def test_of_a_folder_one_form_of_each_run_is_read(self, tmp_path: Path) -> None:
        results(tmp_path, [result()])
        results(tmp_path, [result()], "lines")
        (tmp_path / "results.csv").write_text("name,[mock]\n", "utf-8")
        assert found_in(tmp_path) == [("a", 1.0)]
        results(tmp_path, [result("b")], name="more")
        assert [label for label, _ in found_in(tmp_path)] == ["b", "a"]

    def test_a_pattern_names_files_too(self, tmp_path: Path) -> None:
        results(tmp_path, [result()], name="x1")
        located = locate_run(str(tmp_path / "x*.json"), format="promptfoo")
        assert [path.name for path in located.files()] == ["x1.json"]


class TestBadInput:
    def test_a_document_without_results(self, tmp_path: Path) -> None:
        good = results(tmp_path, [result()])
        bad = tmp_path / "bad.json"
        for text, said in [
            ('{"evalId": "e", "results": {"version": 3}}', "neither results.results nor results.table.body"),
            ('{"evalId": "e", "results": {"version": 3, "results": [', "invalid JSON"),
        ]:
            bad.write_text(text, "utf-8")
            assert_refused(compare(good, bad), f"cannot read {bad}", said)

    def test_a_document_that_is_something_else(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.json"
        path.write_text("[\n1]\n", "utf-8")
        said = "it is no JSON object with promptfoo's results"
        with locate_run(str(path), format="promptfoo").opened() as run, pytest.raises(CompareInputError, match=said):
            list(run.shards[0].main.batches(0, plan(), tuple, lambda _: None))

    def test_a_line_that_is_cut_off(self, tmp_path: Path) -> None:
        good = results(tmp_path, [result(), result("b")], "lines")
        bad = results(tmp_path, [result(), result("b")], "lines", "bad")
        bad.write_bytes(bad.read_bytes()[:-20])
        assert_refused(compare(good, bad), f"{bad}: result 2: invalid JSON", "the run may still be writing")
        assert "1 result that cannot be read was left out: " in compare(good, bad, "--skip-bad-lines").stdout

    def test_the_first_line_may_be_the_bad_one(self, tmp_path: Path) -> None:
        good = results(tmp_path, [result(), result("b")], "lines")
        bad = tmp_path / "bad.jsonl"
        bad.write_bytes(b"{\n" + good.read_bytes())
        with locate_run(str(bad), format="promptfoo").opened() as run:
            (batch,) = run.shards[0].main.batches(0, plan(skip_bad_lines=True), lambda: ["vars"], lambda _: None)
        assert len(batch) == 2
        assert [fault.line for fault in batch.faults] == [1]


def plan(**more: Any) -> Any:
    from nemo_gym.rollout_compare.producers import Plan

    return Plan(**more)
