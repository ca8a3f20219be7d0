"""Verifier logs on disk: found by a path that a row names, judged safe, and read from the end.

Rows are data from somebody else's machine, so a path in one is a claim. With links resolved, a file is read only if it
is named `test-stdout.txt`, or ends as a log does and lies in a folder of the runs; and only if it is a regular file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

LOG_NAME = "test-stdout.txt"
LOG_ENDINGS = (".txt", ".log", ".out")

BLOCK_BYTES = 1 << 20
_BYTES_PER_LINE = 4 << 10
_MOST_BYTES = 64 << 20


class LogUnavailable(Exception):
    """There is no log to read; the text says why."""


class LogTail(Struct, frozen=True):
    """The end of a log.

    Attributes:
        path: The file as it was looked up.
        text: The end of it, invalid bytes replaced.
        whole: Whether that is all of it.
    """

    path: str
    text: str
    whole: bool


def read_log(named: str, roots: Iterable[Path], lines: int) -> LogTail:
    """The end of the log that a row names, a file or a folder that holds `test-stdout.txt`: that many lines or more.

    Of lines that are very long it may be less: what is read is bounded, however large the file is.

    A relative path is tried under the current folder, then under each root.

    Raises:
        LogUnavailable: It is nowhere, may not be read, or cannot be read.
    """
    roots = list(roots)
    try:
        path = _find(named, roots)
        resolved = path.resolve(strict=True)
        _check_allowed(path, resolved, roots)
        return _tail(path, resolved, lines)
    except OSError as error:
        raise LogUnavailable(f"cannot read {error.filename or named}: {error.strerror or error}") from None
    except (ValueError, RuntimeError) as error:  # a NUL in the path; a loop of links before Python 3.13
        raise LogUnavailable(f"cannot read {named}: {error}") from None


def _find(named: str, roots: list[Path]) -> Path:
    folders = [Path(named)] if os.path.isabs(named) else [Path(root, named) for root in (Path(), *roots)]
    tried = []
    for folder in dict.fromkeys(folders):
        path = folder / LOG_NAME if folder.is_dir() else folder
        if os.path.lexists(path):
            return path
        tried.append(str(path))
    raise LogUnavailable(f"not found: {', '.join(tried)}")


def _check_allowed(path: Path, resolved: Path, roots: list[Path]) -> None:
    if resolved.name != LOG_NAME:
        if resolved.suffix not in LOG_ENDINGS:
            raise LogUnavailable(f"{path} is not read: it is no {LOG_NAME} and no {', '.join(LOG_ENDINGS)} file")
        if not any(resolved.is_relative_to(root.resolve()) for root in roots):
            raise LogUnavailable(f"{path} is not read: it lies outside the runs' folders and --logs-root")
    if not stat.S_ISREG(os.stat(resolved).st_mode):
        raise LogUnavailable(f"{path} is not read: it is no regular file")


def _tail(path: Path, resolved: Path, lines: int) -> LogTail:
    # The file may be replaced between the check and here: no link is followed and no pipe waited for.
    descriptor = os.open(resolved, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LogUnavailable(f"{path} is not read: it is no regular file")
        start = file.seek(0, os.SEEK_END)
        most = max(BLOCK_BYTES, min(lines * _BYTES_PER_LINE, _MOST_BYTES))
        blocks: list[bytes] = []
        newlines = read = 0
        while start > 0 and newlines <= lines and read < most:
            size = min(BLOCK_BYTES, start)
            start = file.seek(start - size)
            blocks.insert(0, file.read(size))
            newlines += blocks[0].count(b"\n")
            read += size
        return LogTail(str(path), b"".join(blocks).decode("utf-8", "replace"), start == 0)
