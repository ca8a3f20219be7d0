r"""Inputs to lines.

A line ends at `\n` and nowhere else. Lines come in blocks, each line with its number (from 1, blank ones counted) and
its byte offset, so that a row can be read again without reading the file again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, compress
from typing import BinaryIO, NamedTuple

from nemo_gym.rollout_compare.inputs import Input, reading

BLOCK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"


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
    """The whole file in pieces, a compressed one in one; the last goes on to where the file ends when it is read."""
    if source.magic:
        return [Piece(source)]
    starts = list(range(0, max(source.size, 1), piece_bytes))
    return [Piece(source, start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


class LineCount:
    """How many lines, blank ones too, a piece has turned out to have so far.

    Attributes:
        lines: The number of them.
        on_bytes: Called with how many more bytes, as they are stored, were read.
    """

    def __init__(self, on_bytes: Callable[[int], None] | None = None) -> None:
        """Start at none."""
        self.lines = 0
        self.on_bytes = on_bytes or (lambda _: None)


def iter_blocks(piece: Piece, count: LineCount | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The lines of a piece that are not blank. A byte order mark at the start of the file belongs to no line."""
    count = count or LineCount()
    with reading(piece.source) as (file, stored):
        offset = _first_line(file, piece)
        if offset is None:
            return
        file.seek(offset)
        done = stored.tell()
        pending: list[bytes] = []
        while data := file.read(block_bytes):
            before, done = done, stored.tell()
            count.on_bytes(done - before)
            pending.append(data)
            if b"\n" not in data:
                continue
            *lines, rest = b"".join(pending).split(b"\n")
            pending = [rest]
            lines = _before(piece.stop, offset, lines)
            after = offset + sum(map(len, lines)) + len(lines)
            yield _block(count.lines + 1, offset, lines)
            count.lines += len(lines)
            offset = after
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
    if offset == 0 and lines and lines[0].startswith(BOM):
        lines[0], offsets[0] = lines[0][len(BOM) :], len(BOM)
    filled = [bool(line) and not line.isspace() for line in lines]
    if all(filled):
        return Block(numbers, offsets, lines)
    return Block(list(compress(numbers, filled)), list(compress(offsets, filled)), list(compress(lines, filled)))


def iter_lines(source: Input) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a whole file that are not blank: (number, byte offset, line without its end)."""
    for block in iter_blocks(Piece(source)):
        yield from zip(*block, strict=True)


def begins_file(source: Input, offset: int) -> bool:
    """Whether the first line begins at an offset: nothing but a byte order mark is before it."""
    if offset != len(BOM):
        return offset == 0
    with reading(source) as (file, _):
        return file.read(len(BOM)) == BOM


def ends_file(source: Input, offset: int) -> bool:
    """Whether nothing, not even a line's end, stands at an offset."""
    with reading(source) as (file, _):
        file.seek(offset)
        return not file.read(1)
