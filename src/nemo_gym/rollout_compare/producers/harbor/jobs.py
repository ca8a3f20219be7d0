"""What the user named to Harbor's jobs and their trials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare.producers.contract import Run, Shard
from nemo_gym.rollout_compare.producers.folders import Trials, check_one_agent
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.harbor import CONFIG, RESULT, TRIAL_KEYS, is_trial
from nemo_gym.rollout_compare.producers.harbor.rules import Begun, HarborReader
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_rows import dig, parse_object
from nemo_gym.rollout_compare.producers.trials import Trial, listed
from nemo_gym.rollout_compare.schema import CompareInputError, Note, NoteKind

#: Fields of a job's own files.
_PLANNED, _EMBEDDED, _DATASETS = "n_total_trials", "trial_results", "datasets"
_LOCK, _LOG = "lock.json", "trial.log"
#: A trial's folder: what it is called when nothing in it says so, having been killed as it was written.
_TRIAL_FOLDER = re.compile(r".+__[A-Za-z0-9]{7}", re.DOTALL)


class LocatedJobs:
    """A run of Harbor: a job, several jobs of one agent, or a single trial."""

    def __init__(self, places: Sequence[Path], *, one_trial: bool = False) -> None:
        """Note what is to be read.

        Args:
            places: The folder of each job; that of the trial where the run is a single one.
            one_trial: Whether the run is a single trial.
        """
        self.places, self.one_trial = places, one_trial

    def files(self) -> list[Path]:
        """The files that are read."""
        return [job.path / trial.file for job in self._jobs for trial in job.trials]

    def folders(self) -> list[Path]:
        """The folders of the jobs."""
        return list(self.places)

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Find the trials.

        Raises:
            CompareInputError: A job's folder cannot be read, or holds no trial.
        """
        agents = (_agents(job.folder) for job in self._jobs)
        check_one_agent(self._jobs, agents, "jobs of different agents or models")
        yield Run("harbor", [Shard(job, notes=_notes(job)) for job in self._jobs], ())

    @cached_property
    def _jobs(self) -> list[Trials]:
        if self.one_trial:
            return [_one_trial(RunFolder.at(self.places[0]))]
        return [_job(RunFolder.at(path)) for path in self.places]


def locate_jobs(named: str) -> LocatedJobs:
    """A run as the user names it: the folder of a job or of a trial, its `result.json`, or a folder of jobs.

    Raises:
        CompareInputError: The folder cannot be read.
    """
    path = Path(named)
    folder = RunFolder.at(path if path.is_dir() else path.parent)
    if _trial(folder, "."):
        return LocatedJobs((folder.path,), one_trial=True)
    if _holds_trials(folder):
        return LocatedJobs((folder.path,))
    jobs = [RunFolder.at(folder.path / name) for name in folder.folders()]
    found = tuple(job.path for job in jobs if _holds_trials(job))
    if not found and not (folder.file(RESULT) or folder.file(CONFIG)):
        raise CompareInputError(f"cannot read {named}: it is a folder without a Harbor job or trial")
    return LocatedJobs(found or (folder.path,))


def _holds_trials(folder: RunFolder) -> bool:
    """Whether any folder in a folder is a trial's."""
    return any(is_trial(Glimpse(folder.path / name)) for name in folder.folders())


def _trial(folder: RunFolder, name: str) -> Trial | None:
    """The trial in a folder of a job; None where it is the folder of none.

    The result that a job has of its own is not a trial's; an empty one is not written yet.
    """
    size = folder.size_of(f"{name}/{RESULT}")
    if size and (name != "." or folder.read_object(RESULT).keys() >= TRIAL_KEYS):
        return Trial(name, f"{name}/{RESULT}" if name != "." else RESULT, size)
    if _has_begun(folder, name):
        return Trial(name, f"{name}/{RESULT}" if name != "." else RESULT, None)
    return None


def _has_begun(folder: RunFolder, name: str) -> bool:
    """Whether a folder is that of a trial without a result: by its configuration, or what was written of it."""
    sizes = [folder.size_of(f"{name}/{file}") for file in (CONFIG, RESULT, _LOG)]
    if sizes[0] and "trial_name" in folder.read_object(f"{name}/{CONFIG}"):
        return True
    return bool(_TRIAL_FOLDER.fullmatch(name)) and any(size is not None for size in sizes)


