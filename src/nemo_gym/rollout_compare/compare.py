"""The whole road on one page: two runs to a `CompareResult`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from nemo_gym.rollout_compare.join import Join, join
from nemo_gym.rollout_compare.repeats import compare_repeats
from nemo_gym.rollout_compare.schema import (
    REWARD_TOLERANCE,
    Category,
    CompareResult,
    Flip,
    Note,
    Row,
    Side,
    TaskComparison,
    TaskSide,
)
from nemo_gym.rollout_compare.sides import side_of, sides_of
from nemo_gym.rollout_compare.statistics import task_statistics
from nemo_gym.rollout_compare.table import Table, table_of


def compare_rollouts(old_rows: Sequence[Row], new_rows: Sequence[Row], key: str | None = None) -> CompareResult:
    """Compare two runs' rows, as `load_rollouts` or a script gives them.

    Args:
        old_rows: The reference.
        new_rows: What is compared with it.
        key: The field that tells the tasks apart, a dotted path; found for each run by itself when None.

    Raises:
        CompareInputError: A row breaks a rule, or no field tells the tasks apart.
    """
    return compare_tables({Side.OLD: table_of(old_rows, key), Side.NEW: table_of(new_rows, key)})


def compare_tables(tables: dict[Side, Table]) -> CompareResult:
    """Compare two runs: join their rows by task, then decide each task's category."""
    joined = join(tables)
    sides = [sides_of(tables[side], joined.rows[side]) for side in Side]
    tasks = [_compared(*task) for task in zip(joined.tasks, *sides, strict=True)]
    flips = tuple(_flip(tables, joined, number, task) for number, task in enumerate(tasks) if task.winner)
    anonymous = list(_anonymous(tables, joined))
    tasks += anonymous
    return CompareResult(
        tasks=tasks,
        old_key=joined.keys[Side.OLD],
        new_key=joined.keys[Side.NEW],
        old_rows=len(tables[Side.OLD]),
        new_rows=len(tables[Side.NEW]),
        old_masked_rows=tables[Side.OLD].masked_rows,
        new_masked_rows=tables[Side.NEW].masked_rows,
        old_prefix_stripped=joined.prefixes[Side.OLD],
        new_prefix_stripped=joined.prefixes[Side.NEW],
        keyed_by_taskset=joined.keyed_by_taskset,
        notes=(*(note for table in tables.values() for note in table.notes), *joined.notes, *_repeat_notes(tasks)),
        flips=flips,
        join_check=joined.check,
        statistics=task_statistics(tasks),
        anonymous=len(anonymous),
    )


def _compared(task: str, old: TaskSide | None, new: TaskSide | None) -> TaskComparison:
    """A task with its category: the first rule that applies."""
    if old is None or new is None:
        return TaskComparison(task, Category.MISSING, old, new)
    if old.masked or new.masked or old.reward is None or new.reward is None:
        return TaskComparison(task, Category.MASKED, old, new)
    if abs(old.reward - new.reward) <= REWARD_TOLERANCE:
        return TaskComparison(task, Category.IDENTICAL, old, new)
    doubtful = old.agent_error or new.agent_error
    winner = Side.OLD if old.reward > new.reward else Side.NEW
    return TaskComparison(task, Category.FLIPPED_AGENT_ERROR if doubtful else Category.FLIPPED, old, new, winner)


def _anonymous(tables: dict[Side, Table], joined: Join) -> Iterator[TaskComparison]:
    """Failures that join nothing, each a masked entry of its own, numbered through old, then new."""
    number = 0
    for side in Side:
        for row in joined.rows[side].anonymous:
            number += 1
            facts = side_of(tables[side], [row])
            old, new = (facts, None) if side is Side.OLD else (None, facts)
            yield TaskComparison(f"unknown#{number}", Category.MASKED, old, new)


def _flip(tables: dict[Side, Table], joined: Join, number: int, task: TaskComparison) -> Flip:
    side = task.winner.other if task.winner else Side.OLD
    table, rows = tables[side], joined.rows[side].of(number)
    measured = rows if len(rows) == 1 else [row for row in rows if not isnan(table.reward[row])]
    repeats = compare_repeats(task.old, task.new) if task.old and task.new else None
    return Flip(task, table.origin(min(measured, key=table.reward.__getitem__)), repeats=repeats)


def _repeat_notes(tasks: Sequence[TaskComparison]) -> Iterator[Note]:
    old = tuple(task.task for task in tasks if task.old and task.old.rows > 1)
    new = tuple(task.task for task in tasks if task.new and task.new.rows > 1)
    groups = {"both runs have": old} if old == new else {"the old run has": old, "the new run has": new}
    for who, repeated in groups.items():
        if repeated:
            count = "1 task" if len(repeated) == 1 else f"{len(repeated)} tasks"
            yield Note(f"{who} several rows for {count}, compared by their mean reward", repeated)
