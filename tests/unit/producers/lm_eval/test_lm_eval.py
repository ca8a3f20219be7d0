"""Samples of lm-evaluation-harness."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run, read_again
from nemo_gym.rollout_compare.producers.lm_eval.layout import named, task_of
from nemo_gym.rollout_compare.producers.lm_eval.source import SamplesFile
from nemo_gym.rollout_compare.schema import CompareInputError, Step, Wanted
from tests.producer_support import (
    TIME,
    doc,
    found_in,
    output_in,
    record_in,
    steps_in,
    table_of_run,
    write_results,
    write_samples,
)
from tests.support import assert_refused, compare


def names(found: list[tuple[str, Any]]) -> list[str]:
    return [label for label, _ in found]


def rewards(found: list[tuple[str, Any]]) -> list[Any]:
    return [reward for _, reward in found]


def as_list(path: Path) -> Path:
    """The same samples as older versions wrote them: one list."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text(json.dumps(rows, indent=2), "utf-8")
    return path


def test_a_task_is_the_files_and_the_hash_of_its_document(tmp_path: Path) -> None:
    write_samples(tmp_path, [doc(1), doc(2, 0.0)], "more_sums")
    assert found_in(tmp_path) == [("more_sums/1000000000000000", 1.0), ("more_sums/2000000000000000", 0.0)]


@pytest.mark.parametrize("form", ["lines", "list"])
@pytest.mark.parametrize(
    ("value", "reward"),
    [
        (1.0, 1.0),
        (0, 0.0),
        (True, 1.0),
        (0.25, 0.25),
        (None, "no value of acc"),
        ([-5.0, 5], "acc has no value for a single attempt ([-5.0, 5])"),
        (math.nan, "non-finite reward (nan)"),
        ("N/A", "acc is not a number ('N/A')"),
    ],
)
def test_the_reward_is_the_first_metric(tmp_path: Path, form: str, value: Any, reward: Any) -> None:
    path = write_samples(tmp_path, [doc(1, value, metrics=["acc", "acc_norm"], acc_norm=9.0), doc(2, 0.5)])
    if form == "list":
        as_list(path)
    assert rewards(found_in(path)) == [reward, 0.5]


class TestFilters:
    ROWS: ClassVar = [
        doc(1, 1.0, name="strict"),
        doc(2, 0.0, name="strict"),
        doc(1, 0.25, name="loose"),
        doc(2, 0.5, name="loose"),
    ]

    @pytest.mark.parametrize("form", ["lines", "list"])
    @pytest.mark.parametrize(("reward", "found"), [(None, [1.0, 0.0]), ("acc", [1.0, 0.0]), ("acc,loose", [0.25, 0.5])])
    def test_only_the_first_counts_unless_another_is_asked_for(
        self, tmp_path: Path, form: str, reward: str | None, found: list[float]
    ) -> None:
        path = write_samples(tmp_path, self.ROWS)
        if form == "list":
            as_list(path)
        assert rewards(found_in(path, reward=reward)) == found

    @pytest.mark.parametrize("form", ["lines", "list", "gzip"])
    def test_where_rows_do_not_name_theirs_the_first_document_comes_again(self, tmp_path: Path, form: str) -> None:
        rows = [{name: value for name, value in row.items() if name not in ("filter", "metrics")} for row in self.ROWS]
        path = write_samples(tmp_path, rows)
        if form == "list":
            as_list(path)
        if form == "gzip":
            path = Path(f"{path}.gz")
            path.write_bytes(gzip.compress(Path(str(path).removesuffix(".gz")).read_bytes()))
        assert rewards(found_in(path)) == [1.0, 0.0]

    def test_one_filter_without_a_name_is_the_whole_file(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, [doc(place, name=None) for place in range(3)])
        assert rewards(found_in(path)) == [1.0] * 3

    def test_pieces_give_the_same_rows_as_the_whole(self, tmp_path: Path) -> None:
        rows = [doc(place, place / 7, name=name) for name in ("strict", "loose") for place in range(50)]
        for with_names in (True, False):
            if not with_names:
                rows = [{name: value for name, value in row.items() if name != "filter"} for row in rows]
            path = write_samples(tmp_path, rows)
            with locate_run(str(path)).opened() as run:
                source = run.shards[0].main
                (whole,) = read_tables([(0, source, Plan())], 1)
                (pieces,) = read_tables([(0, source, Plan())], 1, piece_bytes=700)
                assert len(source.pieces(700)) > 10
            assert list(whole.reward) == list(pieces.reward) == [place / 7 for place in range(50)]
            assert [whole.place(i).where for i in range(50)] == [pieces.place(i).where for i in range(50)]

    def test_one_that_is_not_among_those_of_the_results_is_an_error(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, self.ROWS)
        write_results(tmp_path, {"sums": {"alias": "sums", "acc,strict": 0.5, "acc,loose": 0.4}})
        with pytest.raises(CompareInputError) as caught:
            found_in(path, reward="acc,fuzzy")
        assert str(caught.value).startswith(f"{path}: no filter fuzzy (there are: strict, loose); --reward NAME")


