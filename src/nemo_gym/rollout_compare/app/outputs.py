"""The one place that writes: files whole or not at all, and standard output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import TextIO

from nemo_gym.rollout_compare.files.signals import held_back
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text.terminal import encodable, one_line

_LINES_A_WRITE = 2000


def cannot_write(path: Path | str, error: Exception) -> CompareInputError:
    """The one error for anything that cannot be written."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return CompareInputError(f"cannot write {path}: {reason}")


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is read, an output that is one of the inputs or cannot be made.

    Raises:
        CompareInputError: It is an input (also through a link), a folder, or lies in a folder that is not there.
    """
    if os.path.normpath(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        raise CompareInputError(f"cannot write {path}: --json-stdout prints the summary to standard output")
    try:
        for source in inputs:
            if path.exists() and source.exists() and path.samefile(source):
                raise CompareInputError(f"cannot write {path}: it is the input {source}")
        if os.path.islink(os.path.realpath(path)):  # where links end that lead nowhere but to each other
            raise CompareInputError(f"cannot write {path}: its links lead in a circle")
        if path.is_dir():
            raise CompareInputError(f"cannot write {path}: it is a folder")
        if not path.exists() and not path.resolve().parent.is_dir():
            raise CompareInputError(f"cannot write {path}: its folder does not exist")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, CompareInputError):
            raise
        raise cannot_write(path, error) from None


def write_file(path: Path, lines: Iterable[str]) -> None:
    """Write a text file whole or not at all: beside its place, then renamed into it. A link stays a link.

    What is no regular file (a pipe, `/dev/null`) cannot be replaced and is written to.

    Raises:
        CompareInputError: It cannot be written; what stood there before still does.
    """
    import tempfile

    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as file:
                file.writelines(_encoded(lines))
            return
        target = path.resolve()
        with ExitStack() as stack:
            with held_back():
                descriptor, temporary = tempfile.mkstemp(prefix=".rollout-compare-", dir=target.parent)
                stack.callback(Path(temporary).unlink, missing_ok=True)  # gone where it took its place
            with open(descriptor, "wb") as file:
                os.fchmod(descriptor, _new_file_mode() if mode is None else stat.S_IMODE(mode))
                file.writelines(_encoded(lines))
            os.replace(temporary, target)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)


def _new_file_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def is_utf8(out: TextIO) -> bool:
    """Whether a stream carries every character, as UTF-8 or as it is."""
    encoding = getattr(out, "encoding", None)
    return encoding is None or encoding.lower().replace("-", "").startswith("utf")


def write_stream(out: TextIO | None, lines: Iterable[str]) -> None:
    """Write lines to a stream; what its encoding cannot carry is written as an escape.

    Raises:
        BrokenPipeError: The reader has gone.
        CompareInputError: It cannot be written.
    """
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
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
        with suppress(BrokenPipeError, CompareInputError):
            write_stream(sys.stderr, lines)
