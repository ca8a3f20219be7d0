"""The two runs of a comparison."""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """One of the two runs."""

    OLD = "old"
    NEW = "new"

    @property
    def other(self) -> Side:
        """The run that this one is compared with."""
        return Side.NEW if self is Side.OLD else Side.OLD
