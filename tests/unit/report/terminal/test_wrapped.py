"""Lines that fit a terminal: which are broken, and where."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from fcntl import ioctl
from io import StringIO
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.app.streams import width_of
from nemo_gym.rollout_compare.report import wrapped
from nemo_gym.rollout_compare.report.terminal.color import colored
from nemo_gym.rollout_compare.report.terminal.wrapped import LEAST_WIDTH, cells
from tests.support import compare, write_rows

SENTENCE = "note: both runs have several rows a task, compared by their mean reward"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (SENTENCE, ["note: both runs have several rows a task,", "  compared by their mean reward"]),
        ("    " + SENTENCE, ["    note: both runs have several rows a", "      task, compared by their mean reward"]),
        ("x" * 45 + " y", ["x" * 45, "  y"]),
        ("x" * 60, ["x" * 60]),
        ("x" * 20 + " " + "y" * 20, ["x" * 20 + " " + "y" * 20]),
        ("x" * 20 + " " + "y" * 21, ["x" * 20, "  " + "y" * 21]),
        ("    | " + "a b " * 20, ["    | " + "a b " * 20]),
        ("identical          4   " + "a b " * 20, ["identical          4   " + "a b " * 20]),
        ("\u4e2d" * 15 + " " + "\u4e2d" * 6, ["\u4e2d" * 15, "  " + "\u4e2d" * 6]),
        ("e\u0301" * 20 + " " + "e" * 20, ["e\u0301" * 20 + " " + "e" * 20]),
        ("", [""]),
    ],
)
def test_prose_goes_on_further_in(line: str, shown: list[str]) -> None:
    """Of 41 columns. Verifier output and lines of a table stay as they are; a wide character takes two columns."""
    assert list(wrapped([line], 41)) == shown


def test_a_colour_takes_no_room_and_goes_on() -> None:
    heading = "### " + "a" * 10 + ": old=1.0 new=0.0 -> old wins"
    [whole] = colored([heading])
    assert list(wrapped([whole], len(heading))) == [whole]
    assert list(wrapped([whole], len(heading) - 1)) == [whole.removesuffix(" wins\x1b[0m"), "  wins\x1b[0m"]


def test_a_terminal_of_few_columns_breaks_lines_itself() -> None:
    assert list(wrapped([SENTENCE], 3)) == list(wrapped([SENTENCE], LEAST_WIDTH))


@given(st.lists(st.text("ab\u4e2d\u0301", min_size=1, max_size=12), min_size=1), st.integers(40, 90), st.integers(0, 8))
def test_nothing_is_lost_and_what_can_fit_fits(words: list[str], width: int, indent: int) -> None:
    line = " " * indent + " ".join(words)
    told = list(wrapped([line], width))
    assert " ".join(part.strip(" ") for part in told) == line.strip(" ")
    assert all(cells(part) <= width for part in told)
    assert [len(part) - len(part.lstrip(" ")) for part in told] == [indent, *[indent + 2] * (len(told) - 1)]


def shown_on_a_terminal(columns: int, *words: str | Path) -> str:
    """What the command prints on a terminal of so many columns."""
    ours, theirs = os.openpty()
    ioctl(theirs, TIOCSWINSZ, pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "nemo_gym.rollout_compare", *map(str, words)]
    done = subprocess.Popen(command, stdout=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    read = bytearray()
    with suppress(OSError):  # its end is an error on Linux
        while piece := os.read(ours, 65536):
            read += piece
    os.close(ours)
    assert done.wait() == 0
    return read.decode().replace("\r\n", "\n")


def test_a_terminal_s_width_decides_and_a_pipe_has_none(tmp_path: Path) -> None:
    row = {"task_id": "a", "test_output": "ok " * 80, "error": "x " * 50}
    steps = [{"type": "function_call", "name": "bash", "arguments": f'{{"command": "{side * 50}"}}'} for side in "on"]
    sides = [
        write_rows(tmp_path / f"{name}.jsonl", [{**row, "reward": reward, "response": {"output": [step]}}])
        for name, reward, step in zip(("old", "new"), (1.0, 0.0), steps, strict=True)
    ]
    plain = compare(*sides).stdout.partition("\n")[2]
    narrow, wide = (shown_on_a_terminal(columns, *sides, "--color", "never") for columns in (80, 200))
    narrow = narrow.partition("\n")[2]  # the first line says how the command was called
    told = [line for line in narrow.splitlines() if not line.startswith("    |")]
    assert all(len(line) <= 80 or " " not in line.strip() for line in told)
    assert narrow != plain
    assert re.sub(r"\n +", " ", narrow) == re.sub(r"\n +", " ", plain)
    [parted] = [line for line in wide.splitlines() if "parted at" in line]
    assert parted.endswith(f'old bash "{"o" * 50}", new bash "{"n" * 50}"')
    assert len(parted) > 80


def test_only_a_terminal_has_a_width() -> None:
    closed = StringIO()
    closed.close()
    pretends = StringIO()
    pretends.isatty = lambda: True  # type: ignore[method-assign]
    assert [width_of(stream) for stream in (StringIO(), closed, pretends)] == [None, None, None]