class TestReward:
    @pytest.mark.parametrize("form", ["lines", "list"])
    def test_a_metric_that_no_row_has_is_an_error_that_lists_those_there_are(self, tmp_path: Path, form: str) -> None:
        path = write_samples(tmp_path, [doc(1), doc(2, metrics=["acc", "f1"], f1=0.5)])
        if form == "list":
            as_list(path)
        with pytest.raises(CompareInputError) as caught:
            found_in(path, reward="em")
        assert str(caught.value) == (
            f"{path}: no metric em (there are: acc); --reward NAME takes one of: acc (2 rows), f1 (1 row)"
        )

    def test_where_another_task_has_it_the_rows_without_are_masked(self, tmp_path: Path) -> None:
        write_samples(tmp_path, [doc(1)], "a")
        write_samples(tmp_path, [doc(1, 0.5, "em")], "b")
        assert rewards(found_in(tmp_path, reward="em")) == ["no metric em (there are: acc)", 0.5]

    def test_rows_without_a_list_of_metrics_have_those_that_are_nothing_else(self, tmp_path: Path) -> None:
        row = doc(1, 0.5, "exact")
        del row["metrics"]
        assert rewards(found_in(write_samples(tmp_path, [row]))) == [0.5]


class TestFiles:
    def test_of_a_task_the_newest_samples_count(self, tmp_path: Path) -> None:
        write_samples(tmp_path, [doc(1, 0.0)], time="2026-11-30T17-00-56.808284")
        write_samples(tmp_path, [doc(1, 1.0)], time="2026-12-01T07-00-56.808284")
        write_samples(tmp_path, [doc(1, 0.25)], time="2026-11-30T17-00-56.808284").rename(
            tmp_path / "samples_sums_2026-11-30T17-00-56.808284.jsonl"
        )
        undated = write_samples(tmp_path, [doc(1, 0.75)], time="x")
        undated.rename(tmp_path / "samples_sums.jsonl")
        write_samples(tmp_path, [doc(1, 0.5)], "other")
        assert rewards(found_in(tmp_path)) == [0.5, 1.0]

    def test_the_only_model_in_a_folder_is_found_and_several_are_an_error(self, tmp_path: Path) -> None:
        write_samples(tmp_path / "out" / "model-a", [doc(1)])
        assert rewards(found_in(tmp_path)) == [1.0]
        (tmp_path / "out" / "logs").mkdir()
        assert len(locate_run(str(tmp_path / "out"), format="lm-eval").files()) == 1
        write_samples(tmp_path / "out" / "model-b", [doc(1)])
        with pytest.raises(CompareInputError, match="it holds 2 models; name the folder of one: model-a, model-b"):
            locate_run(str(tmp_path / "out"), format="lm-eval")

    def test_a_pattern_names_files_of_one_run(self, tmp_path: Path) -> None:
        write_samples(tmp_path, [doc(1)], "a")
        write_samples(tmp_path, [doc(1)], "b")
        located = locate_run(str(tmp_path / "*.jsonl"), format="lm-eval")
        assert [path.name for path in located.files()] == [f"samples_a_{TIME}.jsonl", f"samples_b_{TIME}.jsonl"]
        assert located.folders() == [tmp_path]
        with pytest.raises(CompareInputError, match="no file of samples matches"):
            locate_run(str(tmp_path / "*.csv"), format="lm-eval")

    def test_the_results_are_among_the_files_that_are_read(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, [doc(1)])
        results = write_results(tmp_path, {})
        assert locate_run(str(path)).files() == [path, results]

    @pytest.mark.parametrize(
        ("name", "stem", "time"),
        [
            (f"samples_a_b_{TIME}.jsonl", "a_b", TIME),
            ("samples_a_2024-06-01T01-02-03.json", "a", "2024-06-01T01-02-03"),
            (f"samples_a_{TIME}.jsonl.gz", "a", TIME),
            ("samples_a.jsonl", "a", ""),
            (f"results_{TIME}.json", "", TIME),
            ("pretrained__m_a.jsonl", "pretrained__m_a", ""),
            ("a.txt", "a.txt", ""),
        ],
    )
    def test_what_a_name_tells(self, name: str, stem: str, time: str) -> None:
        assert (named(name).stem, named(name).time) == (stem, time)

    def test_a_task_is_the_longest_known_one_that_a_name_ends_in(self) -> None:
        assert task_of("model_more_sums", ["sums", "more_sums", "a"]) == "more_sums"
        assert task_of("unknown", ["sums"]) == "unknown"


