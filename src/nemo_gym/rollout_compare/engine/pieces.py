"""A piece of a source to a table: the work that one process does at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.producers import Piece, Plan, Readable
from nemo_gym.rollout_compare.schema import Fault, Note, NoteKind
from nemo_gym.rollout_compare.table import Table

#: How many of the lines that were left out are named.
NAMED_FAULTS = 5

#: Called with a run's number and how many more of its bytes were read.
Progress = Callable[[int, int], None]


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


def left_out(source: Readable, faults: Sequence[Fault]) -> Note:
    """A note that lines which are not rows, or records that cannot be read, were left out."""
    named = tuple(placed(source, fault) for fault in faults[:NAMED_FAULTS])
    unit = "" if source.unit == "line" else source.unit
    return Note(NoteKind.LINES_LEFT_OUT, path=str(source.path), field=unit, number=len(faults), lines=named)


def placed(source: Readable, fault: Fault) -> Fault:
    """A fault with the place by which a note names it: that of a line is its number."""
    if source.unit == "line":
        return fault
    place, path = source.where(fault.line), str(source.path)
    if place.startswith(path):
        return replace(fault, place=place.removeprefix(path).lstrip("/: "))
    return replace(fault, place=place.removeprefix(f"{source.path.parent}/"))


def read_piece(
    source: Readable, piece: Piece, plan: Plan, on_bytes: Callable[[int], None] = lambda _: None
) -> PieceTable:
    """Read the rows of a piece.

    Raises:
        CompareInputError: The source cannot be read.
    """
    table = Table(source.fields(plan.key))
    faults: list[Fault] = []
    lines = 0
    for batch in source.batches(piece, plan, table.open_fields, on_bytes):
        table.add(batch, source)
        faults.extend(batch.faults)
        lines = batch.last_line or lines
    return PieceTable(table, lines, faults)
