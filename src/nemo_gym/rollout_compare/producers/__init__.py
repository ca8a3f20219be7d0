"""How the runs of each producer are read. What a producer's fields are called is known here and nowhere else.

* `contract`: what a producer's reader gives and is asked
* `row_format`: what a producer of JSON rows calls its fields, and what they say
* `json_lines`: files of JSON rows as sources
* `json_rows`: a line to the values of a few fields
* `depth`: how deep a row may be nested
* `attempts`: attempts that were found one by one, made into batches
* `again`: rows read again
* `seems`: what a file that holds no run seems to be
* `gym`: NeMo Gym's rollouts
"""

from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.producers.contract import LocatedRun, Plan, Producer, Readable, Run, Shard
from nemo_gym.rollout_compare.producers.depth import check_keys
from nemo_gym.rollout_compare.producers.gym import NEMO_GYM

__all__ = [
    "PRODUCERS",
    "LocatedRun",
    "Plan",
    "Producer",
    "Readable",
    "Run",
    "Shard",
    "check_keys",
    "locate_run",
    "read_again",
    "together",
]

#: Every producer whose runs can be read, by its name.
PRODUCERS = {producer.name: producer for producer in (NEMO_GYM,)}


def locate_run(named: str) -> LocatedRun:
    """The run that the user named.

    Raises:
        CompareInputError: It is not clear which files are meant.
    """
    return NEMO_GYM.locate(named)
