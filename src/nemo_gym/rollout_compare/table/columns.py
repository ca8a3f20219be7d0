"""Columns of a table: a few bytes a row, each distinct value once, put together from pieces."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Generic, TypeVar, cast

from nemo_gym.rollout_compare.schema import Identity

T = TypeVar("T", bound=Hashable)
_FIRST_BEYOND = 1 << 63


class Column(Generic[T]):
    """Values of which many are equal or absent: a number a row, and each value once.

    Attributes:
        ids: For each row its value's place in `values`; 0 where it has none.
    """

    def __init__(self) -> None:
        """Make a column without rows."""
        self.ids = array("I")
        self._values: list[T | None] = [None]
        self._places: dict[T | None, int] = {}  # empty while the column does not grow

    @property
    def values(self) -> list[T | None]:
        """The distinct values, in the order in which they were met; the first stands for none."""
        if len(self._places) > len(self._values):
            self._values = list(self._places)
        return self._values

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the places can be told from the values."""
        return {**vars(self), "_values": self.values, "_places": {}}

    def rest(self) -> None:
        """Give back the memory that only growing takes; the column may grow again all the same."""
        self._values, self._places = self.values, {}

    def places(self, values: Sequence[T | None]) -> list[int]:
        """The place of each value; those that are new get the next. Values that are equal must be of one type."""
        if not self._places:
            known = zip(self._values, range(len(self._values)), strict=True)
            self._places = defaultdict(count(len(self._values)).__next__, known)
        return list(map(self._places.__getitem__, values))

    def append_all(self, values: Sequence[T | None]) -> None:
        """Add a row for each value."""
        if values.count(None) == len(values):
            self.ids.frombytes(bytes(self.ids.itemsize * len(values)))
        else:
            self.ids.extend(array("I", self.places(values)))

    def __getitem__(self, row: int) -> T | None:
        """The value of a row."""
        return self.values[self.ids[row]]

    def says_anything(self) -> bool:
        """Whether any row has a value."""
        return max(len(self._values), len(self._places)) > 1

    def extend(self, other: Column[T]) -> None:
        """Add the rows of another column."""
        if other.says_anything():
            self.ids.extend(map(self.places(other.values).__getitem__, other.ids))
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

    def append_all(self, values: Sequence[int | str | None]) -> None:
        """Add a row for each value, as `attempt_parts` gives them."""
        if {int}.issuperset(map(type, values)):
            with suppress(OverflowError):
                numbers = array("q", cast("Sequence[int]", values))
                if min(numbers, default=0) >= 0:
                    self.codes.extend(numbers)
                    return
        self.codes.extend(map(self._code, values))

    def _code(self, value: int | str | None) -> int:
        if type(value) is int and 0 <= value < _FIRST_BEYOND:
            return value
        return -1 - self._others.places([value])[0]

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
    """The tasks that a field names.

    Once a row that has a say lacks the field, it cannot be the key: the identities are dropped, and no more are added.

    Attributes:
        first_missing: The first row that has a say and lacks it, None while there is none.
    """

    def __init__(self) -> None:
        """Make a column without rows."""
        super().__init__()
        self.first_missing: int | None = None

    def append_keys(self, values: Sequence[Identity | None], first_row: int, has_a_say: Sequence[bool] | None) -> None:
        """Add a row for each of the field's identities, of which the first is of the given row."""
        if self.first_missing is not None:
            return
        if None in values:
            lacking = (i for i, value in enumerate(values) if value is None and (has_a_say is None or has_a_say[i]))
            missing = next(lacking, None)
            if missing is not None:
                self._drop(first_row + missing)
                return
        self.append_all(values)

    def _drop(self, row: int) -> None:
        self.first_missing = row
        self.ids, self._values, self._places = array("I"), [None], {}

    def extend_keys(self, other: KeyColumn, rows: int) -> None:
        """Add the rows of another column to the `rows` that are here."""
        if self.first_missing is None:
            if other.first_missing is not None:
                self._drop(rows + other.first_missing)
            else:
                self.extend(other)
