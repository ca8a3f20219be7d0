"""How a signal that ends the program leaves nothing behind: no copy of a pipe, no half-written file."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The signals that end a program at once unless it asks to be told.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def tidy_ending() -> Iterator[None]:
    """Turn such a signal into `SystemExit`, with the status that a shell shows for it, so that all is tidied up.

    A signal that is ignored, or that somebody else already handles, stays so.
    """
    ours = [number for number in ENDING if _in_main_thread() and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def held_back() -> Iterator[None]:
    """Let signals that end the program wait: what is made here must be known to whoever removes it again."""
    waiting: list[int] = []
    before: dict[int, Any] = {}
    for number in (signal.SIGINT, *ENDING) if _in_main_thread() else ():
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
    for other in ENDING:  # a second one must not cut the tidying short
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
