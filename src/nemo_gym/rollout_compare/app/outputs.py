"""The one place that writes files: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from nemo_gym.rollout_compare.app.streams import cannot_write
from nemo_gym.rollout_compare.files import STDIN_PATH, held_back, undone_at_end
from nemo_gym.rollout_compare.schema import CompareInputError

#: Options whose output can go to standard output in the report's place, and how.
_INSTEAD = {
    "--json": "--json-stdout prints the summary there in its place",
    "--markdown": "--markdown - prints the comment there in its place",
}

_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def check_output(path: Path, inputs: Iterable[Path], out: object = None, flag: str = "--json") -> None:
    """Refuse, before anything is read, an output that is one of the inputs or cannot be written.

    What a path leads to counts, not its name: standard input is the file that it comes from.

    Args:
        path: Where the output is to go.
        inputs: The files that are read.
        out: Where the report goes.
        flag: The option that names it.

    Raises:
        CompareInputError: It is an input or a stream, by whatever name, or the system would refuse it.
    """
    if os.path.normpath(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        raise not_printed(path, flag)
    source = _same_file(path, inputs)
    if source is not None:
        raise CompareInputError(f"cannot write {path}: it is the input {source}")
    stream = _same_stream(path, out)
    if stream is not None:
        raise CompareInputError(f"cannot write {path}: {stream} goes there; name another file")
    try:
        _probe(path)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def not_printed(path: Path | str, flag: str) -> CompareInputError:
    """The error for an output that is to go to standard output by some name, and what to do instead."""
    instead = _INSTEAD.get(flag, f"name a file for {flag}")
    return CompareInputError(f"cannot write {path}: the report goes to standard output; {instead}")


def check_distinct(outputs: Sequence[Path]) -> None:
    """Refuse outputs of which two are one file.

    Raises:
        CompareInputError: Two of them are.
    """
    for i, path in enumerate(outputs):
        if os.path.realpath(path) in map(os.path.realpath, outputs[:i]) or _same_file(path, outputs[:i]):
            raise CompareInputError(f"cannot write {path}: it is named for two outputs")


def _same_file(path: Path, inputs: Iterable[Path]) -> Path | None:
    """The input that a path leads to."""
    found = _status(path)
    if found is None or _is_device(found):
        return None
    for source in inputs:
        other = _status(0 if source is STDIN_PATH else source)
        if other is not None and os.path.samestat(found, other):
            return source
    return None


def _same_stream(path: Path, out: object) -> str | None:
    """The stream that goes to what a path leads to; that may be a terminal or `/dev/null`, which takes both."""
    found = _status(path)
    if found is None or _is_device(found):
        return None
    streams = {"standard output": _descriptor(out), "standard error": _descriptor(sys.stderr)}
    for name, descriptor in streams.items():
        other = None if descriptor is None else _status(descriptor)
        if other is not None and os.path.samestat(found, other):
            return name
    return None


def _descriptor(stream: object) -> int | None:
    fileno = getattr(stream, "fileno", None)
    with suppress(OSError, ValueError):  # it is a stream in memory, or closed
        number = fileno() if fileno else None
        return number if isinstance(number, int) else None
    return None


def _status(place: Path | int) -> os.stat_result | None:
    """What stands at a path or is open by a number; None for what is not there, or has no possible name."""
    with suppress(OSError, ValueError):
        return os.stat(place)
    return None


def _is_device(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode)


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
        if not mode & _ANY_WRITE:  # it opens for root all the same
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
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
                remove = partial(Path(temporary).unlink, missing_ok=True)  # gone where it took its place
                stack.callback(undone_at_end(remove))
                stack.callback(remove)
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
