"""Two tables to one list of tasks: which field is the key, what each row's task is called, which rows are one task."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, groupby, takewhile

from msgspec import Struct

from nemo_gym.rollout_compare.columns import KeyColumn
from nemo_gym.rollout_compare.rows import Identity, label_of
from nemo_gym.rollout_compare.schema import CompareInputError, Note, Row, Side
from nemo_gym.rollout_compare.table import Table, table_of

_SHOWN_FIELDS = 20


class TaskRows(Struct, frozen=True):
    """One run's rows, gathered by task.

    Attributes:
        rows: The rows of the first task in their order, then those of the second, and so on.
        starts: Where each task's rows begin in `rows`, and after the last task the end.
        anonymous: The failed attempts that cannot be joined.
    """

    rows: array[int]
    starts: array[int]
    anonymous: list[int]

    def of(self, task: int) -> Sequence[int]:
        """The rows of a task, in their order."""
        return self.rows[self.starts[task] : self.starts[task + 1]]


class Join(Struct, frozen=True):
    """Which rows of two runs are attempts at one task.

    Attributes:
        tasks: The labels, in Python's string order.
        rows: Each run's rows by task.
        keys: The field that told each run's tasks apart.
        prefixes: The prefix that was taken off every label of a run.
        keyed_by_taskset: Whether both runs' labels name the taskset.
        notes: What a reader must know of the tasks' identities.
    """

    tasks: list[str]
    rows: dict[Side, TaskRows]
    keys: dict[Side, str]
    prefixes: dict[Side, str | None]
    keyed_by_taskset: bool
    notes: tuple[Note, ...]


def join(tables: dict[Side, Table]) -> Join:
    """Join two runs' tables by task.

    Raises:
        CompareInputError: No field tells the tasks of a run apart.
    """
    keys = _keys(tables)
    identities = {side: tables[side].keys[keys[side]].values for side in Side}
    labels, shared_ids, keyed = _labels(identities)
    prefixes = _strip_prefix(labels)
    tasks = sorted({label for side in Side for label in labels[side] if label is not None})
    numbers = {label: number for number, label in enumerate(tasks)}
    rows = {side: _rows_by_task(tables[side], keys[side], labels[side], numbers) for side in Side}
    return Join(tasks, rows, keys, prefixes, keyed, _identity_notes(identities, shared_ids, keyed))


def _keys(tables: dict[Side, Table]) -> dict[Side, str]:
    """Each run's key. A run without a row that has a say takes the other's."""
    found = {side: _key(table) for side, table in tables.items()}
    for side in Side:
        key = found[side] or found[side.other]
        if key is None:
            raise CompareInputError("neither run has a row that names a task: there is nothing to compare")
        found[side] = key
    return {side: key for side, key in found.items() if key}


def _key(table: Table) -> str | None:
    """The first field that stands on every row that has a say; None if no row has."""
    if len(table) == len(table.nameless):
        return table.key
    for path, column in table.keys.items():
        if column.first_missing is None:
            return path
    raise _no_key(table)


def _no_key(table: Table) -> CompareInputError:
    best, column = max(table.keys.items(), key=lambda item: item[1].stands)
    row = table.origin(column.first_missing or 0)
    if table.key:
        names = list(row.read())
        more = f" and {len(names) - _SHOWN_FIELDS} more" if len(names) > _SHOWN_FIELDS else ""
        return CompareInputError(
            f"{row.where}: row has no '{best}' field (keys: {', '.join(names[:_SHOWN_FIELDS])}{more})"
        )
    stands = ", ".join(f"{path} {other.stands}" for path, other in table.keys.items())
    rows = len(table) - len(table.nameless)
    return CompareInputError(
        f"{row.where}: row has no '{best}' field, and no other field names the task of every row "
        f"(of {rows} {'row' if rows == 1 else 'rows'}: {stands}); name the field with --key"
    )


def detect_task_key(rows: Sequence[Row]) -> str | None:
    """The first candidate that every row carries; None where there is none, or no row has a say."""
    table = table_of(rows)
    if len(table) == len(table.nameless):
        return None
    return next((path for path, column in table.keys.items() if column.first_missing is None), None)


_Labels = list[str | None]


def _labels(identities: dict[Side, list[Identity | None]]) -> tuple[dict[Side, _Labels], list[str], bool]:
    """What each run's identities are called, the ids that stay ambiguous, and whether both runs name the taskset."""
    tasksets = {side: _tasksets(identities[side]) for side in Side}
    keyed = [side for side in Side if len(tasksets[side]) > 1]
    labels: dict[Side, _Labels] = {
        side: [
            one if one is None or isinstance(one, str) else label_of(one, with_taskset=side in keyed) for one in named
        ]
        for side, named in identities.items()
    }
    if len(keyed) != 1:
        return labels, [], len(keyed) == 2
    (side,) = keyed
    plain, ambiguous = _plain_ids(identities[side], own=tasksets[side.other])
    labels[side] = [
        one[1] if isinstance(one, tuple) and one in plain else label
        for one, label in zip(identities[side], labels[side], strict=True)
    ]
    return labels, ambiguous, False


