"""Sources that are one file: what holds of each, whatever the file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files import Input


class OneFile(Struct, frozen=True):
    """A file as a source of rows.

    Attributes:
        input: The file.
    """

    input: Input

    @property
    def path(self) -> Path:
        """What the user named."""
        return self.input.path

    @property
    def size(self) -> int:
        """How many bytes the file had when it was opened, as they are stored."""
        return self.input.size

    def unchanged(self) -> bool:
        """Whether the file is still what it was when it was opened."""
        return self.input.unchanged()

    def doubt(self) -> str | None:
        """Nothing: the file is a run."""
        return None


class WholeFile(OneFile, frozen=True):
    """A file of which no row can be read without the others."""

    @property
    def from_start(self) -> bool:
        """To read a row again the file is read from its start."""
        return True

    @property
    def unit(self) -> str:
        """What a row is called."""
        return "row"

    def where(self, line: int) -> str:
        """A row's place: `PATH: row N`."""
        return f"{self.path}: {self.unit} {line}"

    def pieces(self, piece_bytes: int) -> list[Any]:
        """The file as one piece."""
        del piece_bytes
        return [None]
