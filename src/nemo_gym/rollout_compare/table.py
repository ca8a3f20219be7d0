"""One run as columns: what its rows say, a few bytes a row, whatever the rows' size.

The table of a run is the tables of its pieces put together in order (`Table.extend`).
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Generic, TypeVar

from msgspec import Struct

from nemo_gym.rollout_compare.decode import RowDecoder, parse_object
from nemo_gym.rollout_compare.lines import Input, read_line
from nemo_gym.rollout_compare.rows import (
    ATTEMPT_PATHS,
    RESULT_PATHS,
    FailedAttempt,
    Identity,
    attempt_part,
    facts_of,
    identity_of,
    label_for_message,
)
from nemo_gym.rollout_compare.schema import KEY_CANDIDATES, CompareInputError, Row, RowSource

T = TypeVar("T", bound=Hashable)
Values = tuple[Any, ...]
"""What a decoder gives for a row: the values at `RESULT_PATHS`, `ATTEMPT_PATHS` and the keys' paths."""

RESULTS = len(RESULT_PATHS)
_NO_REWARD = math.nan
_FIRST_BEYOND = 1 << 63


def key_paths(key: str | None) -> tuple[str, ...]:
    """The fields that may name the task: the given one, or those that are tried in turn."""
    return (key,) if key else KEY_CANDIDATES


@lru_cache(maxsize=8)
def decoder_for(key: str | None) -> RowDecoder:
    """What gives the values of a row that a table takes."""
    return RowDecoder((*RESULT_PATHS, *ATTEMPT_PATHS, *key_paths(key)))


class Column(Generic[T]):
    """Values of which many are equal or absent: a number a row, and each value once.

    Attributes:
        ids: For each row its value's place in `values`; 0 where it has none.
        values: The distinct values, in the order in which they were met; the first stands for none.
    """

    def __init__(self) -> None:
        """Make a column without rows."""
        self.ids = array("I")
        self.values: list[T | None] = [None]
        self._places: dict[T | None, int] = {None: 0}

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the places can be told from the values."""
        return {**vars(self), "_places": {}}

    def append_all(self, values: Sequence[T | None]) -> None:
        """Add a row for each value. Values that are equal must be of one type."""
        if values.count(None) == len(values):
            self.ids.frombytes(bytes(self.ids.itemsize * len(values)))
            return
        places = self._places
        fresh = [value for value in dict.fromkeys(values) if value not in places]
        places.update(zip(fresh, range(len(self.values), len(self.values) + len(fresh)), strict=True))
        self.values.extend(fresh)
        self.ids.extend(map(places.__getitem__, values))

    def __getitem__(self, row: int) -> T | None:
        """The value of a row."""
        return self.values[self.ids[row]]

    def says_anything(self) -> bool:
        """Whether any row has a value."""
        return len(self.values) > 1

    def extend(self, other: Column[T]) -> None:
        """Add the rows of another column."""
        if other.says_anything():
            moved = Column[T]()
            moved.values, moved._places = self.values, self._places
            moved.append_all(other.values)
            self.ids.extend(map(moved.ids.__getitem__, other.ids))
        else:
            self.ids.extend(other.ids)


class HalfColumn:
    """One half of the pair that tells attempts apart, a number a row.

    Attributes:
        codes: A number from 0 on stands for itself; -1 for none; -2, -3, ... for the other values.
    """

    def __init__(self) -> None:
        """Make a column without rows."""
        self.codes = array("q")
        self._others: Column[int | str] = Column()

    def append_all(self, values: Sequence[Any]) -> None:
        """Add a row for each value."""
        try:
            if {int}.issuperset(map(type, values)) and min(values) >= 0:
                self.codes.extend(values)
                return
        except OverflowError:  # beyond 64 bits: none was added
            pass
        self.codes.extend(map(self._code, values))

    def _code(self, value: Any) -> int:
        if type(value) is int and 0 <= value < _FIRST_BEYOND:
            return value
        self._others.append_all([attempt_part(value)])
        return -1 - self._others.ids.pop()

    def value(self, code: int) -> int | str | None:
        """What a code stands for."""
        return code if code >= 0 else self._others.values[-1 - code]

    def extend(self, other: HalfColumn) -> None:
        """Add the rows of another column."""
        if min(other.codes, default=0) >= 0:
            self.codes.extend(other.codes)
        else:
            self.append_all([other.value(code) for code in other.codes])


class KeyColumn(Column[Identity]):
    """The tasks that a field names, and on how many rows it stands.

    Once a row that has a say lacks the field, it cannot be the key: the identities are dropped and only counted on.

    Attributes:
        stands: On how many rows the field stands.
        first_missing: The first row that has a say and lacks it, None while there is none.
    """

    def __init__(self) -> None:
        """Make a column without rows."""
        super().__init__()
        self.stands = 0
        self.first_missing: int | None = None

    def append_keys(self, values: Sequence[Any], first_row: int, has_a_say: Sequence[bool]) -> None:
        """Add a row for each of the field's values, of which the first is of the given row."""
        absent = values.count(None)
        self.stands += len(values) - absent
        if self.first_missing is not None:
            return
        if absent:
            lacking = (i for i, value in enumerate(values) if value is None and has_a_say[i])
            missing = next(lacking, None)
            if missing is not None:
                self._drop(first_row + missing)
                return
        if absent or set(map(type, values)) != {str}:
            values = [value if value is None or type(value) is str else identity_of(value) for value in values]
        self.append_all(values)

    def _drop(self, row: int) -> None:
        self.first_missing = row
        self.ids, self.values, self._places = array("I"), [None], {None: 0}

    def extend_keys(self, other: KeyColumn, rows: int) -> None:
        """Add the rows of another column to the `rows` that are here."""
        self.stands += other.stands
        if self.first_missing is None:
            if other.first_missing is not None:
                self._drop(rows + other.first_missing)
            else:
                self.extend(other)


