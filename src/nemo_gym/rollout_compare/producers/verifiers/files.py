"""What the user named to a run of verifiers or prime-rl."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Input
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.records import LocatedRecords, RecordReader, rows_in
from nemo_gym.rollout_compare.producers.verifiers import METADATA, RESULTS, TRACES, is_episodes, runs_in
from nemo_gym.rollout_compare.producers.verifiers.episodes import EpisodeReader, reader_of
from nemo_gym.rollout_compare.producers.verifiers.results import ResultReader
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text import first_of

#: prime-rl writes an episode that trained a model to both folders.
_ALL, _EFFECTIVE = "all", "effective"


class _Results(Struct, frozen=True):
    """Makes the reader of results, which lie beside the run's metadata."""

    path: Path

    def __call__(self, source: Input) -> tuple[RecordReader, int | None]:
        metadata = RunFolder.at(self.path.parent).read_object(METADATA)
        del source
        return ResultReader.of(metadata), _planned(metadata)


class _Episodes(Struct, frozen=True):
    """Makes the reader of episodes, by the agents in them."""

    def __call__(self, source: Input) -> tuple[RecordReader, int | None]:
        reader: EpisodeReader = reader_of(rows_in(source))
        return reader, None


def locate_verifiers(named: str) -> LocatedRecords:
    """A run as the user names it: a file, its folder, or a folder with only one run below it.

    Raises:
        CompareInputError: There is no run, or there are several.
    """
    if named == STDIN:
        return LocatedRecords("verifiers", STDIN_PATH, _Results(Path("none") / RESULTS))
    place = Glimpse(Path(named))
    if place.is_folder:
        place = _only_one(place)
    if place.path.name == TRACES or is_episodes(place):
        return LocatedRecords("verifiers", place.path, _Episodes())
    return LocatedRecords("verifiers", place.path, _Results(place.path))


def _only_one(folder: Glimpse) -> Glimpse:
    runs = runs_in(folder)
    paths = {run.path for run in runs}
    found = [run for run in runs if _written_first(run.path) not in paths - {run.path}]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CompareInputError(f"cannot read {folder.path}: it is a folder without {TRACES} or {RESULTS}")
    names = first_of([str(run.path.parent.relative_to(folder.path)) for run in found])
    raise CompareInputError(f"cannot read {folder.path}: it holds {len(found)} runs; name the folder of one: {names}")


def _written_first(path: Path) -> Path:
    """The file in which a file's episodes stand, too: another one for those that trained a model."""
    folder = path.parent
    return folder.with_name(_ALL) / path.name if folder.name == _EFFECTIVE else path


def _planned(metadata: dict[str, object]) -> int | None:
    """How many attempts were planned, as the metadata says."""
    examples, rollouts = metadata.get("num_examples"), metadata.get("rollouts_per_example")
    return examples * rollouts if isinstance(examples, int) and isinstance(rollouts, int) else None
