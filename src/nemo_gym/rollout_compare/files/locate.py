"""What a user names to the files of a run: a rollouts file, a folder, a pattern of shards, or standard input."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import COMPRESSED_ENDINGS, STDIN, STDIN_PATH, cannot_read
from nemo_gym.rollout_compare.schema import CompareInputError

_MOST_LISTED = 10


class Layout(Struct, frozen=True):
    """How the files of a producer's run are named.

    Attributes:
        what: What a run's main files are called in messages.
        ending: What the names of all of them end in.
        failures: What the name of the file of failed attempts has before that, after the main file's name.
        planned: The same for the rows that were planned before the run.
        others: The same for files that lie beside but are not read.
    """

    what: str
    ending: str
    failures: str
    planned: str
    others: tuple[str, ...] = ()

    def beside(self) -> tuple[str, ...]:
        """What the names of files that lie beside the main file end in, before the ending."""
        return (self.failures, self.planned, *self.others)


class Located(Struct, frozen=True):
    """One main file of a run and the files beside it.

    Attributes:
        main: The rows.
        failures: The failed attempts, None where there is no such file.
        planned: The rows that were planned before the run, None where there is no such file.
    """

    main: Path
    failures: Path | None = None
    planned: Path | None = None

    def files(self) -> list[Path]:
        """Every file."""
        return [path for path in (self.main, self.failures, self.planned) if path]


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
            return [_located(_only_one(path, layout), layout)]
        if not path.exists() and glob.has_magic(named):
            return [_located(path, layout) for path in _matching(named, layout)]
        return [_located(path, layout)]
    except (OSError, ValueError) as error:
        if isinstance(error, CompareInputError):
            raise
        raise cannot_read(named, error) from None


def _only_one(folder: Path, layout: Layout) -> Path:
    found = sorted(path for path in folder.iterdir() if _is_main(path, layout))
    if len(found) == 1:
        return found[0]
    if not found:
        raise CompareInputError(f"cannot read {folder}: it is a folder without a {layout.what} file (*{layout.ending})")
    names = ", ".join(path.name for path in found[:_MOST_LISTED]) + (", ..." if len(found) > _MOST_LISTED else "")
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


def _located(main: Path, layout: Layout) -> Located:
    return Located(main, _beside(main, layout, layout.failures), _beside(main, layout, layout.planned))


def _beside(main: Path, layout: Layout, ending: str) -> Path | None:
    """The one file beside a main file, or beside what a link to one leads to, whose name goes on like this."""
    if not main.name:
        return None
    for place in dict.fromkeys((main, Path(os.path.realpath(main)))):
        plain = Path(f"{_stem(place)}{ending}{layout.ending}")
        names = [plain, *(Path(f"{plain}{end}") for end in COMPRESSED_ENDINGS)]
        there = [path for path in names if os.path.lexists(path)]
        if len(there) > 1:
            both = " and ".join(path.name for path in there)
            raise CompareInputError(f"cannot read {main}: {both} lie beside it; only one of these can belong to it")
        if there and there[0].exists() and not there[0].is_file():
            raise CompareInputError(f"cannot read {there[0]}: it is no regular file")
        if there:
            return there[0]
    return None