class FileRow(Struct, frozen=True):
    """A row's place in a file."""

    source: Input
    line: int
    offset: int

    @property
    def where(self) -> str:
        """The place as a message names it."""
        return f"{self.source.path}:{self.line}"

    def read(self) -> Row:
        """The row, read again."""
        if not self.source.unchanged():
            raise CompareInputError(f"{self.source.path} has changed since it was first read")
        return parse_object(read_line(self.source, self.offset))


class MemoryRow(Struct, frozen=True):
    """A row that is at hand."""

    row: Row
    where: str

    def read(self) -> Row:
        """The row."""
        return self.row


class Origins:
    """Where each row of a table is from, in a file: its byte offset, and its line number as far as it tells more.

    Attributes:
        offsets: Each row's byte offset.
    """

    def __init__(self) -> None:
        """Make one without rows."""
        self.offsets = array("Q")
        self._sources: list[tuple[int, Input]] = []
        self._runs: list[tuple[int, int]] = []  # (row, line) where the lines do not go on from the row before

    def append_all(self, source: Input, numbers: Sequence[int], offsets: Sequence[int]) -> None:
        """Add rows that stand on the given lines of a file."""
        row = len(self.offsets)
        if not self._sources or self._sources[-1][1] is not source:
            self._sources.append((row, source))
            self._runs.append((row, numbers[0] if numbers else 1))
        for i, number in enumerate(numbers[:1] if isinstance(numbers, range) else numbers):
            first, line = self._runs[-1]
            if number - line != row + i - first:
                self._runs.append((row + i, number))
        self.offsets.extend(offsets)

    def extend(self, other: Origins, lines_before: int) -> None:
        """Add the rows of a later piece of the same file, which has so many lines before it."""
        row = len(self.offsets)
        self._sources.extend((row + first, source) for first, source in other._sources)
        self._runs.extend((row + first, line + lines_before) for first, line in other._runs)
        self.offsets.extend(other.offsets)

    def of(self, row: int) -> FileRow:
        """A row's place."""
        source = self._sources[bisect_right(self._sources, row, key=_first) - 1][1]
        first, line = self._runs[bisect_right(self._runs, row, key=_first) - 1]
        return FileRow(source, line + row - first, self.offsets[row])


def _first(entry: tuple[int, Any]) -> int:
    return entry[0]


