"""Colour: the same characters, and when there is some."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.app.streams import wants_color
from nemo_gym.rollout_compare.report.terminal.color import colored
from tests.support import compare, write_rows


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("## Flips (2)", "\x1b[1m## Flips (2)\x1b[0m"),
        ("### a: old=1.0 new=0.0 -> old wins", "\x1b[31m### a: old=1.0 new=0.0 -> old wins\x1b[0m"),
        ("### a: old=0.0 new=1.0 -> new wins", "\x1b[32m### a: old=0.0 new=1.0 -> new wins\x1b[0m"),
        ("worse: 60% -> 40%; 3 lost", "\x1b[31mworse\x1b[0m: 60% -> 40%; 3 lost"),
        ("better: 40% -> 60%", "\x1b[32mbetter\x1b[0m: 40% -> 60%"),
        ("no significant change: x", "\x1b[1mno significant change\x1b[0m: x"),
        ("note: x", "\x1b[33mnote: \x1b[0mx"),
        ("    | worse: x", "\x1b[2m    | worse: x\x1b[0m"),
        ("identical   4", "identical   4"),
    ],
)
def test_lines_are_coloured_by_their_form(line: str, shown: str) -> None:
    assert list(colored([line])) == [shown]


def test_a_coloured_report_has_the_same_characters(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "reward": 1.0, "test_output": "x"}], [{"task_id": "a", "reward": 0.0, "test_output": "y"}]
    old, new = (write_rows(tmp_path / f"{side}.jsonl", one) for side, one in zip(("old", "new"), rows, strict=True))
    plain, shown = (compare(old, new, "--color", when).stdout for when in ("auto", "always"))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", shown) == plain
    assert "\x1b[31m### a: old=1.0 new=0.0 -> old wins" in shown


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("when", "environment", "on_terminal", "elsewhere"),
    [
        ("auto", {}, True, False),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ("auto", {"TERM": "dumb"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_when_there_is_colour(
    when: str, environment: dict[str, str], on_terminal: bool, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (wants_color(when, Terminal()), wants_color(when, StringIO())) == (on_terminal, elsewhere)


def test_a_wrong_word_costs_two_lines(tmp_path: Path) -> None:
    done = compare("a", "b", "--color", "blue")
    assert (done.status, done.stderr.splitlines()[0]) == (
        2,
        "error: argument --color: 'blue' is not one of auto, always, never",
    )
    assert len(done.stderr.splitlines()) == 2
    assert "'t.txt' ends in none of .csv, .jsonl, .parquet" in compare("a", "b", "--table", "t.txt").stderr
