"""One run as columns: what its rows say, a few bytes a row, whatever the rows' size.

The table of a run is the tables of its pieces put together in order (`Table.extend`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nemo_gym.rollout_compare.decode import RowDecoder, parse_object
from nemo_gym.rollout_compare.lines import Input, ends_file, iter_lines, read_line
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
_NO_REWARD = float("nan")
_RESULTS = len(RESULT_PATHS)
_KEYS = _RESULTS + len(ATTEMPT_PATHS)


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
        self._places: dict[T, int] = {}

    def append(self, value: T | None) -> None:
        """Add a row."""
        self.ids.append(0 if value is None else self._place(value))

    def _place(self, value: T) -> int:
        place = self._places.get(value)
        if place is None:
            place = self._places[value] = len(self.values)
            self.values.append(value)
        return place

    def __getitem__(self, row: int) -> T | None:
        """The value of a row."""
        return self.values[self.ids[row]]

    def extend(self, other: Column[T]) -> None:
        """Add the rows of another column."""
        moved = array("I", [0 if value is None else self._place(value) for value in other.values])
        self.ids.extend(array("I", map(moved.__getitem__, other.ids)))

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.ids)


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

    def append_value(self, value: Any, row: int, *, has_a_say: bool) -> None:
        """Add a row by the field's value."""
        if value is not None:
            self.stands += 1
            if self.first_missing is None:
                self.append(value if type(value) is str else identity_of(value))
        elif has_a_say:
            if self.first_missing is None:
                self._drop(row)
        elif self.first_missing is None:
            self.append(None)

    def _drop(self, row: int) -> None:
        self.first_missing = row
        self.ids, self.values, self._places = array("I"), [None], {}

    def extend_key(self, other: KeyColumn, rows: int) -> None:
        """Add the rows of another column to the `rows` that are here."""
        self.stands += other.stands
        if self.first_missing is None:
            if other.first_missing is not None:
                self._drop(rows + other.first_missing)
            else:
                self.extend(other)


@dataclass(frozen=True, slots=True)
class FileRow:
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


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A row that is at hand."""

    row: Row
    where: str

    def read(self) -> Row:
        """The row."""
        return self.row


class Table:
    """One run's rows, in columns; row i is the i-th of the run.

    Attributes:
        reward: The finite reward, or NaN.
        masked: Why the row does not count.
        agent_error: The agent error.
        failure_kind: The failure kind of an unmasked row.
        task_index: The task's position in the run's input file, as far as recorded.
        rollout_index: The attempt's number, as far as recorded.
        keys: The tasks named by each field that may be the key.
        nameless: The failed attempts that name no task by any of these fields.
        masked_rows: How many rows do not count.
    """

    def __init__(self, key: str | None = None) -> None:
        """Make a table without rows, for a given key or for those that are tried in turn."""
        self.key = key
        self.reward = array("d")
        self.masked: Column[str] = Column()
        self.agent_error: Column[str] = Column()
        self.failure_kind: Column[str] = Column()
        self.task_index: Column[int | str] = Column()
        self.rollout_index: Column[int | str] = Column()
        self.keys = {path: KeyColumn() for path in ([key] if key else KEY_CANDIDATES)}
        self.nameless: list[int] = []
        self.masked_rows = 0
        self._lines = array("Q")
        self._offsets = array("Q")
        self._sources: list[tuple[int, Input]] = []
        self._memory: Sequence[Row] = ()
        self.decoder = RowDecoder([*RESULT_PATHS, *ATTEMPT_PATHS, *self.keys])

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.reward)

    def origin(self, row: int) -> RowSource:
        """Where a row can be read again."""
        if not self._sources:
            return MemoryRow(self._memory[row], f"row {row + 1}")
        first = bisect_right(self._sources, row, key=lambda entry: entry[0]) - 1
        return FileRow(self._sources[first][1], self._lines[row], self._offsets[row])

    def attempts(self) -> set[tuple[int | str, int | str]]:
        """The attempts that the rows are of, as far as recorded."""
        pairs = set(zip(self.task_index.ids, self.rollout_index.ids, strict=True))
        halves = ((self.task_index.values[index], self.rollout_index.values[rollout]) for index, rollout in pairs)
        return {(index, rollout) for index, rollout in halves if index is not None and rollout is not None}

    def add(self, values: tuple[Any, ...], *, failed: bool = False) -> None:
        """Add a row by the values that the decoder gives for it.

        Raises:
            CompareInputError: A value breaks a rule; the text does not say where.
        """
        row = len(self.reward)
        keys = values[_KEYS:]
        facts = facts_of(*values[:_RESULTS])
        has_a_say = not failed or any(value is not None for value in keys)
        for column, value in zip(self.keys.values(), keys, strict=True):
            column.append_value(value, row, has_a_say=has_a_say)
        if not has_a_say:
            self.nameless.append(row)
        self.reward.append(_NO_REWARD if facts.reward is None else facts.reward)
        self.masked.append(facts.masked)
        self.masked_rows += facts.masked is not None
        self.agent_error.append(facts.agent_error)
        self.failure_kind.append(facts.failure_kind)
        self.task_index.append(attempt_part(values[_RESULTS]))
        self.rollout_index.append(attempt_part(values[_RESULTS + 1]))

    def add_file(self, source: Input) -> None:
        """Add every row of a file.

        Raises:
            CompareInputError: A line is not a row, with its place and its task as far as they can be told.
        """
        self._sources.append((len(self), source))
        decode = self.decoder.decode
        for line, offset, data in iter_lines(source):
            try:
                self.add(decode(data))
            except (CompareInputError, RecursionError) as error:
                raise located(error, source, line, offset, data, self.key) from None
            self._lines.append(line)
            self._offsets.append(offset)

    def add_failures(self, source: Input, failures: Iterable[tuple[int, int, FailedAttempt]]) -> None:
        """Add the failed attempts of a sidecar: (line number, byte offset, row)."""
        self._sources.append((len(self), source))
        for line, offset, row in failures:
            self.add(self.decoder.pick(row), failed=True)
            self._lines.append(line)
            self._offsets.append(offset)

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Add rows that are at hand; a table holds these or rows of files."""
        self._memory = rows
        for number, row in enumerate(rows, 1):
            try:
                self.add(self.decoder.pick(row), failed=isinstance(row, FailedAttempt))
            except CompareInputError as error:
                raise CompareInputError(f"row {number}: {error} (task {label_for_message(row, self.key)})") from None


def located(
    error: CompareInputError | RecursionError, source: Input, line: int, offset: int, data: bytes, key: str | None
) -> CompareInputError:
    """The error of a line with its place, its task, and what it may mean when the line is the file's last."""
    try:
        label = label_for_message(parse_object(data), key)
    except (CompareInputError, RecursionError) as broken:
        reason = str(broken) if isinstance(broken, CompareInputError) else "invalid JSON (nested too deeply)"
        if ends_file(source, offset + len(data)):
            reason += ": the last line is cut off; the run may still be writing, or was killed"
        return CompareInputError(f"{source.path}:{line}: {reason}")
    if isinstance(error, RecursionError):
        return CompareInputError(f"{source.path}:{line}: invalid JSON (nested too deeply)")
    return CompareInputError(f"{source.path}:{line}: {error} (task {label})")
