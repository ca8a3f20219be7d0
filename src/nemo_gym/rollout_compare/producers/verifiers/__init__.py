"""verifiers and prime-rl: `results.jsonl` beside `metadata.json` (v0), or `traces.jsonl` (v1)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

RESULTS, METADATA, TRACES = "results.jsonl", "metadata.json", "traces.jsonl"

_ROW_KEYS, _ENVIRONMENT = frozenset({"example_id", "completion", "reward"}), "env_id"
_EPISODE_KEYS, _TRACE_KEYS = frozenset({"task", "traces"}), frozenset({"task", "nodes", "rewards"})
_DEEPEST, _LOOKED_INTO = 4, 50


def is_episodes(place: Glimpse) -> bool:
    """Whether a file holds episodes (v1)."""
    return place.keys >= _EPISODE_KEYS or place.keys >= _TRACE_KEYS


def is_results(place: Glimpse) -> bool:
    """Whether a file holds results (v0)."""
    return place.keys >= _ROW_KEYS and "responses_create_params" not in place.keys


def runs_in(folder: Glimpse, deepest: int = _DEEPEST) -> list[Glimpse]:
    """The files in a folder and those below it that are runs, those of a folder before those of the next."""
    if TRACES in folder.names:
        return [folder.child(TRACES)]
    if RESULTS in folder.names and _ENVIRONMENT in folder.child(METADATA).keys | folder.child(RESULTS).keys:
        return [folder.child(RESULTS)]
    if RESULTS in folder.names and is_results(folder.child(RESULTS)):
        return [folder.child(RESULTS)]
    below = [one for one in islice(folder.children(), _LOOKED_INTO) if one.is_folder] if deepest else []
    return [run for one in below for run in runs_in(one, deepest - 1)]


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
