"""Ctrl-C at any moment of a program, once or often: status 130, not a word, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nemo_gym.rollout_compare import __main__ as programs
from nemo_gym.rollout_compare.app import cli, interrupts, job
from nemo_gym.rollout_compare.files import signals
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

#: Interrupts the whole group of processes between a fork and the new process's first line.
AT_FORK = """
import os, signal, sys
from nemo_gym.rollout_compare.__main__ import compare_main
os.register_at_fork(after_in_child=lambda: [os.killpg(os.getpgrp(), signal.SIGINT) for _ in range(3)])
sys.exit(compare_main())
"""

PLAIN = "import sys; from nemo_gym.rollout_compare.__main__ import compare_main; sys.exit(compare_main())"


def started(script: str, *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in signals.ALL}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    return [str(write_rows(tmp_path / name, [{"task_id": "a", "reward": 1}])) for name in ("old", "new")]


@pytest.fixture
def long_pair(tmp_path: Path) -> list[str]:
    """Two runs that several processes read."""
    rows = [{"task_id": f"t{i}", "reward": 1, "x": "y" * (1 << 20)} for i in range(20)]
    return [str(write_rows(tmp_path / name, rows)) for name in ("old.jsonl", "new.jsonl")]


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


def test_between_a_fork_and_the_first_line_of_the_new_process(long_pair: list[str]) -> None:
    assert started(AT_FORK, *long_pair, "--jobs", "3") == (130, "", "")


def test_often_and_at_any_moment_while_standard_input_is_copied(long_pair: list[str], tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    chance = random.Random(11)
    for i in range(12):
        with Path(long_pair[0]).open("rb") as piped:
            program = subprocess.Popen(
                [sys.executable, "-c", PLAIN, "-", long_pair[1], "--jobs", "13"[i % 2]],
                stdin=piped,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(copies)},
                start_new_session=True,
            )
        while program.poll() is None and not list(copies.iterdir()):
            time.sleep(0.001)
        time.sleep(chance.random() * 0.1 * (i % 3))
        for _ in range(chance.choice([1, 2, 20])):
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGINT)
        _, complaint = program.communicate(timeout=60)
        # In its very last moments, when all is done and printed, the interpreter itself ends by the signal.
        assert program.returncode in (0, 130, -signal.SIGINT)
        assert (complaint, list(copies.iterdir())) == (b"", [])
        with pytest.raises(ProcessLookupError):
            os.killpg(program.pid, 0)


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


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (OSError(24, "Too many open files"), 1, "error: cannot start: [Errno 24] Too many open files\n"),
        (ImportError("x.so: failed to\nmap"), 1, "error: cannot start: x.so: failed to map\n"),
        (MemoryError(), 1, "error: cannot start: MemoryError\n"),
    ],
)
def test_what_keeps_a_program_from_being_loaded(
    error: BaseException, status: int, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(interrupts, "end_on_interrupt", fail)
    assert programs.compare_main() == status
    assert capfd.readouterr() == ("", said)


class Ended(BaseException):
    """What stands for the end of the process."""


def test_an_interrupt_before_the_work_ends_the_process_with_the_status_that_a_shell_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(interrupts, "started", [])
    interrupts.end_on_interrupt()
    with pytest.raises(Ended) as ended:
        signal.raise_signal(signal.SIGINT)
    assert ended.value.args == (130,)


@pytest.mark.parametrize(("work", "words"), [("run_job", ["old", "new"]), ("run_show", ["show", "summary.json"])])
@pytest.mark.parametrize("is_program", [True, False])
def test_signals_end_the_work_of_a_program_quietly_and_are_left_alone_in_another_one(
    work: str, words: list[str], is_program: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def watch(*_: object, title: str) -> int:
        seen.extend(signal.getsignal(number) for number in signals.ALL)
        return 0

    before = [signal.getsignal(number) for number in signals.ALL]
    assert signals._end not in before
    monkeypatch.setattr(job, work, watch)
    monkeypatch.setattr(interrupts, "started", [True] if is_program else [])
    assert cli.main(words, prog="rollout-compare") == 0
    assert seen == ([signals._end] * len(signals.ALL) if is_program else before)


def test_an_interrupt_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "started", [])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.end_on_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
