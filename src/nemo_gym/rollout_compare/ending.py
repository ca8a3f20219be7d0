"""How a signal that ends the program leaves nothing behind: no copy of a pipe, no half-written file."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _end(number: int, _frame: object) -> None:
    for other in ENDING:  # a second one must not cut the tidying short
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
