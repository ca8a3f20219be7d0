"""NeMo Gym's rollouts: what its rows are called and say, and the files that a run leaves beside them.

* `fields`: the names of its fields
* `rows`: how its rows are read
* `facts`: what a row says of its result and its task
* `verdicts`: single tests that a row tells of, and the final answer
* `extras`: how a rollout was run and what that cost
* `transcript`: what the agent did
* `failures`: the failed attempts that still stand
* `files`: the files of a run
* `at_hand`: rollouts that a script has at hand
"""

from nemo_gym.rollout_compare.producers.gym.at_hand import RowsAtHand
from nemo_gym.rollout_compare.producers.gym.facts import (
    agent_error,
    mask_reason,
    measured_failure_kind,
    task_id_of,
    tasksets_of,
)
from nemo_gym.rollout_compare.producers.gym.files import NEMO_GYM, load_rollouts

__all__ = [
    "NEMO_GYM",
    "RowsAtHand",
    "agent_error",
    "load_rollouts",
    "mask_reason",
    "measured_failure_kind",
    "task_id_of",
    "tasksets_of",
]
