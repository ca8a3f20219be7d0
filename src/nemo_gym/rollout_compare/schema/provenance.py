"""What was compared: the files of both runs as they were read."""

from __future__ import annotations

from msgspec import Struct


class ReadFile(Struct, frozen=True):
    """A file that was read.

    Attributes:
        path: Its path as the user named it or as it was found.
        size: Its size in bytes, as it is stored.
        modified: When it was last changed, in seconds since 1970; None for a pipe or standard input.
    """

    path: str
    size: int
    modified: int | None


class RunSource(Struct, frozen=True):
    """Where a run's rows are from.

    Attributes:
        files: The files that were read, rollouts first; those beside them follow.
        reader: What read them, by the kind of run.
        rows: How many rows they gave, failures that stand included.
    """

    files: tuple[ReadFile, ...]
    reader: str
    rows: int


class Provenance(Struct, frozen=True):
    """What was compared, and by what.

    Attributes:
        version: The version of this program.
        options: The options that were given and may change what is said, by name.
        old: Where the old run's rows are from.
        new: Where the new run's rows are from.
    """

    version: str
    options: dict[str, str | int | float | bool | list[str]]
    old: RunSource
    new: RunSource