class TestReadAgain:
    @pytest.mark.parametrize("form", ["lines", "list"])
    def test_the_answer_stands_against_the_target(self, tmp_path: Path, form: str) -> None:
        path = write_samples(tmp_path, [doc(1), doc(2, 0.0)])
        if form == "list":
            as_list(path)
        assert output_in(path, 1) == "answer: 41\ntarget: 42\nacc 0.0"
        assert steps_in(path, 1) == (Step("user", "question 2"), Step("assistant", "it is 41"))
        record = record_in(path, 1)
        assert record.task_input == "=question 2"
        assert record.row
        assert record.row["doc_id"] == 2

    def test_older_rows_list_their_requests(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, [doc(1, arguments=[["the prompt", " yes"], ["the prompt", " no"]])])
        assert record_in(path).task_input == "=the prompt"

    @pytest.mark.parametrize("form", ["lines", "list"])
    def test_a_file_that_has_changed_is_not_read_again(self, tmp_path: Path, form: str) -> None:
        path = write_samples(tmp_path, [doc(1), doc(2)])
        if form == "list":
            as_list(path)
        place = table_of_run(path).place(1)
        path.write_text("[]" if form == "list" else "", "utf-8")
        for grown in (False, True):
            ((_, record),) = read_again([place], Wanted(output=True), grown=grown)
            assert str(record) == f"{path} has changed or gone since it was first read"


