"""By which groups tasks are compared: the values of fields, read again from one row of each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

from nemo_gym.rollout_compare.compare.questions import Questions
from nemo_gym.rollout_compare.join import Join, no_such_field, values_of
from nemo_gym.rollout_compare.schema import Side, TaskComparison, text_of
from nemo_gym.rollout_compare.table import Table

#: What the groups are called by which tasks are compared unasked, where both runs name several tasksets.
TASKSET = "taskset"

#: What stands for the value of a task that has none.
NO_VALUE = "(none)"


def group_values(
    tables: Mapping[Side, Table], joined: Join, tasks: Sequence[TaskComparison], questions: Questions
) -> dict[str, list[str]]:
    """For each field that is asked for its value for each task, as text; `(none)` where no row has one.

    A task's value is that of the old side's first row, else of the new side's. Where tasks are told apart by taskset
    and id, their tasksets are among the fields.

    Raises:
        CompareInputError: No task has such a field, or a row can no longer be read.
    """
    fields = tuple(dict.fromkeys((*questions.by, *((questions.cluster,) if questions.cluster else ()))))
    known: dict[str, list[str]] = {}
    if joined.keyed_by_taskset:
        named = [intern(task.partition("/")[0]) for task in joined.tasks]
        known[TASKSET] = named + [NO_VALUE] * (len(tasks) - len(named))
    if not fields:
        return known
    values: list[tuple[Any, ...]] = [(None,) * len(fields)] * len(tasks)
    for side in (Side.NEW, Side.OLD):
        first = {rows[0]: number for number in range(len(joined.tasks)) if (rows := joined.rows[side].of(number))}
        for row, found in values_of(tables[side], list(first), fields).items():
            before = values[first[row]]
            values[first[row]] = tuple(b if a is None else a for a, b in zip(found, before, strict=True))
    for place, field in enumerate(fields):
        if all(task[place] is None for task in values):
            if field in known:
                continue  # no row has such a field of its own: the tasksets are meant
            if field != TASKSET:  # runs of one taskset need not name it
                raise no_such_field(tables, field, "--by" if field in questions.by else "--cluster")
        known[field] = [NO_VALUE if task[place] is None else intern(text_of(task[place])) for task in values]
    return known
