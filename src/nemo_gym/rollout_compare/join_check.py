"""The check after the join: what makes a reader doubt that the rows which were joined are of one task."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress

from nemo_gym.rollout_compare.figures import JoinCheck
from nemo_gym.rollout_compare.keys import Choice
from nemo_gym.rollout_compare.planned import unrecorded_note
from nemo_gym.rollout_compare.schema import Note, Side
from nemo_gym.rollout_compare.table import INDEX_PATH, Table

_LABELS_SHOWN = 3


def check_inputs(
    tables: dict[Side, Table], tasks_of: dict[Side, array[int]], present: dict[Side, set[int]], tasks: Sequence[str]
) -> JoinCheck:
    """Compare what the systems were asked, for each task that both runs have."""
    joined = present[Side.OLD] & present[Side.NEW]
    old, new = (_inputs_by_task(tables[side], tasks_of[side]) for side in Side)
    compared = joined.intersection(old, new)
    differ = sorted(task for task in compared if old[task] != new[task])
    return JoinCheck(len(joined), len(compared), len(differ), tuple(tasks[task] for task in differ))


def _inputs_by_task(table: Table, tasks_of: array[int]) -> dict[int, int | set[int]]:
    """The number of each task's input, or the set of them where its rows have several; only of tasks that have one."""
    tasks, inputs = tasks_of, table.inputs
    if 0 in inputs:
        tasks, inputs = (array(column.typecode, compress(column, table.inputs)) for column in (tasks_of, inputs))
    one: dict[int, int | set[int]] = dict(zip(tasks, inputs, strict=True))
    if len(one) == len(tasks) or len(one) == len(distinct := set(zip(tasks, inputs, strict=True))):
        return one
    several: dict[int, set[int]] = {}
    for task, asked in distinct:
        several.setdefault(task, set()).add(asked)
    return {task: numbers if len(numbers) > 1 else numbers.pop() for task, numbers in several.items()}


def doubts(
    tables: dict[Side, Table],
    tasks_of: dict[Side, array[int]],
    present: dict[Side, set[int]],
    tasks: Sequence[str],
    choice: Choice,
    check: JoinCheck,
) -> Iterator[Note]:
    """What a reader must know before trusting the join; `present` are the tasks that each run has."""
    if check.tasks_differ:
        yield Note("same id, different task input", check.tasks_differ)
    if not check.joined and all(present.values()):
        yield from _no_common_task(tables, present, tasks, choice)
    yield from _near_misses(present, tasks)
    for side, table in tables.items():
        yield from _repeated_attempts(table, tasks_of[side], tasks, side)
        if len(present[side]) == 1:
            (only,) = present[side]
            if 1 < tasks_of[side].count(only) == len(table):
                yield Note(f"every row of the {side} run has one task by {choice.rungs[side].name}", (tasks[only],))
        unrecorded = unrecorded_note(table, side)
        if unrecorded:
            yield unrecorded


def _no_common_task(
    tables: dict[Side, Table], present: dict[Side, set[int]], tasks: Sequence[str], choice: Choice
) -> Iterator[Note]:
    """The runs' labels next to each other, so that a reader sees why they do not meet."""
    hint = ""
    if all(-1 not in table.task_index.codes and len(table.shards) < 2 for table in tables.values()):
        hint = f"; if both read the same inputs file, --key {INDEX_PATH} joins them by the position there"
    yield Note(f"the runs have no task in common{hint}")
    for side in Side:
        first = tuple(tasks[task] for task in sorted(present[side])[:_LABELS_SHOWN])
        yield Note(f"first {side} tasks by {choice.rungs[side].name}", first)


def _near_misses(present: dict[Side, set[int]], tasks: Sequence[str]) -> Iterator[Note]:
    """Labels that are on one side only and differ in case, spaces or Unicode form from one on the other."""
    alone = {Side.OLD: present[Side.OLD] - present[Side.NEW], Side.NEW: present[Side.NEW] - present[Side.OLD]}
    if not all(alone.values()):
        return
    by_form: dict[str, str] = {_plain_form(tasks[task]): tasks[task] for task in sorted(alone[Side.OLD])}
    pairs = [(by_form.get(_plain_form(tasks[task])), tasks[task]) for task in sorted(alone[Side.NEW])]
    near = tuple(f"{old!r} and {new!r}" for old, new in pairs if old is not None)
    if near:
        yield Note("missing on both sides, but alike save for case, spaces or Unicode form", near)


def _plain_form(label: str) -> str:
    return "".join(unicodedata.normalize("NFKC", label).casefold().split())


def _repeated_attempts(table: Table, tasks_of: array[int], tasks: Sequence[str], side: Side) -> Iterator[Note]:
    """Attempts that one file has two rows of: a resumed run, or two runs in one file."""
    twice: dict[str, None] = {}
    count = 0
    for rows in table.shards:
        indexes, rollouts = (column.codes[rows.start : rows.stop] for column in (table.task_index, table.rollout_index))
        if len(set(indexes)) == len(rows):
            continue
        attempts = list(zip(indexes, rollouts, strict=True))
        if len(set(attempts)) == len(attempts):
            continue
        times = Counter(attempts)
        repeated = {attempt for attempt, number in times.items() if number > 1 and -1 not in attempt}
        count += len(repeated)
        labels = (tasks_of[row] for row, attempt in zip(rows, attempts, strict=True) if attempt in repeated)
        twice.update((tasks[task], None) for task in labels if task < len(tasks))
    if count:
        attempts_text = "1 attempt" if count == 1 else f"{count} attempts"
        yield Note(
            f"{attempts_text} of the {side} run stand more than once in one file; every row counts", tuple(twice)
        )
