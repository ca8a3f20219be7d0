"""NeMo Evaluator: a bundle, which is a folder with one for each benchmark; also a benchmark's folder or its results.

* `bundles`: the bundles, benchmarks and results that the user named
* `rows`: what the fields of a result are called and say
"""

from __future__ import annotations

from itertools import islice

from nemo_gym.rollout_compare.producers.contract import LocatedRun, Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

BUNDLE, RESULTS, VERIFIED = "nel_run.json", "results.jsonl", "verified_log.jsonl"
_KEYS = {"problem_idx", "repeat", "reward"}

_LOOKED_INTO = 10


def _seen(place: Glimpse) -> bool:
    """Whether a folder is a bundle or a benchmark's, or a file has results."""
    if not place.is_folder:
        return place.keys >= _KEYS
    inner = (one for one in islice(place.children(), _LOOKED_INTO) if one.is_folder)
    return BUNDLE in place.names or any(one.child(RESULTS).keys >= _KEYS for one in (place, *inner))


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.nemo_evaluator.bundles import locate_bundle

    return locate_bundle(named)


NEMO_EVALUATOR = Producer(
    "nemo-evaluator",
    _locate,
    seen=_seen,
    signs=f"{BUNDLE}, or {RESULTS} with problem_idx and repeat",
)
