"""How the runs of each producer are read. What a producer's fields are called is known here and nowhere else."""

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
