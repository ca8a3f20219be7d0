"""The logs of OpenAI evals: one event a line, after a line that says what was run.

* `source`: a log as a source of rows
* `samples`: a sample as its events tell of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

if TYPE_CHECKING:
    from pathlib import Path

    from nemo_gym.rollout_compare.producers.contract import LocatedRun

NAME = "openai-evals"
_FIRST_KEY = "spec"
_EVENT_KEYS = frozenset({"run_id", "sample_id", "type", "data"})


def seems_log(place: Glimpse) -> bool:
    """Whether a file is a log."""
    return place.keys == {_FIRST_KEY} or place.keys >= _EVENT_KEYS


def _is_log(path: Path) -> bool:
    return seems_log(Glimpse(path))


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.located import LocatedFiles, located_paths
    from nemo_gym.rollout_compare.producers.openai_evals.source import EventLog

    return LocatedFiles(NAME, located_paths(named, "a log of OpenAI evals", _is_log), EventLog)


#: OpenAI evals as a producer of runs.
OPENAI_EVALS = Producer(NAME, _locate, seen=seems_log, signs="logs whose first line has spec alone")
