r"""Inputs to lines.

A line ends at `\n` and nowhere else. Lines come in blocks, each line with its number (from 1, blank ones counted) and
its byte offset, so that a row can be read again without reading the file again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, compress
from operator import add, itemgetter
from typing import BinaryIO, NamedTuple

from nemo_gym.rollout_compare.files.inputs import Input, reading
from nemo_gym.rollout_compare.text import MOST_LINE_BYTES, size_text

BLOCK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"

_TAIL_BYTES = 1 << 16
_PEEKED = 64
_OBJECT_BEGINS = {ord("{")}

# Lines are short where more of them end in so many bytes.
_SAMPLE_BYTES, _SAMPLE_LINES = 1 << 15, 8

Line = bytes | memoryview
"""A line without its end; a long one is a view of the block that it was read in, which spares a copy."""


class LongLine(bytes):
    """What stands for a line that is longer than a line may be: it is not kept, so there is nothing in it."""

    def __new__(cls, most: int) -> LongLine:
        """Make one for a line of more than so many bytes."""
        line = super().__new__(cls)
        line.most = most
        return line

    most: int

    @property
    def reason(self) -> str:
        """What is wrong with it."""
        return f"the line is longer than {size_text(self.most)} (--max-line)"


class Block(NamedTuple):
    """Some lines of a piece of a file, none of them blank.

    Attributes:
        numbers: Each line's number in the piece, from 1; a range where no line between them is blank.
        offsets: Each line's byte offset in the file.
        lines: The lines, without their ends.
        begins_file: Whether the first of them is the first of the file.
        ends_unfinished: Whether the file ends in the last of them, without a line's end.
    """

    numbers: Sequence[int]
    offsets: Sequence[int]
    lines: Sequence[Line]
    begins_file: bool = False
    ends_unfinished: bool = False


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


def iter_blocks(
    piece: Piece, count: LineCount | None = None, block_bytes: int = BLOCK_BYTES, max_line: int = MOST_LINE_BYTES
) -> Iterator[Block]:
    """The lines of a piece that are not blank. A byte order mark at the start of the file belongs to no line.

    A line of more than `max_line` bytes is handed over as a `LongLine`, alone, as soon as that is known.
    """
    count = count or LineCount()
    with reading(piece.source) as (file, stored):
        offset = _first_line(file, piece)
        if offset is None:
            return
        file.seek(offset)
        done = stored.tell()
        begun = _Begun(max_line)
        reached = offset
        while data := file.read(_wanted(piece, reached, block_bytes)):
            before, done = done, stored.tell()
            count.on_bytes(done - before)
            reached += len(data)
            if begun.skipped:
                data = begun.without_skipped(data)
                offset = reached - len(data)
                if piece.stop is not None and offset >= piece.stop:
                    return
            lines = begun.split(data)
            if lines:
                lines = _before(piece.stop, offset, lines)
                after = offset + sum(map(len, lines)) + len(lines)
                begin, number = offset, count.lines + 1
                offset, count.lines = after, count.lines + len(lines)
                yield _block(number, begin, _taken(lines), max_line)
                if piece.stop is not None and offset >= piece.stop:
                    return
            if begun.is_too_long():
                count.lines += 1
                yield Block([count.lines], [offset], [LongLine(max_line)])
        last = begun.line()
        if last:
            yield _block(count.lines + 1, offset, [last], max_line)._replace(ends_unfinished=True)
            count.lines += 1


class _Begun:
    """A line of which only the beginning was read.

    Attributes:
        skipped: Whether it is too long: then it is read to its end, and not kept.
    """

    def __init__(self, max_line: int) -> None:
        self._begun: bytes | bytearray = b""
        self._most = max_line
        self.skipped = False

    def split(self, data: bytes) -> list[Line]:
        """The lines that end in the data, of which the first was begun before; the next one begins after them."""
        if len(self._begun) <= _SAMPLE_BYTES:
            lines, self._begun = _split(bytes(self._begun), data)
            return lines
        end = data.find(b"\n")
        if isinstance(self._begun, bytes):
            self._begun = bytearray(self._begun)
        if end < 0:
            self._begun += data  # in its place: of a long line there is never a second copy
            return []
        self._begun += memoryview(data)[:end]
        first = memoryview(self._begun)
        lines, self._begun = _split(b"", data[end + 1 :])
        return [first, *lines]

    def is_too_long(self) -> bool:
        """Whether the line turns out to be too long, which is told once."""
        if len(self._begun) <= self._most:
            return False
        self._begun, self.skipped = b"", True
        return True

    def without_skipped(self, data: bytes) -> bytes:
        """The data after the end of the line that is skipped, if it ends in them."""
        end = data.find(b"\n")
        self.skipped = end < 0
        return b"" if end < 0 else data[end + 1 :]

    def line(self) -> Line:
        """The whole line: there is no more of it."""
        return memoryview(self._begun) if isinstance(self._begun, bytearray) else self._begun


def _first_line(file: BinaryIO, piece: Piece) -> int | None:
    """Where the first line that begins in the piece begins, None if none does."""
    if piece.start == 0:
        return 0
    offset = piece.start - 1
    file.seek(offset)
    while piece.stop is None or offset < piece.stop - 1:
        wanted = _TAIL_BYTES if piece.stop is None else min(_TAIL_BYTES, piece.stop - 1 - offset)
        data = file.read(wanted)
        if not data:
            return None
        found = data.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(data)
    return None


def _wanted(piece: Piece, reached: int, block_bytes: int) -> int:
    """How many bytes to read next: beyond the piece not many, for there only its last line ends."""
    return block_bytes if piece.stop is None else min(block_bytes, max(piece.stop - reached, _TAIL_BYTES))


def _split(begun: bytes, data: bytes) -> tuple[list[Line], bytes]:
    """The lines that end in the data, of which the first was begun before, and how the next one begins."""
    if data.count(b"\n", 0, _SAMPLE_BYTES) > _SAMPLE_LINES:
        *short, rest = (begun + data).split(b"\n")
        return list(short), rest
    lines: list[Line] = []
    view, start = memoryview(data), 0
    while (end := data.find(b"\n", start)) >= 0:
        lines.append(view[start:end])
        start = end + 1
    if not lines:
        return lines, begun + data
    if begun:
        lines[0] = b"".join([begun, lines[0]])
    return lines, data[start:]


def _before(stop: int | None, offset: int, lines: list[Line]) -> list[Line]:
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


def _taken(lines: list[Line]) -> list[Line]:
    """The lines, which are held here no longer: while the next ones are read nobody needs them."""
    taken = lines.copy()
    lines.clear()
    return taken


def _block(number: int, offset: int, lines: list[Line], max_line: int) -> Block:
    numbers: Sequence[int] = range(number, number + len(lines))
    offsets = list(map(add, accumulate(map(len, lines), initial=offset), range(len(lines))))
    if offset == 0 and lines and lines[0][: len(BOM)] == BOM:
        lines[0], offsets[0] = lines[0][len(BOM) :], len(BOM)
    begins = offset == 0 and bool(lines) and _is_filled(lines[0])
    if max(map(len, lines), default=0) > max_line:
        lines = [LongLine(max_line) if len(line) > max_line else line for line in lines]
    if all(lines) and _OBJECT_BEGINS.issuperset(map(itemgetter(0), lines)):
        return Block(numbers, offsets, lines, begins)
    filled = [isinstance(line, LongLine) or _is_filled(line) for line in lines]
    kept = (list(compress(numbers, filled)), list(compress(offsets, filled)), list(compress(lines, filled)))
    return Block(*kept, begins)


def _is_filled(line: Line) -> bool:
    """Whether a line is not blank; mostly its first bytes show it."""
    return bool(bytes(line[:_PEEKED]).strip() or bytes(line[_PEEKED:]).strip())


def line_at(file: BinaryIO) -> Line:
    """The line that begins here; a long one is collected in its place, and there is no second copy of it."""
    line = file.readline(BLOCK_BYTES)
    if len(line) < BLOCK_BYTES:
        return line
    long = bytearray(line)
    while not long.endswith(b"\n") and (more := file.readline(BLOCK_BYTES)):
        long += more
    return memoryview(long)


def iter_lines(source: Input) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a whole file that are not blank: (number, byte offset, line without its end)."""
    for block in iter_blocks(Piece(source)):
        yield from zip(block.numbers, block.offsets, map(bytes, block.lines), strict=True)