def _one_trial(folder: RunFolder) -> Trials:
    trial = _trial(folder, ".")
    assert trial is not None, "it was there when the run was located"
    reader = HarborReader(begun=() if trial.size else ((trial.name, _begun(folder, trial, [])),))
    return Trials(folder, (trial,), reader)


def _job(folder: RunFolder) -> Trials:
    """A job's trials; those that its result embeds where it has no folders of trials."""
    found = tuple(trial for name in folder.folders() if (trial := _trial(folder, name)))
    by_source = _has_several_datasets(folder)
    if not found:
        return _embedded(folder, by_source=by_source)
    without = [trial for trial in found if trial.size is None]
    names = list(_names(folder, found)) if without else []
    begun = tuple((trial.name, _begun(folder, trial, names)) for trial in without)
    return Trials(folder, found, HarborReader(by_source=by_source, begun=begun))


def _embedded(folder: RunFolder, *, by_source: bool) -> Trials:
    size = folder.size_of(RESULT)
    if not size or _EMBEDDED not in folder.read_object(RESULT):
        raise CompareInputError(f"cannot read {folder.path}: the job has no folder of a trial")
    rows = listed(folder, RESULT)
    names = (str(row.get("trial_name")) if isinstance(row, Mapping) else "?" for row in rows)
    trials = tuple(Trial(name, RESULT, 0, entry) for entry, name in enumerate(names))
    return Trials(folder, trials, HarborReader(by_source=by_source), ((RESULT, size),))


def _begun(folder: RunFolder, trial: Trial, names: Sequence[str]) -> Begun:
    """The task of a trial without a result, called as the results of the other trials call it.

    Its own files name the task by its folder, without the organization that stands before it in results.
    """
    config = folder.read_object(f"{trial.name}/{CONFIG}")
    locked = dig(folder.read_object(f"{trial.name}/{_LOCK}"), ("task", "name"))
    path, name = (dig(config, ("task", field)) for field in ("path", "name"))
    found = name or locked or (Path(path).name if isinstance(path, str) else None) or trial.name.rpartition("__")[0]
    return Begun(_with_organization(str(found), names), _text(dig(config, ("task", "source"))))


def _with_organization(name: str, names: Sequence[str]) -> str:
    """A task's name as the results call it: the only one that ends in it, else with the organization of all of them."""
    if "/" in name:
        return name
    same = {other for other in names if other.rpartition("/")[2] == name}
    organizations = {other.rpartition("/")[0] for other in names}
    if len(same) == 1:
        return same.pop()
    if len(organizations) == 1 and (organization := organizations.pop()):
        return f"{organization}/{name}"
    return name


def _names(folder: RunFolder, trials: Sequence[Trial]) -> Iterator[str]:
    """The names of the tasks that have results."""
    for trial in trials:
        if trial.size:
            try:
                name = parse_object(folder.read(trial.file)).get("task_name")
            except CompareInputError:  # it is named when it is read
                continue
            if isinstance(name, str):
                yield name


def _has_several_datasets(folder: RunFolder) -> bool:
    datasets = folder.read_object(CONFIG).get(_DATASETS)
    return isinstance(datasets, list) and len(datasets) > 1


def _agents(folder: RunFolder) -> tuple[tuple[Any, Any], ...]:
    """The agents and models of a job, as it was configured."""
    agents = folder.read_object(CONFIG).get("agents")
    found = [agent for agent in agents if isinstance(agent, Mapping)] if isinstance(agents, list) else []
    return tuple((str(agent.get("name")), str(agent.get("model_name"))) for agent in found)


def _notes(job: Trials) -> tuple[Note, ...]:
    """What must be known of a job: trials that never began, and several agents in one run."""
    notes = []
    result = job.folder.read_object(RESULT)
    planned = result.get(_PLANNED)
    lost = planned - len(job.trials) if isinstance(planned, int) else 0
    if lost > 0:
        notes.append(Note(NoteKind.UNRECORDED, path=str(job.path), number=lost))
    agents = _agents(job.folder)
    if len(agents) > 1:
        named = tuple(f"{name} with {model}" for name, model in agents)
        said = f"the job ran {len(agents)} agents; their trials count as attempts of one"
        notes.append(Note(NoteKind.READER, tasks=named, path=str(job.path), field=said))
    return tuple(notes)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
