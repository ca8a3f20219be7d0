"""Signals that end the program: all that must not be left is undone first, and they are left alone where they are
somebody else's.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.app.outputs import write_file
from nemo_gym.rollout_compare.files import signals
from nemo_gym.rollout_compare.files.inputs import open_input
from nemo_gym.rollout_compare.files.signals import ALL, ENDING, end_quietly, held_back, undone_at_end


class Ended(BaseException):
    """What stands for the end of the process."""


@pytest.fixture(autouse=True)
def _as_in_a_program(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Handlers as a program has them at its start, whatever the test runner does; nothing ends the test runner."""

    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(signals, "_undone", [])
    before = {number: signal.getsignal(number) for number in ALL}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALL)
def test_a_signal_ends_it_with_the_status_that_a_shell_shows(number: int) -> None:
    end_quietly()
    with pytest.raises(Ended) as ended:
        signal.raise_signal(number)
    assert ended.value.args == (128 + number,)


@pytest.mark.parametrize("number", ALL)
def test_what_must_not_be_left_is_undone_last_first_whatever_fails(number: int) -> None:
    undone: list[str] = []

    def fail() -> None:
        undone.append("fails")
        raise OSError

    for undo in (lambda: undone.append("first"), fail):
        undone_at_end(undo)
    forget = undone_at_end(lambda: undone.append("forgotten"))
    forget()
    forget()
    end_quietly()
    with pytest.raises(Ended):
        signal.raise_signal(number)
    assert undone == ["fails", "first"]


@pytest.mark.parametrize("number", ALL)
@pytest.mark.parametrize("other", ALL)
def test_others_do_not_cut_the_tidying_short(number: int, other: int) -> None:
    undone: list[bool] = []

    def undo() -> None:
        for _ in range(10):
            os.kill(os.getpid(), other)
        undone.append(True)

    undone_at_end(undo)
    end_quietly()
    with pytest.raises(Ended) as ended:
        signal.raise_signal(number)
    assert (ended.value.args, undone) == ((128 + number,), [True])


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "handled"])
def test_what_somebody_else_decided_stays(handler: Callable[..., Any]) -> None:
    for number in ALL:
        signal.signal(number, handler)
    end_quietly()
    assert [signal.getsignal(number) for number in ALL] == [handler] * len(ALL)


def test_a_handler_that_was_there_for_the_first_moments_is_replaced() -> None:
    def early(_number: int, _frame: object) -> None:
        raise AssertionError("it is replaced")

    early.__module__ = "_rollout_compare_beside"
    signal.signal(signal.SIGINT, early)
    end_quietly()
    with pytest.raises(Ended):
        signal.raise_signal(signal.SIGINT)


def test_what_is_ignored_is_not_held_back() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with held_back():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


@pytest.mark.parametrize("number", ALL)
@pytest.mark.parametrize("make", ["an output", "a copy of a pipe"])
def test_a_file_that_is_just_being_made_is_removed(
    make: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def signalled(**options: Any) -> tuple[int, str]:
        made.append(mkstemp(**{"dir": tmp_path, **options}))
        os.kill(os.getpid(), number)
        return made[0]

    def end() -> None:
        if make == "an output":
            write_file(tmp_path / "out", ["text"])
        with open_input(Path("/dev/null")):
            pass

    mkstemp = tempfile.mkstemp
    monkeypatch.setattr(tempfile, "mkstemp", signalled)
    end_quietly()
    with pytest.raises(Ended):
        end()
    assert (len(made), list(tmp_path.iterdir())) == (1, [])


def test_a_thread_leaves_them_alone() -> None:
    found: list[Any] = []

    def look() -> None:
        with held_back():
            found.extend(signal.getsignal(number) for number in ENDING)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL] * len(ENDING)
