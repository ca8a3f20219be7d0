"""Sources to tables, piece by piece, by as many processes as are worth starting.

However many processes there are and wherever the pieces begin, the tables are the same, and so is the first error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from nemo_gym.rollout_compare.engine.pieces import PieceTable, Progress, left_out, placed, read_piece
from nemo_gym.rollout_compare.engine.workers import default_jobs, map_by_processes, may_fork
from nemo_gym.rollout_compare.producers import Piece, Plan, Readable
from nemo_gym.rollout_compare.schema import CompareInputError, Fault, Note, NoteKind
from nemo_gym.rollout_compare.table import Table

PIECE_BYTES = 16 << 20


def read_tables(
    sources: Sequence[tuple[int, Readable, Plan]],
    jobs: int | None = None,
    progress: Progress | None = None,
    piece_bytes: int = PIECE_BYTES,
) -> list[Table]:
    """The tables of several sources.

    Args:
        sources: The sources, each with the number of its run and how its lines are read.
        jobs: How many processes may read at a time; as many as are worth it when None.
        progress: Told how many bytes of which run were read.
        piece_bytes: How much a process reads at a time.

    Raises:
        CompareInputError: A source cannot be read, or a line is not a row: the first such line of the first
            such source.
    """
    jobs = jobs or default_jobs([source for _, source, _ in sources])
    jobs = jobs if may_fork() else 1
    pieces = [
        (i, (source, piece, plan))
        for i, (_, source, plan) in enumerate(sources)
        for piece in source.pieces(piece_bytes)
    ]
    parts = _read_pieces(
        [work for _, work in pieces],
        min(jobs, len(pieces)),
        lambda place, more: progress(sources[pieces[place][0]][0], more) if progress else None,
    )
    collected = [_Collected(source, plan) for _, source, plan in sources]
    for (i, _), part in zip(pieces, parts, strict=True):
        collected[i].add(part)
    return [one.finished() for one in collected]


class _Collected:
    """The pieces of a source, put together in order."""

    def __init__(self, source: Readable, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.table = Table(source.fields(plan.key))
        self.lines = 0
        self.faults: list[Fault] = []

    def add(self, part: PieceTable) -> None:
        faults = [Fault(self.lines + fault.line, fault.reason) for fault in part.faults]
        if faults and not self.plan.skip_bad_lines:
            raise CompareInputError(f"{self.source.where(faults[0].line)}: {faults[0].reason}")
        self.faults += faults
        if self.lines:
            self.table.extend(part.table, self.lines)
        else:
            self.table = part.table
        self.lines += part.lines

    def finished(self) -> Table:
        if self.faults and not len(self.table):
            first = placed(self.source, self.faults[0])
            unit = self.source.unit
            said = "no line of it is a row" if unit == "line" else f"none of its {unit}s can be read"
            raise CompareInputError(f"{self.source.path}: {said}: {first}")
        self.table.incomplete = bool(self.faults)
        if self.faults:
            self.table.notes.append(left_out(self.source, self.faults))
        if not self.source.unchanged():
            self.table.notes.append(Note(NoteKind.CHANGED_WHILE_READ, path=str(self.source.path)))
        return self.table


def _read_pieces(pieces: Sequence[tuple[Readable, Piece, Plan]], jobs: int, progress: Progress) -> Iterator[PieceTable]:
    """What the pieces hold, in their order; progress is told the place of the piece."""
    if jobs > 1:
        yield from map_by_processes(lambda item, on_bytes: read_piece(*item, on_bytes), pieces, jobs, progress)
        return
    for place, item in enumerate(pieces):
        yield read_piece(*item, partial(progress, place))
