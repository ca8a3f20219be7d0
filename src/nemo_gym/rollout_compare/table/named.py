"""Columns by name, one for each name that occurs: what attempts were run with, and what they cost."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

from nemo_gym.rollout_compare.table.columns import Column


class Settings:
    """What rows were run with: for each name that occurs a column of short texts."""

    def __init__(self) -> None:
        """Make one without names."""
        self.columns: dict[str, Column[str]] = {}

    def append_all(self, values: Mapping[str, Sequence[str | None]], rows_before: int, rows: int) -> None:
        """Add so many rows, with the values of those names that occur among them."""
        for name in values:
            self._column(name, rows_before)
        for name, column in self.columns.items():
            if name in values:
                column.append_all(values[name])
            else:
                _add_absent(column, rows)

    def extend(self, other: Settings, rows_before: int, rows: int) -> None:
        """Add the rows of another table."""
        for name in other.columns:
            self._column(name, rows_before)
        for name, column in self.columns.items():
            if name in other.columns:
                column.extend(other.columns[name])
            else:
                _add_absent(column, rows)

    def _column(self, name: str, rows_before: int) -> None:
        if name not in self.columns:
            self.columns[name] = Column()
            _add_absent(self.columns[name], rows_before)


def _add_absent(column: Column[str], rows: int) -> None:
    column.ids.frombytes(bytes(column.ids.itemsize * rows))


class Measures:
    """What rows cost: for each name that occurs a number a row, NaN where it is not known."""

    def __init__(self) -> None:
        """Make one without names."""
        self.columns: dict[str, array[float]] = {}

    def append_all(self, values: Mapping[str, Sequence[float]], rows_before: int, rows: int) -> None:
        """Add so many rows, with the values of those names that occur among them."""
        for name in values:
            if name not in self.columns:
                self.columns[name] = array("d", [math.nan]) * rows_before
        for name, column in self.columns.items():
            column.extend(array("d", values[name]) if name in values else array("d", [math.nan]) * rows)

    def extend(self, other: Measures, rows_before: int, rows: int) -> None:
        """Add the rows of another table."""
        self.append_all(other.columns, rows_before, rows)
