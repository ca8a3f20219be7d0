"""promptfoo's results: one JSON document, or one result a line.

* `source`: a file of results as a source of rows
* `forms`: the forms that results come in
* `results`: what one result says
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

if TYPE_CHECKING:
    from pathlib import Path

    from nemo_gym.rollout_compare.producers.contract import LocatedRun

NAME = "promptfoo"
_DOCUMENT_KEYS = (
    frozenset({"evalId", "results"}),
    frozenset({"results", "config", "shareableUrl"}),
    frozenset({"results", "stats", "table"}),
)
_ROW_KEYS = (frozenset({"testIdx", "testCase"}), frozenset({"promptIdx", "gradingResult", "vars"}))
_TABLE_KEYS = frozenset({"head", "body"})


def seems_results(place: Glimpse) -> bool:
    """Whether a file holds results."""
    wanted = (_TABLE_KEYS, *_ROW_KEYS, *_DOCUMENT_KEYS)
    return any(place.keys >= keys for keys in wanted)


def _is_results(path: Path) -> bool:
    return seems_results(Glimpse(path))


def _locate(named: str) -> LocatedRun:
    from pathlib import Path

    from nemo_gym.rollout_compare.producers.located import LocatedFiles, located_paths
    from nemo_gym.rollout_compare.producers.promptfoo.source import ResultsFile

    paths = located_paths(named, "a file of promptfoo's results", _is_results)
    if Path(named).is_dir():  # of one run that was written in several forms one is read
        stems = {path.name.partition(".")[0]: path for path in reversed(paths)}
        paths = tuple(sorted(stems.values()))
    return LocatedFiles(NAME, paths, ResultsFile)


#: promptfoo as a producer of runs.
PROMPTFOO = Producer(
    NAME,
    _locate,
    seen=seems_results,
    signs="JSON documents with evalId and results, or lines with testIdx and testCase",
)
