"""terminal-bench 1: a run's folder with one for each trial, or the results of a run in one file.

* `runs`: the runs, trials and results that the user named
* `rules`: what the result of a trial means
"""

from __future__ import annotations

import re
from itertools import islice

from nemo_gym.rollout_compare.producers.contract import LocatedRun, Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

RESULTS, METADATA, LOCK = "results.json", "run_metadata.json", "tb.lock"
#: What a run's file of results is called where it lies beside others: `<run>_results.json`.
RESULTS_ENDING = "_results.json"
#: A trial's folder: `<task>.<i>-of-<n>`, mostly with `.<run>` behind it.
TRIAL = re.compile(r"(?P<task>.+)\.(?P<attempt>\d+)-of-\d+(?:\..*)?")
_TRIAL_KEYS = {"trial_name", "is_resolved"}

_LOOKED_INTO = 10


def _seen(place: Glimpse) -> bool:
    """Whether a folder is a run or holds runs, or a file has results."""
    if not place.is_folder:
        return has_results(place)
    return _is_run(place) or any(_is_run(one) for one in islice(place.children(), _LOOKED_INTO) if one.is_folder)


def has_results(place: Glimpse) -> bool:
    """Whether a file has the results of a run, or of a trial."""
    return place.keys >= _TRIAL_KEYS or (
        "results" in place.keys and all(key.encode() in place.head for key in _TRIAL_KEYS)
    )


def is_trial(place: Glimpse) -> bool:
    """Whether a file has the result of one trial."""
    return not place.is_list and place.keys >= _TRIAL_KEYS


def _is_run(place: Glimpse) -> bool:
    if LOCK in place.names and METADATA in place.names:
        return True
    inner = (one for one in islice(place.children(), _LOOKED_INTO) if one.is_folder)
    if any(map(_holds_trials, (place, *inner))):
        return True
    files = [name for name in place.names if name == RESULTS or name.endswith(RESULTS_ENDING)]
    return any(has_results(place.child(name)) for name in files[:_LOOKED_INTO])


def _holds_trials(place: Glimpse) -> bool:
    """Whether any of the first folders in a folder is called like a trial's; a file may be a shard that is."""
    return any(TRIAL.fullmatch(name) and place.child(name).is_folder for name in place.names[:_LOOKED_INTO])


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.terminal_bench.runs import locate_runs

    return locate_runs(named)


TERMINAL_BENCH = Producer(
    "terminal-bench",
    _locate,
    seen=_seen,
    signs=f"folders called TASK.1-of-N, or {RESULTS} with is_resolved",
)
