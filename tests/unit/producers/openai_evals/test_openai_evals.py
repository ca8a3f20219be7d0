"""Logs of OpenAI evals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from nemo_gym.rollout_compare.producers import locate_run, read_again
from nemo_gym.rollout_compare.schema import CompareInputError, Step, Wanted
from tests.producer_support import event, found_in, output_in, record_in, steps_in, table_of_run, write_events
from tests.support import assert_refused, compare

ASKED = [{"role": "user", "content": "6 * 7?"}]


def test_the_events_of_a_sample_are_one_row_in_whatever_order_they_stand(tmp_path: Path) -> None:
    events = [
        event("b", "match", correct=False),
        event("a", "sampling", prompt=ASKED, sampled="42"),
        event("b", "sampling", prompt="6 * 7?", sampled="41"),
        event("a", "match", correct=True),
        {"type": "metrics", "data": {"accuracy": 0.5}},
        event("a", "extra", note="x"),
    ]
    path = write_events(tmp_path / "log.jsonl", events)
    assert found_in(path) == [("b", 0.0), ("a", 1.0)]
    table = table_of_run(path)
    assert table.inputs[0] == table.inputs[1] != 0


@pytest.mark.parametrize(
    ("events", "reward"),
    [
        ([("match", {"correct": True}), ("metrics", {"accuracy": 0.0})], 1.0),
        ([("metrics", {"accuracy": 0.0, "score": 1.0})], 0.0),
        ([("metrics", {"choice": "B", "score": 0.75})], 0.75),
        ([("metrics", {"f1": 0.5, "note": "x"})], 0.5),
        ([("match", {"correct": True}), ("match", {"correct": False})], 0.5),
        ([("match", {"correct": None})], "match.correct is not a number (None)"),
        ([("match", {"correct": True}), ("error", {"message": "lost\nRateLimit"})], "error: RateLimit"),
        ([("error", {"type": "Timeout"})], "error: Timeout"),
        ([("sampling", {"prompt": ASKED})], "no score"),
        ([("match", "correct")], "no score"),
    ],
)
def test_what_events_say_of_a_result(tmp_path: Path, events: list[tuple[str, Any]], reward: Any) -> None:
    made = [{**event("a", kind), "data": data} for kind, data in events]
    assert found_in(write_events(tmp_path / "log.jsonl", made)) == [("a", reward)]


def test_without_a_final_report_a_sample_without_a_score_was_killed(tmp_path: Path) -> None:
    path = write_events(tmp_path / "log.jsonl", [event("a", "sampling", prompt=ASKED)], finished=False)
    assert found_in(path) == [("a", "no result: killed or still running")]


class TestReward:
    EVENTS: ClassVar = [
        event("a", "metrics", f1=0.5, em=1),
        event("b", "metrics", f1=0.25, em=0),
        event("c", "error", message="e"),
    ]

    @pytest.mark.parametrize("reward", ["f1", "metrics.f1"])
    def test_it_can_be_chosen(self, tmp_path: Path, reward: str) -> None:
        path = write_events(tmp_path / "log.jsonl", self.EVENTS)
        assert found_in(path, reward=reward) == [("a", 0.5), ("b", 0.25), ("c", "error: e")]

    @pytest.mark.parametrize(
        ("reward", "said"),
        [(None, "none of several scores is the main one"), ("bleu", "no sample has the score 'bleu'")],
    )
    def test_else_the_error_lists_what_there_is(self, tmp_path: Path, reward: str | None, said: str) -> None:
        path = write_events(tmp_path / "log.jsonl", self.EVENTS)
        with pytest.raises(CompareInputError) as caught:
            found_in(path, reward=reward)
        assert str(caught.value) == (
            f"{path}: {said}; --reward NAME takes one of: metrics.em (2 samples), metrics.f1 (2 samples)"
        )

    def test_in_one_of_several_logs_it_masks(self, tmp_path: Path) -> None:
        write_events(tmp_path / "1.jsonl", self.EVENTS)
        write_events(tmp_path / "2.jsonl", [event("d", "match", correct=True)])
        assert found_in(tmp_path) == [
            ("a", "no main score (there are: metrics.f1, metrics.em)"),
            ("b", "no main score (there are: metrics.f1, metrics.em)"),
            ("c", "error: e"),
            ("d", 1.0),
        ]
        assert found_in(tmp_path, reward="f1")[3] == ("d", "no score f1 (there are: match.correct)")


class TestReadAgain:
    EVENTS: ClassVar = [
        event("a", "sampling", prompt=ASKED, sampled="41"),
        event("b", "match", correct=True),
        event("a", "sampling", prompt=[*ASKED, {"role": "assistant", "content": "41"}], sampled=["42?"]),
        event("a", "match", correct=False, expected="42", picked=None, sampled="41"),
    ]

    def test_the_answer_stands_against_the_target(self, tmp_path: Path) -> None:
        path = write_events(tmp_path / "log.jsonl", self.EVENTS)
        assert output_in(path) == 'answer: ["42?"]\ntarget: 42\nmatch.correct false\nmatch.picked null'
        record = record_in(path)
        assert record.values == ("a",)
        assert record.task_input == "=6 * 7?"
        assert record.row == {
            "sample_id": "a",
            "match.correct": False,
            "match.expected": "42",
            "match.picked": None,
            "match.sampled": "41",
        }

    def test_a_prompt_that_goes_on_brings_only_what_is_new(self, tmp_path: Path) -> None:
        path = write_events(tmp_path / "log.jsonl", self.EVENTS)
        assert steps_in(path) == (
            Step("user", "6 * 7?"),
            Step("assistant", "41"),
            Step("assistant", "42?"),
        )

    def test_a_log_that_has_changed_is_not_read_again(self, tmp_path: Path) -> None:
        path = write_events(tmp_path / "log.jsonl", self.EVENTS)
        place = table_of_run(path).place(1)
        write_events(path, [])
        for grown in (False, True):
            ((_, record),) = read_again([place], Wanted(output=True), grown=grown)
            assert str(record) == f"{path} has changed or gone since it was first read"
        path.unlink()
        ((_, record),) = read_again([place], Wanted(output=True), grown=True)
        assert isinstance(record, CompareInputError)


class TestFiles:
    def test_the_logs_of_a_folder_are_one_run(self, tmp_path: Path) -> None:
        write_events(tmp_path / "1.jsonl", [event("a.1", "match", correct=True)])
        write_events(tmp_path / "2.log", [event("b.1", "match", correct=False)])
        (tmp_path / "notes.txt").write_text("nothing", "utf-8")
        assert found_in(tmp_path) == [("a.1", 1.0), ("b.1", 0.0)]
        located = locate_run(str(tmp_path / "*.log"), format="openai-evals")
        assert [path.name for path in located.files()] == ["2.log"]
        assert located.folders() == [tmp_path]

    def test_what_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(CompareInputError, match="a folder without a log of OpenAI evals"):
            locate_run(str(tmp_path), format="openai-evals")
        with pytest.raises(CompareInputError, match="a log of OpenAI evals matches nothing"):
            locate_run(str(tmp_path / "*.log"), format="openai-evals")

    def test_a_run_that_crashed_at_once_has_its_first_line_alone(self, tmp_path: Path) -> None:
        whole = write_events(tmp_path / "1.jsonl", [event("a", "match", correct=True)])
        crashed = write_events(tmp_path / "2.jsonl", [], finished=False)
        assert "missing                      1   old-only 1" in compare(whole, crashed).stdout


class TestBadInput:
    def test_a_line_that_is_cut_off(self, tmp_path: Path) -> None:
        events = [event("a", "match", correct=True), event("b", "match", correct=True)]
        good = write_events(tmp_path / "good.jsonl", events)
        bad = write_events(tmp_path / "bad.jsonl", events)
        bad.write_bytes(bad.read_bytes()[:-20])
        assert_refused(compare(good, bad), f"{bad}:4: invalid JSON", "the run may still be writing")
        done = compare(good, bad, "--skip-bad-lines")
        assert "1 line that is not a row was left out: line 4" in done.stdout
        assert "identical                    1\n" in done.stdout

    def test_something_else(self, tmp_path: Path) -> None:
        path = tmp_path / "log.jsonl"
        path.write_text("a placeholder\n", "utf-8")
        with pytest.raises(CompareInputError, match="does not seem to hold rollouts"):
            table_of_run_as(path)

    def test_a_literal_that_only_the_plain_decoder_knows(self, tmp_path: Path) -> None:
        path = write_events(tmp_path / "log.jsonl", [event("a", "metrics", score=float("nan"))])
        assert found_in(path) == [("a", "non-finite reward (nan)")]


def table_of_run_as(path: Path) -> None:
    from nemo_gym.rollout_compare.engine.runs import run_tables
    from nemo_gym.rollout_compare.producers import Plan

    with locate_run(str(path), format="openai-evals").opened() as run:
        run_tables([run], [Plan()], 1)
