"""Rollouts files to tables, piece by piece, by as many processes as are worth starting.

However many processes there are and wherever the pieces begin, the tables are the same, and so is the first error.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nemo_gym.rollout_compare.decode import InvalidLine, parse_object
from nemo_gym.rollout_compare.inputs import Input
from nemo_gym.rollout_compare.lines import BOM, Block, LineCount, Piece, ends_file, iter_blocks, pieces_of
from nemo_gym.rollout_compare.recognize import what_text_seems
from nemo_gym.rollout_compare.rows import label_for_message
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table import LeftOut, Table, decoder_for

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

PIECE_BYTES = 16 << 20

#: Files that are smaller together are read sooner than a process starts.
WORTH_PROCESSES = 24 << 20

#: How many of the lines that were left out are named.
NAMED_FAULTS = 5

#: Called with a run's number and how many more of its bytes were read.
Progress = Callable[[int, int], None]


class Plan(Struct, frozen=True):
    """How lines are read.

    Attributes:
        key: The field that names the task, None where it is to be found.
        skip_bad_lines: Whether a line that is not a row is left out; else it ends the reading.
    """

    key: str | None = None
    skip_bad_lines: bool = False


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


def first_faults(faults: Sequence[Fault]) -> Sequence[Fault]:
    """Those that are named."""
    return faults[:NAMED_FAULTS]


def read_piece(piece: Piece, plan: Plan, on_bytes: Callable[[int], None] | None = None) -> PieceTable:
    """Read the rows of a piece.

    Raises:
        CompareInputError: The file cannot be read.
    """
    table, count = Table(plan.key), LineCount(on_bytes)
    faults: list[Fault] = []
    decoder = decoder_for(plan.key)
    for block in iter_blocks(piece, count):
        try:
            table.add(decoder.decode_all(block.lines))
        except (CompareInputError, RecursionError):
            for good_block, fault in _line_by_line(piece.source, block, plan):
                if fault:
                    faults.append(fault)
                    if not plan.skip_bad_lines:
                        return PieceTable(table, count.lines, faults)
                else:
                    table.add(decoder.decode_all(good_block.lines))
                    table.origins.append_all(piece.source, good_block.numbers, good_block.offsets)
        else:
            table.origins.append_all(piece.source, block.numbers, block.offsets)
    return PieceTable(table, count.lines, faults)


def _line_by_line(source: Input, block: Block, plan: Plan) -> Iterator[tuple[Block, Fault | None]]:
    """Each line of a block as a block of its own, with its fault if it is not a row."""
    decoder = decoder_for(plan.key)
    for number, offset, line in zip(*block, strict=True):
        fault = None
        try:
            Table(plan.key).add([decoder.decode(line)])
        except (CompareInputError, RecursionError) as error:
            fault = Fault(number, reason_for(error, source, offset, line, plan.key))
        yield Block([number], [offset], [line]), fault


def reason_for(error: Exception, source: Input, offset: int, line: bytes, key: str | None) -> str:
    """Why a line was refused, with its task as far as it can be told; what it may mean when the file ends there."""
    if isinstance(error, RecursionError):
        return "invalid JSON (nested too deeply)"
    if not isinstance(error, InvalidLine):
        return f"{error} (task {label_for_message(parse_object(line), key)})"
    seems = what_text_seems(line) if offset <= len(BOM) else None
    if seems:
        return f"{error}; {seems}"
    if ends_file(source, offset + len(line)):
        return f"{error}: the last line is cut off; the run may still be writing, or was killed"
    return str(error)


def read_tables(
    sources: Sequence[tuple[int, Input]],
    plan: Plan,
    jobs: int | None = None,
    progress: Progress | None = None,
    piece_bytes: int = PIECE_BYTES,
) -> list[Table]:
    """The tables of several files.

    Args:
        sources: The files, each with the number of its run.
        plan: How lines are read.
        jobs: How many processes may read at a time; as many as are worth it when None.
        progress: Told how many bytes of which run were read.
        piece_bytes: How much a process reads at a time.

    Raises:
        CompareInputError: A file cannot be read, or a line is not a row: the first such line of the first such file.
    """
    jobs = jobs or default_jobs([source for _, source in sources])
    jobs = jobs if _may_fork() else 1
    pieces = [(i, piece) for i, (_, source) in enumerate(sources) for piece in pieces_of(source, piece_bytes)]
    parts = _read_pieces(
        [piece for _, piece in pieces],
        plan,
        min(jobs, len(pieces)),
        lambda place, more: progress(sources[pieces[place][0]][0], more) if progress else None,
    )
    collected = [_Collected(source, plan) for _, source in sources]
    for (i, _), part in zip(pieces, parts, strict=True):
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
        first = tuple(map(str, first_faults(self.faults)))
        if self.faults and not len(self.table):
            raise CompareInputError(f"{self.source.path}: none of its {len(self.faults)} lines is a row: {first[0]}")
        if self.faults:
            self.table.left_out.append(LeftOut(self.source.path, len(self.faults), first))
        return self.table


def default_jobs(sources: Sequence[Input]) -> int:
    """As many processes as there are processors to run on; one for files that are read sooner than it starts."""
    if sum(source.size for source in sources) < WORTH_PROCESSES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    """Whether processes can be started safely: not from a program that has threads."""
    return hasattr(os, "fork") and threading.active_count() == 1


def _read_pieces(pieces: Sequence[Piece], plan: Plan, jobs: int, progress: Progress) -> Iterator[PieceTable]:
    """What the pieces hold, in their order; progress is told the place of the piece."""
    if jobs > 1:
        yield from _read_by_processes(pieces, plan, jobs, progress)
        return
    for place, piece in enumerate(pieces):
        yield read_piece(piece, plan, partial(progress, place))


def _read_by_processes(pieces: Sequence[Piece], plan: Plan, jobs: int, progress: Progress) -> Iterator[PieceTable]:
    """The same, read by processes each of which takes the next piece when it has read one."""
    from multiprocessing import connection, get_context

    context = get_context("fork")
    workers: dict[Connection[Any, Any], BaseProcess] = {}
    try:
        for _ in range(jobs):
            here, there = context.Pipe()
            worker: BaseProcess = context.Process(target=_work, args=(there, [here, *workers], plan), daemon=True)
            worker.start()
            there.close()
            workers[here] = worker
        waiting = iter(enumerate(pieces))
        for here in workers:
            here.send(next(waiting))
        done: dict[int, PieceTable] = {}
        for wanted in range(len(pieces)):
            while wanted not in done:
                for ready in connection.wait(list(workers)):
                    assert isinstance(ready, connection.Connection)
                    place, result = _received(ready)
                    if isinstance(result, int):
                        progress(place, result)
                        continue
                    done[place] = result
                    with suppress(StopIteration):
                        ready.send(next(waiting))
            yield done.pop(wanted)
    finally:
        for here, worker in workers.items():
            worker.kill()
            worker.join()
            here.close()


def _received(ready: Connection[Any, Any]) -> tuple[int, PieceTable | int]:
    """A piece's place with what it holds, or with how many more of its bytes were read."""
    try:
        place, result = ready.recv()
    except (EOFError, OSError):
        raise CompareInputError("a reading process was ended from outside; --jobs 1 reads in one process") from None
    if isinstance(result, Exception):
        raise result
    return place, result


def _tell(tasks: Connection[Any, Any], place: int, more: int) -> None:
    tasks.send((place, more))


def _work(tasks: Connection[Any, Any], others: Sequence[Connection[Any, Any]], plan: Plan) -> None:
    """Read the pieces that are asked for until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for other in others:  # else this process would keep the asker's ends open
        other.close()
    with suppress(EOFError, OSError):
        while True:
            place, piece = tasks.recv()
            try:
                result: PieceTable | Exception = read_piece(piece, plan, partial(_tell, tasks, place))
            except Exception as error:  # noqa: BLE001  # raised again where the pieces are put together
                result = error
            tasks.send((place, result))
