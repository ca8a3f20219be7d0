"""What a Harbor trial leaves beside its result: the verifier's output, single tests, what the agent did."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.atif import steps_of
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.trials import Trial
from nemo_gym.rollout_compare.schema import Output, Step

#: The files that tell most, best first, in the folder of a trial; the first two also in that of a step.
OUTPUT_FILES = (
    "verifier/test-stdout.txt",
    "verifier/test-stderr.txt",
    "verifier/reward-details.json",
    "exception.txt",
    "trial.log",
)
_OF_STEPS = 2
_CTRF = "verifier/ctrf.json"
_TRAJECTORY = "agent/trajectory.json"
_MOST_CONTINUED = 100


class HarborFiles(Struct, frozen=True):
    """Where a trial's files are."""

    def asked_of(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Any:
        """The checksum of the task: the instruction is not in a result."""
        del folder, trial
        return row.get("task_checksum")

    def output(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Output:
        """The files with the verifier's output, those of the last step first; and the reports of single tests."""
        del row
        steps = list(_steps(folder, trial))
        names = [f"{step}{name}" for name in OUTPUT_FILES[:_OF_STEPS] for step in reversed(steps)]
        names = [f"{trial.name}/{name}" for name in (*names, *OUTPUT_FILES)]
        found = [path for name in names if (path := _filled(folder, name))]
        reports = {step: _filled(folder, f"{trial.name}/{step}{_CTRF}") for step in ("", *steps)}
        named = {os.path.realpath(path): step.removeprefix("steps/") for step, path in reports.items() if path}
        return Output(None, (), OUTPUT_FILES, tuple(found), reports=named)

    def transcript(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> tuple[Step, ...] | None:
        """The steps of the trajectories, of one step of the task after the other."""
        del row
        found: list[Step] = []
        for step in ("", *_steps(folder, trial)):
            for trajectory in _trajectories(folder, f"{trial.name}/{step}{_TRAJECTORY}"):
                found += steps_of(trajectory)
        return tuple(found) or None


def _steps(folder: RunFolder, trial: Trial) -> Iterator[str]:
    """The folders of a task's steps, as paths in the trial's folder with a slash behind."""
    if (folder.path / trial.name / "steps").is_dir():
        for name in folder.folders(f"{trial.name}/steps"):
            yield f"steps/{name}/"


def _filled(folder: RunFolder, name: str) -> Path | None:
    return folder.file(name) if folder.size_of(name) else None


def _trajectories(folder: RunFolder, name: str) -> Iterator[Mapping[str, Any]]:
    """A trajectory and the files beside it that it goes on in."""
    place = Path(name).parent
    seen: set[str] = set()
    while name not in seen and len(seen) < _MOST_CONTINUED:
        seen.add(name)
        trajectory = folder.read_object(name)
        yield trajectory
        more = trajectory.get("continued_trajectory_ref")
        if not isinstance(more, str) or not more:
            return
        name = str(place / Path(more).name)
