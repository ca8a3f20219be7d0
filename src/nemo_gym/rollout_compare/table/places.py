"""Where each row of a table is from, so that the few rows that matter can be read again."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from nemo_gym.rollout_compare.schema import Place, Source


class Places:
    """Where each row is: its source, its offset there, and its line as far as it does not go on from the row before.

    Attributes:
        offsets: Each row's offset.
    """

    def __init__(self) -> None:
        """Make one without rows."""
        self.offsets = array("Q")
        self._sources: list[tuple[int, Source]] = []
        self._runs: list[tuple[int, int]] = []  # (row, line) where the lines do not go on from the row before

    def append_all(self, source: Source, numbers: Sequence[int], offsets: Sequence[int]) -> None:
        """Add rows that stand on the given lines of a source."""
        row = len(self.offsets)
        if not self._sources or self._sources[-1][1] is not source:
            self._sources.append((row, source))
            self._runs.append((row, numbers[0] if numbers else 1))
        for i, number in enumerate(numbers[:1] if isinstance(numbers, range) else numbers):
            first, line = self._runs[-1]
            if number - line != row + i - first:
                self._runs.append((row + i, number))
        self.offsets.extend(array("Q", offsets))

    def extend(self, other: Places, lines_before: int) -> None:
        """Add the rows of a later piece of the same source, which has so many lines before it."""
        row = len(self.offsets)
        self._sources.extend((row + first, source) for first, source in other._sources)
        self._runs.extend((row + first, line + lines_before) for first, line in other._runs)
        self.offsets.extend(other.offsets)

    def of(self, row: int, *, has_output: bool = True, has_transcript: bool = False) -> Place:
        """A row's place."""
        source = self._sources[bisect_right(self._sources, row, key=_first) - 1][1]
        first, line = self._runs[bisect_right(self._runs, row, key=_first) - 1]
        return Place(source, line + row - first, self.offsets[row], has_output, has_transcript)


def _first(entry: tuple[int, Any]) -> int:
    return entry[0]
