"""What else changed: the settings in which the rows of two runs differ, task by task."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from operator import or_

from nemo_gym.rollout_compare.schema import NONE, UNKNOWN_IF_ABSENT, Change, Place, Setting, Side, long_text
from nemo_gym.rollout_compare.table import Column, RowsByTask, Table, tasks_of_both

#: So many values of a setting are counted one by one; of the others it is said how many there are.
MOST_VALUES = 20

#: The settings that matter most stand first, the others after them by name.
_ORDER = (
    "model",
    "model provider",
    "agent",
    "agent version",
    "harness",
    "versions",
    "environment server",
    "skills",
    "system prompt",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_output_tokens",
    "reasoning",
    "task content",
)

Tables = Mapping[Side, Table]
Rows = Mapping[Side, RowsByTask]


def compare_settings(tables: Tables, rows: Rows) -> tuple[tuple[str, ...], tuple[Change, ...]]:
    """The settings that both runs tell, and those that differ.

    Looked at are the rows of tasks that both runs have. A setting differs in a task if the sets of its values do,
    whatever the number of attempts. A row that has other limits but not this one has none; of a row without any
    setting, or without a model's name, nothing is known.
    """
    if not all(table.settings.columns for table in tables.values()):
        return (), ()
    told = [_Told(tables[side], rows[side]) for side in Side]
    both = tasks_of_both(rows[Side.OLD], rows[Side.NEW])
    names = sorted(_names(tables), key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    compared: list[str] = []
    changes: list[Change] = []
    for name in names:
        found = _compared(name, told[0], told[1], both)
        if found is None:
            continue
        compared.append(name)
        if found.tasks:
            changes.append(found)
    return tuple(compared), tuple(changes)


class SettingsOfRows:
    """In which settings single rows of the two runs differ."""

    def __init__(self, tables: Tables, changes: Sequence[Change]) -> None:
        """Look at the settings that differ between the runs."""
        self._old, self._new = (_RowSettings(tables[side]) for side in Side)
        self._fields = [change.field for change in changes]
        self._known: dict[Setting, Setting] = {}  # each is kept once, however many rows differ in it

    def differing(self, old: int, new: int) -> tuple[Setting, ...]:
        """The settings that differ between an old and a new row, both of which tell them, what matters most first."""
        found = []
        for field in self._fields:
            before, after = self._old.text(field, old), self._new.text(field, new)
            if before is not None and after is not None and _same(before) != _same(after):
                setting = Setting(field, before, after)
                found.append(self._known.setdefault(setting, setting))
        return tuple(found)


class _RowSettings:
    """What a row of a run says of a setting."""

    def __init__(self, table: Table) -> None:
        self._columns = table.settings.columns
        self._limits = [column for name, column in self._columns.items() if name not in UNKNOWN_IF_ABSENT]

    def text(self, name: str, row: int) -> str | None:
        """The value; `none` where the row has other limits but not this one; None where nothing is known."""
        column = self._columns.get(name)
        told = column[row] if column else None
        if told is not None or name in UNKNOWN_IF_ABSENT:
            return told
        return NONE if any(column.ids[row] for column in self._limits) else None


def _names(tables: Tables) -> set[str]:
    """The settings to compare: one that a single run names means nothing if the two name none in common."""
    old, new = (set(table.settings.columns) for table in tables.values())
    shared = old & new
    return old | new if shared - UNKNOWN_IF_ABSENT else shared


class _Told:
    """A run's settings, and which of its rows tell any."""

    def __init__(self, table: Table, rows: RowsByTask) -> None:
        self.table, self.rows = table, rows
        self.columns = table.settings.columns
        parameters = [column for name, column in self.columns.items() if name not in UNKNOWN_IF_ABSENT]
        self._says = _any_of(parameters, len(table))

    def codes(self, name: str, numbers: dict[str, int]) -> array[int]:
        """For each row the number of its value, equal for equal values of both runs; 0 where nothing is known."""
        column = self.columns.get(name)
        none = 0 if name in UNKNOWN_IF_ABSENT else numbers.setdefault(NONE, len(numbers) + 1)
        if column is None:
            return array("I", [none if says else 0 for says in self._says])
        code_of = [none, *(numbers.setdefault(_same(text), len(numbers) + 1) for text in column.values[1:] if text)]
        codes = array("I", map(code_of.__getitem__, column.ids))
        if none:
            for row in compress(range(len(codes)), map((0).__eq__, self._says)):
                codes[row] = 0
        return codes


def _any_of(columns: Sequence[Column[str]], rows: int) -> bytes:
    says = bytes(rows)
    for column in columns:
        says = bytes(map(or_, says, map(bool, column.ids)))
        if 0 not in says:
            break
    return says


def _same(text: str) -> str:
    """The text that stands for all that mean the same: `1.0` is 1."""
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def _compared(name: str, old: _Told, new: _Told, both: Sequence[int]) -> Change | None:
    """How the setting differs, None where a side does not tell of it."""
    numbers: dict[str, int] = {}
    codes = old.codes(name, numbers), new.codes(name, numbers)
    total = tasks = 0
    first: int | None = None
    for task, before, after in _values(old.rows, new.rows, codes, both):
        if not before or not after:
            continue
        total += 1
        if before != after:
            tasks += 1
            first = task if first is None else first
    if not total:
        return None
    shown = [_counts(told, name, code, both) for told, code in zip((old, new), codes, strict=True)]
    is_long = any(long_text(text) is not None for counts in shown for text in counts)
    rows = (_place(old, first), _place(new, first)) if first is not None and is_long else None
    most = [dict(counts.most_common(MOST_VALUES)) for counts in shown]
    return Change(name, most[0], most[1], len(shown[0]), len(shown[1]), tasks, total, rows)


def _values(
    old: RowsByTask, new: RowsByTask, codes: tuple[array[int], array[int]], both: Sequence[int]
) -> Iterator[tuple[int, set[int] | int, set[int] | int]]:
    """For each task both sides' values; where each side has one row a number instead of a set."""
    if len(both) == len(old.rows) == len(new.rows) == len(old.starts) - 1:
        before, after = (map(code.__getitem__, rows.rows) for code, rows in zip(codes, (old, new), strict=True))
        yield from zip(both, before, after, strict=True)
        return
    for task in both:
        sets = [{code[row] for row in rows.of(task)} - {0} for code, rows in zip(codes, (old, new), strict=True)]
        yield task, sets[0], sets[1]


def _counts(told: _Told, name: str, codes: array[int], both: Sequence[int]) -> Counter[str]:
    """How many rows of the tasks have which value, as it is shown."""
    column = told.columns.get(name)
    of_both = (row for task in both for row in told.rows.of(task))
    counts = Counter((column.ids[row] if column else 0) for row in of_both if codes[row])
    counted: Counter[str] = Counter()
    for place, rows in counts.items():
        counted[(column.values[place] if column else None) or NONE] += rows
    return Counter(dict(sorted(counted.items())))


def _place(told: _Told, task: int) -> Place:
    return told.table.place(told.rows.of(task)[0])
