"""OpenHands: rows of its benchmarks, and the failed ones beside them; or the report that they were made into.

* `files`: the rows, failed rows and reports that the user named
* `rows`: what a row says
* `history`: a row's history as a transcript
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.gym.fields import ASKED_FIELD
from nemo_gym.rollout_compare.producers.swebench import is_report

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

#: The file of rows with verdicts, the file of rows, that of failed rows, and the report that is made of the first.
JUDGED, ROWS, ERRORS, REPORT = (
    "output.swebench_eval.jsonl",
    "output.jsonl",
    "output_errors.jsonl",
    "output.report.json",
)
_ROLLOUTS = frozenset({ASKED_FIELD, "reward"})
_TELLING = frozenset({"metadata", "history", "instruction", "metrics", "instance"})


def is_rows(place: Glimpse) -> bool:
    """Whether a file has rows of OpenHands."""
    if place.keys & _ROLLOUTS:
        return False
    return {"instance_id", "test_result"} <= place.keys or _is_old(place)


def _is_old(place: Glimpse) -> bool:
    """Whether a file has rows of 2024, which may be called `id` and have no result."""
    return bool(place.keys & {"instance_id", "id"}) and len(place.keys & _TELLING) > 2


def _seen(place: Glimpse) -> bool:
    if not place.is_folder:
        return is_rows(place) or (place.path.name == REPORT and is_report(place))
    names = [name for name in (JUDGED, ROWS, ERRORS) if name in place.names]
    return any(is_rows(place.child(name)) for name in names) or is_report(place.child(REPORT))


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.openhands.files import locate_openhands

    return locate_openhands(named)


OPENHANDS = Producer("openhands", _locate, seen=_seen, signs=f"{JUDGED} or {ROWS}")
