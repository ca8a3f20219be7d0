"""What a user names to the files of a run: a rollouts file, a folder, a pattern of shards, or standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import COMPRESSED_ENDINGS, STDIN, STDIN_PATH, cannot_read
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text import first_of

# Where a system keeps devices and open files, and in the midst of them a folder for files in memory.
_STREAMS, _MEMORY = ("/dev/", "/proc/"), "/dev/shm/"  # noqa: S108  # nothing is written there


class Layout(Struct, frozen=True):
    """How the files of a producer's run are named.

    Attributes:
        what: What a run's main files are called in messages.
        ending: What the names of all of them end in.
        failures: What the name of the file of failed attempts has before that, after the main file's name.
        planned: The same for the rows that were planned before the run.
        others: The same for files that lie beside but are not read.
        is_strange: Whether a file is of another kind by what is in it; it is asked only where a folder has several.
    """

    what: str
    ending: str
    failures: str
    planned: str
    others: tuple[str, ...]
    is_strange: Callable[[Path], bool]

    def beside(self) -> tuple[str, ...]:
        """What the names of files that lie beside the main file end in, before the ending."""
        return (self.failures, self.planned, *self.others)


class Located(Struct, frozen=True):
    """One main file of a run and the files beside it.

    Attributes:
        main: The rows.
        failures: The failed attempts, None where there is no such file.
        planned: The rows that were planned before the run, None where there is no such file.
        named: Whether the user named the main file itself; else it was found in a folder or by a pattern.
    """

    main: Path
    failures: Path | None = None
    planned: Path | None = None
    named: bool = True

    def files(self) -> list[Path]:
        """Every file."""
        return [path for path in (self.main, self.failures, self.planned) if path]

    def folders(self) -> list[Path]:
        """Where its logs may lie: its folder and, if the user named a link, that of what the link leads to.

        Whoever made a folder made the links in it, so these lead to no more folders. What is not a regular file has no
        folder of its own: `/dev` belongs to nobody's run.
        """
        if self.main is STDIN_PATH or _is_stream(self.main):
            return []
        return [self.main.parent, Path(os.path.realpath(self.main)).parent][: 1 + self.named]


def _is_stream(path: Path) -> bool:
    """Whether a path stands for an open file of the process, or for what is not a regular file."""
    name = os.path.abspath(path)
    if name.startswith(_STREAMS) and not name.startswith(_MEMORY):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def locate(named: str, layout: Layout) -> list[Located]:
    """The files of a run, those of each shard together, in the order of their names; most runs have one shard.

    Raises:
        CompareInputError: A folder holds no rollouts file or several, or a pattern matches none.
    """
    if named == STDIN:
        return [Located(STDIN_PATH)]
    path = Path(named)
    try:
        if path.is_dir():
            return [_located(_only_one(path, layout), layout, named=False)]
        if _is_pattern(named):
            return [_located(path, layout, named=False) for path in _matching(named, layout)]
        return [_located(path, layout)]
    except (OSError, ValueError) as error:
        if isinstance(error, CompareInputError):
            raise
        raise cannot_read(named, error) from None


def would_be_read(path: Path, named: str, runs: Sequence[Located], layout: Layout) -> bool:
    """Whether a file at a path would be one of a run's, as the user names it, if it were there.

    Args:
        path: Where the file would be.
        named: What the user named.
        runs: What was found by that name.
        layout: How the run's files are named.
    """
    if named == STDIN:
        return False
    place = _place(path)
    beside = (Path(f"{_stem(main)}{ending}{layout.ending}") for main, ending in _pairs(runs, layout))
    if any(place == _place(Path(f"{plain}{end}")) for plain in beside for end in ("", *COMPRESSED_ENDINGS)):
        return True
    if os.path.isdir(named):
        return _is_main(path, layout) and place.parent == Path(os.path.realpath(named))
    return would_match(path, named)


def would_match(path: Path, named: str) -> bool:
    """Whether what the user named is a pattern that a file at a path would match, if it were there."""
    folder, pattern = os.path.split(named)
    folders = glob.glob(folder) if glob.has_magic(folder) else [folder]
    return (
        _is_pattern(named)
        and fnmatchcase(path.name, pattern)
        and any(_place(path).parent == Path(os.path.realpath(one)) for one in folders)
    )


def _pairs(runs: Sequence[Located], layout: Layout) -> Iterator[tuple[Path, str]]:
    return ((one.main, ending) for one in runs if one.main.name for ending in (layout.failures, layout.planned))


def _place(path: Path) -> Path:
    """A path with the links to its folder resolved."""
    return Path(os.path.realpath(path.parent), path.name)


def _is_pattern(named: str) -> bool:
    return glob.has_magic(named) and not os.path.exists(named)


def _check_regular(found: Iterable[Path]) -> None:
    """Refuse what was found but is neither a file nor missing: the user did not ask to read a pipe or a device."""
    for path in found:
        if path.exists() and not path.is_file():
            raise CompareInputError(f"cannot read {path}: it is not a regular file")


def _only_one(folder: Path, layout: Layout) -> Path:
    found = sorted(path for path in folder.iterdir() if _is_main(path, layout))
    if len(found) > 1:
        found = [path for path in found if not layout.is_strange(path)] or found
    if len(found) == 1:
        _check_regular(found)
        return found[0]
    if not found:
        raise CompareInputError(f"cannot read {folder}: it is a folder without a {layout.what} file (*{layout.ending})")
    names = first_of([path.name for path in found])
    raise CompareInputError(
        f"cannot read {folder}: it holds {len(found)} {layout.what} files; name one of them: {names}"
    )


def _matching(pattern: str, layout: Layout) -> list[Path]:
    matched = sorted(map(Path, glob.glob(pattern)))
    found = [path for path in matched if not _is_beside(path, layout)]
    folder = next((path for path in found if path.is_dir()), None)
    if folder:
        raise CompareInputError(f"cannot read {pattern}: it matches the folder {folder}; a pattern of files is wanted")
    if not found:
        raise CompareInputError(f"cannot read {pattern}: no {layout.what} file matches (*, ? and [] are patterns)")
    _check_regular(found)
    shards: dict[Path, Path] = {}
    for path in found:
        other = shards.setdefault(_stem(path), path)
        if other is not path:
            raise CompareInputError(f"cannot read {pattern}: {other} and {path} are one shard twice")
    for path in matched:
        stem = _stem(path)
        main = stem.name.removesuffix(layout.failures)
        if stem.name.endswith(layout.failures) and main and stem.with_name(main) not in shards:
            raise CompareInputError(
                f"cannot read {pattern}: {path} has no {layout.what} beside it; "
                f"if its shard died before the first row, make an empty {layout.what} file"
            )
    return found


def _is_main(path: Path, layout: Layout) -> bool:
    name = _plain_name(path)
    return name.endswith(layout.ending) and not name.startswith(".") and not _is_beside(path, layout)


def _is_beside(path: Path, layout: Layout) -> bool:
    return Path(_plain_name(path)).stem.endswith(layout.beside())


def _stem(path: Path) -> Path:
    """The file's path without its endings."""
    return path.with_name(Path(_plain_name(path)).stem)


def _plain_name(path: Path) -> str:
    """The file's name without the ending that says how it is compressed."""
    return path.stem if path.suffix in COMPRESSED_ENDINGS else path.name


def _located(main: Path, layout: Layout, *, named: bool = True) -> Located:
    places = list(dict.fromkeys((main, Path(os.path.realpath(main)))))[: 1 + named] if main.name else []
    return Located(main, _beside(places, layout, layout.failures), _beside(places, layout, layout.planned), named)


def _beside(places: Sequence[Path], layout: Layout, ending: str) -> Path | None:
    """The one file whose name goes on like this beside a main file or, if the user named a link, beside its target."""
    for place in places:
        plain = Path(f"{_stem(place)}{ending}{layout.ending}")
        names = [plain, *(Path(f"{plain}{end}") for end in COMPRESSED_ENDINGS)]
        there = [path for path in names if os.path.lexists(path)]
        if len(there) > 1:
            both = " and ".join(path.name for path in there)
            raise CompareInputError(
                f"cannot read {places[0]}: {both} lie beside it; only one of these can belong to it"
            )
        if there and there[0].exists() and not there[0].is_file():
            raise CompareInputError(f"cannot read {there[0]}: it is not a regular file")
        if there:
            return there[0]
    return None
