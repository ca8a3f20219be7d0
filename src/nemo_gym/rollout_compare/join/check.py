"""The check after the join: what makes a reader doubt that the rows which were joined are of one task."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from operator import gt

from nemo_gym.rollout_compare.join.keys import Choice
from nemo_gym.rollout_compare.join.planned import unrecorded_note
from nemo_gym.rollout_compare.schema import JoinCheck, Note, NoteKind, Side, Twins
from nemo_gym.rollout_compare.table import RowsByTask, Table

_LABELS_SHOWN = 3


def check_inputs(tables: dict[Side, Table], rows: dict[Side, RowsByTask], tasks: Sequence[str]) -> JoinCheck:
    """Compare what the systems were asked, for each task that both runs have."""
    asked_old, asked_new = (array("Q", map(tables[side].inputs.__getitem__, rows[side].rows)) for side in Side)
    spans = (rows[side].spans() for side in Side)
    comparable = len({table.fields.digests for table in tables.values()}) == 1
    joined = compared = 0
    differ: list[str] = []
    for task, ((old, old_end), (new, new_end)) in enumerate(zip(*spans, strict=True)):
        if old == old_end or new == new_end:
            continue
        joined += 1
        one: object = asked_old[old]
        other: object = asked_new[new]
        if old_end - old > 1 or new_end - new > 1:  # sets would do for all, but take three times as long
            one, other = {*asked_old[old:old_end]} - {0}, {*asked_new[new:new_end]} - {0}
        if one and other and comparable:
            compared += 1
            if one != other:
                differ.append(tasks[task])
    return JoinCheck(joined, compared, len(differ), tuple(differ))


def doubts(
    tables: dict[Side, Table], rows: dict[Side, RowsByTask], tasks: Sequence[str], choice: Choice, check: JoinCheck
) -> Iterator[Note]:
    """What a reader must know before trusting the join."""
    if check.tasks_differ:
        what = "content" if tables[Side.OLD].fields.digests else ""
        yield Note(NoteKind.OTHER_INPUT, tasks=check.tasks_differ, field=what)
    present = {side: rows[side].present() for side in Side}
    alone = {side: list(compress(tasks, map(gt, present[side], present[side.other]))) for side in Side}
    if not check.joined and all(alone.values()):
        yield from _no_common_task(tables, alone, choice)
    yield from _near_misses(alone)
    for side, table in tables.items():
        yield from _repeated_attempts(table, rows[side].task_of, tasks, side)
        yield from _in_several_files(table, rows[side].task_of, tasks, side)
        if present[side].count(1) == 1:
            only = present[side].index(1)
            if 1 < len(rows[side].of(only)) == len(table):
                yield Note(NoteKind.ONE_TASK, side, (tasks[only],), field=choice.rungs[side].name)
        unrecorded = unrecorded_note(table, side)
        if unrecorded:
            yield unrecorded


def _no_common_task(tables: dict[Side, Table], alone: dict[Side, list[str]], choice: Choice) -> Iterator[Note]:
    """The runs' labels next to each other, so that a reader sees why they do not meet."""
    hint = ""
    if all(-1 not in table.task_index.codes and len(table.shards) < 2 for table in tables.values()):
        hint = tables[Side.OLD].fields.index  # if both read the same inputs file
    yield Note(NoteKind.NOTHING_JOINED, field=hint)
    for side in Side:
        yield Note(NoteKind.FIRST_TASKS, side, tuple(alone[side][:_LABELS_SHOWN]), field=choice.rungs[side].name)


def _near_misses(alone: dict[Side, list[str]]) -> Iterator[Note]:
    """Labels that are on one side only and differ in case, spaces or Unicode form from one on the other."""
    if not all(alone.values()):
        return
    by_form = {side: _by_form(labels) for side, labels in alone.items()}
    old, new = by_form[Side.OLD], by_form[Side.NEW]
    twins: tuple[Twins, ...] = tuple((tuple(old[form]), tuple(new[form])) for form in sorted(old.keys() & new.keys()))
    if twins:
        yield Note(NoteKind.ALIKE, twins=twins)


def _by_form(labels: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        found[_plain_form(label)].append(label)
    return found


def _plain_form(label: str) -> str:
    return "".join(unicodedata.normalize("NFKC", label).casefold().split())


def _repeated_attempts(table: Table, tasks_of: array[int], tasks: Sequence[str], side: Side) -> Iterator[Note]:
    """Attempts that one file has two rows of: a resumed run, or two runs in one file."""
    twice: dict[str, None] = {}
    count = 0
    for rows in map(table.rows_of, table.shards):
        indexes, rollouts = (_of(column.codes, rows) for column in (table.task_index, table.rollout_index))
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
        yield Note(NoteKind.REPEATED_ATTEMPTS, side, tuple(twice), number=count)


def _in_several_files(table: Table, tasks_of: array[int], tasks: Sequence[str], side: Side) -> Iterator[Note]:
    """Attempts of which several files have a row: a file was filled up with another one's rows, or some ran again.

    Files may as well each have an attempt at the same tasks, numbered alike: then most attempts stand in several.
    """
    if len(table.shards) < 2:
        return
    files = [table.rows_of(shard) for shard in table.shards]
    of_files = [set(_of(tasks_of, rows)) for rows in files]
    if len(set().union(*of_files)) == sum(map(len, of_files)):
        return  # no two files have a task in common
    attempts = [list(zip(_of(tasks_of, rows), _of(table.rollout_index.codes, rows), strict=True)) for rows in files]
    times = Counter(chain.from_iterable(map(set, attempts)))
    repeated = {one for one, number in times.items() if number > 1 and one[0] < len(tasks) and one[1] != -1}
    if repeated and 2 * len(repeated) < len(times):
        labels = dict.fromkeys(one[0] for one in chain.from_iterable(attempts) if one in repeated)
        names = tuple(tasks[task] for task in labels)
        yield Note(NoteKind.REPEATED_ATTEMPTS, side, names, number=len(repeated), field="files")


def _of(codes: array[int], rows: Sequence[int]) -> Sequence[int]:
    """The codes of the given rows."""
    return codes[rows.start : rows.stop] if isinstance(rows, range) else [codes[row] for row in rows]
