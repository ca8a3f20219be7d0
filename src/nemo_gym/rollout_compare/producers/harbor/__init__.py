"""Harbor: a job's folder with one for each trial, or one trial's folder.

* `jobs`: the jobs and trials that the user named
* `rules`: what the result of a trial means
* `exceptions`: which exceptions make a trial's reward worthless
* `evidence`: what a trial leaves beside its result
"""

from __future__ import annotations

from itertools import islice

from nemo_gym.rollout_compare.producers.contract import LocatedRun, Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

RESULT, CONFIG = "result.json", "config.json"
#: What the result of a trial has, what the configuration of a trial has, and what the result of a job has.
TRIAL_KEYS, BEGUN_KEYS, JOB_KEYS = {"trial_name", "task_name"}, {"trial_name", "task"}, {"n_total_trials", "stats"}

_LOOKED_INTO = 10


def _seen(place: Glimpse) -> bool:
    """Whether a folder is a trial, a job or holds jobs, or a file is the result of one."""
    if not place.is_folder:
        return place.keys >= TRIAL_KEYS or place.keys >= JOB_KEYS
    return is_trial(place) or _is_job(place) or any(map(_is_job, _folders(place)))


def is_trial(place: Glimpse) -> bool:
    """Whether a folder is that of a trial, finished or not."""
    return place.child(RESULT).keys >= TRIAL_KEYS or place.child(CONFIG).keys >= BEGUN_KEYS


def _is_job(place: Glimpse) -> bool:
    """Whether a folder has trials, or the result of a job."""
    return any(map(is_trial, _folders(place))) or place.child(RESULT).keys >= JOB_KEYS


def _folders(place: Glimpse) -> list[Glimpse]:
    """The first folders in a folder; those that are named like trials alone where there are any."""
    named = [name for name in place.names if "__" in name] or place.names
    return [one for one in map(place.child, islice(named, _LOOKED_INTO)) if one.is_folder]


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.harbor.jobs import locate_jobs

    return locate_jobs(named)


HARBOR = Producer(
    "harbor",
    _locate,
    seen=_seen,
    signs=f"a folder of trials, each with {RESULT} or {CONFIG}",
)
