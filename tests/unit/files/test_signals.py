"""Signals that end the program: told while it works, and left alone where they are somebody else's."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.app.outputs import write_file
from nemo_gym.rollout_compare.files.inputs import open_input
from nemo_gym.rollout_compare.files.signals import ENDING, held_back, tidy_ending


@pytest.fixture(autouse=True)
def _by_default() -> Any:
    """The tests begin with handlers as a program has them, whatever the test runner does."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_it_with_the_status_that_a_shell_shows(number: int) -> None:
    tidied: list[bool] = []

    def end() -> None:
        with tidy_ending(), ExitStack() as stack:
            stack.callback(tidied.append, True)
            os.kill(os.getpid(), number)

    with pytest.raises(SystemExit) as ended:
        end()
    assert (ended.value.code, tidied) == (128 + number, [True])
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_is_not_held_back() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with held_back():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_a_second_signal_does_not_cut_the_tidying_short() -> None:
    tidied: list[bool] = []

    def tidy() -> None:
        for number in ENDING:
            os.kill(os.getpid(), number)
        tidied.append(True)

    def end() -> None:
        with tidy_ending(), ExitStack() as stack:
            stack.callback(tidy)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(SystemExit) as ended:
        end()
    assert (ended.value.code, tidied) == (143, [True])


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "handled"])
def test_what_somebody_else_decided_stays(handler: Callable[..., Any]) -> None:
    signal.signal(signal.SIGTERM, handler)
    with tidy_ending():
        assert signal.getsignal(signal.SIGTERM) is handler
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])
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
        with tidy_ending():
            if make == "an output":
                write_file(tmp_path / "out", ["text"])
            with open_input(Path("/dev/null")):
                pass

    mkstemp = tempfile.mkstemp
    monkeypatch.setattr(tempfile, "mkstemp", signalled)
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        end()
    assert (len(made), list(tmp_path.iterdir())) == (1, [])


def test_a_thread_leaves_them_alone() -> None:
    found: list[Any] = []

    def look() -> None:
        with tidy_ending(), held_back():
            found.extend(signal.getsignal(number) for number in ENDING)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL] * len(ENDING)
