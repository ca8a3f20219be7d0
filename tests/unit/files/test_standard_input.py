"""A run from standard input: kept in a temporary file while it is needed, and removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.compressing import KINDS
from tests.support import Done, compare, run, wherever, write_rows

WON: list[dict[str, Any]] = [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 1}]
LOST: list[dict[str, Any]] = [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 0, "test_output": "b failed"}]
LOST_LINES = "".join(f"{json.dumps(row)}\n" for row in LOST).encode("utf-8")


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files; the current one is another."""
    folder = tmp_path / "spool"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def told(content: bytes, *words: str) -> Done:
    """What `gym dev compare` says in a process of its own, which is given the content."""
    command = [
        sys.executable,
        "-c",
        "from nemo_gym.rollout_compare.__main__ import gym_main as run; raise SystemExit(run())",
    ]
    done = subprocess.run(
        [*command, "dev", "compare", *words], input=content, capture_output=True, timeout=60, check=False
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@pytest.mark.parametrize("end", ["\n", ""])
def test_either_side_may_be_standard_input(spool: Path, end: str) -> None:
    write_rows(Path("won.jsonl"), WON)
    write_rows(Path("lost.jsonl"), LOST)
    content = LOST_LINES.removesuffix(b"\n") + end.encode("ascii")
    assert wherever(told(content, "won.jsonl", "-")) == wherever(compare("won.jsonl", "lost.jsonl"))
    assert wherever(told(content, "-", "won.jsonl")) == wherever(compare("lost.jsonl", "won.jsonl"))
    assert "    | b failed\n" in compare("won.jsonl", "lost.jsonl").stdout
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("ending", KINDS)
def test_it_may_be_compressed(spool: Path, ending: str) -> None:
    write_rows(Path("won.jsonl"), WON)
    packed, plain = (told(lines, "won.jsonl", "-") for lines in (KINDS[ending](LOST_LINES), LOST_LINES))
    assert wherever(packed) == wherever(plain)
    assert "    | b failed\n" in told(LOST_LINES, "won.jsonl", "-").stdout
    assert list(spool.iterdir()) == []


def test_a_file_may_be_standard_input_too(spool: Path) -> None:
    write_rows(Path("won.jsonl"), WON)
    write_rows(Path("lost.jsonl"), LOST)
    command = [sys.executable, "-m", "nemo_gym.rollout_compare", "won.jsonl", "-"]
    with Path("lost.jsonl").open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, timeout=60, check=False)
    expected = run("won.jsonl", "lost.jsonl", prog="python -m nemo_gym.rollout_compare")
    printed = Done(done.returncode, done.stdout.decode("utf-8"), "")
    assert wherever(printed) == wherever(expected)
    assert list(spool.iterdir()) == []


def test_logs_are_looked_for_from_the_current_folder() -> None:
    write_rows(Path("won.jsonl"), WON)
    Path("log.txt").write_text("from the log\n", "utf-8")
    row = {"task_id": "b", "reward": 0, "verifier_logs_dir": "log.txt"}
    assert "    | from the log\n" in told(json.dumps(row).encode("utf-8"), "won.jsonl", "-").stdout


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (LOST_LINES + b"[]\n", "standard input:3: expected a JSON object per line\n"),
        (LOST_LINES + b'{"task_id": "c", "reward": true}', "standard input:3: reward True is not a number (task c)\n"),
        (KINDS[".gz"](LOST_LINES)[:-9], "cannot read standard input: "),
        (b"", "no rows in either input"),
    ],
)
def test_an_error_names_it_and_leaves_no_file(spool: Path, content: bytes, error: str) -> None:
    write_rows(Path("none.jsonl"), [])
    status, out, err = told(content, "none.jsonl", "-")
    assert (status, out) == (1, "")
    assert err.startswith(f"error: {error}")
    assert err.count("\n") == 1
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a shell")
def test_one_that_is_closed_cannot_be_read(spool: Path) -> None:
    write_rows(Path("won.jsonl"), WON)
    line = '"$0" -m nemo_gym.rollout_compare won.jsonl - <&-'
    done = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"error: cannot read standard input: Bad file descriptor\n"
    assert list(spool.iterdir()) == []


def test_a_script_cannot_have_both_sides_from_it_either() -> None:
    script = (
        "from nemo_gym.rollout_compare import RolloutCompareConfig as C, run_compare\n"
        "raise SystemExit(run_compare(C(old_rollouts='-', new_rollouts='-')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=LOST_LINES, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode != 0, done.stdout) == (True, b"")


def test_both_sides_cannot_be_standard_input() -> None:
    status, out, err = told(LOST_LINES, "-", "-")
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert "standard input" in err.splitlines()[0]
