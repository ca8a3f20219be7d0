"""Tables: any CSV, TSV, Parquet or JSON Lines file, or JSON list, that has an id and a score in every row.

* `files`: the tables that the user named
* `sources`: tables as sources of rows
* `parquet`: Parquet files
* `names`: what columns are called that say something known
* `columns`: which column of a table says what
* `rows`: what a row says
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.files import COMPRESSED_ENDINGS
from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.gym.fields import ASKED_FIELD, OWN_FIELDS
from nemo_gym.rollout_compare.producers.scores import GROUPS, SCORES, plain
from nemo_gym.rollout_compare.producers.tables.names import ASKED, IDS, REWARD

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.contract import LocatedRun

PARQUET_MAGIC = b"PAR1"
CSV, TSV, PARQUET, JSON, JSON_LINES = ".csv", ".tsv", ".parquet", ".json", ".jsonl"
#: What only NeMo Gym's rows have.
_ROLLOUTS, _OWN = ASKED_FIELD, OWN_FIELDS


def ending_of(name: str) -> str:
    """What a file's name ends in, without the ending that says how it is compressed."""
    lower = name.lower()
    for end in COMPRESSED_ENDINGS:
        lower = lower.removesuffix(end)
    return next((end for end in (CSV, TSV, PARQUET, JSON_LINES, JSON) if lower.endswith(end)), "")


def _seen(place: Glimpse) -> bool:
    if place.is_folder:
        return False
    if (ending_of(place.path.name) in (CSV, TSV) and place.head) or place.head.startswith(PARQUET_MAGIC):
        return True
    names = {plain(key) for key in place.keys}
    told = bool(names & {*SCORES, *GROUPS}) or any(name.partition(".")[0] in GROUPS for name in names)
    named = bool(names & {*IDS, *ASKED})
    if place.is_list:
        return named and (told or REWARD in names)
    rollouts = REWARD in names or _ROLLOUTS in names or any(name.startswith(_OWN) for name in place.keys)
    return named and told and not rollouts


def _locate(named: str) -> LocatedRun:
    from nemo_gym.rollout_compare.producers.tables.files import locate_table

    return locate_table(named)


TABLE = Producer(
    "table",
    _locate,
    seen=_seen,
    signs=f"{CSV}, {TSV}, {PARQUET} or {JSON_LINES} files with an id and a score",
    common=True,
)
