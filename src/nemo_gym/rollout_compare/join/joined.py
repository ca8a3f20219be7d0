"""Two tables to one list of tasks: which field is the key, what each row's task is called, which rows are one task."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, groupby

from msgspec import Struct

from nemo_gym.rollout_compare.engine import table_of
from nemo_gym.rollout_compare.join.asked import inputs_of
from nemo_gym.rollout_compare.join.candidates import PLANNED, Rung
from nemo_gym.rollout_compare.join.check import check_inputs, doubts
from nemo_gym.rollout_compare.join.keys import choose_keys, first_key
from nemo_gym.rollout_compare.join.labels import Labels
from nemo_gym.rollout_compare.join.planned import Place, planned_identity, planned_places
from nemo_gym.rollout_compare.schema import Identity, JoinCheck, KeyKind, Note, Row, Side
from nemo_gym.rollout_compare.table import Column, RowsByTask, Table, rows_by_task


class Join(Struct, frozen=True):
    """Which rows of two runs are attempts at one task.

    Attributes:
        tasks: The labels, in Python's string order.
        rows: Each run's rows by task.
        keys: The field that told each run's tasks apart.
        prefixes: The prefix that was taken off every label of a run.
        keyed_by_taskset: Whether both runs' labels name the taskset.
        notes: What a reader must know of the tasks' identities.
        check: Whether the tasks that were joined were given the same input.
    """

    tasks: list[str]
    rows: dict[Side, RowsByTask]
    keys: dict[Side, str]
    prefixes: dict[Side, str | None]
    keyed_by_taskset: bool
    notes: tuple[Note, ...]
    check: JoinCheck


def join(tables: dict[Side, Table]) -> Join:
    """Join two runs' tables by task.

    Raises:
        CompareInputError: No field tells the tasks of a run apart.
    """
    choice = choose_keys(tables)
    named = {side: _named(tables[side], choice.rungs[side]) for side in Side}
    labels = choice.relabelled({side: values for side, (_, values) in named.items()})
    tasks, of_rows = _numbered({side: ids for side, (ids, _) in named.items()}, labels)
    rows = {side: rows_by_task(of_rows[side], len(tasks)) for side in Side}
    check = check_inputs(tables, rows, tasks)
    return Join(
        tasks,
        rows,
        {side: rung.name for side, rung in choice.rungs.items()},
        labels.prefixes,
        labels.keyed_by_taskset,
        (*choice.notes, *labels.notes, *doubts(tables, rows, tasks, choice, check)),
        check,
    )


def _named(table: Table, rung: Rung) -> tuple[array[int], list[Identity | None]]:
    """Each row's identity, as its place in the identities; failures that name no task are named if they can be.

    Such a failure is of the task of the first row beside it with its task index, else of the one that was planned.
    """
    if not table.anonymous:
        return rung.column.ids, rung.column.values
    ids, values = rung.column.ids[:], list(rung.column.values)
    indexes = table.task_index.codes
    places = planned_places(table)
    inputs = cache(inputs_of)
    shard_of = {row: shard for shard, spans in table.failed.items() for span in spans for row in span}
    for shard, group in groupby(table.anonymous, key=shard_of.__getitem__):
        failures = list(group)
        wanted = {indexes[row] for row in failures} - {-1}
        first: dict[int, int] = {}
        for row in table.rows_of(shard) if wanted else ():
            if indexes[row] in wanted and ids[row]:
                first.setdefault(indexes[row], ids[row])
        for row in failures:
            if ids[row]:
                continue  # named by a field that has no say but is the key all the same
            ids[row] = first.get(indexes[row], 0)
            place = places[row]
            if not ids[row] and place:
                ids[row] = len(values)
                values.append(_planned_by(place, rung, inputs))
    return ids, values


def _planned_by(place: Place, rung: Rung, inputs: Callable[[Table], Column[str]]) -> Identity | None:
    """The identity of a planned row, of the kind that a run's key gives."""
    planned, row = place
    if rung.kind is KeyKind.INPUT:
        return inputs(planned)[row]
    return planned_identity(place, rung.name.removeprefix(PLANNED))


def _numbered(ids: Mapping[Side, array[int]], labels: Labels) -> tuple[list[str], dict[Side, array[int]]]:
    """The tasks in the order of their labels, and each row's task; one beyond the last for rows that join nothing."""
    numbers: dict[str | None, int] = dict.fromkeys(chain(labels.of[Side.OLD], labels.of[Side.NEW]), 0)
    tasks = sorted(label for label in numbers if label is not None)
    numbers.update(zip(tasks, range(len(tasks)), strict=True))
    numbers[None] = len(tasks)
    of_rows = {}
    for side in Side:
        task_of = list(map(numbers.__getitem__, labels.of[side]))
        of_rows[side] = array("I", map(task_of.__getitem__, ids[side]))
    return tasks, of_rows


def detect_task_key(rows: Sequence[Row]) -> str | None:
    """The earliest field that every row carries and that tells tasks apart; None where there is none.

    Compared with another run, a later field may be taken: one by which some task is in both.
    """
    table = table_of(rows)
    return first_key(table) if table.has_voters() else None
