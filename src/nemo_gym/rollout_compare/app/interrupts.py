"""Ctrl-C before the work begins and after it is done: the program ends there and then, without a word."""

from __future__ import annotations

import os
import signal

#: The exit status of an interrupted program, as a shell shows it.
INTERRUPTED = 130

#: The module that sets a handler before this one can, where it is installed.
_EARLY = "_rollout_compare_beside"

#: Not empty in a program of ours; empty in another one that uses it.
started: list[bool] = []


def end_on_interrupt() -> None:
    """Let an interrupt end the process at once: there is nothing to be tidied.

    As an exception it would also hit what the import system calls back, and be printed there. An interrupt that is
    ignored, or that somebody else handles, stays so.
    """
    started.append(True)
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler or getattr(handler, "__module__", None) == _EARLY:
        signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let an interrupt be a `KeyboardInterrupt` again: from here on there is something to be tidied."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
