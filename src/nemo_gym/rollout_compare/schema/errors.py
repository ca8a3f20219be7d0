"""The one error that a user sees, and what is wrong with lines that may be left out."""

from msgspec import Struct


class CompareInputError(ValueError):
    """An input cannot be read or is not rollouts, or an output cannot be written.

    Its text is one line: what is wrong, where, and what to do. It never holds a line break.
    """


class Fault(Struct, frozen=True):
    """What is wrong with a line, or with a record of a source without lines.

    Attributes:
        line: Its number.
        reason: What is wrong.
        place: What a record is called where it is not called by a line's number.
    """

    line: int
    reason: str
    place: str = ""

    def __str__(self) -> str:
        """The fault as a note names it."""
        return f"{self.place or f'line {self.line}'} ({self.reason})"
