"""Runs to tables: in pieces, by as many processes as are worth starting.

* `runs`: whole runs: their shards, failed attempts and planned rows
* `reading`: sources to tables, piece by piece
* `pieces`: one piece to a table: the work of one process at a time
* `workers`: the processes
* `metrics`: which metrics there are where no attempt has the one that is the reward
* `provenance`: where a result's rows are from
* `rows_at_hand`: rows that a script has at hand to a table
"""

from nemo_gym.rollout_compare.engine.metrics import MOST_LOOKED_AT, check_metric, rewards_meant
from nemo_gym.rollout_compare.engine.pieces import Progress
from nemo_gym.rollout_compare.engine.provenance import same_file_notes, source_of_run
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.engine.workers import default_jobs, map_by_processes, may_fork

__all__ = [
    "MOST_LOOKED_AT",
    "Progress",
    "check_metric",
    "default_jobs",
    "map_by_processes",
    "may_fork",
    "rewards_meant",
    "run_tables",
    "same_file_notes",
    "source_of_run",
    "table_of",
]
