"""A place among the lines of an output, from which those that follow are read."""

from collections.abc import Sequence

from nemo_gym.rollout_compare.text import unboxed


class Cursor:
    """Lines that are read one after the other."""

    def __init__(self, said: Sequence[str]) -> None:
        self._said = said
        self._at = 0

    def peek(self) -> str:
        """The next line, which stays unread; "" at the end."""
        return self._said[self._at] if self._at < len(self._said) else ""

    def following(self, most: int) -> Sequence[str]:
        """The next lines, which stay unread."""
        return self._said[self._at : self._at + most]

    def next_text(self) -> str:
        """The next line that is not a box's edge, which is thereby read."""
        while self._at < len(self._said):
            text = unboxed(self._said[self._at])
            self._at += 1
            if text:
                return text
        return ""
