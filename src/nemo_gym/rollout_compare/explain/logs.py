"""Verifier logs on disk: found by a path that a row names, judged safe, and read from the end.

Rows are data from somebody else's machine, so a path in one is a claim. With links resolved, a file is read only if it
is named `test-stdout.txt`, or ends as a log does and lies in a folder of the runs; and only if it is a regular file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from msgspec import Struct

from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text import first_of

LOG_NAME = "test-stdout.txt"
LOG_ENDINGS = (".txt", ".log", ".out")
_LOG_NAMES = "*.txt, *.log or *.out"

BLOCK_BYTES = 1 << 20
_BYTES_PER_LINE = 4 << 10
_MOST_BYTES = 64 << 20
_REPORT_BYTES = 4 << 20
_REPORTS_BYTES = 64 << 20
_MOST_REPORTS = 200
_MOST_REMEMBERED = 4
_MOST_PARTS = 64
_MOST_TRIED = 4


class LogUnavailable(Exception):
    """There is no log to read; the text says why."""


class LogTail(Struct, frozen=True):
    """The end of a log.

    Attributes:
        path: The file as it was looked up.
        text: The end of it, invalid bytes replaced.
        whole: Whether that is all of it.
    """

    path: str
    text: str
    whole: bool


class LogRoots(Struct, frozen=True):
    """The folders in which a side's logs are looked for and may be read.

    Attributes:
        folders: Those of the runs' files; relative paths are tried under the current folder, then under these.
        logs: Those that were named for logs, tried after them; absolute paths that are dead here are found again there.
        own: Those of the side's own run, under which alone a file with several names is read; None for all `folders`.
        outputs: What is written when all is read, and so must not be read itself.
    """

    folders: tuple[Path, ...]
    logs: tuple[Path, ...] = ()
    own: tuple[Path, ...] | None = None
    outputs: tuple[Path, ...] = ()

    def all(self) -> tuple[Path, ...]:
        """Every folder, in the order in which they are tried."""
        return (*self.folders, *self.logs)


def read_log(named: str, roots: LogRoots, lines: int) -> LogTail:
    """The end of the log that a row names, a file or a folder that holds `test-stdout.txt`: that many lines or more.

    Of lines that are very long it may be less: what is read is bounded, however large the file is.

    Raises:
        LogUnavailable: It is nowhere, may not be read, or cannot be read.
        CompareInputError: It is an output.
    """
    try:
        path = _find(named, roots)
        resolved = path.resolve(strict=True)
        if resolved.name != LOG_NAME:
            if resolved.suffix not in LOG_ENDINGS:
                raise LogUnavailable(f"{path} is not read: it is not called {LOG_NAME}, {_LOG_NAMES}")
            _check_inside(path, resolved, roots)
        return _tail(path, resolved, roots, lines)
    except OSError as error:
        raise LogUnavailable(f"cannot read {error.filename or named}: {error.strerror or error}") from None
    except CompareInputError:
        raise
    except (ValueError, RuntimeError) as error:  # a NUL in the path; a loop of links before Python 3.13
        raise LogUnavailable(f"cannot read {named}: {error}") from None


def read_found(path: Path, roots: LogRoots, lines: int) -> LogTail:
    """The end of a log that a reader found in the run's own folder.

    Raises:
        LogUnavailable: It cannot be read any more.
        CompareInputError: It is an output.
    """
    try:
        return _tail(path, path.resolve(strict=True), LogRoots((path.parent,), outputs=roots.outputs), lines)
    except OSError as error:
        raise LogUnavailable(f"cannot read {path}: {error.strerror or error}") from None


Parsed = TypeVar("Parsed")


class Reports:
    """The reports of single tests in a logs folder. Each is read when it is asked for, and let go before the next.

    Attributes:
        complete: Whether what was read so far is all that lies there, none of it cut off or unreadable.
    """

    def __init__(
        self, folder: Path = Path(), names: Sequence[str] = (), roots: LogRoots | None = None, *, complete: bool = True
    ) -> None:
        """Name the reports, the one first that speaks for the whole run."""
        self._folder, self._names, self._roots = folder, names, roots or LogRoots(())
        self.complete = complete

    @property
    def files(self) -> Iterator[tuple[str, bytes]]:
        """Each file's name and its beginning. One that has several names counts once; together they are bounded."""
        seen: set[tuple[int, int]] = set()
        left = _REPORTS_BYTES
        for name in self._names:
            try:
                resolved = (self._folder / name).resolve(strict=True)
                _check_inside(self._folder / name, resolved, self._roots)
                with _opened(self._folder / name, resolved, self._roots) as file:
                    status = os.fstat(file.fileno())
                    if (status.st_dev, status.st_ino) in seen:
                        continue
                    seen.add((status.st_dev, status.st_ino))
                    most = min(left, _REPORT_BYTES)
                    data = file.read(most)
                    self.complete = self.complete and not file.read(1)
            except CompareInputError:
                raise
            except (LogUnavailable, OSError, ValueError, RuntimeError):
                self.complete = False
            else:
                left -= len(data)
                if most:
                    yield name, data

    def parsed(self, parse: Callable[[str, bytes], Parsed]) -> list[tuple[str, Parsed]]:
        """What is made of each file, by its name. It is remembered: the next flip often names the same folder."""
        key = (self._folder, parse, self._roots, tuple(self._names), tuple(self._versions()))
        if key not in _remembered:
            while len(_remembered) >= _MOST_REMEMBERED:
                del _remembered[next(iter(_remembered))]
            found = [(name, parse(name, data)) for name, data in self.files]
            _remembered[key] = found, self.complete
        found, self.complete = _remembered[key]
        return found

    def _versions(self) -> Iterator[tuple[object, ...]]:
        for name in self._names:
            with suppress(OSError, ValueError):
                status = os.stat(self._folder / name)
                yield name, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


