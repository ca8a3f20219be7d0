"""What the user named to terminal-bench runs and their trials.

A run is laid out in one of five ways: trials' folders in the folders of their tasks, with or without the results of the
whole beside them; trials' folders alone; and one file of all results, in a folder of its own or beside others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from nemo_gym.rollout_compare.producers.contract import Run, Shard
from nemo_gym.rollout_compare.producers.folders import Trials, check_one_agent
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.terminal_bench import (
    METADATA,
    RESULTS,
    RESULTS_ENDING,
    TRIAL,
    has_results,
    is_trial,
)
from nemo_gym.rollout_compare.producers.terminal_bench.rules import TerminalBenchReader
from nemo_gym.rollout_compare.producers.trials import Trial, listed
from nemo_gym.rollout_compare.schema import CompareInputError, Note, NoteKind, text_of

_SETTINGS = {
    "agent": "agent_name",
    "model": "model_name",
    "data set": "dataset_name",
    "data set version": "dataset_version",
}


class LocatedRuns:
    """A run of terminal-bench, or several of one agent."""

    def __init__(self, places: Sequence[tuple[Path, str | None]]) -> None:
        """Note for each run its folder, and the file of its results where they are all in one."""
        self.places = places

    def files(self) -> list[Path]:
        """The files that are read."""
        return [run.path / trial.file for run in self._runs for trial in run.trials]

    def folders(self) -> list[Path]:
        """The folders of the runs."""
        return [folder for folder, _ in self.places]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Find the trials.

        Raises:
            CompareInputError: A folder cannot be read, or the runs in it are of several agents.
        """
        runs = self._runs
        check_one_agent(runs, (run.reader for run in runs), "runs of different agents")
        yield Run("terminal-bench", [Shard(run, notes=_notes(run)) for run in runs], ())

    @cached_property
    def _runs(self) -> list[Trials]:
        return [_run(RunFolder.at(folder), file) for folder, file in self.places]


def locate_runs(named: str) -> LocatedRuns:
    """A run as the user names it: a run's folder, one of runs, a file of results, a trial's folder or its result.

    Raises:
        CompareInputError: The folder cannot be read, or holds no result.
    """
    path = Path(named)
    if not path.is_dir():
        return LocatedRuns(((path.parent, path.name),))
    found = _in_folder(path)
    if not found:
        inner = RunFolder.at(path).folders()
        found = [place for name in inner for place in _in_folder(path / name)]
    if not found:
        raise CompareInputError(f"cannot read {named}: it is a folder without a terminal-bench result")
    return LocatedRuns(tuple(found))


def _in_folder(path: Path) -> list[tuple[Path, str | None]]:
    """The runs in a folder: one of trials' folders, else those in its files of results."""
    folder = RunFolder.at(path)
    if any(True for _ in _trials(folder)):
        return [(path, None)]
    names = [name for name in Glimpse(path).names if name == RESULTS or name.endswith(RESULTS_ENDING)]
    return [(path, name) for name in names if has_results(Glimpse(path / name))]


def _trials(folder: RunFolder) -> Iterator[Trial]:
    """The folders of trials in a run's folder, or in the folders of tasks there."""
    for name in folder.folders():
        if TRIAL.fullmatch(name):
            yield _trial(folder, name)
            continue
        for inner in folder.folders(name):
            if TRIAL.fullmatch(inner):
                yield _trial(folder, f"{name}/{inner}")


def _trial(folder: RunFolder, name: str) -> Trial:
    file = f"{name}/{RESULTS}"
    return Trial(name, file, folder.size_of(file) or None)


def _run(folder: RunFolder, file: str | None) -> Trials:
    metadata = folder.read_object(METADATA)
    settings = {name: metadata[field] for name, field in _SETTINGS.items() if isinstance(metadata.get(field), str)}
    reader = TerminalBenchReader(tuple(settings.items()))
    if file is None:
        return Trials(folder, tuple(_trials(folder)), reader)
    size = folder.size_of(file) or 0
    if is_trial(Glimpse(folder.path / file)):
        return Trials(folder, (Trial(".", file, size),), reader)
    rows = listed(folder, file)
    names = (str(row.get("trial_name")) if isinstance(row, Mapping) else "?" for row in rows)
    return Trials(
        folder, tuple(Trial(name, file, 0, entry) for entry, name in enumerate(names)), reader, ((file, size),)
    )


def _notes(run: Trials) -> tuple[Note, ...]:
    """How many of the trials that were planned left no record."""
    metadata = run.folder.read_object(METADATA)
    tasks, attempts = metadata.get("task_ids"), metadata.get("n_attempts")
    if not isinstance(tasks, list):
        return ()
    lost = len(tasks) * (attempts if isinstance(attempts, int) else 1) - len(run.trials)
    if lost <= 0:
        return ()
    begun = {_task_of(trial) for trial in run.trials}
    never = tuple(sorted({name for task in tasks if (name := text_of(task)) not in begun}))
    return (Note(NoteKind.UNRECORDED, tasks=never, path=str(run.path), number=lost),)


def _task_of(trial: Trial) -> str:
    """The task of a trial by its name."""
    parts = TRIAL.fullmatch(trial.name.rpartition("/")[2])
    return parts["task"] if parts else trial.name
