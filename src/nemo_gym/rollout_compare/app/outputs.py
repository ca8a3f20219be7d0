"""The one place that writes files: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

from nemo_gym.rollout_compare.app.streams import cannot_write
from nemo_gym.rollout_compare.files import held_back
from nemo_gym.rollout_compare.schema import CompareInputError


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is read, an output that is one of the inputs or cannot be written.

    Raises:
        CompareInputError: It is an input (also through a link), or the system would refuse it.
    """
    if os.path.normpath(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        raise CompareInputError(f"cannot write {path}: --json-stdout prints the summary to standard output")
    source = _same_file(path, inputs)
    if source is not None:
        raise CompareInputError(f"cannot write {path}: it is the input {source}")
    try:
        _probe(path)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def _same_file(path: Path, inputs: Iterable[Path]) -> Path | None:
    """The input that a path leads to."""
    for source in inputs:
        with suppress(OSError, ValueError):  # what is not there, or has no possible name, is no input
            if path.samefile(source):
                return source
    return None


def _probe(path: Path) -> None:
    """Ask the system whether a path could be written, and change nothing: its answer is an exception in its words."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        os.stat(os.path.join(folder, "."))  # that there is a folder for it
    else:
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return  # opening a pipe would wait for its reader
        os.close(os.open(path, os.O_WRONLY))
    if not os.access(folder, os.W_OK | os.X_OK):  # a file is made beside it, then put in its place
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write_file(path: Path, content: Iterable[str] | bytes) -> None:
    """Write a file whole or not at all: beside its place, then renamed into it. A link stays a link.

    What is no regular file (a pipe, `/dev/null`) cannot be replaced and is written to.

    Args:
        path: Where.
        content: Lines of text without their ends, or the whole file.

    Raises:
        CompareInputError: It cannot be written; what stood there before still does.
    """
    import tempfile

    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as file:
                file.writelines(_encoded(content))
            return
        target = path.resolve()
        with ExitStack() as stack:
            with held_back():
                descriptor, temporary = tempfile.mkstemp(prefix=".rollout-compare-", dir=target.parent)
                stack.callback(Path(temporary).unlink, missing_ok=True)  # gone where it took its place
            with open(descriptor, "wb") as file:
                os.fchmod(descriptor, _new_file_mode() if mode is None else stat.S_IMODE(mode))
                file.writelines(_encoded(content))
            os.replace(temporary, target)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def _encoded(content: Iterable[str] | bytes) -> Iterable[bytes]:
    if isinstance(content, bytes):
        return [content]
    return (f"{line}\n".encode("utf-8", "backslashreplace") for line in content)


def _new_file_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
