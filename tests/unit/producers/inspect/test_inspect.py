"""Inspect's logs."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec.structs import asdict

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.producers.inspect.log import read_log
from nemo_gym.rollout_compare.producers.inspect.source import measures_of
from nemo_gym.rollout_compare.schema import CompareInputError, NoteKind, Step
from tests.producer_support import (
    ZSTD,
    found_in,
    head,
    output_in,
    record_in,
    sample,
    steps_in,
    table_of_run,
    write_archive,
    write_document,
)
from tests.support import assert_refused, compare

FORMS = ["archive", "zstandard", "document", "killed"]


def log(folder: Path, samples: list[Any], form: str = "archive", name: str = "log", **header: Any) -> Path:
    if form == "document":
        return write_document(folder / f"{name}.json", samples, head(**header))
    method = ZSTD if form == "zstandard" else zipfile.ZIP_DEFLATED
    return write_archive(folder / f"{name}.eval", samples, head(**header), method=method, killed=form == "killed")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "reward"),
    [
        ("C", 1.0),
        ("P", 0.5),
        ("I", 0.0),
        ("N", 0.0),
        (True, 1.0),
        (False, 0.0),
        (0.25, 0.25),
        (3, 3.0),
        ("yes", 1.0),
        ("FALSE", 0.0),
        ("0.75", 0.75),
        ({"only": 2}, 2.0),
        (math.nan, "match gave no score"),
        (None, "match gave no score"),
        (math.inf, "non-finite reward (inf)"),
        ([1, 0], "match has no value for a single attempt ([1, 0])"),
        ("c", "match is not a number ('c')"),
    ],
)
def test_a_score_is_the_number_that_inspect_takes_it_for(tmp_path: Path, form: str, value: Any, reward: Any) -> None:
    assert found_in(log(tmp_path, [sample(value=value)], form)) == [("sums/a", reward)]


@pytest.mark.parametrize("form", FORMS)
def test_what_masks_a_sample_whatever_its_score(tmp_path: Path, form: str) -> None:
    failed = {"message": "RuntimeError('lost')", "traceback": "..."}
    samples = [
        sample("error", error=failed),
        sample("grader") | {"scores": {"match": {"value": math.nan, "reason": "grader_failed"}}},
        sample("scoring") | {"scores": {"match": {"value": "I", "reason": "scoring_failed"}}},
        sample("refusal") | {"scores": {"match": {"value": "I", "reason": "refusal"}}},
        sample("none") | {"scores": {}},
        sample("null") | {"scores": None},
        sample("going") | {"scores": {}, "completed": False},
        sample("invalid", invalidation={"reason": "wrong image"}),
        sample("limit", "I", limit={"type": "message", "limit": 12}),
    ]
    path = log(tmp_path, samples, form)
    assert found_in(path) == [
        ("sums/error", "error: RuntimeError('lost')"),
        ("sums/grader", "grader_failed"),
        ("sums/scoring", "scoring_failed"),
        ("sums/refusal", 0.0),
        ("sums/none", "no score"),
        ("sums/null", "no score"),
        ("sums/going", "no result: killed or still running"),
        ("sums/invalid", "invalidated: wrong image"),
        ("sums/limit", 0.0),
    ]
    kinds = table_of_run(path).failure_kind
    assert (kinds[3], kinds[8], kinds[0]) == ("refusal", "limit: message", None)


def test_a_summary_does_not_say_which_samples_were_invalidated(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "log.eval", [sample()], {**head(), "invalidated": True})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["samples/a_epoch_1.json"] = json.dumps(sample(invalidation={"author": "me"})).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    assert found_in(path) == [("sums/a", "invalidated: no reason given")]


@pytest.mark.parametrize("form", FORMS)
def test_of_a_sample_that_is_there_twice_the_last_counts(tmp_path: Path, form: str) -> None:
    samples = [sample(1, "I"), sample("b"), sample("1", "C"), sample(1, "P", epoch=2)]
    assert found_in(log(tmp_path, samples, form)) == [("sums/1", 1.0), ("sums/b", 1.0), ("sums/1", 0.5)]


def test_the_score_without_a_name_of_older_logs_counts(tmp_path: Path) -> None:
    old = {"id": 1, "epoch": 1, "input": "q", "target": "t", "score": {"value": "C", "explanation": "fine"}}
    path = write_document(tmp_path / "log.json", [old])
    assert found_in(path) == [("sums/1", 1.0)]
    assert output_in(path) == "fine\ntarget: t"


class TestSeveralScores:
    SCORES: ClassVar = {"first": {"value": "I"}, "second": {"value": {"x": 1, "y.z": 2}, "explanation": "two"}}

    @pytest.mark.parametrize(
        ("reward", "found"),
        [(None, 0.0), ("first", 0.0), ("second.x", 1.0), ("second.y.z", 2.0)],
    )
    def test_the_first_is_the_main_one_unless_another_is_asked_for(
        self, tmp_path: Path, reward: str | None, found: float
    ) -> None:
        path = log(tmp_path, [sample() | {"scores": self.SCORES}])
        assert found_in(path, reward=reward) == [("sums/a", found)]

    @pytest.mark.parametrize(("scorer", "score", "found"), [("second", "x", 1.0), ("first", "first", 0.0)])
    def test_the_headline_of_the_results_names_the_main_one(
        self, tmp_path: Path, scorer: str, score: str, found: float
    ) -> None:
        results = {"headline": {"scorer": scorer, "score": score, "metric": "mean"}}
        path = write_archive(
            tmp_path / "log.eval", [sample() | {"scores": self.SCORES}], {**head(), "results": results}
        )
        assert found_in(path) == [("sums/a", found)]

    def test_one_that_no_sample_has_is_an_error_that_lists_what_there_is(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample() | {"scores": self.SCORES}, sample("b")])
        with pytest.raises(CompareInputError) as caught:
            found_in(path, reward="third")
        assert str(caught.value) == (
            f"{path}: no sample has the score 'third'; --reward NAME takes one of: "
            "first (1 sample), match (1 sample), second.x (1 sample), second.y.z (1 sample)"
        )

    def test_several_values_without_a_main_one_are_an_error_that_lists_them(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample(value={"x": 1, "y": 2}), sample("b", {"x": 1, "y": 2}), sample("c", error="e")])
        with pytest.raises(CompareInputError) as caught:
            found_in(path)
        assert str(caught.value) == (
            f"{path}: none of several scores is the main one; --reward NAME takes one of: "
            "match.x (2 samples), match.y (2 samples)"
        )

    def test_where_other_logs_have_it_those_without_are_masked(self, tmp_path: Path) -> None:
        log(tmp_path, [sample()], name="1")
        log(tmp_path, [sample() | {"scores": self.SCORES}], name="2", task="other")
        assert found_in(tmp_path, reward="second.x") == [
            ("sums/a", "no score second.x (there are: match)"),
            ("other/a", 1.0),
        ]
        log(tmp_path, [sample(value={"x": 1, "y": 2})], name="3", task="third")
        assert found_in(tmp_path)[2] == ("third/a", "match has several values, none of them the main one: x, y")

    def test_all_of_them_are_shown(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample() | {"scores": self.SCORES}])
        assert output_in(path) == 'second = {"x":1,"y.z":2}\ntwo\nfirst = I\ntarget: 42'


class TestFolders:
    def test_several_logs_are_one_run(self, tmp_path: Path) -> None:
        log(tmp_path, [sample()], name="1")
        log(tmp_path, [sample(value="I")], "document", name="2", task="other")
        (tmp_path / "logs.json").write_text("{}", "utf-8")
        assert found_in(tmp_path) == [("sums/a", 1.0), ("other/a", 0.0)]

    @pytest.mark.parametrize(("newer", "older"), [("1", "2"), ("2", "1")])
    def test_of_the_logs_of_a_retried_task_the_newest_counts(self, tmp_path: Path, newer: str, older: str) -> None:
        log(tmp_path, [sample()], name=newer, created="2026-01-02T00:00:00+00:00")
        log(tmp_path, [sample(value="I"), sample("b")], name=older, created="2026-01-01T00:00:00+00:00")
        assert found_in(tmp_path) == [("sums/a", 1.0)]
        (note,) = (note for note in table_of_run(tmp_path).notes if note.kind is NoteKind.READER)
        assert note.field == f"a retry left a later log in the place of {older}.eval, which is not read"

    def test_two_runs_of_one_task_are_more_attempts(self, tmp_path: Path) -> None:
        log(tmp_path, [sample()], name="1", task_id="x")
        log(tmp_path, [sample(value="I")], name="2", task_id="y")
        assert found_in(tmp_path) == [("sums/a", 1.0), ("sums/a", 0.0)]

    def test_runs_of_several_models_are_never_mixed(self, tmp_path: Path) -> None:
        log(tmp_path, [sample()], name="1", task_id="x", model="m/1")
        log(tmp_path, [sample()], name="2", task_id="y", model="m/2")
        assert [task for task, _ in found_in(tmp_path)] == ["sums (m/1)/a", "sums (m/2)/a"]

    def test_a_pattern_names_logs_too(self, tmp_path: Path) -> None:
        log(tmp_path, [sample()], name="1")
        log(tmp_path, [sample("b")], name="2", task="other")
        located = locate_run(str(tmp_path / "[12].eval"), format="inspect")
        assert [path.name for path in located.files()] == ["1.eval", "2.eval"]
        assert located.folders() == [tmp_path]
        with pytest.raises(CompareInputError, match="no Inspect log matches"):
            locate_run(str(tmp_path / "[34].eval"), format="inspect")

    def test_logs_in_folders_below_are_found_when_the_format_is_said(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            log(tmp_path / name, [sample()])
        assert len(locate_run(str(tmp_path), format="inspect").files()) == 2
        (tmp_path / "empty").mkdir()
        with pytest.raises(CompareInputError, match="a folder without an Inspect log"):
            locate_run(str(tmp_path / "empty"), format="inspect")


def test_planned_attempts_without_a_record_are_counted(tmp_path: Path) -> None:
    planned = {"dataset": {"sample_ids": ["a", "b", 3]}, "config": {"epochs": 2}}
    log(tmp_path, [sample("a"), sample(3, epoch=2)], "killed", name="old", **planned)
    log(tmp_path, [sample("a"), sample(3)], name="new")
    done = compare(tmp_path / "old.eval", tmp_path / "new.eval")
    assert "note: 4 planned attempts of the old run left no record: killed or never started\n" in done.stdout


class TestReadAgain:
    MESSAGES: ClassVar = [
        {"role": "system", "content": "attachment://1"},
        {"role": "user", "content": [{"type": "text", "text": "add"}, {"type": "image", "image": "..."}]},
        {
            "role": "assistant",
            "content": "let me see",
            "tool_calls": [
                {"id": "c1", "function": "adder", "arguments": {"x": 1}},
                {"id": "c2", "function": "adder", "arguments": {"x": 2}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "tool", "tool_call_id": "c2", "content": "4"},
    ]

    @pytest.mark.parametrize("form", FORMS)
    def test_the_transcript_has_a_step_for_each_call_with_what_it_gave(self, tmp_path: Path, form: str) -> None:
        one = sample(messages=self.MESSAGES, attachments={"1": "be good"})
        assert steps_in(log(tmp_path, [sample("z"), one], form), 1) == (
            Step("system", "be good"),
            Step("user", "add\n(image)"),
            Step("assistant", "let me see", "adder", '{"x":1}', "2"),
            Step("assistant", "", "adder", '{"x":2}', "4"),
        )

    @pytest.mark.parametrize("form", FORMS)
    def test_what_the_scorer_said_stands_with_the_answer_and_the_target(self, tmp_path: Path, form: str) -> None:
        record = record_in(log(tmp_path, [sample()], form))
        assert record.output
        assert record.output.texts == (("scores.explanation", "looked for 42\nanswer: 41\ntarget: 42"),)
        assert record.task_input == "=question a"
        assert record.values == ("a",)
        assert record.row
        assert record.row["epoch"] == 1

    def test_a_sample_whose_entry_is_gone_is_told_by_its_summary(self, tmp_path: Path) -> None:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps(head()))
            archive.writestr("summaries.json", json.dumps([sample()]))
        assert output_in(path) == "looked for 42\nanswer: 41\ntarget: 42"

    def test_a_log_that_has_changed_is_not_read_again(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample()])
        place = table_of_run(path).place(0)
        log(tmp_path, [sample(), sample("b")])
        from nemo_gym.rollout_compare.producers import read_again
        from nemo_gym.rollout_compare.schema import Wanted

        ((_, record),) = read_again([place], Wanted(output=True))
        assert str(record) == f"{path} has changed or gone since it was first read"
        path.unlink()
        write_document(path, [])
        ((_, record),) = read_again([place], Wanted(output=True), grown=True)
        assert isinstance(record, CompareInputError)

    def test_no_sample_is_opened_for_what_the_summaries_say(self, tmp_path: Path) -> None:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("samples/a_epoch_1.json", "this is not JSON")
            archive.writestr("summaries.json", json.dumps([sample()]))
            archive.writestr("header.json", json.dumps(head()))
        assert found_in(path) == [("sums/a", 1.0)]


def test_settings_and_measures_are_told(tmp_path: Path) -> None:
    usage = {"m/1": {"input_tokens": 20, "output_tokens": 5, "total_cost": 0.5}, "m/2": {"input_tokens": 1}}
    one = sample(model_usage=usage, total_time=1.5, turn_count=3)
    read = read_log_of(log(tmp_path, [one]))
    assert measures_of(read.samples[0]) == {
        "input-tokens": 21,
        "output-tokens": 5,
        "dollars": 0.5,
        "turns": 3,
        "seconds": 1.5,
    }
    assert asdict(read.head)["status"] == "success"


def read_log_of(path: Path) -> Any:
    from nemo_gym.rollout_compare.files.inputs import open_input

    with open_input(path) as source:
        return read_log(source)


class TestBadInput:
    def refused(self, tmp_path: Path, bad: Path, *pieces: str) -> None:
        good = write_archive(tmp_path / "good.eval", [sample()])
        assert_refused(compare(bad, good), str(bad), *pieces)

    def test_a_log_without_samples(self, tmp_path: Path) -> None:
        self.refused(tmp_path, write_document(tmp_path / "bad.json", None), "it has no samples")
        self.refused(tmp_path, write_archive(tmp_path / "bad.eval", []), "it has no samples")

    def test_an_archive_that_is_cut_off(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample()])
        path.write_bytes(path.read_bytes()[:-100])
        self.refused(tmp_path, path, "cut off or broken")

    def test_an_archive_that_is_no_log(self, tmp_path: Path) -> None:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("word/document.xml", "")
        self.refused(tmp_path, path, "neither header.json nor _journal/start.json")

    def test_something_else_of_that_name(self, tmp_path: Path) -> None:
        path = tmp_path / "log.eval"
        path.write_text("not a log", "utf-8")
        self.refused(tmp_path, path, "invalid JSON")
        path.write_text('{"eval": 1}', "utf-8")
        self.refused(tmp_path, path, "unexpected JSON")

    @pytest.mark.parametrize(("flag", "said"), [(0x1, "it is encrypted"), (0x0, "its compression is not known")])
    def test_an_entry_that_is_encrypted_or_of_an_unknown_method(self, tmp_path: Path, flag: int, said: str) -> None:
        path = log(tmp_path, [sample()])
        data = bytearray(path.read_bytes())
        for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            found = data.find(magic)
            while found >= 0:
                if flag:
                    data[found + place] |= flag
                else:
                    data[found + place + 2] = 97
                found = data.find(magic, found + 1)
        path.write_bytes(bytes(data))
        self.refused(tmp_path, path, "entry header.json", said)

    def test_an_entry_that_unpacks_to_far_more_than_it_should(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from nemo_gym.rollout_compare.producers import documents

        monkeypatch.setattr(documents, "_LARGE_BYTES", 1 << 20)
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("header.json", json.dumps(head()))
            archive.writestr("summaries.json", b"[" + b" " * (30 << 20) + b"]")
        self.refused(tmp_path, path, "entry summaries.json", "it unpacks to more than")

    def test_a_broken_entry(self, tmp_path: Path) -> None:
        path = log(tmp_path, [sample()], "document")
        path.write_bytes(path.read_bytes()[:-20])
        self.refused(tmp_path, path, "invalid JSON", "it is cut off")
        path = tmp_path / "deep.json"
        path.write_text(json.dumps(head())[:-1] + ', "samples": ' + "[" * 20_000 + "]" * 20_000 + "}", "utf-8")
        self.refused(tmp_path, path, "nested too deeply")

    def test_a_document_that_is_too_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from nemo_gym.rollout_compare.producers import documents

        monkeypatch.setattr(documents, "MOST_BYTES", 100)
        self.refused(tmp_path, log(tmp_path, [sample()], "document"), "a JSON document of more than 100 bytes")

    def test_a_value_that_is_no_sample_is_named_and_can_be_left_out(self, tmp_path: Path) -> None:
        path = write_document(tmp_path / "log.json", [sample(), 7, {"epoch": 1}, sample("b")])
        self.refused(tmp_path, path, "sample 2: it is no sample")
        done = compare(path, path, "--skip-bad-lines")
        assert "2 samples that cannot be read were left out: " in done.stdout
        assert "identical                    2\n" in done.stdout


def test_samples_of_a_killed_run_that_no_summary_tells_of_are_opened_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(head(status="started")))
        for name in "cab":
            archive.writestr(f"samples/{name}_epoch_1.json", json.dumps(sample(name)))
        archive.writestr("_journal/summaries/1.json", json.dumps([sample("a", "I")]))
    assert found_in(path) == [("sums/a", 0.0), ("sums/c", 1.0), ("sums/b", 1.0)]


def test_a_sample_without_scores_has_no_output(tmp_path: Path) -> None:
    output = record_in(log(tmp_path, [sample() | {"scores": {}}])).output
    assert output
    assert (output.texts, output.fields) == ((), ("scores.explanation", "scores.answer", "target"))
    said = sample() | {"scores": {"match": {"value": 1, "explanation": "fine"}}, "target": None}
    assert output_in(log(tmp_path, [said])) == "fine"


def test_a_row_that_an_archive_no_longer_has_is_gone(tmp_path: Path) -> None:
    from nemo_gym.rollout_compare.producers import read_again
    from nemo_gym.rollout_compare.schema import Wanted

    path = log(tmp_path, [sample(), sample("b"), sample("c")])
    place = table_of_run(path).place(2)
    log(tmp_path, [sample()])
    for wanted in (Wanted(output=True), Wanted(task_input=True)):
        ((_, record),) = read_again([place], wanted, grown=True)
        assert str(record) == f"{path} has changed or gone since it was first read"


def test_planned_attempts_have_places_too(tmp_path: Path) -> None:
    path = log(tmp_path, [sample()], dataset={"sample_ids": ["a", "b"]})
    with locate_run(str(path)).opened() as run:
        planned = run.shards[0].planned
        assert planned
        assert planned.size == 0
        assert planned.where(2) == f"{path}: planned attempt 2"


def test_a_text_that_the_summary_cut_is_no_input(tmp_path: Path) -> None:
    cut = sample(input="a long question...\n(content truncated)")
    table = table_of_run(log(tmp_path, [cut, sample("b")]))
    assert [number == 0 for number in table.inputs] == [True, False]


def test_a_key_of_the_users_is_looked_up_in_the_sample(tmp_path: Path) -> None:
    assert found_in(log(tmp_path, [sample(input="q")]), key="input") == [("q", 1.0)]
