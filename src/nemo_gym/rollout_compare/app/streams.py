"""The streams: standard output, and standard error for whoever reads it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from nemo_gym.rollout_compare.text import encodable, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from nemo_gym.rollout_compare.schema import CompareInputError

_LINES_A_WRITE = 2000
_ERROR = 1

#: What the surroundings do to a program: no memory, no room, no file; a module that cannot be loaded.
_SURROUNDINGS = (OSError, MemoryError, RecursionError, ImportError)


def cannot_write(path: Path | str, error: Exception) -> CompareInputError:
    """The one error for anything that cannot be written, in the system's own words."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return _error(f"cannot write {path}: {reason}")


def _error(message: str) -> CompareInputError:
    from nemo_gym.rollout_compare.schema import CompareInputError  # what prints the help needs no results

    return CompareInputError(message)


def guarded(work: Callable[[], int]) -> int:
    """The exit status of some work; 1, after one line on standard error, where an input or the surroundings end it."""
    try:
        return work()
    except BrokenPipeError:
        raise
    except (ValueError, *_SURROUNDINGS) as error:
        if isinstance(error, ValueError) and not _is_ours(error):
            raise
        message = _told(error)
    print_error(message)  # by now the memory that the work took is free again
    return _ERROR


def _is_ours(error: ValueError) -> bool:
    from nemo_gym.rollout_compare.schema import CompareInputError

    return isinstance(error, CompareInputError)


def _told(error: Exception) -> str:
    """What went wrong, in the system's own words."""
    if isinstance(error, MemoryError):
        return "memory has run out; --jobs 1 takes the least"
    if isinstance(error, RecursionError):
        return "a value is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def is_utf8(out: TextIO) -> bool:
    """Whether a stream carries every character, as UTF-8 or as it is."""
    encoding = getattr(out, "encoding", None)
    return encoding is None or encoding.lower().replace("-", "").startswith("utf")


def wants_color(when: str, out: TextIO) -> bool:
    """Whether what is written to a stream is coloured: on a terminal, unless an option or the environment says so.

    `NO_COLOR` and `FORCE_COLOR` count where they are set and not empty, as no-color.org and force-color.org have it.
    """
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and not out.closed and out.isatty()


def width_of(out: TextIO) -> int | None:
    """How many columns the terminal has that a stream goes to; None for any other stream, or where nobody knows."""
    with suppress(OSError, ValueError):  # it is closed, or no terminal after all
        if out.isatty():
            return os.get_terminal_size(out.fileno()).columns or None
    return None


def write_stream(out: TextIO | None, lines: Iterable[str]) -> None:
    """Write lines to a stream; what its encoding cannot carry is written as an escape.

    Raises:
        BrokenPipeError: The reader has gone.
        CompareInputError: It cannot be written.
    """
    if out is None:
        raise _error("cannot write standard output: it is closed")
    remaining = iter(lines)
    try:
        while chunk := list(islice(remaining, _LINES_A_WRITE)):
            out.write(encodable("".join(f"{line}\n" for line in chunk), getattr(out, "encoding", None)))
        out.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:  # ValueError: it was closed
        raise cannot_write("standard output", error) from None


def forget_stdout() -> None:
    """Let the interpreter's last flush of standard output, which nobody reads any more, go nowhere."""
    with suppress(OSError, ValueError, AttributeError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def print_error(message: str) -> None:
    """Say on standard error, in one line, what is wrong."""
    print_lines([f"error: {one_line(message)}"])


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard error, as far as anybody can read them: the exit status says the same."""
    if sys.stderr is not None:
        with suppress(BrokenPipeError, ValueError):  # a CompareInputError is one
            write_stream(sys.stderr, lines)
