"""Two tables to one list of tasks.

* `joined`: the join: which rows of two runs are attempts at one task
* `keys`: which field tells a run's tasks apart, and the proof that it does
* `candidates`: the fields that are tried as the key, each with what is wrong with it
* `labels`: what tasks are called: tasksets and prefixes
* `hints`: what an error says where no field tells tasks, or groups of them, apart
* `check`: the check of the join, by the inputs of tasks
* `asked`: what tables do not keep, from rows read again
* `planned`: the planned rows, and those of them that nothing became of
"""

from nemo_gym.rollout_compare.join.asked import values_of
from nemo_gym.rollout_compare.join.hints import no_such_field
from nemo_gym.rollout_compare.join.joined import Join, detect_task_key, join

__all__ = ["Join", "detect_task_key", "join", "no_such_field", "values_of"]
