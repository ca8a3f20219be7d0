"""Files to lines: the only place that opens inputs.

A line ends at `\\n` and nowhere else. Lines come with their number (from 1, blank ones counted) and their byte offset, so
that a row can be read again without reading the file again.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nemo_gym.rollout_compare.schema import CompareInputError

BLOCK_BYTES = 1 << 20
_BOM = b"\xef\xbb\xbf"


def cannot_read(path: Path | str, error: OSError | ValueError) -> CompareInputError:
    """The one error for anything that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return CompareInputError(f"cannot read {path}: {reason}")


@dataclass(frozen=True)
class Input:
    """An input that can be read from any offset, as often as wanted.

    Attributes:
        path: What the user named, for messages and for the folder it lies in.
        file: Where its bytes are: the path itself, or a copy of what a pipe delivered.
        version: Changes when the file does: device, inode, size, time of the last change.
    """

    path: Path
    file: Path
    version: tuple[int, int, int, int]

    def unchanged(self) -> bool:
        """Whether the file is still what it was when it was first opened."""
        try:
            return _version(os.stat(self.file)) == self.version
        except OSError:
            return False


def _version(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def open_input(path: Path) -> Iterator[Input]:
    """Make a path readable from any offset; what a pipe holds is copied to a temporary file first.

    Raises:
        CompareInputError: It cannot be opened or read, or is a folder.
    """
    spool: str | None = None
    try:
        try:
            status = os.stat(path)
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb"):
                    pass
            else:
                spool = _spooled(path)
                status = os.stat(spool)
        except (OSError, ValueError) as error:
            raise cannot_read(path, error) from None
        yield Input(path, Path(spool or path), _version(status))
    finally:
        if spool:
            os.unlink(spool)


def _spooled(path: Path) -> str:
    """Copy everything that a pipe or device delivers to a temporary file; its name."""
    with open(path, "rb") as pipe, tempfile.NamedTemporaryFile(prefix="rollout-compare-", delete=False) as copy:
        try:
            shutil.copyfileobj(pipe, copy, BLOCK_BYTES)
        except BaseException:
            os.unlink(copy.name)
            raise
    return copy.name


def iter_lines(source: Input, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, int, bytes]]:
    """The lines that are not blank: (line number, byte offset, bytes without the line's end).

    A byte order mark at the start of the file belongs to no line.
    """
    with _reading(source) as file:
        number = offset = 0
        pending: list[bytes] = []
        for block in iter(lambda: file.read(block_bytes), b""):
            head, newline, tail = block.partition(b"\n")
            pending.append(head)
            if not newline:
                continue
            *whole, rest = tail.split(b"\n")
            for line in (b"".join(pending), *whole):
                number += 1
                if number == 1 and line.startswith(_BOM):
                    line, offset = line[len(_BOM) :], len(_BOM)
                if line and not line.isspace():
                    yield number, offset, line
                offset += len(line) + 1
            pending = [rest]
        last = b"".join(pending)
        if number == 0 and last.startswith(_BOM):
            last, offset = last[len(_BOM) :], len(_BOM)
        if last and not last.isspace():
            yield number + 1, offset, last


def read_line(source: Input, offset: int) -> bytes:
    """The line that begins at an offset, without its end."""
    with _reading(source) as file:
        file.seek(offset)
        return file.readline().removesuffix(b"\n")


def ends_file(source: Input, offset: int) -> bool:
    """Whether nothing, not even a line's end, stands at an offset."""
    with _reading(source) as file:
        file.seek(offset)
        return not file.read(1)


@contextmanager
def _reading(source: Input) -> Iterator[BinaryIO]:
    try:
        with open(source.file, "rb") as file:
            yield file
    except OSError as error:
        raise cannot_read(source.path, error) from None
