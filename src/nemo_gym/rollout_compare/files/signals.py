"""How a signal that ends the program leaves nothing behind: no copy of a pipe, no half-written file, no process.

What must not be left is undone by the signal's handler itself, which then ends the process: nothing is raised, so it
does not matter where the program is just then, or how often the signal comes. A script that calls the library is told
of an interrupt by `KeyboardInterrupt` as ever, and the same things are undone on its way.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

#: The signals that end a program at once unless it asks to be told.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
ALL = (signal.SIGINT, *ENDING)

#: The modules that end the program at an interrupt until there is something to undo.
_EARLY = ("_rollout_compare_beside", "nemo_gym.rollout_compare.app.interrupts")

_undone: list[Callable[[], object]] = []


def end_quietly() -> None:
    """Let a signal undo what must not be left and end the process, with the status that a shell shows for it.

    A signal that is ignored, or that somebody else handles, stays so.
    """
    for number in ALL:
        handler = signal.getsignal(number)
        early = getattr(handler, "__module__", None) in _EARLY
        if early or handler in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)


def undone_at_end(undo: Callable[[], object]) -> Callable[[], None]:
    """See to it that something is undone where a signal ends the program.

    Args:
        undo: Undoes it; it may be called again.

    Returns:
        What says that there is no more to be undone.
    """
    _undone.append(undo)

    def forget() -> None:
        with suppress(ValueError):
            _undone.remove(undo)

    return forget


def nothing_to_undo() -> None:
    """Forget what another process has to undo: this one is its child."""
    _undone.clear()


def end_at_once() -> None:
    """Let a signal end this process as it ends any other; one that is ignored stays so.

    Signals wait meanwhile: Python complains of one that comes while its handler is taken away.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
    for number in ALL:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for a program that runs on without its terminal
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def held_back() -> Iterator[None]:
    """Let signals that end the program wait: what is made here must be known to whoever removes it again."""
    waiting: list[int] = []
    before: dict[int, Any] = {}
    for number in ALL if _in_main_thread() else ():
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _end(number: int, _frame: object) -> None:
    # Another one must not cut the tidying short. Not `SIG_IGN`: Python complains of one that comes while that is set.
    for other in ALL:
        signal.signal(other, _ignore)
    for undo in reversed(_undone):
        with suppress(Exception):
            undo()
    os._exit(128 + number)


def _ignore(_number: int, _frame: object) -> None:
    pass
