"""A run's rows, gathered by task."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress, pairwise
from operator import and_, ne

from msgspec import Struct


class RowsByTask(Struct, frozen=True):
    """The rows of each task of a comparison, none for a task that only the other run has.

    Attributes:
        task_of: The number of each row's task, one beyond the last for rows that cannot be joined.
        rows: The rows of the first task in their order, then those of the second, and so on; those without one last.
        starts: Where each task's rows begin in `rows`, and after the last task the end.
    """

    task_of: array[int]
    rows: array[int]
    starts: array[int]

    def of(self, task: int) -> Sequence[int]:
        """The rows of a task, in their order."""
        return self.rows[self.starts[task] : self.starts[task + 1]]

    def spans(self) -> Iterator[tuple[int, int]]:
        """For each task where in `rows` its rows begin and end."""
        return pairwise(self.starts)

    def anonymous(self) -> Sequence[int]:
        """The rows that cannot be joined: failed attempts that name no task."""
        return self.rows[self.starts[-1] :]

    def present(self) -> bytes:
        """For each task 1 if the run has a row of it, else 0."""
        return bytes(map(ne, self.starts[1:], self.starts[:-1]))


def tasks_of_both(old: RowsByTask, new: RowsByTask) -> list[int]:
    """The numbers of the tasks that both runs have."""
    both = map(and_, old.present(), new.present())
    return list(compress(range(len(old.starts) - 1), both))


def rows_by_task(task_of: array[int], tasks: int) -> RowsByTask:
    """Gather rows by the numbers of their tasks, of which there are so many."""
    counts = Counter(task_of)
    starts = array("I", accumulate(map(counts.__getitem__, range(tasks)), initial=0))
    rows = array("I", sorted(range(len(task_of)), key=task_of.__getitem__))
    return RowsByTask(task_of, rows, starts)
