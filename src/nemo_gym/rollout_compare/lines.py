r"""Files to lines: the only place that opens inputs.

A line ends at `\n` and nowhere else. Lines come in blocks, each line with its number (from 1, blank ones counted) and
its byte offset, so that a row can be read again without reading the file again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, compress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from msgspec import Struct

from nemo_gym.rollout_compare.schema import CompareInputError

BLOCK_BYTES = 1 << 20
_BOM = b"\xef\xbb\xbf"


def cannot_read(path: Path | str, error: OSError | ValueError) -> CompareInputError:
    """The one error for anything that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return CompareInputError(f"cannot read {path}: {reason}")


class Input(Struct, frozen=True):
    """An input that can be read from any offset, as often as wanted.

    Attributes:
        path: What the user named, for messages and for the folder it lies in.
        file: Where its bytes are: the path itself, or a copy of what a pipe delivered.
        size: How many bytes it had when it was first opened.
        version: Changes when the file does: device, inode, size, time of the last change.
    """

    path: Path
    file: Path
    size: int
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
    spool: Path | None = None
    try:
        try:
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                with path.open("rb"):
                    pass
            else:
                spool = _spooled(path)
                status = spool.stat()
        except (OSError, ValueError) as error:
            raise cannot_read(path, error) from None
        yield Input(path, spool or path, status.st_size, _version(status))
    finally:
        if spool:
            spool.unlink()


def _spooled(path: Path) -> Path:
    """A temporary file with everything that a pipe or device delivers."""
    import shutil
    import tempfile

    with path.open("rb") as pipe, tempfile.NamedTemporaryFile(prefix="rollout-compare-", delete=False) as copy:
        try:
            shutil.copyfileobj(pipe, copy, BLOCK_BYTES)
        except BaseException:
            os.unlink(copy.name)
            raise
    return Path(copy.name)


class Block(NamedTuple):
    """Some lines of a piece of a file, none of them blank.

    Attributes:
        numbers: Each line's number in the piece, from 1; a range where no line between them is blank.
        offsets: Each line's byte offset in the file.
        lines: The lines, without their ends.
    """

    numbers: Sequence[int]
    offsets: Sequence[int]
    lines: Sequence[bytes]


class Piece(NamedTuple):
    """The lines of a file that begin at an offset from `start` on and before `stop` (None: to the end)."""

    source: Input
    start: int = 0
    stop: int | None = None


def pieces_of(source: Input, piece_bytes: int) -> list[Piece]:
    """The whole file in pieces; the last one goes on to where the file ends when it is read."""
    starts = list(range(0, max(source.size, 1), piece_bytes))
    return [Piece(source, start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


class LineCount:
    """How many lines, blank ones too, a piece has turned out to have."""

    def __init__(self) -> None:
        """Start at none."""
        self.lines = 0


def iter_blocks(piece: Piece, count: LineCount | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The lines of a piece that are not blank. A byte order mark at the start of the file belongs to no line."""
    count = count or LineCount()
    with _reading(piece.source) as file:
        offset = _first_line(file, piece)
        if offset is None:
            return
        file.seek(offset)
        pending: list[bytes] = []
        while data := file.read(block_bytes):
            pending.append(data)
            if b"\n" not in data:
                continue
            *lines, rest = b"".join(pending).split(b"\n")
            pending = [rest]
            lines = _before(piece.stop, offset, lines)
            yield _block(count.lines + 1, offset, lines)
            count.lines += len(lines)
            offset += sum(map(len, lines)) + len(lines)
            if piece.stop is not None and offset >= piece.stop:
                return
        last = b"".join(pending)
        if last:
            yield _block(count.lines + 1, offset, [last])
            count.lines += 1


def _first_line(file: BinaryIO, piece: Piece) -> int | None:
    """Where the first line that begins in the piece begins, None if none does."""
    if piece.start == 0:
        return 0
    offset = piece.start - 1
    file.seek(offset)
    while piece.stop is None or offset < piece.stop - 1:
        wanted = BLOCK_BYTES if piece.stop is None else min(BLOCK_BYTES, piece.stop - 1 - offset)
        data = file.read(wanted)
        if not data:
            return None
        found = data.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(data)
    return None


def _before(stop: int | None, offset: int, lines: list[bytes]) -> list[bytes]:
    """The lines, of which the first begins at an offset, that begin before `stop`."""
    if stop is None or offset + sum(map(len, lines)) + len(lines) <= stop:
        return lines
    kept = []
    for line in lines:
        if offset >= stop:
            break
        kept.append(line)
        offset += len(line) + 1
    return kept


def _block(number: int, offset: int, lines: list[bytes]) -> Block:
    numbers: Sequence[int] = range(number, number + len(lines))
    ends = accumulate(map(len, lines), initial=offset)
    offsets = [end + i for i, end in enumerate(ends)][:-1]
    if offset == 0 and lines and lines[0].startswith(_BOM):
        lines[0], offsets[0] = lines[0][len(_BOM) :], len(_BOM)
    filled = [bool(line) and not line.isspace() for line in lines]
    if all(filled):
        return Block(numbers, offsets, lines)
    return Block(list(compress(numbers, filled)), list(compress(offsets, filled)), list(compress(lines, filled)))


def iter_lines(source: Input) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a whole file that are not blank: (number, byte offset, line without its end)."""
    for block in iter_blocks(Piece(source)):
        yield from zip(*block, strict=True)


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
        with source.file.open("rb") as file:
            yield file
    except OSError as error:
        raise cannot_read(source.path, error) from None
