"""Rollouts files to tables, piece by piece, by as many processes as are worth starting.

However many processes there are and wherever the pieces begin, the tables are the same, and so is the first error.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nemo_gym.rollout_compare.decode import InvalidLine, parse_object
from nemo_gym.rollout_compare.lines import Input, LineCount, Piece, ends_file, iter_blocks, pieces_of
from nemo_gym.rollout_compare.rows import label_for_message
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table import Table, decoder_for

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

PIECE_BYTES = 16 << 20

#: Files that are smaller together are read sooner than a process starts.
WORTH_PROCESSES = 24 << 20


class Fault(Struct, frozen=True):
    """What is wrong with a line of a piece: the line's number in the piece, and the reason."""

    line: int
    reason: str


class PieceTable(Struct, frozen=True):
    """What a piece holds, up to its first fault.

    Attributes:
        table: Its rows.
        lines: How many lines it has, blank ones too.
        fault: The first line that is not a row, None if every line is.
    """

    table: Table
    lines: int
    fault: Fault | None


def read_piece(piece: Piece, key: str | None) -> PieceTable:
    """Read the rows of a piece.

    Raises:
        CompareInputError: The file cannot be read.
    """
    table, count = Table(key), LineCount()
    decoder = decoder_for(key)
    for block in iter_blocks(piece, count):
        try:
            table.add(decoder.decode_all(block.lines))
        except (CompareInputError, RecursionError):
            for number, offset, line in zip(*block, strict=True):
                try:
                    Table(key).add([decoder.decode(line)])
                except (CompareInputError, RecursionError) as error:
                    return PieceTable(
                        table, count.lines, Fault(number, reason_for(error, piece.source, offset, line, key))
                    )
        table.origins.append_all(piece.source, block.numbers, block.offsets)
    return PieceTable(table, count.lines, None)


def reason_for(error: Exception, source: Input, offset: int, line: bytes, key: str | None) -> str:
    """Why a line was refused, with its task as far as it can be told; what it may mean when the file ends there."""
    if isinstance(error, RecursionError):
        return "invalid JSON (nested too deeply)"
    if not isinstance(error, InvalidLine):
        return f"{error} (task {label_for_message(parse_object(line), key)})"
    if ends_file(source, offset + len(line)):
        return f"{error}: the last line is cut off; the run may still be writing, or was killed"
    return str(error)


def read_tables(sources: Sequence[Input], key: str | None, jobs: int, piece_bytes: int = PIECE_BYTES) -> list[Table]:
    """The tables of several files.

    Args:
        sources: The files.
        key: The field that names the task, None where it is to be found.
        jobs: How many processes may read at a time.
        piece_bytes: How much is read at a time by one of them.

    Raises:
        CompareInputError: A file cannot be read, or a line is not a row: the first such line of the first such file.
    """
    tables = [Table(key) for _ in sources]
    places = [(i, piece) for i, source in enumerate(sources) for piece in pieces_of(source, piece_bytes)]
    lines = [0] * len(sources)
    jobs = min(jobs, len(places)) if _may_fork() else 1
    for (i, piece), part in zip(places, _read_pieces([piece for _, piece in places], key, jobs), strict=True):
        if part.fault:
            raise CompareInputError(f"{piece.source.path}:{lines[i] + part.fault.line}: {part.fault.reason}")
        tables[i].extend(part.table, lines[i])
        lines[i] += part.lines
    return tables


def default_jobs(sources: Sequence[Input]) -> int:
    """As many processes as there are processors to run on; one for files that are read sooner than it starts."""
    if sum(source.size for source in sources) < WORTH_PROCESSES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    """Whether processes can be started safely: not from a program that has threads."""
    return hasattr(os, "fork") and threading.active_count() == 1


def _read_pieces(pieces: Sequence[Piece], key: str | None, jobs: int) -> Iterator[PieceTable]:
    """What the pieces hold, in their order."""
    return (read_piece(piece, key) for piece in pieces) if jobs == 1 else _read_by_processes(pieces, key, jobs)


def _read_by_processes(pieces: Sequence[Piece], key: str | None, jobs: int) -> Iterator[PieceTable]:
    """What the pieces hold, in their order, read by processes each of which takes the next when it has read one."""
    from multiprocessing import connection, get_context

    context = get_context("fork")
    workers: dict[Connection[Any, Any], BaseProcess] = {}
    try:
        for _ in range(jobs):
            here, there = context.Pipe()
            worker: BaseProcess = context.Process(target=_work, args=(there, [here, *workers], key), daemon=True)
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
                    number, result = _received(ready)
                    done[number] = result
                    with suppress(StopIteration):
                        ready.send(next(waiting))
            yield done.pop(wanted)
    finally:
        for here, worker in workers.items():
            worker.kill()
            worker.join()
            here.close()


def _received(ready: Connection[Any, Any]) -> tuple[int, PieceTable]:
    try:
        number, result = ready.recv()
    except (EOFError, OSError):
        raise CompareInputError("a reading process was ended from outside; --jobs 1 reads in one process") from None
    if isinstance(result, CompareInputError):
        raise result
    return number, result


def _work(tasks: Connection[Any, Any], others: Sequence[Connection[Any, Any]], key: str | None) -> None:
    """Read the pieces that are asked for until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for other in others:  # else this process would keep the asker's ends open
        other.close()
    with suppress(EOFError, OSError):
        while True:
            number, piece = tasks.recv()
            try:
                result: PieceTable | CompareInputError = read_piece(piece, key)
            except CompareInputError as error:
                result = error
            tasks.send((number, result))
