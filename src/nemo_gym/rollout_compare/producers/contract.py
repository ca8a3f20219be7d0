"""What a producer's reader gives and is asked: the contract between `producers` and `engine`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, Input, would_match
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.schema import Attempt, Batch, Direction, Fields, Note, Source
from nemo_gym.rollout_compare.text import MOST_LINE_BYTES

Piece = Any
"""A part of a source that one process reads at a time; only the source knows what it is, and it can be sent."""


class Plan(Struct, frozen=True):
    """How a run is read.

    Attributes:
        key: The field that names the task, None where it is to be found.
        skip_bad_lines: Whether a line that is not a row is left out; else it ends the reading.
        max_line: The most bytes of a line; a longer one is not a row.
        planned: Whether the rows are planned ones, of which no result is asked.
        reward: The field or metric that is the reward, as a dotted path; the producer's main one when None.
    """

    key: str | None = None
    skip_bad_lines: bool = False
    max_line: int = MOST_LINE_BYTES
    planned: bool = False
    reward: str | None = None


class Readable(Source, Protocol):
    """A source whose rows can be read from the first to the last, in pieces."""

    @property
    def size(self) -> int:
        """How many bytes there are to read, as they are stored."""
        ...

    @property
    def unit(self) -> str:
        """What holds a row, and is left out where it cannot be read: `line`, `trial`."""
        ...

    def fields(self, key: str | None) -> Fields:
        """The names under which its rows may say which task they are of; the given one alone, where one is given."""
        ...

    def pieces(self, piece_bytes: int) -> Sequence[Piece]:
        """The whole in pieces of about so many bytes, in their order."""
        ...

    def batches(
        self, piece: Piece, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The rows of a piece, in their order.

        A line that is not a row is a fault of its batch; unless such lines are left out it ends the piece.

        Args:
            piece: One of `pieces`.
            plan: How the run is read.
            wanted: Asked before each batch which of the fields may still be the key.
            on_bytes: Told how many more bytes, as they are stored, were read.

        Raises:
            CompareInputError: The source cannot be read.
        """
        ...

    def unchanged(self) -> bool:
        """Whether it is still what it was when it was opened."""
        ...

    def doubt(self) -> str | None:
        """What a source seems to hold of whose rows none has a reward; None if it may be a run all the same."""
        ...


class Failures(Protocol):
    """The failed attempts that are recorded apart from the rows."""

    @property
    def source(self) -> Readable:
        """What holds them."""
        ...

    def standing(self, finished: Collection[Attempt], plan: Plan) -> Iterator[Batch]:
        """Masked rows for the failures that still stand, beside rows of the given attempts."""
        ...


class Shard(Struct, frozen=True):
    """A part of a run in which attempts are told apart by themselves; most runs have one.

    Attributes:
        main: The rows.
        failures: The failed attempts that are recorded apart, None where there are none.
        planned: The rows that were planned before the run, None where they are not known.
        notes: What a reader must know of it beside that, such as planned attempts that left no record.
        expected: How many rows were planned, where no more than that is known.
        direction: Which of two rewards is the better one, told how the run is read, where the run's own files say it.
    """

    main: Readable
    failures: Failures | None = None
    planned: Readable | None = None
    notes: tuple[Note, ...] = ()
    expected: int | None = None
    direction: Callable[[Plan], Direction | None] | None = None


class Run(Struct, frozen=True):
    """One of the two runs, open to be read.

    Attributes:
        reader: The producer's name.
        shards: Its parts, at least one.
        inputs: The files that were opened for it.
    """

    reader: str
    shards: Sequence[Shard]
    inputs: Sequence[Input]


class LocatedRun(Protocol):
    """What the user named as one of the two runs, found and not yet opened."""

    def files(self) -> list[Path]:
        """The files that are read."""
        ...

    def folders(self) -> list[Path]:
        """Where the logs may lie that its rows name, best first."""
        ...

    def opened(self) -> AbstractContextManager[Run]:
        """Open it.

        Raises:
            CompareInputError: A file of it cannot be read.
        """
        ...


def _nothing_seen(place: Glimpse) -> bool:
    """Whether a path is a run of a producer that nothing shows."""
    del place
    return False


class Producer(Struct, frozen=True):
    """A kind of program that leaves runs: a row of the table of producers.

    Attributes:
        name: How `--format` and the report call it.
        locate: What the user named to a run of it. What only reading needs is imported when it is called.
        seen: Whether a path at a glance is a run of it: a folder, or a file.
        signs: What it is known by, in a few words, for the error that nothing is known.
        refused: Whether a file holds what is only a part of its runs, of which it can say what is missing; in a folder
            such a file counts only if nothing else does.
        endings: What the names of its files end in where nothing else shows whose they are.
        common: Whether files of many other kinds look like its own: in a folder they count only if nothing else does.
    """

    name: str
    locate: Callable[[str], LocatedRun]
    seen: Callable[[Glimpse], bool] = _nothing_seen
    signs: str = ""
    refused: Callable[[Glimpse], bool] = _nothing_seen
    endings: tuple[str, ...] = ()
    common: bool = False

    def looks_like(self, name: str) -> bool:
        """Whether a file may be one of its by its name alone."""
        return bool(self.endings) and name.endswith(self.endings)


def would_hold(run: LocatedRun, named: str, path: Path) -> bool:
    """Whether a file at a path would be read as one of a run's, as the user names it, if it were there.

    Where its reader does not say so it is told from the files that the run has: of a pattern, what matches; of a folder
    of trials, what lies in one of them or is called like a file of one; of a folder of files, what ends as they do.
    """
    ask: Callable[[Path], bool] | None = getattr(run, "would_hold", None)
    if ask is not None:
        return ask(path)
    if not os.path.isdir(named):
        return named != STDIN and would_match(path, named)
    folder, *files = (Path(os.path.realpath(one.parent), one.name) for one in (Path(named, "any"), *run.files()))
    place = Path(os.path.realpath(path.parent), path.name)
    if not place.is_relative_to(folder.parent):
        return False
    apart = {file.parent for file in files} - {folder.parent}
    if apart:
        return place.parent in apart or place.name in {file.name for file in files}
    return place.parent == folder.parent and place.suffix in {file.suffix for file in files}
