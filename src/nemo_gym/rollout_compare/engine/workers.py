"""Work done by several processes, each of which takes the next item when it is done with one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, NamedTuple, NoReturn, TypeVar

from nemo_gym.rollout_compare.files import end_at_once, held_back, nothing_to_undo, undone_at_end
from nemo_gym.rollout_compare.producers import Readable
from nemo_gym.rollout_compare.schema import CompareInputError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Files that are smaller together are read sooner than a process starts.
WORTH_PROCESSES = 24 << 20

#: So many descriptors are left free for files, whatever the pipes to other processes take.
_SPARE = 8


def default_jobs(sources: Sequence[Readable]) -> int:
    """As many processes as there are processors to run on; one for files that are read sooner than it starts."""
    if sum(source.size for source in sources) < WORTH_PROCESSES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def may_fork() -> bool:
    """Whether processes can be started safely: not from a program that has threads."""
    return hasattr(os, "fork") and threading.active_count() == 1


def map_by_processes(
    work: Callable[[Item, Callable[[int], None]], Result],
    items: Sequence[Item],
    jobs: int,
    progress: Callable[[int, int], None],
) -> Iterator[Result]:
    """The results of the items, in their order.

    Args:
        work: What is done with an item; it may tell by a number how far it has got.
        items: What it is done with, at least one.
        jobs: How many processes do it, at most one for each item.
        progress: Told an item's place and the number.

    Raises:
        CompareInputError: A process was ended from outside; any exception that `work` raises.
    """
    from multiprocessing import connection

    workers = _Workers(work, items)
    try:
        workers.start(jobs)
        if not workers.running:  # there is no room for another process: this one does it
            for place, item in enumerate(items):
                yield work(item, partial(progress, place))
            return
        waiting = iter(range(len(items)))
        for here in workers.running:
            _ask(here, next(waiting))
        done: dict[int, Result] = {}
        for wanted in range(len(items)):
            while wanted not in done:
                for ready in connection.wait(list(workers.running)):
                    assert isinstance(ready, connection.Connection)
                    said = _received(ready)
                    if said.kind is _Kind.PROGRESS:
                        progress(said.place, said.value)
                        continue
                    done[said.place] = said.value
                    with suppress(StopIteration):
                        _ask(ready, next(waiting))
            yield done.pop(wanted)
    finally:
        workers.end()


class _Workers(Generic[Item]):
    """Processes that work for this one.

    Attributes:
        running: Those that could be started, by the pipe to each: its process id.
    """

    def __init__(self, work: Callable[[Item, Callable[[int], None]], object], items: Sequence[Item]) -> None:
        self._work, self._items = work, items
        self.running: dict[Connection[Any, Any], int] = {}
        self._forget = undone_at_end(self._kill)

    def start(self, jobs: int) -> None:
        """Start so many processes, or fewer where there is no room for them."""
        kept: list[BinaryIO] = []  # descriptors that reading needs, whatever the pipes take
        with suppress(OSError):
            kept.extend(open(os.devnull, "rb", buffering=0) for _ in range(_SPARE))  # noqa: SIM115  # closed below
            for _ in range(jobs):
                self._start(kept)
        for file in kept:
            file.close()

    def _start(self, kept: Sequence[BinaryIO]) -> None:
        from multiprocessing import connection

        here, there = connection.Pipe()
        with there:
            try:
                with held_back():  # a signal finds either no process or one that it can end
                    process = os.fork() or self._be_one(there, [here, *self.running, *kept])
                    self.running[here] = process
            except OSError:
                here.close()
                raise

    def _be_one(self, asker: Connection[Any, Any], others: Sequence[Connection[Any, Any] | BinaryIO]) -> NoReturn:
        """What a new process does, to its end; it never comes back to what it was forked from."""
        try:
            _work(self._work, self._items, asker, others)
        except BaseException:  # noqa: BLE001  # the asker finds the pipe closed and says so
            os._exit(1)
        os._exit(0)

    def end(self) -> None:
        """End all of them."""
        self._kill()
        for here in self.running:
            here.close()
        self.running.clear()
        self._forget()

    def _kill(self) -> None:
        for process in self.running.values():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        for process in self.running.values():
            with suppress(OSError):
                os.waitpid(process, 0)


class _Kind(Enum):
    """What a worker's message tells."""

    PROGRESS = "how far the work on an item has got"
    RESULT = "what became of it"
    ERROR = "the exception that ended it"


class _Said(NamedTuple):
    """A worker's message: what it tells, of which item, and the number, the result or the exception."""

    kind: _Kind
    place: int
    value: Any


_ENDED = "a reading process was ended from outside; --jobs 1 reads in one process"


def _ask(worker: Connection[Any, Any], place: int) -> None:
    try:
        worker.send(place)
    except OSError:
        raise CompareInputError(_ENDED) from None


def _received(ready: Connection[Any, Any]) -> _Said:
    """What a worker says: a result, or how far it has got."""
    try:
        said: _Said = ready.recv()
    except (EOFError, OSError):
        raise CompareInputError(_ENDED) from None
    if said.kind is _Kind.ERROR:
        raise said.value
    return said


def _tell(tasks: Connection[Any, Any], place: int, more: int) -> None:
    tasks.send(_Said(_Kind.PROGRESS, place, more))


def _work(
    work: Callable[[Item, Callable[[int], None]], object],
    items: Sequence[Item],
    tasks: Connection[Any, Any],
    others: Sequence[Connection[Any, Any] | BinaryIO],
) -> None:
    """Do the work on the items that are asked for until nobody asks any more."""
    end_at_once()
    nothing_to_undo()
    for other in others:  # else this process would keep the asker's ends open
        other.close()
    with suppress(EOFError, OSError):
        while True:
            place = tasks.recv()
            try:
                said = _Said(_Kind.RESULT, place, work(items[place], partial(_tell, tasks, place)))
            except Exception as error:  # noqa: BLE001  # raised again where the results are put together
                said = _Said(_Kind.ERROR, place, error)
            tasks.send(said)
