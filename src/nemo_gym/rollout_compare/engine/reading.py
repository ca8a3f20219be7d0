"""Rollouts files to tables, piece by piece, by as many processes as are worth starting.

However many processes there are and wherever the pieces begin, the tables are the same, and so is the first error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from nemo_gym.rollout_compare.engine.pieces import TOO_DEEP, Fault, PieceTable, Plan, Progress, left_out, read_piece
from nemo_gym.rollout_compare.engine.workers import default_jobs, map_by_processes, may_fork
from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.files.lines import Piece, pieces_of
from nemo_gym.rollout_compare.schema.notes import Note, NoteKind
from nemo_gym.rollout_compare.schema.result import CompareInputError
from nemo_gym.rollout_compare.table.table import Table

PIECE_BYTES = 16 << 20
_MAY_BE_DEPTH = re.compile(rf"{TOO_DEEP}|\(task unknown\)$")


def read_tables(
    sources: Sequence[tuple[int, Input, Plan]],
    jobs: int | None = None,
    progress: Progress | None = None,
    piece_bytes: int = PIECE_BYTES,
) -> list[Table]:
    """The tables of several files.

    Args:
        sources: The files, each with the number of its run and how its lines are read.
        jobs: How many processes may read at a time; as many as are worth it when None.
        progress: Told how many bytes of which run were read.
        piece_bytes: How much a process reads at a time.

    Raises:
        CompareInputError: A file cannot be read, or a line is not a row: the first such line of the first such file.
    """
    jobs = jobs or default_jobs([source for _, source, _ in sources])
    jobs = jobs if may_fork() else 1
    pieces = [
        (i, piece, plan) for i, (_, source, plan) in enumerate(sources) for piece in pieces_of(source, piece_bytes)
    ]
    parts = _read_pieces(
        [(piece, plan) for _, piece, plan in pieces],
        min(jobs, len(pieces)),
        lambda place, more: progress(sources[pieces[place][0]][0], more) if progress else None,
    )
    collected = [_Collected(source, plan) for _, source, plan in sources]
    for (i, _, _), part in zip(pieces, parts, strict=True):
        collected[i].add(part)
    return [one.finished() for one in collected]


class _Collected:
    """The pieces of a file, put together in order."""

    def __init__(self, source: Input, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.table = Table(plan.key)
        self.lines = 0
        self.faults: list[Fault] = []

    def add(self, part: PieceTable) -> None:
        faults = [Fault(self.lines + fault.line, fault.reason) for fault in part.faults]
        if faults and not self.plan.skip_bad_lines:
            raise CompareInputError(f"{self.source.path}:{faults[0].line}: {faults[0].reason}")
        self.faults += faults
        if self.lines:
            self.table.extend(part.table, self.lines)
        else:
            self.table = part.table
        self.lines += part.lines

    def finished(self) -> Table:
        if self.faults and not len(self.table):
            raise CompareInputError(f"{self.source.path}: no line of it is a row: {self.faults[0]}")
        self.table.incomplete = bool(self.faults)
        if self.faults:
            self.table.notes.append(left_out(self.source, self.faults))
        if not self.source.unchanged():
            self.table.notes.append(Note(NoteKind.CHANGED_WHILE_READ, path=str(self.source.path)))
        return self.table


def _read_pieces(pieces: Sequence[tuple[Piece, Plan]], jobs: int, progress: Progress) -> Iterator[PieceTable]:
    """What the pieces hold, in their order; progress is told the place of the piece."""
    if jobs > 1:
        parts = map_by_processes(lambda item, on_bytes: read_piece(*item, on_bytes), pieces, jobs, progress)
        for (piece, plan), part in zip(pieces, parts, strict=True):
            # How deep a row may be nested depends on how deep in calls its reader is: what counts is this process.
            yield read_piece(piece, plan) if any(_MAY_BE_DEPTH.search(fault.reason) for fault in part.faults) else part
        return
    for place, (piece, plan) in enumerate(pieces):
        yield read_piece(piece, plan, partial(progress, place))
