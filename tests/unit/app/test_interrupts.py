"""Ctrl-C at any moment of a program: status 130, and not a word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nemo_gym.rollout_compare import __main__ as programs
from nemo_gym.rollout_compare.app import cli, interrupts
from tests.support import write_rows

#: Sends an interrupt when the module of a number is imported, counted from the program's own first one.
AT_IMPORT = """
import os, signal, sys
left = int(sys.argv.pop(1))
def hook(event, found):
    global left
    if event == "import":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
from nemo_gym.rollout_compare.__main__ import compare_main
sys.addaudithook(hook)
status = compare_main()
if left > 0:
    sys.stderr.write(f"{left}")
sys.exit(status)
"""

AT_THE_END = """
import atexit, os, signal, sys
from nemo_gym.rollout_compare.__main__ import compare_main
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.exit(compare_main())
"""


def started(script: str, *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    return [str(write_rows(tmp_path / name, [{"task_id": "a", "reward": 1}])) for name in ("old", "new")]


@pytest.mark.parametrize("number", [1, 2, 3, 8, 21, 55, 110])
def test_while_modules_load(pair: list[str], number: int) -> None:
    assert started(AT_IMPORT, str(number), *pair) == (130, "", "")


def test_it_would_be_seen_if_the_interrupt_never_came(pair: list[str]) -> None:
    status, _, left = started(AT_IMPORT, "100000", *pair)
    assert status == 0
    assert int(left) < 100000 - 110


def test_when_all_is_done(pair: list[str]) -> None:
    status, report, complaint = started(AT_THE_END, *pair)
    assert (status, complaint) == (130, "")
    assert report.startswith("rollout-compare: 1 task")


def test_it_ends_the_process_before_the_work_and_is_raised_during_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    interrupts.end_on_interrupt()
    signal.raise_signal(signal.SIGINT)
    assert ended == [130]
    interrupts.raise_on_interrupt()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_who_ignores_or_handles_it_goes_on_to() -> None:
    for handler in (signal.SIG_IGN, lambda *_: None):
        signal.signal(signal.SIGINT, handler)
        interrupts.end_on_interrupt()
        assert signal.getsignal(signal.SIGINT) is handler
        interrupts.raise_on_interrupt()
        assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize(
    ("program", "called"),
    [
        (programs.gym_main, "gym"),
        (programs.compare_main, "rollout-compare"),
        (programs.module_main, "python -m nemo_gym.rollout_compare"),
    ],
)
def test_a_program_is_its_name_and_its_arguments(program: object, called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def told(argv: list[str], *, prog: str) -> int:
        seen.append((argv, prog, signal.getsignal(signal.SIGINT)))
        return 3

    monkeypatch.setattr(sys, "argv", ["x", "a", "b"])
    monkeypatch.setattr(cli, "main", told)
    assert callable(program)
    assert program() == 3
    assert seen == [(["a", "b"], called, interrupts._end)]


def test_an_interrupt_that_is_raised_after_all_is_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, prog: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert programs.compare_main() == 130