_remembered: dict[object, tuple[list[Any], bool]] = {}


def read_reports(named: str, roots: LogRoots) -> Reports:
    """The reports in the logs folder that a row names; beside a log that is named itself they may be another's."""
    from nemo_gym.rollout_compare.explain.triage import is_of_the_whole, is_report

    try:
        folder = _find(named, roots, is_report).parent
        found = sorted(entry.name for entry in os.scandir(folder) if is_report(entry.name))
        names = sorted(found, key=is_of_the_whole, reverse=True)
        if not any(place.is_dir() and place == folder for place in _places(named, roots)):
            return Reports()
    except (LogUnavailable, OSError, ValueError):
        return Reports()
    return Reports(folder, names[:_MOST_REPORTS], roots, complete=len(names) <= _MOST_REPORTS)


def found_reports(paths: Iterable[str]) -> Reports:
    """Reports that a reader found in the run's own folder, by their paths without links."""
    names = sorted(paths)
    roots = LogRoots(tuple(Path(name).parent for name in names))
    return Reports(Path(), names[:_MOST_REPORTS], roots, complete=len(names) <= _MOST_REPORTS)


def _find(named: str, roots: LogRoots, is_report: Callable[[str], bool] = lambda _: False) -> Path:
    """Where the log is, or would be in a folder that has reports."""
    tried = []
    for place in _places(named, roots):
        is_folder = place.is_dir()
        path = place / LOG_NAME if is_folder else place
        if os.path.lexists(path) or (is_folder and any(map(is_report, os.listdir(place)))):
            return path
        tried.append(str(path))
    raise LogUnavailable(f"not found: {first_of(tried, _MOST_TRIED)}")


def _places(named: str, roots: LogRoots) -> Iterable[Path]:
    """Where to look: a relative path under each root, an absolute one also by its ends, longest first, under `logs`."""
    if os.path.isabs(named):
        parts = Path(named).parts[-_MOST_PARTS:]
        ends = (Path(*parts[start:]) for start in range(1, len(parts)))
        return dict.fromkeys([Path(named), *(root / end for end in ends for root in roots.logs)])
    return dict.fromkeys(Path(root, named) for root in (Path(), *roots.all()))


def _check_inside(path: Path, resolved: Path, roots: LogRoots) -> None:
    if not _is_inside(resolved, roots.all()):
        raise LogUnavailable(f"{path} is not read: it lies outside the runs' folders and --logs-root")


def _is_inside(resolved: Path, folders: Iterable[Path]) -> bool:
    return any(resolved.is_relative_to(folder.resolve()) for folder in folders)


def _check_not_written(status: os.stat_result, outputs: Iterable[Path]) -> None:
    for output in outputs:
        with suppress(OSError, ValueError):
            if os.path.samestat(status, os.stat(output)):
                break
    else:
        return
    raise CompareInputError(f"cannot write {output}: the report quotes it")


@contextmanager
def _opened(path: Path, resolved: Path, roots: LogRoots) -> Iterator[BinaryIO]:
    """A regular file; nothing else is ever opened."""
    status = os.stat(resolved)
    _check_not_written(status, roots.outputs)
    if status.st_nlink > 1 and not _is_inside(resolved, roots.folders if roots.own is None else roots.own):
        raise LogUnavailable(f"{path} is not read: it has another name, and lies outside its run's folder")
    if stat.S_ISREG(status.st_mode):
        # It may be replaced between the check and here: no link is followed and no pipe waited for.
        descriptor = os.open(resolved, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield file
                return
    raise LogUnavailable(f"{path} is not read: it is not a regular file")


def _tail(path: Path, resolved: Path, roots: LogRoots, lines: int) -> LogTail:
    with _opened(path, resolved, roots) as file:
        start = file.seek(0, os.SEEK_END)
        most = max(BLOCK_BYTES, min(lines * _BYTES_PER_LINE, _MOST_BYTES))
        blocks: list[bytes] = []
        newlines = read = 0
        while start > 0 and newlines <= lines and read < most:
            size = min(BLOCK_BYTES, start)
            start = file.seek(start - size)
            blocks.insert(0, file.read(size))
            newlines += blocks[0].count(b"\n")
            read += size
        return LogTail(str(path), b"".join(blocks).decode("utf-8", "replace"), start == 0)
