"""What the user named to the results of NeMo Evaluator's benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files import open_input
from nemo_gym.rollout_compare.producers.contract import Run, Shard
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import setting_of
from nemo_gym.rollout_compare.producers.nemo_evaluator import RESULTS, VERIFIED
from nemo_gym.rollout_compare.producers.nemo_evaluator.rows import BenchmarkRows
from nemo_gym.rollout_compare.schema import CompareInputError, Note, NoteKind

_CHECKPOINT, _FAILED = "checkpoint.json", "failed_benchmarks"
_REPORT = "eval-*.json"
_SETTINGS = {
    "model": ("config", "model"),
    "shuffle seed": ("config", "shuffle_seed"),
    "configuration": ("config_hash",),
    "evaluator": ("sdk_version",),
}


class LocatedBundle(Struct, frozen=True):
    """The results of a bundle, a file for each benchmark or for each part of one.

    Attributes:
        results: The files.
        bundle: The folder that was named, None where a file was.
    """

    results: tuple[Path, ...]
    bundle: Path | None = None

    def files(self) -> list[Path]:
        """The files that are read."""
        return list(self.results)

    def folders(self) -> list[Path]:
        """The folders of the benchmarks."""
        return [path.parent for path in self.results]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the files.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            inputs = [stack.enter_context(open_input(path)) for path in self.results]
            shards = [Shard(BenchmarkRows(one, *_described(one.path)), notes=_unfinished(one.path)) for one in inputs]
            if self.bundle and (failed := _failed(self.bundle)):
                shards[0] = Shard(shards[0].main, notes=(*shards[0].notes, failed))
            yield Run("nemo-evaluator", shards, inputs)


def locate_bundle(named: str) -> LocatedBundle:
    """A run as the user names it: a bundle's folder, that of a benchmark, or a file of results.

    Raises:
        CompareInputError: A folder holds no results.
    """
    path = Path(named)
    if not path.is_dir():
        return LocatedBundle((path,))
    found = list(_results(RunFolder.at(path), "", 2))
    if not found:
        raise CompareInputError(f"cannot read {named}: it is a folder without {RESULTS} of a benchmark")
    return LocatedBundle(tuple(path / name for name in found), path)


def _results(folder: RunFolder, within: str, depth: int) -> Iterator[str]:
    """The results in a folder, else those in the folders in it; of a benchmark that did not end what was verified."""
    for name in (RESULTS, VERIFIED):
        if folder.size_of(f"{within}{name}") and folder.file(f"{within}{name}"):
            yield f"{within}{name}"
            return
    for inner in folder.folders(within) if depth else ():
        yield from _results(folder, f"{within}{inner}/", depth - 1)


def _described(results: Path) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The name of a benchmark and what it was run with, from the report beside its results where there is one."""
    folder = RunFolder.at(results.parent)
    reports = [name for name in Glimpse(results.parent).names if Path(name).match(_REPORT)]
    report = folder.read_object(reports[-1]) if reports else {}
    name = dig(report, ("benchmark", "name"))
    settings = {
        name: setting_of(value) for name, names in _SETTINGS.items() if (value := dig(report, names)) is not None
    }
    return name if isinstance(name, str) else results.absolute().parent.name, tuple(settings.items())


def _unfinished(results: Path) -> tuple[Note, ...]:
    if results.name != VERIFIED:
        return ()
    said = f"no {RESULTS}, killed or still running: what was verified until then is compared"
    return (Note(NoteKind.READER, path=str(results.parent), field=said),)


def _failed(bundle: Path) -> Note | None:
    """A note on benchmarks that left no results."""
    failed = RunFolder.at(bundle).read_object(_CHECKPOINT).get(_FAILED)
    if not failed or not isinstance(failed, dict):
        return None
    benchmarks = "1 benchmark" if len(failed) == 1 else f"{len(failed)} benchmarks"
    said = f"{benchmarks} failed and left no result"
    return Note(NoteKind.READER, tasks=tuple(sorted(failed)), path=str(bundle), field=said)
