"""Files that are no rollouts: the error says what each seems to be."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.gym.rows import seems_to_hold_inputs
from nemo_gym.rollout_compare.producers.seems import what_text_seems
from tests.support import assert_refused, compare, source_of, write_rows

INPUT: dict[str, Any] = {"id": "a", "responses_create_params": {"input": "do it"}}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "good.jsonl", [{"task_id": "a", "reward": 1}])


@pytest.mark.parametrize(
    ("line", "seems"),
    [
        (b"[", "list"),
        (b'[{"name": "mean_reward", "value": 0.5}]', "list"),
        (b"  [ \r", "list"),
        (b"{", "document over several lines"),
        (b" {\r", "document over several lines"),
        (b"version https://git-lfs.github.com/spec/v1", "hold rollouts.*'version https://git-lfs"),
        (b"TODO", "hold rollouts.*'TODO'"),
        (b"<html>", "hold rollouts.*'<html>'"),
        (b'"text"', "hold rollouts"),
        (b"\xff\x00", "hold rollouts"),
    ],
)
def test_the_first_line_tells_what_a_file_seems_to_be(line: bytes, seems: str) -> None:
    assert re.search(seems, what_text_seems(line) or "")


@pytest.mark.parametrize("begin", ['{"reward": 1}', '[{"reward": 1}]'])
@pytest.mark.parametrize(
    ("coding", "encoding"),
    [
        *((name, "UTF-16") for name in ("utf-16", "utf-16-le", "utf-16-be")),
        *((name, "UTF-32") for name in ("utf-32", "utf-32-le", "utf-32-be")),
    ],
)
def test_text_in_another_encoding_is_named_with_what_converts_it(begin: str, coding: str, encoding: str) -> None:
    assert what_text_seems(begin.encode(coding)) == (
        f"the file is {encoding} text, and rollouts are UTF-8: convert it (iconv -f {encoding} -t UTF-8)"
    )


def test_nothing_is_shown_of_what_a_link_leads_to(tmp_path: Path, good: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0\n", "utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(secret)
    done = compare(link, good)
    assert_refused(done, f"error: {link}:1: ", "; the file does not seem to hold rollouts\n")
    assert "x:0:0" not in done.stderr


def test_only_the_beginning_of_a_line_is_shown() -> None:
    text = what_text_seems(b"x" * 1_000_000) or ""
    assert "x" * 20 in text
    assert len(text) < 200


@pytest.mark.parametrize("line", [b'{"task_id": "a", "rew', b"{'task_id': 'a'}", b'{"a": 1}{"b": 2}', b"{}"])
def test_a_line_that_begins_like_a_row_may_be_one(line: bytes) -> None:
    assert what_text_seems(line) is None


@pytest.mark.parametrize(
    ("content", "seems"),
    [
        ('[\n  {"metric": "mean", "value": 0.5}\n]\n', "seems to be a JSON list"),
        ('[{"metric": "mean"}]', "seems to be a JSON list"),
        ('{\n  "mean": 0.5\n}\n', "seems to be one JSON document over several lines"),
        (
            "placeholder: the rollouts are too large for this repository\n",
            "does not seem to hold rollouts: it begins with 'placeholder: the rollouts",
        ),
        ("\ufeffplaceholder\n", "does not seem to hold rollouts: it begins with 'placeholder'"),
    ],
)
@pytest.mark.parametrize("side", ["old", "new"])
def test_the_error_says_it(tmp_path: Path, good: Path, content: str, seems: str, side: str) -> None:
    path = tmp_path / "strange.jsonl"
    path.write_text(content, "utf-8")
    words = [path, good] if side == "old" else [good, path]
    assert_refused(compare(*words), f"error: {path}:1: ", f"; the file {seems}")
    path.write_bytes(gzip.compress(content.encode("utf-8")))
    assert_refused(compare(*words), f"error: {path}:1: ", f"; the file {seems}")


@pytest.mark.parametrize("line", ["[]", "junk", "5"])
def test_a_later_line_does_not_make_a_file_something_else(tmp_path: Path, good: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(f"{json.dumps({'task_id': 'a', 'reward': 1})}\n{line}\n", "utf-8")
    done = compare(good, path)
    assert_refused(done, f"error: {path}:2: ")
    assert "seems" not in done.stderr


class TestInputs:
    @pytest.mark.parametrize("rows", [[INPUT], [INPUT] * 3, [{**INPUT, "task_name": "a", "verifier_metadata": {}}]])
    def test_rows_with_neither_reward_nor_response_are_a_runs_inputs(
        self, tmp_path: Path, good: Path, rows: list[dict[str, Any]]
    ) -> None:
        path = write_rows(tmp_path / "inputs.jsonl", rows)
        assert seems_to_hold_inputs(source_of(path))
        assert_refused(compare(good, path), f"error: {path} seems to hold a run's inputs", "reward", "response")

    @pytest.mark.parametrize(
        "row",
        [{**INPUT, "reward": None}, {**INPUT, "reward": 1}, {**INPUT, "response": None}, {"id": "a"}],
        ids=["null reward", "reward", "response", "no task input"],
    )
    def test_one_row_that_is_more_or_less_makes_them_rollouts(
        self, tmp_path: Path, good: Path, row: dict[str, Any]
    ) -> None:
        for number, rows in enumerate(([row, INPUT], [INPUT, INPUT, row])):
            path = write_rows(tmp_path / f"{number}.jsonl", rows)
            assert not seems_to_hold_inputs(source_of(path))
            assert compare(good, path, "--old-key", "task_id", "--new-key", "id").status == 0

    @pytest.mark.parametrize("line", ["junk", "[]", "[" * 100_000])
    def test_lines_that_are_left_out_have_no_say(self, tmp_path: Path, good: Path, line: str) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_text(f'{line}\n{{"task_id": "a"}}\n', "utf-8")
        assert compare(good, path, "--skip-bad-lines").status == 0
        path.write_text(f"{line}\n{json.dumps(INPUT)}\n", "utf-8")
        assert_refused(compare(good, path, "--skip-bad-lines"), f"error: {path} seems to hold a run's inputs")
