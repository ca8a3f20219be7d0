"""Pieces read by several processes, each of which takes the next piece when it has read one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from nemo_gym.rollout_compare.inputs import Input
from nemo_gym.rollout_compare.lines import Piece
from nemo_gym.rollout_compare.pieces import PieceTable, Plan, Progress, read_piece
from nemo_gym.rollout_compare.schema import CompareInputError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

#: Files that are smaller together are read sooner than a process starts.
WORTH_PROCESSES = 24 << 20


def default_jobs(sources: Sequence[Input]) -> int:
    """As many processes as there are processors to run on; one for files that are read sooner than it starts."""
    if sum(source.size for source in sources) < WORTH_PROCESSES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def may_fork() -> bool:
    """Whether processes can be started safely: not from a program that has threads."""
    return hasattr(os, "fork") and threading.active_count() == 1


def read_by_processes(pieces: Sequence[tuple[Piece, Plan]], jobs: int, progress: Progress) -> Iterator[PieceTable]:
    """What the pieces hold, in their order; each process takes the next piece when it has read one."""
    from multiprocessing import connection, get_context

    context = get_context("fork")
    workers: dict[Connection[Any, Any], BaseProcess] = {}
    try:
        for _ in range(jobs):
            here, there = context.Pipe()
            worker: BaseProcess = context.Process(target=_work, args=(there, [here, *workers]), daemon=True)
            worker.start()
            there.close()
            workers[here] = worker
        waiting = iter(enumerate(pieces))
        for here in workers:
            _ask(here, next(waiting))
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
                        _ask(ready, next(waiting))
            yield done.pop(wanted)
    finally:
        for here, worker in workers.items():
            worker.kill()
            worker.join()
            here.close()


_ENDED = "a reading process was ended from outside; --jobs 1 reads in one process"


def _ask(worker: Connection[Any, Any], task: tuple[int, tuple[Piece, Plan]]) -> None:
    try:
        worker.send(task)
    except OSError:
        raise CompareInputError(_ENDED) from None


def _received(ready: Connection[Any, Any]) -> tuple[int, PieceTable | int]:
    """A piece's place with what it holds, or with how many more of its bytes were read."""
    try:
        place, result = ready.recv()
    except (EOFError, OSError):
        raise CompareInputError(_ENDED) from None
    if isinstance(result, Exception):
        raise result
    return place, result


def _tell(tasks: Connection[Any, Any], place: int, more: int) -> None:
    tasks.send((place, more))


def _work(tasks: Connection[Any, Any], others: Sequence[Connection[Any, Any]]) -> None:
    """Read the pieces that are asked for until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for other in others:  # else this process would keep the asker's ends open
        other.close()
    with suppress(EOFError, OSError):
        while True:
            place, (piece, plan) = tasks.recv()
            try:
                result: PieceTable | Exception = read_piece(piece, plan, partial(_tell, tasks, place))
            except Exception as error:  # noqa: BLE001  # raised again where the pieces are put together
                result = error
            tasks.send((place, result))
