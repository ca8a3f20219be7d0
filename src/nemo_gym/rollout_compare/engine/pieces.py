"""A piece of a rollouts file to a table: the work that one process does at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.files.lines import LineCount, Piece, begins_file, ends_file, iter_blocks
from nemo_gym.rollout_compare.producers.gym.facts import label_for_message
from nemo_gym.rollout_compare.producers.gym.seems import what_text_seems
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, NotAnObject, parse_object
from nemo_gym.rollout_compare.schema.notes import LineFault, Note, NoteKind
from nemo_gym.rollout_compare.schema.result import CompareInputError
from nemo_gym.rollout_compare.table.table import RESULTS, Table, decoder_for

TOO_DEEP = "nested too deeply"

#: How many of the lines that were left out are named.
NAMED_FAULTS = 5

#: Called with a run's number and how many more of its bytes were read.
Progress = Callable[[int, int], None]


class Plan(Struct, frozen=True):
    """How lines are read.

    Attributes:
        key: The field that names the task, None where it is to be found.
        planned: Whether the rows are planned ones, of which no result is asked.
        skip_bad_lines: Whether a line that is not a row is left out; else it ends the reading.
    """

    key: str | None = None
    skip_bad_lines: bool = False
    planned: bool = False


class Fault(Struct, frozen=True):
    """What is wrong with a line: its number and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        """The fault as a note names it."""
        return f"line {self.line} ({self.reason})"


class PieceTable(Struct, frozen=True):
    """What a piece holds, up to the fault that ended the reading, if one did.

    Attributes:
        table: Its rows.
        lines: How many lines it has, blank ones too.
        faults: The lines that are not rows, by their numbers in the piece.
    """

    table: Table
    lines: int
    faults: list[Fault]


def left_out(source: Input, faults: Sequence[Fault]) -> Note:
    """A note that lines which are not rows were left out."""
    named = tuple(LineFault(fault.line, fault.reason) for fault in faults[:NAMED_FAULTS])
    return Note(NoteKind.LINES_LEFT_OUT, path=str(source.path), number=len(faults), lines=named)


def read_piece(piece: Piece, plan: Plan, on_bytes: Callable[[int], None] | None = None) -> PieceTable:
    """Read the rows of a piece.

    Raises:
        CompareInputError: The file cannot be read.
    """
    table, count = Table(plan.key), LineCount(on_bytes)
    faults: list[Fault] = []
    for block in iter_blocks(piece, count):
        fields = table.fields()
        decoder = decoder_for(fields)
        try:
            table.add(_wanted(decoder.columns(block.lines), plan), fields)
        except (CompareInputError, RecursionError):
            for number, offset, line in zip(*block, strict=True):
                try:
                    table.add(_wanted(decoder.columns([line]), plan), fields)
                except (CompareInputError, RecursionError) as error:
                    faults.append(Fault(number, reason_for(error, piece.source, offset, bytes(line), plan.key)))
                    if not plan.skip_bad_lines:
                        return PieceTable(table, count.lines, faults)
                else:
                    table.origins.append_all(piece.source, [number], [offset])
        else:
            table.origins.append_all(piece.source, block.numbers, block.offsets)
    return PieceTable(table, count.lines, faults)


def _wanted(columns: list[Sequence[Any]], plan: Plan) -> list[Sequence[Any]]:
    """The rows' values; of planned rows without those of a result, which nobody compares."""
    return [[None] * len(columns[0])] * RESULTS + columns[RESULTS:] if plan.planned else columns


def reason_for(error: Exception, source: Input, offset: int, line: bytes, key: str | None) -> str:
    """Why a line was refused, with its task as far as it can be told; what it may mean when the file ends there."""
    if isinstance(error, RecursionError):
        return f"invalid JSON ({TOO_DEEP})"
    if not isinstance(error, InvalidLine):
        try:
            return f"{error} (task {label_for_message(parse_object(line), key)})"
        except (InvalidLine, RecursionError):  # it is nested as deeply as just could be read before
            return f"{error} (task unknown)"
    seems = what_text_seems(line) if begins_file(source, offset) else None
    reason = f"{error}; {seems}" if seems else str(error)
    if not isinstance(error, NotAnObject) and ends_file(source, offset + len(line)):
        reason += ": the last line is cut off; the run may still be writing, or was killed"
    return reason
