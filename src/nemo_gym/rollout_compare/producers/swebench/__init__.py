"""SWE-bench: a run's report, its instances' logs, and what leaderboards keep of them.

SWE-agent, mini-swe-agent and others leave predictions, which say nothing of success: their evaluation leaves these.

* `files`: the folders, logs and reports that the user named
* `instances`: the instances of a run as a source of attempts
* `reports`: what a run's report says of its instances
* `trajectories`: what SWE-agent and mini-swe-agent leave of each instance
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.gym.fields import ASKED_FIELD

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

#: The folder of all logs, and the files in that of an instance.
LOGS, REPORT = "logs/run_evaluation", "report.json"
LOG_FILES = ("test_output.txt", "run_instance.log")
PATCH = "patch.diff"
#: What leaderboards keep.
RESULTS, DETAILS = "results.json", "per_instance_details.json"
PREDICTIONS = (
    "preds.json",
    "all_preds.jsonl",
    "predictions.jsonl",
    "preds.jsonl",
    "predictions.json",
    "all_preds.json",
)

#: Lists of ids, in a run's report and in what older versions of the harness and leaderboards have.
LISTED = frozenset({"resolved_ids", "submitted_ids", "completed_ids", "unresolved_ids", "error_ids"})
OLD_LISTS = frozenset({"no_generation", "no_logs", "generated", "applied", "install_fail", "with_logs"})
PREDICTED = frozenset({"instance_id", "model_patch"})
_LOOKED_INTO = 20
#: What only rows with results have.
_RESULTS_KEYS = frozenset({"reward", ASKED_FIELD, "resolved", "score"})


def is_report(place: Glimpse) -> bool:
    """Whether a file is the report of a run."""
    return "resolved_ids" in place.keys and len(place.keys & LISTED) > 1


def is_old_report(place: Glimpse) -> bool:
    """Whether a file is such a report as leaderboards keep."""
    return "resolved" in place.keys and bool(place.keys & OLD_LISTS)


def is_details(place: Glimpse) -> bool:
    """Whether a file holds what became of each instance, by name."""
    return place.path.name == DETAILS


def is_predictions(place: Glimpse) -> bool:
    """Whether a file has predictions."""
    name = place.path.name
    if place.keys & _RESULTS_KEYS:
        return False
    return place.keys >= PREDICTED or (name in PREDICTIONS and name.endswith(".json") and not place.is_list)


def is_instance(place: Glimpse) -> bool:
    """Whether a folder is that of an evaluated instance."""
    names = place.names
    return place.is_folder and (REPORT in names or "run_instance.log" in names or {PATCH, "eval.sh"} <= set(names))


def has_instances(place: Glimpse) -> bool:
    """Whether a folder has those of instances."""
    return any(map(is_instance, islice(place.children(), _LOOKED_INTO)))


def _seen(place: Glimpse) -> bool:
    if not place.is_folder:
        return is_report(place) or is_old_report(place) or is_details(place)
    if place.child(LOGS).is_folder or is_instance(place) or has_instances(place):
        return True
    lines = [name for name in place.names if name.endswith(".jsonl")]
    if set(PREDICTIONS) & set(place.names) and set(lines) <= set(PREDICTIONS):
        return True
    if {RESULTS, DETAILS} & set(place.names) or RESULTS in place.child("results").names:
        files = (place.child(RESULTS), place.child("results").child(RESULTS))
        return DETAILS in place.names or any(is_old_report(one) or is_report(one) for one in files)
    below = (one for one in islice(place.children(), _LOOKED_INTO) if one.is_folder)
    return any(has_instances(one) or any(map(has_instances, islice(one.children(), 3))) for one in below)


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.swebench.files import locate_swebench

    return locate_swebench(named)


SWEBENCH = Producer(
    "swe-bench",
    _locate,
    seen=_seen,
    signs=f"{LOGS}, folders with {REPORT}, or a report with resolved_ids",
    refused=is_predictions,
)
