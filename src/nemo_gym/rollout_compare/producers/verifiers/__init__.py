"""verifiers and prime-rl: `results.jsonl` beside `metadata.json` (v0), or `traces.jsonl` (v1).

* `files`: the runs that the user named
* `results`: a row of version 0
* `episodes`: an episode of version 1
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.gym.fields import ASKED_FIELD

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

RESULTS, METADATA, TRACES = "results.jsonl", "metadata.json", "traces.jsonl"

_ROW_KEYS, _ENVIRONMENT = frozenset({"example_id", "completion", "reward"}), "env_id"
_EPISODE_KEYS, _TRACE_KEYS = frozenset({"task", "traces"}), frozenset({"task", "nodes", "rewards"})
_DEEPEST, _MOST_FOLDERS = 4, 500


def is_episodes(place: Glimpse) -> bool:
    """Whether a file holds episodes (v1)."""
    return place.keys >= _EPISODE_KEYS or place.keys >= _TRACE_KEYS


def is_results(place: Glimpse) -> bool:
    """Whether a file holds results (v0)."""
    return place.keys >= _ROW_KEYS and ASKED_FIELD not in place.keys


def runs_in(folder: Glimpse) -> list[Glimpse]:
    """The files that are runs, in a folder or not far below it; no more than some hundred folders are looked into."""
    found: list[Glimpse] = []
    level, looked_into = [folder], 0
    for _ in range(_DEEPEST + 1):
        runs = [_run_in(one) for one in level]
        found += [run for run in runs if run]
        looked_into += len(level)
        rest = (below for one, run in zip(level, runs, strict=True) if not run for below in one.children())
        level = list(islice((one for one in rest if one.is_folder), max(_MOST_FOLDERS - looked_into, 0)))
    return found


def _run_in(folder: Glimpse) -> Glimpse | None:
    """The run that lies in a folder itself."""
    traces, results = folder.child(TRACES), folder.child(RESULTS)
    if traces.path.is_file():
        return traces
    if results.path.is_file() and (_ENVIRONMENT in folder.child(METADATA).keys or is_results(results)):
        return results
    return None


def _seen(place: Glimpse) -> bool:
    if place.is_folder:
        return bool(runs_in(place))
    return is_results(place) or is_episodes(place)


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.verifiers.files import locate_verifiers

    return locate_verifiers(named)


VERIFIERS = Producer(
    "verifiers",
    _locate,
    seen=_seen,
    signs=f"{TRACES}, or {RESULTS} with {METADATA}",
)
