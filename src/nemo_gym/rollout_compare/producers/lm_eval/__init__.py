"""The samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, beside `results_TIME.json`.

* `files`: which files of samples a run is of
* `layout`: what the rows of a file have in common: task, filters, metrics
* `results`: what the results beside them say
* `source`: files of samples as sources of rows
* `rows`: samples as rows, each with the chosen metric
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

SAMPLES, RESULTS = "samples_", "results"
ENDINGS = (".jsonl", ".json")

_ROW_KEYS = frozenset({"doc_id", "doc", "resps", "filtered_resps"})
_RESULTS_KEYS = frozenset({"results", "configs", "n-shot"})


def seems_samples(place: Glimpse) -> bool:
    """Whether a path has samples: a file, or a folder of them; or results, which lie beside samples."""
    if place.is_folder:
        names = [name for name in place.names if is_samples_name(name) or name.startswith(f"{RESULTS}_")]
        return any(is_samples_name(name) or is_results(place.child(name)) for name in names[:_MOST_PROBED])
    return place.keys >= _ROW_KEYS or is_results(place)


_MOST_PROBED = 20


def is_samples_name(name: str) -> bool:
    """Whether a file is named as samples are, compressed or not."""
    return name.startswith(SAMPLES) and any(f"{ending}." in f"{name}." for ending in ENDINGS)


def is_results(place: Glimpse) -> bool:
    """Whether a file holds the results of a run, without its samples."""
    return not place.is_list and place.keys >= _RESULTS_KEYS


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.lm_eval.files import locate_samples

    return locate_samples(named)


#: lm-evaluation-harness as a producer of runs.
LM_EVAL = Producer(
    "lm-eval",
    _locate,
    seen=seems_samples,
    signs=f"{SAMPLES}*.jsonl files, whose rows have doc_id, doc, resps and filtered_resps",
)
