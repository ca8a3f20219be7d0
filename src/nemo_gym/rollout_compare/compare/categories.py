"""Two runs' tables to a `CompareResult`: each task with its category, each flip with the rows that tell about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, islice
from math import isnan
from operator import attrgetter, not_

from msgspec.structs import replace

from nemo_gym.rollout_compare.compare.changes import SettingsOfRows, compare_settings
from nemo_gym.rollout_compare.compare.costs import compare_costs, truncated_answers
from nemo_gym.rollout_compare.compare.decisions import check_margin
from nemo_gym.rollout_compare.compare.direction import solved_by_zero
from nemo_gym.rollout_compare.compare.groups import TASKSET, group_values
from nemo_gym.rollout_compare.compare.measured import measured_tasks
from nemo_gym.rollout_compare.compare.paired import Scale
from nemo_gym.rollout_compare.compare.questions import NOTHING_MORE, Questions
from nemo_gym.rollout_compare.compare.repeats import compare_repeats
from nemo_gym.rollout_compare.compare.statistics import paired_statistics
from nemo_gym.rollout_compare.compare.task_side import side_of, sides_of
from nemo_gym.rollout_compare.engine import MOST_LOOKED_AT, rewards_meant, table_of
from nemo_gym.rollout_compare.join import Join, join
from nemo_gym.rollout_compare.schema import (
    Category,
    CompareResult,
    Flip,
    Mask,
    MaskKind,
    Note,
    NoteKind,
    Place,
    Row,
    Side,
    Statistics,
    TaskComparison,
    TaskRows,
    TaskSide,
)
from nemo_gym.rollout_compare.table import Table

#: In so many tasks of equal rewards single tests are compared: reading all of a large run again would take too long.
MOST_AGREEING = 500

#: Of how many of a task's attempts a side the single tests are looked at.
MOST_ATTEMPTS = 16


def compare_rollouts(
    old_rows: Sequence[Row], new_rows: Sequence[Row], key: str | None = None, questions: Questions = NOTHING_MORE
) -> CompareResult:
    """Compare two runs' rows, as `load_rollouts` or a script gives them.

    Args:
        old_rows: The reference.
        new_rows: What is compared with it.
        key: The field that tells the tasks apart, a dotted path; found for each run by itself when None.
        questions: What else is asked.

    Raises:
        CompareInputError: A row breaks a rule, or no field tells the tasks apart.
    """
    return compare_tables({Side.OLD: table_of(old_rows, key), Side.NEW: table_of(new_rows, key)}, questions)


def compare_tables(tables: dict[Side, Table], questions: Questions = NOTHING_MORE) -> CompareResult:
    """Compare two runs: join their rows by task, then decide each task's category.

    What only the join needs of the tables is given back as soon as it is done, if nobody else holds them.
    """
    joined = join(tables)
    tables = {side: table.without_tasks() for side, table in tables.items()}
    sides = [sides_of(tables[side], joined.rows[side], questions.tolerance) for side in Side]
    if questions.lower_is_better:
        sides = [list(map(solved_by_zero, side)) for side in sides]
    both = zip(joined.tasks, *sides, strict=True)
    tasks = [_compared(task, old, new, questions) for task, old, new in both]
    settings_compared, changes = compare_settings(tables, joined.rows)
    settings = SettingsOfRows(tables, changes)
    changed = [number for number, task in enumerate(tasks) if task.winner]
    flips = tuple(_flip(tables, joined, number, tasks[number], questions, settings) for number in changed)
    agreeing = tuple(islice(_agreeing(tables, joined, tasks, questions), MOST_AGREEING))
    anonymous = list(_anonymous(tables, joined))
    tasks += anonymous
    groups = group_values(tables, joined, tasks, questions)
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
        notes=(
            *(note for table in tables.values() for note in table.notes),
            *_no_reward_notes(tables),
            *joined.notes,
            *_repeat_notes(tasks),
        ),
        flips=flips,
        agreeing=agreeing,
        join_check=joined.check,
        statistics=_statistics(tables, tasks, questions, groups),
        anonymous=len(anonymous),
        settings_compared=settings_compared,
        changes=changes,
        costs=compare_costs(tables, joined.rows, joined.tasks),
        truncated=truncated_answers(tables),
        groups=groups,
    )


def _statistics(
    tables: dict[Side, Table],
    tasks: Sequence[TaskComparison],
    questions: Questions,
    values: Mapping[str, Sequence[str]],
) -> Statistics:
    groups = {field: values[field] for field in (TASKSET, *questions.by) if field in values}
    cluster = (questions.cluster, values[questions.cluster]) if questions.cluster else None
    measured = measured_tasks(tasks, groups, cluster, _scale(tables))
    # Of a run whose rewards are all 0, or that counts errors, nobody knows the scale.
    if measured.scale.bounded and not questions.lower_is_better and (any(measured.old) or any(measured.new)):
        check_margin(questions.margin)
    return paired_statistics(
        measured, margin=questions.margin, tolerance=questions.tolerance, lower_is_better=questions.lower_is_better
    )


def _scale(tables: dict[Side, Table]) -> Scale:
    """What rewards the measured rows have."""
    pass_fail = bounded = True
    for table in tables.values():
        measured = compress(table.reward, map(not_, table.masked.ids)) if table.masked_rows else table.reward
        values = set(measured)
        pass_fail &= values <= {0.0, 1.0}
        bounded &= not values or (min(values) >= 0 and max(values) <= 1)
    return Scale(pass_fail, bounded)


def _compared(task: str, old: TaskSide | None, new: TaskSide | None, questions: Questions) -> TaskComparison:
    """A task with its category: the first rule that applies."""
    if old is None or new is None:
        return TaskComparison(task, Category.MISSING, old, new)
    if questions.count_measured and old.measured and new.measured:
        old, new = _as_measured(old), _as_measured(new)
    if old.mask or new.mask or old.reward is None or new.reward is None:
        return TaskComparison(task, Category.MASKED, old, new)
    if abs(old.reward - new.reward) <= questions.tolerance:
        return TaskComparison(task, Category.IDENTICAL, old, new)
    doubtful = old.mark or new.mark
    winner = Side.OLD if (old.reward > new.reward) is not questions.lower_is_better else Side.NEW
    return TaskComparison(task, Category.FLIPPED_AGENT_ERROR if doubtful else Category.FLIPPED, old, new, winner)


def _as_measured(side: TaskSide) -> TaskSide:
    """A side as if it had its measured rows alone."""
    part = side.measured_part
    if part is None:
        return side
    return replace(
        side,
        rows=part.rows,
        reward=part.reward,
        reward_rows=part.rows,
        mask=None,
        masked_rows=0,
        solved=part.solved,
        measured_part=None,
    )


def _anonymous(tables: dict[Side, Table], joined: Join) -> Iterator[TaskComparison]:
    """Failures that join nothing, each a masked entry of its own, numbered through old, then new."""
    number = 0
    for side in Side:
        for row in joined.rows[side].anonymous():
            number += 1
            facts = side_of(tables[side], [row])
            old, new = (facts, None) if side is Side.OLD else (None, facts)
            yield TaskComparison(f"unknown#{number}", Category.MASKED, old, new)


def _flip(
    tables: dict[Side, Table],
    joined: Join,
    number: int,
    task: TaskComparison,
    questions: Questions,
    settings: SettingsOfRows,
) -> Flip:
    assert task.old is not None
    assert task.new is not None
    new_is_higher = (task.winner is Side.NEW) is not questions.lower_is_better
    of_old, of_new = (min, max) if new_is_higher else (max, min)
    of_task = {side: joined.rows[side].of(number) for side in Side}
    several = max(map(len, of_task.values())) > 1
    attempts = [_attempts(tables[side], rows) for side, rows in of_task.items()] if several else []
    old = _telling_row(tables[Side.OLD], of_task[Side.OLD], of_old)
    new = _telling_row(tables[Side.NEW], of_task[Side.NEW], of_new)
    rows = TaskRows(
        task,
        tables[Side.OLD].place(old),
        tables[Side.NEW].place(new),
        *(attempts if max(map(len, attempts), default=0) > 1 else ()),
    )
    repeats = compare_repeats(task.old, task.new)
    return Flip(task, rows, repeats=repeats, settings=settings.differing(old, new))


def _attempts(table: Table, rows: Sequence[int]) -> tuple[Place, ...]:
    """The first measured rows of a task."""
    measured = (row for row in rows if not isnan(table.reward[row]))
    return tuple(table.place(row) for row in islice(measured, MOST_ATTEMPTS))


def _telling_row(table: Table, rows: Sequence[int], choose: Callable[..., int]) -> int:
    """Of a task's rows with a finite reward, the one with the highest or lowest, of equals the first."""
    if len(rows) == 1:
        return rows[0]
    measured = [row for row in rows if not isnan(table.reward[row])]
    if any(map(table.masked.ids.__getitem__, measured)):  # they count only where the measured rows alone do
        measured = [row for row in measured if not table.masked.ids[row]]
    return choose(measured, key=table.reward.__getitem__)


