"""How the runs of each producer are read. What a producer's fields are called is known here and nowhere else.

* `contract`: what a producer's reader gives and is asked
* `row_format`: what a producer of JSON rows calls its fields, and what they say
* `json_lines`: files of JSON rows as sources
* `json_rows`: a line to the values of a few fields
* `beside`: what stands in an object of a row beside the fields that are known
* `depth`: how deep a row may be nested
* `attempts`: attempts that were found one by one, made into batches
* `again`: rows read again
* `steps`: steps of a transcript, bounded and safe
* `seems`: what a file that holds no run seems to be
* `gym`: NeMo Gym's rollouts
"""

from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.producers.contract import LocatedRun, Plan, Producer, Readable, Run, Shard
from nemo_gym.rollout_compare.producers.gym import NEMO_GYM
from nemo_gym.rollout_compare.producers.harbor import HARBOR
from nemo_gym.rollout_compare.producers.inspect import INSPECT
from nemo_gym.rollout_compare.producers.lm_eval import LM_EVAL
from nemo_gym.rollout_compare.producers.nemo_evaluator import NEMO_EVALUATOR
from nemo_gym.rollout_compare.producers.openai_evals import OPENAI_EVALS
from nemo_gym.rollout_compare.producers.openhands import OPENHANDS
from nemo_gym.rollout_compare.producers.promptfoo import PROMPTFOO
from nemo_gym.rollout_compare.producers.recognize import producer_of
from nemo_gym.rollout_compare.producers.swebench import SWEBENCH
from nemo_gym.rollout_compare.producers.tables import TABLE
from nemo_gym.rollout_compare.producers.terminal_bench import TERMINAL_BENCH
from nemo_gym.rollout_compare.producers.verifiers import VERIFIERS

__all__ = [
    "PRODUCERS",
    "LocatedRun",
    "Plan",
    "Producer",
    "Readable",
    "Run",
    "Shard",
    "locate_run",
    "read_again",
    "together",
]

#: Every producer whose runs can be read, by its name, in the order in which they are asked; the last takes what is
#: left. The order is that of the signs: a run's own folder layout first, then what the files in it hold.
PRODUCERS = {
    producer.name: producer
    for producer in (
        HARBOR,
        TERMINAL_BENCH,
        NEMO_EVALUATOR,
        VERIFIERS,
        OPENHANDS,
        SWEBENCH,
        INSPECT,
        LM_EVAL,
        PROMPTFOO,
        OPENAI_EVALS,
        TABLE,
        NEMO_GYM,
    )
}


def locate_run(named: str, format: str | None = None) -> LocatedRun:  # noqa: A002  # what the option is called
    """The run that the user named.

    Args:
        named: What the user named.
        format: The name of the producer whose run it is; it is found when None.

    Raises:
        CompareInputError: It is not clear which files are meant, or no producer knows them.
    """
    found = producer_of(named, PRODUCERS, format)
    return found.producer.locate(found.named)
