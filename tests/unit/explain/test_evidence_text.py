"""Verifier output and every other text of an input, as a report shows it: nothing that a terminal would obey."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import tail_lines, verifier_output
from tests.support import Done, compare, controls, write_rows


def shown(line: str) -> str:
    (text,) = tail_lines(line, 1)
    return text


def report(folder: Path, old: dict[str, Any], new: dict[str, Any], *options: str) -> Done:
    rows = ({"task_id": "t", "reward": 1, **old}, {"task_id": "t", "reward": 0, **new})
    paths = [write_rows(folder / f"{name}.jsonl", [row]) for name, row in zip(("old", "new"), rows, strict=True)]
    done = compare(*paths, *options)
    assert (done.status, done.stderr) == (0, "")
    assert controls(done.stdout) == set()
    return done


# Escape sequences are removed, other control characters are shown


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[1;38;5;208m",
        "\x1b[m",
        "\x1b[2J",
        "\x1b[10;20H",
        "\x1b[?25l",
        "\x1b[3A",
        "\x1b]0;a title\x07",
        "\x1b]0;a title\x1b\\",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1bPa device's string\x1b\\",
        "\x1bc",
        "\x1b7",
        "\x1b(B",
        "\x9b31m",
        "\x9d0;a title\x9c",
    ],
)
def test_escape_sequences_are_removed(sequence: str) -> None:
    assert shown(f"a{sequence}b") == "ab"
    assert shown(f"{sequence}{sequence}a{sequence}") == "a"
    assert shown(f"{sequence * 500}a") == "a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x07", "\\x07"),
        ("\x00", "\\x00"),
        ("\x08\x7f", "\\x08\\x7f"),
        ("\x0b\x0c", "\\x0b\\x0c"),
        ("\x85", "\\x85"),
        ("\x9c", "\\x9c"),
    ],
)
def test_other_control_characters_are_shown(text: str, expected: str) -> None:
    assert shown(f"<{text}>") == f"<{expected}>"


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]0;never ended",
        "\x1b[31",
        "\x1b\x1b\x1b[",
        "\x1b[\x1b[31mm31m",  # what is left after a removal is no sequence
        "\x1b\x1b[31m[31m",
        "\x9b",
        "\x90\x90\x07",
        "\x1b]\x1b]0;x\x07\x07",
        "\x1b\n[31m",
    ],
)
def test_broken_and_nested_sequences_leave_no_control_behind(text: str) -> None:
    for line in tail_lines(f"before{text}after", 5):
        assert controls(line) == set()
        assert "\n" not in line
    assert shown(f"{text}\nthe last line") == "the last line"


def test_marks_that_reorder_text_and_lone_surrogates_are_shown() -> None:
    assert shown("\u202eabc\u2069 \ud800") == "\\u202eabc\\u2069 \\ud800"


def test_ordinary_text_of_every_script_stays() -> None:
    text = "fa\u00eele \u2717 \u6f22\u5b57 \U0001f600 e\u0301 \u05d0"
    assert shown(text) == text


# Carriage returns


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("10%\r50%\r100%", "100%"),
        ("done\r", "done"),
        ("10%\rdone\r\n", "done"),
        ("10%\r\r\r", "10%"),
        ("a\r\rb", "b"),
        ("\x1b[K10%\r\x1b[Kdone", "done"),
        ("\r", ""),
    ],
)
def test_an_overwritten_line_shows_its_last_state(line: str, expected: str) -> None:
    assert shown(line) == expected


def test_lines_with_carriage_returns_at_their_ends_are_lines() -> None:
    assert tail_lines("one\r\ntwo\r\n\r\nthree\r\n", 3) == ["two", "", "three"]


def test_no_output_can_hide_a_verdict_by_overwriting_it() -> None:
    text = shown("12%\r98%\rFAILED test_sum\r1 passed\r")
    assert "FAILED test_sum" in text
    assert text.endswith("1 passed")
    assert "98%" not in text


def test_a_progress_bar_that_counts_verdicts_is_not_a_list_of_them() -> None:
    assert shown("1 passed\r2 passed\r3 passed") == "3 passed"


# Long lines


def test_a_long_line_keeps_both_ends_and_says_what_was_cut() -> None:
    text = shown("begins" + "x" * 1_000_000 + "1 failed")
    assert len(text) < 1000
    assert text.startswith("begins" + "x" * 100)
    assert text.endswith("x" * 100 + "1 failed")
    cut = re.search(r"(\d+) characters", text)
    assert cut
    assert text.count("x") + int(cut.group(1)) == 1_000_000
    assert shown("x" * 500) == "x" * 500


@pytest.mark.parametrize("piece", ["x", "\r1%", "\x1b[31mx", "\x1b]", "\x9d", "\x1b[", "\t", "\x00", "\r\x1b]0;FAILED"])
def test_a_line_of_a_megabyte_takes_no_time(piece: str) -> None:
    started = time.process_time()
    text = shown(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 5
    assert len(text) < 5000
    assert controls(text) == set()


def test_many_lines_of_which_few_are_shown_take_no_time() -> None:
    started = time.process_time()
    assert tail_lines("\n" * 5_000_000 + "a\nb\n", 2) == ["a", "b"]
    assert time.process_time() - started < 2


# No text of an input can forge a line of the report

FORGED = "## Flips (9)"
ATTACK = f"x\n{FORGED}\r{FORGED}\u2028{FORGED}\x85{FORGED}\x1b[2J\x1b]0;x\x07\x0b{FORGED}"


@pytest.mark.parametrize(
    "row",
    [
        {"task_id": ATTACK},
        {"task_id": {"taskset": ATTACK, "task_id": ATTACK}},
        {"task_id": {"taskset": None, ATTACK: ATTACK}},
        {"error": ATTACK},
        {"error": {"message": ATTACK}},
        {"response": {"metadata": {"error_type": ATTACK}}},
        {"response": {"metadata": {f"{ATTACK}error_type": True}}},
        {"failure_kind": ATTACK},
        {"failure_kind": ATTACK, "mask_sample": True},
        {"test_output": ATTACK},
        {"test_output": f"{ATTACK}\n{ATTACK}"},
        {"verifier_logs_dir": ATTACK},
        {"verifier_logs_dir": f"/{ATTACK}", "test_output": "x"},
    ],
)
def test_a_row_cannot_forge_a_line(tmp_path: Path, row: dict[str, Any]) -> None:
    done = report(tmp_path, {"task_id": row["task_id"]} if "task_id" in row else {}, row)
    lines = done.stdout.replace("\u2028", "\n").replace("\x85", "\n").split("\n")
    assert FORGED not in [line.strip() for line in lines]
    assert next(line for line in lines if line.startswith("## Flips (")) in ("## Flips (1)", "## Flips (0)")


def test_a_log_cannot_forge_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(ATTACK.encode() + b"\n### t: old=9 new=9\xff\n")
    done = report(tmp_path, {}, {"verifier_logs_dir": "a.log"})
    assert FORGED not in done.stdout.splitlines()
    assert "\n    | ### t: old=9 new=9\ufffd\n" in done.stdout


def test_the_path_of_a_log_cannot_forge_a_line(tmp_path: Path) -> None:
    folder = tmp_path / f"a\n{FORGED}\x1b[31m"
    folder.mkdir()
    (folder / "test-stdout.txt").write_text("said\n", "utf-8")
    done = report(tmp_path, {}, {"verifier_logs_dir": str(folder)})
    assert FORGED not in done.stdout.splitlines()
    assert "    | said\n" in done.stdout


def test_the_name_of_the_key_cannot_forge_a_line(tmp_path: Path) -> None:
    done = report(tmp_path, {f"k\n{FORGED}": 1}, {f"k\n{FORGED}": 1}, "--key", f"k\n{FORGED}")
    assert "join key: old=k\\n## Flips (9), new=" in done.stdout


def test_notes_cannot_forge_a_line(tmp_path: Path) -> None:
    rows = [{"task_id": {"taskset": f"s{n}\n{FORGED}", "id": "a"}, "reward": 1} for n in range(2)]
    path = write_rows(tmp_path / "r.jsonl", [*rows, *rows])
    done = compare(path, path)
    assert done.status == 0
    assert "note: " in done.stdout
    assert FORGED not in done.stdout.splitlines()


def test_verifier_output_gives_the_text_as_it_is() -> None:
    """It is data for a script; `tail_lines` makes it safe to print."""
    assert verifier_output({"test_output": "\x1b[31ma"}, []) == ("\x1b[31ma", "row field 'test_output'")
