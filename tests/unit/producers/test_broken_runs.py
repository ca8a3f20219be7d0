"""Runs that are broken, half written or odd: one clear line, or a right count, and nothing is lost quietly."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from nemo_gym.rollout_compare.producers.depth import MOST_LEVELS, is_too_deep
from nemo_gym.rollout_compare.producers.documents import converted, parse_document
from nemo_gym.rollout_compare.producers.inspect.fields import Sample
from nemo_gym.rollout_compare.report.notes import note_text
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.producers_support import Row, harbor_trial, only_row, put_json, rows_of, table_at
from tests.support import assert_refused, compare, put, summary, write_rows

SKIP = "--skip-bad-lines"
KILLED = Row(None, "no result: killed or still running")
SAMPLES = "samples_sums_2026-01-01T00-00-00.000000"


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def promptfoo(*results: Any) -> dict[str, Any]:
    return {"evalId": "e", "results": {"results": list(results)}, "config": {}}


def graded(name: str, score: Any = 1, **more: Any) -> dict[str, Any]:
    return {"testCase": {"description": name}, "testIdx": 0, "score": score, "success": True, **more}


def sampled(number: int, **more: Any) -> dict[str, Any]:
    hashed = str(number) * 64
    asked = {"gen_args_0": {"arg_0": f"{number}?"}}
    row = {"doc_id": number, "doc": {}, "doc_hash": hashed, "arguments": asked, "filter": "none", "metrics": ["acc"]}
    return {**row, "resps": [["4"]], "filtered_resps": ["4"], "target": "4", "acc": 1.0, **more}


def counted(path: Path, *options: str) -> dict[str, int]:
    """How many tasks a run has when it is compared with itself, by category; those that are none are left out."""
    return {name: count for name, count in summary(path, path, *options)["counts"].items() if count}


class TestDepth:
    """Rows deeper than 500 levels are no JSON, also where they stand in a whole document."""

    WAYS: tuple[tuple[str, Callable[[str], str], int], ...] = (
        ("table.json", lambda deep: f'[{{"id": 1, "score": 1, "x": {deep}}}]', 1),
        (
            "promptfoo.json",
            lambda deep: json.dumps(promptfoo(graded("a", vars=0))).replace('"vars": 0', f'"x":{deep}'),
            1,
        ),
        (f"{SAMPLES}.json", lambda deep: json.dumps([sampled(1, x=0)]).replace('"x": 0', f'"x": {deep}'), 1),
        ("report.json", lambda deep: f'{{"resolved_ids": ["a"], "submitted_ids": ["a"], "x": {deep}}}', 1),
    )

    @pytest.mark.parametrize(("name", "text", "outer"), WAYS, ids=[name for name, *_ in WAYS])
    def test_the_deepest_row_that_is_read_has_500_levels(
        self, tmp_path: Path, name: str, text: Callable[[str], str], outer: int
    ) -> None:
        put(tmp_path / name, text(nested(MOST_LEVELS - outer)))
        assert counted(tmp_path / name)["identical"] == 1
        put(tmp_path / name, text(nested(600)))
        assert_refused(compare(tmp_path / name, tmp_path / name), name, "nested too deeply")

    @pytest.mark.parametrize(
        ("text", "deep"),
        [
            (nested(500), False),
            (nested(501), True),
            ("[" * 501, True),
            ("[" * 500 + "]" * 499, False),
            ("[]" * 600, False),
            ('["' + "[" * 600 + '"]', False),
            ('{"a":' * 501 + "1" + "}" * 501, True),
            ('[{"a": "\\"[["}, ' * 300 + "1" + "]" * 300, False),
        ],
        ids=range(8),
    )
    def test_levels_are_those_of_brackets_outside_of_texts(self, text: str, deep: bool) -> None:
        padded = text.ljust(2000).encode()
        assert is_too_deep(padded) is deep
        assert is_too_deep(padded, around=1) is (deep and text.count("[") + text.count("{") != 501)


class TestDocuments:
    def test_half_a_pair_of_surrogates_is_of_no_other_type(self) -> None:
        with pytest.raises(msgspec.ValidationError):
            converted({"id": 1, "scores": "\ud800"}, Sample)

    def test_a_sample_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "killed.eval"
        good = {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("_journal/start.json", '{"version": 2, "eval": {"task": "sums"}}')
            archive.writestr("samples/1_epoch_1.json", json.dumps(good))
            archive.writestr("samples/2_epoch_1.json", '{"id": 2, "ep')
        assert_refused(compare(path, path), "entry samples/2_epoch_1.json", "it is cut off")
        assert counted(path, SKIP) == {"tasks": 1, "identical": 1}
        assert "1 sample that cannot be read was left out" in compare(path, path, SKIP).stdout


class TestHarbor:
    def test_a_folder_of_a_trial_is_one_however_little_was_written(self, tmp_path: Path) -> None:
        harbor_trial(tmp_path, "fix", rewards={"reward": 1.0})
        put(tmp_path / "sum__bbbbbbb/result.json", "")
        put(tmp_path / "add__ccccccc/config.json", '{"trial_na')
        put(tmp_path / "mul__ddddddd/trial.log", "")
        put(tmp_path / "not_a_trial/trial.log", "")
        table = table_at(tmp_path)
        assert rows_of(table, "task_name") == {"fix": [Row(1.0)], "add": [KILLED], "mul": [KILLED], "sum": [KILLED]}
        assert not table.notes

    @pytest.mark.parametrize(
        "odd",
        [
            {"step_results": 5},
            {"step_results": "steps"},
            {"exception_info": {"exception_type": "AgentTimeoutError", "policy": "none"}},
            {"step_results": [{"exception_info": {"exception_type": "AgentTimeoutError", "policy": 7}}]},
        ],
    )
    def test_fields_of_other_types_say_nothing(self, tmp_path: Path, odd: dict[str, Any]) -> None:
        harbor_trial(tmp_path, "fix", rewards={"reward": 1.0}, **odd)
        assert only_row(tmp_path, "task_name").reward == 1.0

    def test_attempts_are_in_the_order_in_which_they_began(self, tmp_path: Path) -> None:
        for name, hour, reward in (("fix__a", 3, 0.3), ("fix__b", 1, 0.1), ("fix__c", 2, 0.2), ("add__a", 9, 0.9)):
            harbor_trial(tmp_path, name, rewards={"reward": reward}, started_at=f"2026-01-01T0{hour}:00:00Z")
        harbor_trial(tmp_path, "fix__0", rewards={"reward": 0.4}, started_at=None)
        order = {"add": [Row(0.9)], "fix": [Row(0.1), Row(0.2), Row(0.3), Row(0.4)]}
        assert rows_of(table_at(tmp_path), "task_name") == order
        with_pieces = [piece for source in [table_at(tmp_path).place(0).source] for piece in source.pieces(1)]  # type: ignore[attr-defined]
        assert [(piece.start, piece.stop) for piece in with_pieces] == [(0, 1), (1, 5)]

    def test_a_trial_does_not_end_before_it_begins(self, tmp_path: Path) -> None:
        harbor_trial(tmp_path, "fix", rewards={"reward": 1.0}, finished_at="2025-01-01T00:00:00Z")
        assert "seconds" not in table_at(tmp_path).measures.columns


class TestSwebench:
    REPORT: ClassVar[dict[str, Any]] = {"resolved_ids": ["a"], "unresolved_ids": ["b"], "submitted_ids": ["a", "b"]}

    @pytest.mark.parametrize(
        ("odd", "said"),
        [
            ({"unresolved_ids": [1]}, "unresolved_ids is not a list of ids: 1 is none"),
            ({"unresolved_ids": [None]}, "unresolved_ids is not a list of ids: None is none"),
            ({"unresolved_ids": "b"}, "unresolved_ids is not a list of ids: 'b' is none"),
            ({"unresolved_ids": ["a", "b"]}, "a stands in resolved_ids and in unresolved_ids"),
        ],
    )
    def test_lists_that_are_none_or_contradict_each_other(self, tmp_path: Path, odd: Any, said: str) -> None:
        put_json(tmp_path / "r.json", {**self.REPORT, **odd})
        assert_refused(compare(tmp_path / "r.json", tmp_path / "r.json"), "r.json", said)

    def test_a_list_may_be_null_or_a_number_where_its_name_does_not_say_ids(self, tmp_path: Path) -> None:
        put_json(tmp_path / "r.json", {**self.REPORT, "error_ids": None, "generated": 2})
        assert counted(tmp_path / "r.json") == {"tasks": 2, "identical": 2}

    def test_what_is_left_out_is_named_as_seen_from_the_report(self, tmp_path: Path) -> None:
        put_json(tmp_path / "m.run.json", self.REPORT)
        put(tmp_path / "logs/run_evaluation/run/m/a/report.json", "{")
        done = compare(tmp_path, tmp_path, SKIP)
        assert "left out: logs/run_evaluation/run/m/a/report.json (invalid JSON" in done.stdout

    def test_a_report_of_openhands_is_called_so(self, tmp_path: Path) -> None:
        put_json(tmp_path / "output.report.json", self.REPORT)
        for named in (tmp_path, tmp_path / "output.report.json"):
            assert summary(named, named)["run"]["old"]["reader"] == "openhands"


class TestTerminalBench:
    def test_odd_results_are_masked_with_what_they_say(self, tmp_path: Path) -> None:
        digits = "9" * 5000
        put_json(
            tmp_path / "results.json",
            {"results": [{"trial_name": f"a.{digits}-of-2.r", "task_id": "a", "is_resolved": "yes"}]},
        )
        assert only_row(tmp_path, "task_id") == Row(None, "is_resolved is 'yes': the tests gave no result")

    def test_an_empty_result_did_not_change_while_it_was_read(self, tmp_path: Path) -> None:
        put(tmp_path / "a/a.1-of-1.r/results.json", "")
        put_json(tmp_path / "run_metadata.json", {"task_ids": ["a", ["b"]]})
        table = table_at(tmp_path)
        assert rows_of(table, "task_id") == {"a": [KILLED]}
        assert [note_text(note) for note in table.notes] == [
            f'{tmp_path}: 1 planned attempt left no record: killed or never started: ["b"]'
        ]


class TestRecords:
    def test_a_pipe_in_a_folder_is_no_run_of_verifiers(self, tmp_path: Path) -> None:
        for name in ("traces.jsonl", "results.jsonl"):
            folder = tmp_path / name
            put_json(folder / "metadata.json", {"env_id": "e"})
            os.mkfifo(folder / name)
            assert_refused(compare(folder, folder, "--format", "verifiers"), "it is a folder without")

    def test_settings_of_any_type(self, tmp_path: Path) -> None:
        (tmp_path / "bench").mkdir()
        write_rows(tmp_path / "bench/results.jsonl", [{"problem_idx": 0, "repeat": 0, "reward": 1.0}])
        put_json(tmp_path / "bench/eval-1.json", {"config": {"shuffle_seed": [None], "model": {"a": []}}})
        assert counted(tmp_path) == {"tasks": 1, "identical": 1}

    def test_a_sample_may_be_called_by_a_number(self, tmp_path: Path) -> None:
        events = [(1, {"correct": True}), (2, {"correct": False}), (None, {"correct": True})]
        rows = [{"run_id": "r", "sample_id": name, "type": "match", "data": data} for name, data in events]
        write_rows(tmp_path / "log.jsonl", [{"spec": {"eval_name": "sums"}}, *rows])
        assert rows_of(table_at(tmp_path / "log.jsonl"), "sample_id") == {"1": [Row(1.0)], "2": [Row(0.0)]}

    def test_predictions_beside_rollouts_are_none_of_them(self, tmp_path: Path) -> None:
        write_rows(tmp_path / "predictions.jsonl", [{"instance_id": "a", "model_patch": "x"}])
        assert_refused(compare(tmp_path, tmp_path), "predictions do not say what was resolved")
        write_rows(tmp_path / "rollouts.jsonl", [{"task_id": "a", "reward": 1.0}])
        assert counted(tmp_path) == {"tasks": 1, "identical": 1}


class TestPromptfoo:
    def test_numbers_that_no_double_holds(self, tmp_path: Path) -> None:
        put_json(tmp_path / "r.json", promptfoo(graded("a", latencyMs=10**400, cost=-1), graded("b", latencyMs=1500)))
        assert list(table_at(tmp_path / "r.json").measures.columns) == ["seconds"]

    def test_a_table_counts_where_the_list_beside_it_is_empty(self, tmp_path: Path) -> None:
        table = {"head": {"vars": ["x"], "prompts": []}, "body": [{"vars": ["1"], "outputs": [{"score": 1}]}]}
        put_json(tmp_path / "r.json", {"evalId": "e", "results": {"results": [], "table": table}})
        assert counted(tmp_path / "r.json") == {"tasks": 1, "identical": 1}


class TestSamples:
    def test_a_row_that_names_no_filter_is_not_a_row(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / f"{SAMPLES}.jsonl", [sampled(1), sampled(2, filter=None)])
        assert_refused(compare(path, path), f"{SAMPLES}.jsonl:2: filter None is not the name of a filter")
        assert counted(path, SKIP) == {"tasks": 1, "identical": 1}

    def test_every_entry_of_a_list_that_is_left_out_is_counted(self, tmp_path: Path) -> None:
        path = tmp_path / f"{SAMPLES}.json"
        put_json(path, [sampled(1), 7, None, sampled(2)])
        assert_refused(compare(path, path), "row 2: expected a JSON object")
        assert counted(path, SKIP) == {"tasks": 2, "identical": 2}
        assert "2 rows that cannot be read were left out: row 2 (" in compare(path, path, SKIP).stdout


class TestTables:
    def test_a_cell_whose_quotes_never_end_takes_no_rows_with_it(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        put(path, 'id,score,text\n1,1,ok\n2,0,"oops\n3,1,x\n')
        assert_refused(compare(path, path), "t.csv:3: invalid CSV (the quotes of a cell never end")
        put(path, 'id,score,text\n1,1,ok\n2,0,"oops"s\n3,1,x\n')
        assert_refused(compare(path, path), "t.csv:3: invalid CSV (a cell goes on behind its closing quotes)")
        assert counted(path, SKIP) == {"tasks": 2, "identical": 2}

    def test_names_that_are_not_utf_8_are_not_taken_for_one(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        put(path, "id,score\nä,1\nö,0\nx,1\n".encode("latin-1"))
        assert_refused(compare(path, path), "t.csv:2: the text is not UTF-8; save the table as UTF-8")
        assert counted(path, SKIP) == {"tasks": 1, "identical": 1}
        put(path, "id,score\nä,1\n".encode("utf-16"))
        assert_refused(compare(path, path), "t.csv: the text is not UTF-8")


def test_what_is_wrong_with_a_document_is_said_in_one_line() -> None:
    with pytest.raises(CompareInputError, match="nested too deeply"):
        parse_document(nested(700).encode(), list, around=2)
