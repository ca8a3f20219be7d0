"""Figures as text, in tables that can go into a document as they are."""

from __future__ import annotations

from collections.abc import Sequence


class Table:
    """A Markdown table, printed row by row as the figures come."""

    def __init__(self, columns: Sequence[str]) -> None:
        """Print the head, with the first row."""
        self._columns = columns
        self._begun = False

    def print_row(self, *cells: str) -> None:
        """Print a row."""
        if not self._begun:
            self._print(self._columns)
            self._print(["---"] * len(self._columns))
            self._begun = True
        self._print(cells)

    def _print(self, cells: Sequence[str]) -> None:
        print("|", " | ".join(cells), "|", flush=True)


def megabytes(size: float) -> str:
    """Bytes in millions."""
    return f"{size / 1e6:,.0f} MB"


def seconds_text(seconds: float) -> str:
    """Seconds in three digits."""
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
