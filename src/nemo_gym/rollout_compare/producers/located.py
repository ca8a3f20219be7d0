"""Runs that are files of one kind, each read by itself: named one by one, by a pattern, or by their folder."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Input, open_input
from nemo_gym.rollout_compare.producers.contract import Readable, Run, Shard
from nemo_gym.rollout_compare.schema import CompareInputError


class LocatedFiles(Struct, frozen=True):
    """The files of a run, each of them a shard.

    Attributes:
        reader: The producer's name.
        paths: The files.
        readable: A file as a source of rows, told whether the run has no other files.
    """

    reader: str
    paths: tuple[Path, ...]
    readable: Callable[[Input, bool], Readable]

    def files(self) -> list[Path]:
        """The files that are read."""
        return list(self.paths)

    def folders(self) -> list[Path]:
        """Where the files lie."""
        return list(dict.fromkeys(path.parent for path in self.paths if path is not STDIN_PATH))

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the files.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            inputs = [stack.enter_context(open_input(path)) for path in self.paths]
            alone = len(inputs) == 1
            yield Run(self.reader, [Shard(self.readable(source, alone)) for source in inputs], inputs)


def located_paths(named: str, what: str, is_one: Callable[[Path], bool]) -> tuple[Path, ...]:
    """The files that the user named.

    Args:
        named: A file, a pattern of files, a folder, or standard input.
        what: What the files are called in messages.
        is_one: Which of a folder's files are meant.

    Raises:
        CompareInputError: There are none.
    """
    if named == STDIN:
        return (STDIN_PATH,)
    path = Path(named)
    if path.is_dir():
        found = [one for one in sorted(path.iterdir()) if one.is_file() and is_one(one)]
        if not found:
            raise CompareInputError(f"cannot read {named}: it is a folder without {what}")
        return tuple(found)
    if not path.exists() and glob.has_magic(named):
        found = sorted(one for one in map(Path, glob.glob(named)) if one.is_file())
        if not found:
            raise CompareInputError(f"cannot read {named}: {what} matches nothing (*, ? and [] are patterns)")
        return tuple(found)
    return (path,)
