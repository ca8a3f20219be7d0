"""Files in the folder of a run: regular ones, of bounded size, and nothing that a link leads out to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import cannot_read
from nemo_gym.rollout_compare.producers.json_rows import parse_object
from nemo_gym.rollout_compare.schema import CompareInputError

#: The most that is read of one file of a run: a result, a transcript, a report of tests.
MOST_BYTES = 256 << 20


class RunFolder(Struct, frozen=True):
    """The folder of a run, as the user named it.

    Attributes:
        path: The folder.
        real: The same with links resolved: what is read lies in it.
    """

    path: Path
    real: Path

    @classmethod
    def at(cls, path: Path) -> RunFolder:
        """The folder at a path."""
        return cls(path, Path(os.path.realpath(path)))

    def folders(self, within: str = "") -> Iterator[str]:
        """The names of the folders in it or in a folder of it, sorted; one that a link leads out to is none of them."""
        place = self.path / within
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            raise cannot_read(place, error) from None
        for entry in entries:
            if entry.is_dir() and (not entry.is_symlink() or self._is_inside(Path(entry.path))):
                yield entry.name

    def size_of(self, name: str) -> int | None:
        """How large a file is, by its path in the folder; None where there is no regular file."""
        try:
            status = os.stat(os.path.join(self.path, name))  # a path object for each of thousands takes its time
        except (OSError, ValueError):
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def file(self, name: str) -> Path | None:
        """A file by its path in the folder; None where there is none, or one that may not be read."""
        path = self.path / name
        return path if self.size_of(name) is not None and self._is_inside(path) else None

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """The bytes of a file by its path in the folder.

        Raises:
            CompareInputError: It cannot be read, is not a regular file in the folder, or is too large.
        """
        path = os.path.join(self.path, name)  # as above
        try:
            descriptor = self._opened(path)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_size <= most:
                    with open(descriptor, "rb", closefd=False) as file:
                        return file.read(most)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            raise cannot_read(path, error) from None
        what = f"it is larger than {most >> 20} MiB" if stat.S_ISREG(status.st_mode) else "it is not a regular file"
        raise CompareInputError(f"cannot read {path}: {what}")

    def read_object(self, name: str) -> dict[str, object]:
        """The JSON object in a file; an empty one where there is no file that can be read, or no object in it."""
        try:
            return parse_object(self.read(name)) if self.file(name) else {}
        except CompareInputError:
            return {}

    def _opened(self, path: str) -> int:
        """A file, opened without waiting for a pipe; a link is followed where it leads to a place in the folder."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            return os.open(path, flags)
        except OSError:
            if not os.path.islink(path):
                raise
        if not self._is_inside(Path(path)):
            raise OSError("it is a link that leads out of the run's folder")
        return os.open(os.path.realpath(path), flags)

    def _is_inside(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.real)