def _agreeing(
    tables: dict[Side, Table], joined: Join, tasks: Sequence[TaskComparison], questions: Questions
) -> Iterator[TaskRows]:
    """The identical tasks of which the worst rows of both sides may have verifier output."""
    if not all(any(table.has_output) for table in tables.values()):
        return
    worst = max if questions.lower_is_better else min
    for number, task in enumerate(tasks):
        if task.category is Category.IDENTICAL:
            old, new = (_telling_row(tables[side], joined.rows[side].of(number), worst) for side in Side)
            if tables[Side.OLD].has_output[old] and tables[Side.NEW].has_output[new]:
                yield TaskRows(task, tables[Side.OLD].place(old), tables[Side.NEW].place(new))


def _no_reward_notes(tables: dict[Side, Table]) -> Iterator[Note]:
    """Runs that say nothing of any result: their rows may be no rollouts, or give the reward by another name."""
    for side, table in tables.items():
        if not len(table):
            yield Note(NoteKind.NO_ROWS, side)
        elif table.masked.values == [None, Mask(MaskKind.NO_REWARD)] and 0 not in table.masked.ids:
            total = MOST_LOOKED_AT if len(table) > MOST_LOOKED_AT else 0
            yield Note(NoteKind.NO_REWARD, side, total=total, rewards=rewards_meant(table))


def _repeat_notes(tasks: Sequence[TaskComparison]) -> Iterator[Note]:
    """What to know of tasks with several rows: of both runs at once where it is the same."""
    notes = [_several_rows(tasks, side) for side in Side]
    same = None not in notes and len({replace(note, side=None) for note in notes if note}) == 1
    for note in notes[:1] if same else notes:
        if note:
            yield replace(note, side=None) if same else note
    joined = [task for task in tasks if task.old and task.new]
    uneven = tuple(task.task for task in joined if task.old and task.new and task.old.rows != task.new.rows)
    if uneven:
        yield Note(NoteKind.OTHER_ATTEMPTS, tasks=uneven, number=len(uneven), total=len(joined))


def _several_rows(tasks: Sequence[TaskComparison], side: Side) -> Note | None:
    sides = list(map(attrgetter(side.value), tasks))
    if max(map(attrgetter("rows"), filter(None, sides)), default=0) < 2:
        return None
    attempts = {task.task: said.rows for task, said in zip(tasks, sides, strict=True) if said and said.rows > 1}
    fewest, most = min(attempts.values()), max(attempts.values())
    return Note(NoteKind.SEVERAL_ROWS, side, tuple(attempts), fewest=fewest, most=most)
