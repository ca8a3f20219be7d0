"""Inspect's logs: `.eval` archives, `.json` documents, and folders of them.

* `files`: which logs a run is of
* `fields`: the names of the parts of a log and their fields
* `source`: a log as a source of rows
* `log`: a log to its head and its samples
* `facts`: what a sample says of its result
* `records`: a sample that is shown
* `planned`: planned attempts without a record
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

ARCHIVE_ENDING = ".eval"
DOCUMENT_ENDING = ".json"
_DOCUMENT_KEYS = frozenset({"version", "status", "eval"})
_ZIP = b"PK"


def seems_log(place: Glimpse) -> bool:
    """Whether a path is a log, or a folder with archives."""
    if place.is_folder:
        return any(name.endswith(ARCHIVE_ENDING) for name in place.names)
    if place.path.name.endswith(ARCHIVE_ENDING):
        return True
    return is_document(place) or (place.head.startswith(_ZIP) and b"_journal/" in place.head)


def is_document(place: Glimpse) -> bool:
    """Whether a file is a log as a JSON document."""
    return not place.is_list and place.keys >= _DOCUMENT_KEYS


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.inspect.files import locate_logs

    return locate_logs(named)


#: Inspect as a producer of runs.
INSPECT = Producer(
    "inspect",
    _locate,
    seen=seems_log,
    signs="*.eval archives, or JSON documents with version, status and eval",
    endings=(ARCHIVE_ENDING,),
)
