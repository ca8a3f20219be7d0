"""The only place that opens inputs: files, pipes and standard input, compressed or not."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct

from nemo_gym.rollout_compare.files.signals import held_back, undone_at_end
from nemo_gym.rollout_compare.schema import CompareInputError

#: What stands for standard input on the command line, and what it is called in messages.
STDIN = "-"
STDIN_PATH = Path("standard input")

#: The endings of compressed files' names. What is compressed is told by its content, not by its name.
COMPRESSED_ENDINGS = (".gz", ".zst", ".bz2", ".xz")

_COPY_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16


_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"

#: The modules that decompress, by the first bytes of what they do.
_DECOMPRESSORS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": _ZSTD,
    **{bytes((first, 0x2A, 0x4D, 0x18)): _ZSTD for first in range(0x50, 0x60)},  # a frame to be skipped comes first
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "lzma",
}
#: Errors of modules that only a compressed input needs.
_LATE_ERRORS = ("LZMAError", "ZstdError")


def cannot_read(path: Path | str, error: Exception) -> CompareInputError:
    """The one error for anything that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return CompareInputError(f"cannot read {path}: {reason}")


class Input(Struct, frozen=True):
    """An input that can be read from any offset, as often as wanted.

    Attributes:
        path: What the user named, for messages and for the folder it lies in.
        file: Where its bytes are: the path itself, or a copy of what a pipe delivered.
        size: How many bytes it had when it was first opened, as they are stored.
        magic: The first bytes of a compressed file, which tell how to read it; empty for a plain one.
        version: Changes when the file does: device, inode, size, time of the last change.
    """

    path: Path
    file: Path
    size: int
    magic: bytes
    version: tuple[int, int, int, int]

    def unchanged(self) -> bool:
        """Whether the file is still what it was when it was first opened."""
        try:
            return _version(self.file.stat()) == self.version
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
    with ExitStack() as stack:
        try:
            is_file = path is not STDIN_PATH and stat.S_ISREG(path.stat().st_mode)
            file = path if is_file else _spooled(path, stack)
            with file.open("rb") as opened:
                head = opened.read(max(map(len, _DECOMPRESSORS)))
                status = os.fstat(opened.fileno())
        except (OSError, ValueError) as error:
            raise cannot_read(path, error) from None
        magic = next((magic for magic in _DECOMPRESSORS if head.startswith(magic)), b"")
        yield Input(path, file, status.st_size, magic, _version(status))


def _spooled(path: Path, stack: ExitStack) -> Path:
    """A temporary file with everything that a pipe, a device or standard input delivers; the stack removes it."""
    import shutil
    import tempfile

    with open(0, "rb", closefd=False) if path is STDIN_PATH else path.open("rb") as pipe:
        with held_back():
            descriptor, name = tempfile.mkstemp(prefix="rollout-compare-")
            remove = partial(Path(name).unlink, missing_ok=True)
            stack.callback(undone_at_end(remove))
            stack.callback(remove)
        with open(descriptor, "wb") as copy:
            shutil.copyfileobj(pipe, copy, _COPY_BYTES)
    return Path(name)


def gone(source: Input) -> CompareInputError:
    """What is said of a row that is no longer where it was."""
    return CompareInputError(f"{source.path} has changed or gone since it was first read")


def check_unchanged(source: Input) -> None:
    """Raise `CompareInputError` if a file is no longer what it was."""
    if not source.unchanged():
        raise gone(source)


@contextmanager
def reading(source: Input) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The bytes of an input, decompressed, and as they are stored: the place in the latter tells how far one is.

    Raises:
        CompareInputError: It cannot be opened or read, or its compressed content is cut off or broken.
    """
    try:
        with source.file.open("rb", buffering=_BUFFER_BYTES) as stored:
            if source.magic:
                yield cast("BinaryIO", import_module(_DECOMPRESSORS[source.magic]).open(stored)), stored
            else:
                yield stored, stored
    except Exception as error:
        if isinstance(error, (OSError, EOFError, zlib.error)) or type(error).__name__ in _LATE_ERRORS:
            raise cannot_read(source.path, error) from None
        raise
