"""Runs whose attempts are JSON objects, one a line, whichever producer wrote them.

What differs from producer to producer is data: a `RowFormat` says what the fields are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from nemo_gym.rollout_compare.files import (
    Block,
    Line,
    LineCount,
    LongLine,
    Piece,
    check_unchanged,
    gone,
    iter_blocks,
    line_at,
    pieces_of,
    reading,
)
from nemo_gym.rollout_compare.producers.beside import BesideDecoder
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, LineTooLong, NotAnObject, RowDecoder, parse_object
from nemo_gym.rollout_compare.producers.one_file import OneFile
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.row_format import RowFormat, as_written
from nemo_gym.rollout_compare.producers.seems import what_text_seems
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Place, Record, Row, Wanted, no_rows

#: Of a row that is larger only what is asked for is built.
_LARGE = 1 << 20


@lru_cache(maxsize=32)
def decoder_for(paths: tuple[str, ...], kinds: tuple[tuple[str, Any], ...] = ()) -> RowDecoder:
    """What gives the values at the paths of a row; `kinds` says of which of them not all need be built."""
    return RowDecoder(paths, dict(kinds))


@lru_cache(maxsize=32)
def rows_decoder(form: RowFormat, fields: tuple[str, ...], reward: str | None = None) -> RowDecoder | BesideDecoder:
    """What gives the values that `RowFormat.batch` takes: those at the format's paths, then those at the fields.

    What the verifier said is taken as it is written: of all rows no more is asked than whether there is any.

    Args:
        form: The format.
        fields: The fields that may still be the key.
        reward: The field that is the reward instead of the format's own.
    """
    first, *others = form.paths
    paths = (reward or first, *others, *fields)
    kinds = dict(as_written(paths, (*form.output_fields, *form.tests)))
    if form.extras:
        return BesideDecoder(paths, {**kinds, **dict(form.extras.kinds)}, form.extras.beside)
    return RowDecoder(paths, kinds)


class JsonLines(OneFile, frozen=True):
    """A file with a JSON object a line; what the objects are, those who inherit from it say."""

    @property
    def from_start(self) -> bool:
        """Whether the file is compressed."""
        return bool(self.input.magic)

    @property
    def unit(self) -> str:
        """A row is a line."""
        return "line"

    def where(self, line: int) -> str:
        """A row's place: `PATH:LINE`."""
        return f"{self.path}:{line}"

    def pieces(self, piece_bytes: int) -> list[Piece]:
        """The file in pieces, a compressed one in one."""
        return pieces_of(self.input, piece_bytes)

    def batches(
        self, piece: Piece, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The rows of a piece, a batch for each block of lines."""
        count = LineCount(on_bytes)
        for block in iter_blocks(piece, count, max_line=plan.max_line):
            fields = tuple(wanted())
            try:
                batch = self._batch(block.lines, block.numbers, block.offsets, fields, plan)
            except (CompareInputError, RecursionError):
                for one in self._in_halves(block, range(len(block.lines)), fields, plan):
                    yield one
                    if one.faults and not plan.skip_bad_lines:
                        return
            else:
                yield batch
                del batch
            del block  # it may be as large as the next one
        yield no_rows((), count.lines)

    @abstractmethod
    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        """The rows of some lines; `InvalidLine` or `CompareInputError` if any of them is none."""

    @abstractmethod
    def label(self, row: Row, key: str | None) -> str:
        """What a row's task is called in messages, as far as it can be told."""

    def _in_halves(self, block: Block, part: range, fields: tuple[str, ...], plan: Plan) -> Iterator[Batch]:
        """The rows and the faults of a part of a block in which some line is not a row, in their order.

        The part is halved until either half is without a fault or a single line: few bad lines cost little more than
        none.
        """
        middle = len(part) // 2
        for half in (part[:middle], part[middle:]) if middle else (part,):
            lines = slice(half.start, half.stop)
            try:
                batch = self._batch(block.lines[lines], block.numbers[lines], block.offsets[lines], fields, plan)
            except (CompareInputError, RecursionError) as error:
                if len(half) == 1:
                    yield self._fault(block, half.start, error.with_traceback(None), plan)  # it holds the values
                else:
                    yield from self._in_halves(block, half, fields, plan)
            else:
                yield batch

    def _fault(self, block: Block, i: int, error: Exception, plan: Plan) -> Batch:
        """A line that is not a row, by its place in the block."""
        line, number = block.lines[i], block.numbers[i]
        if isinstance(line, LongLine):
            return no_rows([Fault(number, line.reason)], number)
        begins, ends = block.begins_file and not i, block.ends_unfinished and i == len(block.lines) - 1
        reason = self.reason_for(error, line, plan.key, begins_file=begins, unfinished=ends)
        return no_rows([Fault(number, reason)], number)

    def reason_for(self, error: Exception, line: Line, key: str | None, *, begins_file: bool, unfinished: bool) -> str:
        """Why a line was refused, with its task as far as it can be told; what it may mean when the file ends there."""
        if isinstance(error, LineTooLong):
            return str(error)
        if not isinstance(error, InvalidLine):
            with room_for_rows():
                return f"{error} (task {self.label(parse_object(line), key)})"
        seems = what_text_seems(bytes(line), shown=not self.path.is_symlink()) if begins_file else None
        reason = f"{error}; {seems}" if seems else str(error)
        if not isinstance(error, NotAnObject) and unfinished:
            reason += ": the last line is cut off; the run may still be writing, or was killed"
        return reason

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each row. The file is opened once, and read no further than the last of them."""
        done = 0
        try:
            if not grown:
                check_unchanged(self.input)
            with reading(self.input) as (file, _):
                for place in places:
                    file.seek(place.offset)
                    done += 1
                    yield self._record(line_at(file), wanted)
        except CompareInputError as error:
            for _ in places[done:]:
                yield error

    def _record(self, line: Line, wanted: Wanted) -> Record | Exception:
        try:
            with room_for_rows():
                return self._record_of(line, wanted)
        except (CompareInputError, RecursionError):
            return gone(self.input)

    @abstractmethod
    def _record_of(self, line: Line, wanted: Wanted) -> Record:
        """What is wanted of a line; `InvalidLine` if it is not a row any more."""


class RowsFile(JsonLines, frozen=True):
    """A file with a row a line.

    Attributes:
        input: The file.
        format: What its rows' fields are called.
    """

    format: RowFormat

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a row's verifier output."""
        return self.format.output_fields

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return self.format.fields_for(key)

    def doubt(self) -> str | None:
        """What the file seems to hold of whose rows none has a reward."""
        return self.format.doubt(self.input) if self.format.doubt else None

    def label(self, row: Row, key: str | None) -> str:
        """What a row's task is called in messages, as far as it can be told."""
        return self.format.label(row, key)

    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        with room_for_rows():
            columns = rows_decoder(self.format, fields, plan.reward).columns(lines)
            if plan.reward is not None:
                columns[0] = [value if isinstance(value, float) else number_of(value) for value in columns[0]]
            return self.format.batch(columns, fields, lines=numbers, offsets=offsets, planned=plan.planned)

    def _record_of(self, line: Line, wanted: Wanted) -> Record:
        row: Row | None = parse_object(line) if wanted.row else None
        decoder = decoder_for(self.format.paths_for(wanted), self.format.kinds_for(wanted))
        return self.format.record(decoder.decode(line), wanted, row)


def row_with(line: Line, paths: tuple[str, ...]) -> dict[str, Any]:
    """A row; of one that is very long only what stands at some paths: the rest is never built."""
    if len(line) <= _LARGE:
        return parse_object(line)
    made: dict[str, Any] = {}
    for path, value in zip(paths, decoder_for(paths).decode(line), strict=True):
        *outer, last = path.split(".")
        inner: Any = made if value is not None else None
        for name in outer:
            inner = inner.setdefault(name, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            inner[last] = value
    return made


def rows_of(
    source: JsonLines,
    plan: Plan,
    faults: list[Fault] | None = None,
    check: Callable[[Row], object] = bool,
    parse: Callable[[Line], dict[str, Any]] = parse_object,
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The rows of a file that pass a check, each with its line number and byte offset; whole ones, or as parsed.

    Raises:
        CompareInputError: A line is not a row or does not pass, unless such lines are left out: then `faults` takes
            them.
    """
    for block in iter_blocks(Piece(source.input), max_line=plan.max_line):
        last = len(block.lines) - 1
        for i, (number, offset, line) in enumerate(zip(block.numbers, block.offsets, block.lines, strict=True)):
            row: dict[str, Any] | None = None  # the one before may be as large
            try:
                row = _checked(line, check, parse)
            except CompareInputError as error:
                begins, ends = block.begins_file and not i, block.ends_unfinished and i == last
                reason = source.reason_for(error, line, plan.key, begins_file=begins, unfinished=ends)
                if faults is None or not plan.skip_bad_lines:
                    raise CompareInputError(f"{source.where(number)}: {reason}") from None
                faults.append(Fault(number, reason))
            else:
                yield number, offset, row
        line, row = b"", None
        del block  # it may be as large as the next one


def _checked(line: Line, check: Callable[[Row], object], parse: Callable[[Line], dict[str, Any]]) -> dict[str, Any]:
    if isinstance(line, LongLine):
        raise LineTooLong(line.reason)
    with room_for_rows():
        row = parse(line)
        check(row)
    return row
