"""Signals that end the program: told while it works, and left alone where they are somebody else's."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from nemo_gym.rollout_compare.ending import ENDING, tidy_ending


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


def test_a_thread_leaves_them_alone() -> None:
    found: list[Any] = []

    def look() -> None:
        with tidy_ending():
            found.extend(signal.getsignal(number) for number in ENDING)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL] * len(ENDING)