def _tasksets(identities: Iterable[Identity | None]) -> set[str]:
    return {one[0] for one in identities if isinstance(one, tuple)}


def _plain_ids(identities: Iterable[Identity | None], own: Collection[str]) -> tuple[set[tuple[str, str]], list[str]]:
    """The (taskset, id) pairs that a plain id means, and the ids of which nobody can say which pair they mean.

    A plain id means the only pair of that id or, where several tasksets share it, the one in the taskset (`own`) that
    the run with the plain ids names.
    """
    tasksets: dict[str, list[str]] = defaultdict(list)
    for one in identities:
        if isinstance(one, tuple):
            tasksets[one[1]].append(one[0])
    plain = {(names[0], task) for task, names in tasksets.items() if len(names) == 1}
    for task, names in tasksets.items():
        plain.update((name, task) for name in names if name in own)
    clear = {task for _, task in plain}
    return plain, sorted(task for task in tasksets if task not in clear)


def _strip_prefix(labels: dict[Side, _Labels]) -> dict[Side, str | None]:
    """Take the one prefix that all labels of one run have, and the other run's do not, off that run's labels.

    It is tried only where the runs share no label, and never done to both: a prefix without which the runs meet comes
    before any other, and where either run has such a prefix none is taken.
    """
    distinct = {side: {label for label in labels[side] if label is not None} for side in Side}
    prefixes: dict[Side, str | None] = {Side.OLD: None, Side.NEW: None}
    if not distinct[Side.OLD].isdisjoint(distinct[Side.NEW]):
        return prefixes
    own = {side: _own_prefixes(distinct[side], distinct[side.other]) for side in Side}
    meeting = {side: _meeting_prefixes(own[side], distinct[side], distinct[side.other]) for side in Side}
    chosen = meeting if any(meeting.values()) else own
    for side in Side:
        if chosen[side] and not chosen[side.other]:
            prefix = prefixes[side] = chosen[side][0]
            labels[side] = [label and label.removeprefix(prefix + "/") for label in labels[side]]
    return prefixes


def _own_prefixes(labels: Collection[str], others: Collection[str]) -> list[str]:
    """Every PREFIX, the shortest first, such that all labels begin with `PREFIX/` and none of the others does."""
    if not others:
        return []
    first, last = min(labels, default=""), max(labels, default="")  # what these two share, all labels share
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    common = [first[:end] for end, (char, _) in enumerate(shared) if char == "/" and end]
    return [prefix for prefix in common if not any(other.startswith(prefix + "/") for other in others)]


def _meeting_prefixes(prefixes: Iterable[str], labels: Collection[str], others: Collection[str]) -> list[str]:
    """Those of a run's prefixes without which some label is another's."""
    return [prefix for prefix in prefixes if any(label[len(prefix) + 1 :] in others for label in labels)]


def _rows_by_task(table: Table, key: str, labels: _Labels, numbers: dict[str, int]) -> TaskRows:
    """Gather a run's rows by task; those without one come last."""
    nowhere = len(numbers)
    task_of = [nowhere if label is None else numbers[label] for label in labels]
    tasks = array("I", map(task_of.__getitem__, _task_ids(table, table.keys[key])))
    rows = array("I", sorted(range(len(tasks)), key=tasks.__getitem__))
    counts = Counter(tasks)
    starts = array("I", accumulate((counts[number] for number in range(nowhere)), initial=0))
    return TaskRows(rows, starts, list(rows[starts[-1] :]))


def _task_ids(table: Table, column: KeyColumn) -> array[int]:
    """The place of each row's identity; a failure that names no task has that of the first row with its task index."""
    indexes = table.task_index.codes
    ids = column.ids[:] if table.nameless else column.ids
    for beside, group in groupby(table.nameless, key=lambda failure: failure.beside):
        failures = list(group)
        wanted = {indexes[failure.row] for failure in failures} - {-1}
        named: dict[int, int] = {}
        for row in beside if wanted else ():
            if indexes[row] in wanted and column.ids[row]:
                named.setdefault(indexes[row], column.ids[row])
        for failure in failures:
            ids[failure.row] = named.get(indexes[failure.row], 0)
    return ids


def _identity_notes(
    identities: dict[Side, list[Identity | None]], ambiguous: list[str], both_keyed: bool
) -> tuple[Note, ...]:
    notes = []
    for side in Side:
        names = sorted(_tasksets(identities[side]))
        if len(names) > 1:
            how = (
                "tasks join within their taskset" if both_keyed else "plain ids join where they can mean one task only"
            )
            notes.append(Note(f"the {side} run names {len(names)} tasksets; {how}; tasksets", tuple(names)))
    if ambiguous:
        notes.append(
            Note("ids that several tasksets share stay under TASKSET/ID and join no plain id", tuple(ambiguous))
        )
    return tuple(notes)
