"""The whole road on one page: two runs to a `CompareResult`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from nemo_gym.rollout_compare.join import Join, join
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
from nemo_gym.rollout_compare.table import Table


def compare_rollouts(old_rows: Sequence[Row], new_rows: Sequence[Row], key: str | None = None) -> CompareResult:
    """Compare two runs' rows, as `load_rollouts` or a script gives them.

    Args:
        old_rows: The reference.
        new_rows: What is compared with it.
        key: The field that tells the tasks apart, a dotted path; found for each run by itself when None.

    Raises:
        CompareInputError: A row breaks a rule, or no field tells the tasks apart.
    """
    tables = {Side.OLD: Table(key), Side.NEW: Table(key)}
    tables[Side.OLD].add_rows(old_rows)
    tables[Side.NEW].add_rows(new_rows)
    return compare_tables(tables)


def compare_tables(tables: dict[Side, Table]) -> CompareResult:
    """Compare two runs: join their rows by task, then decide each task's category."""
    joined = join(tables)
    tasks = [
        _compared(task, *(_side_of(tables[side], joined.rows[side].of(number)) for side in Side))
        for number, task in enumerate(joined.tasks)
    ]
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
        notes=(*joined.notes, *_repeat_notes(tasks)),
        flips=flips,
    )


def summarize_side(rows: Sequence[Row]) -> TaskSide:
    """What a run's rows for one task say together.

    Raises:
        CompareInputError: There is no row, or a row breaks a rule.
    """
    table = Table()
    table.add_rows(rows)
    side = _side_of(table, range(len(table)))
    if side is None:
        raise ValueError("a side of a task has at least one row")
    return side


def _side_of(table: Table, rows: Sequence[int]) -> TaskSide | None:
    """What a run says about a task in the given rows of its table, None without any."""
    if not rows:
        return None
    rewards = [reward for row in rows if (reward := table.reward[row]) == reward]  # NaN is no reward
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
        return fmean(rewards)
    except OverflowError:  # the sum is beyond a double, the mean is not
        from fractions import Fraction

        return float(sum(map(Fraction, rewards)) / len(rewards))


def _compared(task: str, old: TaskSide | None, new: TaskSide | None) -> TaskComparison:
    return TaskComparison(task, _category(old, new), old, new)


def _category(old: TaskSide | None, new: TaskSide | None) -> Category:
    """The first rule that applies."""
    if old is None or new is None:
        return Category.MISSING
    if old.masked or new.masked or old.reward is None or new.reward is None:
        return Category.MASKED
    if abs(old.reward - new.reward) <= REWARD_TOLERANCE:
        return Category.IDENTICAL
    return Category.FLIPPED_AGENT_ERROR if old.agent_error or new.agent_error else Category.FLIPPED


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
    side = task.loser
    assert side
    table, rows = tables[side], joined.rows[side].of(number)
    worst = min((row for row in rows if table.reward[row] == table.reward[row]), key=table.reward.__getitem__)
    return Flip(task, table.origin(worst))


def _repeat_notes(tasks: Sequence[TaskComparison]) -> Iterator[Note]:
    for side in Side:
        repeated = tuple(task.task for task in tasks if (facts := task.side(side)) and facts.repeated)
        if repeated:
            count = f"{len(repeated)} task" + ("s" if len(repeated) > 1 else "")
            yield Note(f"the {side} run has several rows for {count}, compared by their mean reward", repeated)
