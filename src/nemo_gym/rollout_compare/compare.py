"""The whole road on one page: two runs to a `CompareResult`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import fsum, isnan

from nemo_gym.rollout_compare.join import Join, TaskRows, join
from nemo_gym.rollout_compare.schema import (
    REWARD_TOLERANCE,
    Category,
    CompareInputError,
    CompareResult,
    Flip,
    Note,
    Row,
    Side,
    TaskComparison,
    TaskSide,
)
from nemo_gym.rollout_compare.table import Table, table_of

_MOST_SHARED = 1000


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
    sides = [_sides(tables[side], joined.rows[side]) for side in Side]
    tasks = [_compared(*task) for task in zip(joined.tasks, *sides, strict=True)]
    flips = tuple(_flip(tables, joined, number, task) for number, task in enumerate(tasks) if task.winner)
    return CompareResult(
        tasks=[*tasks, *_anonymous(tables, joined)],
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
    )


def summarize_side(rows: Sequence[Row]) -> TaskSide:
    """What a run's rows for one task say together.

    Raises:
        CompareInputError: There is no row, or a row breaks a rule.
    """
    table = table_of(rows)
    side = _side_of(table, range(len(table)))
    if side is None:
        raise CompareInputError("a side of a task has at least one row")
    return side


def _sides(table: Table, rows: TaskRows) -> Iterator[TaskSide | None]:
    """What a run says about each task, in the tasks' order."""
    rewards = array("d", map(table.reward.__getitem__, rows.rows))
    marked = _marked(table, rows.rows)
    single: dict[float, TaskSide] = {}  # most tasks of most runs say one of a few things: each is one value
    for start, end in pairwise(rows.starts):
        if start == end:
            yield None
        elif marked.find(1, start, end) >= 0:
            yield _side_of(table, rows.rows[start:end])
        elif end - start > 1:
            yield TaskSide(end - start, _mean(rewards[start:end]), end - start)
        else:
            reward = rewards[start] + 0.0  # of the two zeros the positive one
            side = single.get(reward)
            if side is None:
                side = TaskSide(1, reward, 1)
                if len(single) < _MOST_SHARED:
                    single[reward] = side
            yield side


def _marked(table: Table, rows: Sequence[int]) -> bytes:
    """For each of the rows 1 if it says anything but a finite reward, else 0."""
    columns = [column.ids for column in (table.masked, table.agent_error, table.failure_kind) if column.says_anything()]
    if not columns:
        return bytes(len(rows))
    return bytes(any(ids[row] for ids in columns) for row in rows)


def _side_of(table: Table, rows: Sequence[int]) -> TaskSide | None:
    """What a run says about a task in the given rows of its table, None without any."""
    if not rows:
        return None
    rewards = [reward for row in rows if not isnan(reward := table.reward[row])]
    masked = [reason for row in rows if (reason := table.masked[row])]
    reason = masked[0] if masked else None
    if reason and len(rows) > 1:
        reason = f"{len(masked)}/{len(rows)} rows masked: {reason}"
    return TaskSide(
        rows=len(rows),
        reward=_mean(rewards) if rewards else None,
        reward_rows=len(rewards),
        masked=reason,
        agent_error=next((error for row in rows if (error := table.agent_error[row])), None),
        failure_kind=next((kind for row in rows if (kind := table.failure_kind[row])), None),
    )


def _mean(rewards: Sequence[float]) -> float:
    """The mean, correctly rounded."""
    try:
        return fsum(rewards) / len(rewards) + 0.0  # of the two zeros the positive one
    except OverflowError:  # the sum is beyond a double, the mean is not
        from fractions import Fraction

        return float(sum(map(Fraction, rewards)) / len(rewards))


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
            facts = _side_of(tables[side], [row])
            old, new = (facts, None) if side is Side.OLD else (None, facts)
            yield TaskComparison(f"unknown#{number}", Category.MASKED, old, new)


def _flip(tables: dict[Side, Table], joined: Join, number: int, task: TaskComparison) -> Flip:
    side = task.winner.other if task.winner else Side.OLD
    table, rows = tables[side], joined.rows[side].of(number)
    measured = rows if len(rows) == 1 else [row for row in rows if not isnan(table.reward[row])]
    return Flip(task, table.origin(min(measured, key=table.reward.__getitem__)))


def _repeat_notes(tasks: Sequence[TaskComparison]) -> Iterator[Note]:
    old = tuple(task.task for task in tasks if task.old and task.old.rows > 1)
    new = tuple(task.task for task in tasks if task.new and task.new.rows > 1)
    groups = {"both runs have": old} if old == new else {"the old run has": old, "the new run has": new}
    for who, repeated in groups.items():
        if repeated:
            count = "1 task" if len(repeated) == 1 else f"{len(repeated)} tasks"
            yield Note(f"{who} several rows for {count}, compared by their mean reward", repeated)
