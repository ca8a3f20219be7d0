"""What a user names to the files of a run: a rollouts file, a folder, a pattern of shards, or standard input."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files.inputs import COMPRESSED_ENDINGS, STDIN, STDIN_PATH, cannot_read
from nemo_gym.rollout_compare.schema.result import CompareInputError

_ROLLOUTS_ENDING = ".jsonl"
_FAILURES = "_failures"
_PLANNED = "_materialized_inputs"

#: What the names of the files that lie beside rollouts end in, before `.jsonl`.
BESIDE_ENDINGS = (_FAILURES, _PLANNED, "_reward_profiling")

_MOST_LISTED = 10


class Shard(Struct, frozen=True):
    """One rollouts file and the files beside it.

    Attributes:
        main: The rollouts.
        sidecar: The failed attempts, None where there is no such file.
        planned: The rows that were planned before the run, None where there is no such file.
    """

    main: Path
    sidecar: Path | None = None
    planned: Path | None = None

    def files(self) -> list[Path]:
        """Every file."""
        return [path for path in (self.main, self.sidecar, self.planned) if path]


def locate_run(named: str) -> list[Shard]:
    """The shards of a run, in the order of their names; most runs have one.

    Raises:
        CompareInputError: A folder holds no rollouts file or several, or a pattern matches none.
    """
    if named == STDIN:
        return [Shard(STDIN_PATH)]
    path = Path(named)
    try:
        if path.is_dir():
            return [_shard(_only_rollouts(path))]
        if not path.exists() and glob.has_magic(named):
            return [_shard(shard) for shard in _matching(named)]
        return [_shard(path)]
    except (OSError, ValueError) as error:
        if isinstance(error, CompareInputError):
            raise
        raise cannot_read(named, error) from None


def _only_rollouts(folder: Path) -> Path:
    found = sorted(path for path in folder.iterdir() if _is_rollouts(path))
    if len(found) == 1:
        return found[0]
    if not found:
        raise CompareInputError(f"cannot read {folder}: it is a folder without a rollouts file (*{_ROLLOUTS_ENDING})")
    names = ", ".join(path.name for path in found[:_MOST_LISTED]) + (", ..." if len(found) > _MOST_LISTED else "")
    raise CompareInputError(f"cannot read {folder}: it holds {len(found)} rollouts files; name one of them: {names}")


def _matching(pattern: str) -> list[Path]:
    matched = sorted(map(Path, glob.glob(pattern)))
    found = [path for path in matched if not _is_beside(path)]
    folder = next((path for path in found if path.is_dir()), None)
    if folder:
        raise CompareInputError(f"cannot read {pattern}: it matches the folder {folder}; a pattern of files is wanted")
    if not found:
        raise CompareInputError(f"cannot read {pattern}: no rollouts file matches (*, ? and [] are patterns)")
    shards: dict[Path, Path] = {}
    for path in found:
        other = shards.setdefault(_stem(path), path)
        if other is not path:
            raise CompareInputError(f"cannot read {pattern}: {other} and {path} are one shard twice")
    for path in matched:
        stem = _stem(path)
        main = stem.name.removesuffix(_FAILURES)
        if stem.name.endswith(_FAILURES) and main and stem.with_name(main) not in shards:
            raise CompareInputError(
                f"cannot read {pattern}: {path} has no rollouts beside it; if its shard died before the first row, "
                "make an empty rollouts file"
            )
    return found


def _is_rollouts(path: Path) -> bool:
    name = _plain_name(path)
    return name.endswith(_ROLLOUTS_ENDING) and not name.startswith(".") and not _is_beside(path)


def _is_beside(path: Path) -> bool:
    return Path(_plain_name(path)).stem.endswith(BESIDE_ENDINGS)


def _stem(path: Path) -> Path:
    """The file's path without its endings."""
    return path.with_name(Path(_plain_name(path)).stem)


def _plain_name(path: Path) -> str:
    """The file's name without the ending that says how it is compressed."""
    return path.stem if path.suffix in COMPRESSED_ENDINGS else path.name


def _shard(main: Path) -> Shard:
    return Shard(main, _beside(main, _FAILURES), _beside(main, _PLANNED))


def _beside(main: Path, ending: str) -> Path | None:
    """The one file beside a rollouts file, or beside what a link to one leads to, whose name goes on like this."""
    if not main.name:
        return None
    for place in dict.fromkeys((main, Path(os.path.realpath(main)))):
        plain = Path(f"{_stem(place)}{ending}{_ROLLOUTS_ENDING}")
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
