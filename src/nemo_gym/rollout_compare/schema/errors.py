"""The one error that a user sees, and what is wrong with lines that may be left out."""

from msgspec import Struct


class CompareInputError(ValueError):
    """An input cannot be read or is not rollouts, or an output cannot be written.

    Its text is one line: what is wrong, where, and what to do. It never holds a line break.
    """


class Fault(Struct, frozen=True):
    """What is wrong with a line: its number and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        """The fault as a note names it."""
        return f"line {self.line} ({self.reason})"