class Table:
    """One run's rows, in columns; row i is the i-th of the run.

    Attributes:
        key: The field that was said to name the task, None where it is to be found.
        reward: The finite reward, or NaN.
        masked: Why the row does not count.
        agent_error: The agent error.
        failure_kind: The failure kind of an unmasked row.
        task_index: The task's position in the run's input file, as far as recorded.
        rollout_index: The attempt's number, as far as recorded.
        keys: The tasks named by each field that may be the key.
        nameless: The failed attempts that name no task by any of these fields.
        origins: Where rows of files can be read again.
        memory: The rows themselves where they are at hand.
    """

    def __init__(self, key: str | None = None) -> None:
        """Make a table without rows."""
        self.key = key
        self.reward = array("d")
        self.masked: Column[str] = Column()
        self.agent_error: Column[str] = Column()
        self.failure_kind: Column[str] = Column()
        self.task_index = HalfColumn()
        self.rollout_index = HalfColumn()
        self.keys = {path: KeyColumn() for path in key_paths(key)}
        self.nameless: list[int] = []
        self.origins = Origins()
        self.memory: Sequence[Row] = ()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.reward)

    @property
    def masked_rows(self) -> int:
        """How many rows do not count."""
        return len(self) - self.masked.ids.count(0)

    def origin(self, row: int) -> RowSource:
        """Where a row can be read again."""
        return MemoryRow(self.memory[row], f"row {row + 1}") if self.memory else self.origins.of(row)

    def attempts(self) -> set[tuple[int | str, int | str]]:
        """The attempts that the rows are of, as far as recorded."""
        pairs = set(zip(self.task_index.codes, self.rollout_index.codes, strict=True))
        halves = ((self.task_index.value(index), self.rollout_index.value(rollout)) for index, rollout in pairs)
        return {(index, rollout) for index, rollout in halves if index is not None and rollout is not None}

    def add(self, rows: Sequence[Values], *, failed: bool = False) -> None:
        """Add rows by the values that the decoder gives for them.

        Raises:
            CompareInputError: A value breaks a rule; the text does not say in which row, and the table is as before.
        """
        if not rows:
            return
        reward, mask, instance_mask, kind, error, metadata, index, rollout, *keys = zip(*rows, strict=True)
        self._add_results(reward, mask, instance_mask, kind, error, metadata)
        self.task_index.append_all(index)
        self.rollout_index.append_all(rollout)
        first = len(self) - len(rows)
        has_a_say: Sequence[bool] = (True,) * len(rows)
        if failed:
            has_a_say = [any(value is not None for value in named) for named in zip(*keys, strict=True)]
            self.nameless.extend(first + i for i, says in enumerate(has_a_say) if not says)
        for column, values in zip(self.keys.values(), keys, strict=True):
            column.append_keys(values, first, has_a_say)

    def _add_results(self, reward: Values, mask: Values, instance_mask: Values, *others: Values) -> None:
        """Add what rows say of their result; at once where they say nothing but their reward."""
        if _finite(reward) and _unmasked(mask) and _unmasked(instance_mask) and not any(map(any, others)):
            self.reward.extend(reward)
            nothing = (None,) * len(reward)
            masked, errors, kinds = nothing, nothing, nothing
        else:
            rewards, masked, errors, kinds = zip(*map(facts_of, reward, mask, instance_mask, *others), strict=True)
            self.reward.extend(_NO_REWARD if value is None else value for value in rewards)
        self.masked.append_all(masked)
        self.agent_error.append_all(errors)
        self.failure_kind.append_all(kinds)

    def extend(self, other: Table, lines_before: int) -> None:
        """Add the rows of a later piece of the same file, which has so many lines before it."""
        rows = len(self)
        for path, column in self.keys.items():
            column.extend_keys(other.keys[path], rows)
        self.nameless.extend(rows + row for row in other.nameless)
        self.reward.extend(other.reward)
        self.masked.extend(other.masked)
        self.agent_error.extend(other.agent_error)
        self.failure_kind.extend(other.failure_kind)
        self.task_index.extend(other.task_index)
        self.rollout_index.extend(other.rollout_index)
        self.origins.extend(other.origins, lines_before)


def _finite(rewards: Values) -> bool:
    """Whether every reward is a finite number."""
    try:
        return {float, int}.issuperset(map(type, rewards)) and all(map(math.isfinite, rewards))
    except OverflowError:  # an integer beyond a double's range
        return False


def _unmasked(masks: Values) -> bool:
    """Whether every mask is absent or says that the row counts."""
    return {bool, int, type(None)}.issuperset(map(type, masks)) and not any(masks)


def table_of(rows: Sequence[Row], key: str | None = None) -> Table:
    """A table of rows that are at hand.

    Raises:
        CompareInputError: A row breaks a rule.
    """
    table = Table(key)
    table.memory = rows
    pick = decoder_for(key).pick
    for failed, group in groupby(rows, key=lambda row: isinstance(row, FailedAttempt)):
        values = list(map(pick, group))
        try:
            table.add(values, failed=failed)
        except CompareInputError:
            bad, error = next(broken_rows(values))
            number = len(table) + bad
            label = label_for_message(rows[number], key)
            raise CompareInputError(f"row {number + 1}: {error} (task {label})") from None
    return table


def broken_rows(rows: Iterable[Values]) -> Iterator[tuple[int, CompareInputError]]:
    """Which of the rows break a rule, and how."""
    for i, values in enumerate(rows):
        try:
            facts_of(*values[:RESULTS])
        except CompareInputError as error:
            yield i, error