class TestBadInput:
    def test_results_without_samples(self, tmp_path: Path) -> None:
        path = write_results(tmp_path / "run", {"sums": {"acc,none": 1.0}})
        good = write_samples(tmp_path / "good", [doc(1)])
        for named_by_user in (path, tmp_path / "run"):
            assert_refused(compare(named_by_user, good), f"cannot read {named_by_user}", "--log_samples")

    def test_a_line_that_is_cut_off(self, tmp_path: Path) -> None:
        good = write_samples(tmp_path / "good", [doc(1), doc(2)])
        bad = write_samples(tmp_path / "bad", [doc(1), doc(2)])
        bad.write_bytes(bad.read_bytes()[:-20])
        assert_refused(compare(good, bad), f"{bad}:2: invalid JSON", "the run may still be writing")
        assert "1 line that is not a row was left out" in compare(good, bad, "--skip-bad-lines").stdout

    def test_a_list_that_is_cut_off_or_has_something_else_in_it(self, tmp_path: Path) -> None:
        good = write_samples(tmp_path / "good", [doc(1), doc(2)])
        bad = as_list(write_samples(tmp_path / "bad", [doc(1), doc(2)]))
        whole = bad.read_bytes()
        bad.write_bytes(whole[:-20])
        assert_refused(compare(good, bad), f"cannot read {bad}: invalid JSON")
        bad.write_bytes(whole.rstrip()[:-1] + b", 7]")
        assert_refused(compare(good, bad), f"{bad}: row 3: expected a JSON object")
        assert "1 row that cannot be read was left out: " in compare(good, bad, "--skip-bad-lines").stdout
        bad.write_bytes(b"[7, null, " + whole.strip()[1:-1] + b", 8]")
        told = compare(good, bad, "--skip-bad-lines").stdout
        assert "3 rows that cannot be read were left out: " in told
        assert [f"row {number} (" in told for number in range(1, 6)] == [True, True, False, False, True]

    def test_a_sample_of_a_list_whose_filter_has_no_name(self, tmp_path: Path) -> None:
        good = write_samples(tmp_path / "good", [doc(1), doc(2)])
        bad = as_list(write_samples(tmp_path / "bad", [doc(1), doc(2, filter=7)]))
        assert_refused(compare(good, bad), f"{bad}: row 2: filter 7 is not the name of a filter")
        assert "1 row that cannot be read was left out: " in compare(good, bad, "--skip-bad-lines").stdout

    def test_a_list_without_anything_that_is_a_row(self, tmp_path: Path) -> None:
        path = as_list(write_samples(tmp_path, [doc(1)]))
        path.write_text("[7, 8]", "utf-8")
        assert_refused(
            compare(path, path, "--skip-bad-lines", "--format", "lm-eval"),
            f"{path}: none of its rows can be read: row 1 (expected a JSON",
        )

    def test_an_empty_file_is_a_run_without_rows(self, tmp_path: Path) -> None:
        good = write_samples(tmp_path / "good", [doc(1)])
        empty = write_samples(tmp_path / "empty", [])
        assert "missing                      1   old-only 1" in compare(good, empty.parent).stdout

    def test_broken_results_are_not_needed(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, [doc(1)])
        write_results(tmp_path, {}).write_text("{", "utf-8")
        assert rewards(found_in(path)) == [1.0]

    def test_a_folder_without_anything(self, tmp_path: Path) -> None:
        with pytest.raises(CompareInputError, match="lm-eval writes them with --log_samples"):
            locate_run(str(tmp_path), format="lm-eval")

    def test_a_list_without_rows(self, tmp_path: Path) -> None:
        good = write_samples(tmp_path / "good", [doc(1)])
        empty = write_samples(tmp_path / "empty", [])
        empty.write_text("[]", "utf-8")
        assert "missing                      1   old-only 1" in compare(good, empty.parent).stdout
        bad = as_list(write_samples(tmp_path / "masked", [doc(1, None)]))
        assert "masked                       1   old 0, new 1" in compare(good, bad).stdout

    def test_a_bad_line_among_rows_without_filters_is_named(self, tmp_path: Path) -> None:
        rows = [{name: value for name, value in doc(place).items() if name != "filter"} for place in (1, 2)]
        path = write_samples(tmp_path, rows)
        path.write_text(path.read_text("utf-8") + "{\n", "utf-8")
        with pytest.raises(CompareInputError, match=f"{path}:3: invalid JSON"):
            found_in(path)

    def test_what_a_row_is_called_in_messages(self, tmp_path: Path) -> None:
        with locate_run(str(write_samples(tmp_path, [doc(1)]))).opened() as run:
            source = run.shards[0].main
        assert isinstance(source, SamplesFile)
        assert [source.label(row, "k") for row in ({"k": 1}, {"doc_id": 2}, {})] == ["sums/1", "sums/2", "sums/unknown"]

    def test_a_bad_first_line_does_not_hide_what_the_others_have_in_common(self, tmp_path: Path) -> None:
        path = write_samples(tmp_path, [doc(1, 0.5, "f1")])
        path.write_text("{\n" + path.read_text("utf-8"), "utf-8")
        assert rewards(found_in(tmp_path, skip_bad_lines=True)) == [0.5]
        with pytest.raises(CompareInputError, match="no metric em"):
            found_in(tmp_path, reward="em")
