"""The file of tasks that break no rule: every label can be named in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.compare.allow import allowed_of, no_longer_needed
from nemo_gym.rollout_compare.compare.gate import check_gate
from nemo_gym.rollout_compare.schema import Rule
from tests.support import assert_refused, compare, write_rows


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def side(**rewards: Any) -> list[dict[str, Any]]:
    return [{"task_id": task, "reward": reward} for task, reward in rewards.items()]


def test_allowed_tasks_break_no_rule_and_those_that_need_it_no_longer_are_known() -> None:
    old = [*side(lost=1, same=1, m=1, gone=1), {"task_id": "doubtful", "reward": 1, "error": "oops"}]
    result = compare_rollouts(old, side(lost=0, same=1, m=None, doubtful=0))
    text = "# flaky since May\n\nlost  # known\nsame\n  doubtful # upstream # bug \nnever\nm\ngone"
    allowed = allowed_of(text, {task.task for task in result.tasks})
    assert allowed == {"lost": "known", "same": "", "doubtful": "upstream # bug", "never": "", "m": "", "gone": ""}
    assert check_gate(result, ["lost", "flipped"], allowed) == (Rule("lost", 0, False), Rule("flipped", 0, False))
    assert no_longer_needed(result, allowed) == ("never", "same")  # m is masked, gone is missing


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("reason", ["", " # why", "\t# why # not", " #why"])
@pytest.mark.parametrize(
    "label",
    [
        "a",
        "a b",
        "solve it #1a2b3c4d",
        "#12",
        "# 12",
        " padded ",
        "a#b",
        "a # b # c",
        "tab\there",
        "a\x0bb\u2028c\x85d",
    ],
)
def test_every_label_can_be_named(label: str, reason: str, end: str) -> None:
    found = allowed_of(f"x{end}{label}{reason}{end}", {label, "a-label", "x"})
    assert found == {"x": "", label: reason.partition("#")[2].strip()}


@pytest.mark.parametrize("label", ["two\nlines", "bell\x07", "\x85"])
def test_a_label_can_be_named_as_it_is_shown(label: str) -> None:
    old = [{"task_id": label, "reward": 1}]
    runs = write_rows(Path("old.jsonl"), old), write_rows(Path("new.jsonl"), [{**old[0], "reward": None}])
    compare(*runs, "--rerun", "allow.txt")
    assert compare(*runs, "--fail-on", "masked").status == 3
    assert compare(*runs, "--fail-on", "masked", "--allow", "allow.txt").status == 0


def test_the_longest_beginning_that_is_a_label_counts() -> None:
    assert allowed_of("a #1 #2", {"a", "a #1"}) == {"a #1": "2"}
    assert allowed_of("a #1 #2", {"b"}) == {"a": "1 #2"}
    assert allowed_of(f"a{' #' * 50}", {"a"}) == {"a": ("# " * 49).strip()}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_file_that_is_no_utf_8_names_no_task_by_accident(encoding: str) -> None:
    Path("allow.txt").write_bytes("a\n".encode(encoding))
    runs = write_rows(Path("old.jsonl"), side(a=1)), write_rows(Path("new.jsonl"), side(a=0))
    assert_refused(compare(*runs, "--allow", "allow.txt"), "cannot read allow.txt: it is not text in UTF-8")


def test_a_leading_mark_and_windows_line_ends_are_no_part_of_a_label() -> None:
    Path("allow.txt").write_bytes(b"\xef\xbb\xbfa\r\n\r\n# b\r\n")
    runs = write_rows(Path("old.jsonl"), side(a=1)), write_rows(Path("new.jsonl"), side(a=0))
    assert compare(*runs, "--allow", "allow.txt", "--fail-on", "lost").status == 0
    assert_refused(compare(*runs, "--allow", "a\x00"), "cannot read a\\x00: embedded null byte")
