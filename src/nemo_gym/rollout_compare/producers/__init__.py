"""How the runs of each producer are read. What a producer's fields are called is known here and nowhere else.

Each producer has a package or a file of its own. `PRODUCERS` is their table:

* `gym`: NeMo Gym
* `harbor`: Harbor
* `verifiers`: verifiers and prime-rl
* `inspect`: Inspect
* `lm_eval`: lm-evaluation-harness
* `swebench`: SWE-bench
* `openhands`: OpenHands
* `terminal_bench`: terminal-bench 1
* `nemo_evaluator`: NeMo Evaluator
* `promptfoo`: promptfoo
* `openai_evals`: OpenAI evals
* `tables`: tables of any origin

What they have in common:

* `contract`: what a producer's reader gives and is asked
* `recognize`: which producer a run is of
* `glimpse`: what is seen of a path at a glance
* `outputs`: what a field that may hold verifier output says
* `row_format`: what a producer of JSON rows calls its fields, and what they say
* `row_producer`: producers whose runs are files of such rows and nothing else
* `json_lines`: files of JSON rows as sources
* `json_rows`: a line to the values of a few fields
* `beside`: what stands in an object of a row beside the fields that are known
* `depth`: how deep a row may be nested
* `records`: files of JSON objects that a reader looks at one by one
* `one_file`: sources that are one file
* `documents`: whole JSON documents and archives of them
* `folders`: runs whose attempts each have a file of their own
* `trials`: one such attempt
* `inside`: files in the folder of a run, and none outside it
* `located`: runs that are files of one kind
* `attempts`: attempts that were found one by one, made into batches
* `rewards`: which metric is the reward, and its number
* `scores`: messages about the choice of a metric
* `verdicts`: a reward as a record has it
* `measures`: what an attempt cost
* `chat`: messages as a transcript
* `atif`: trajectories as a transcript
* `again`: rows read again
* `steps`: steps of a transcript, bounded and safe
* `seems`: what a file that holds no run seems to be
"""

from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.producers.contract import (
    Failures,
    LocatedRun,
    Piece,
    Plan,
    Producer,
    Readable,
    Run,
    Shard,
    would_hold,
)
from nemo_gym.rollout_compare.producers.depth import check_keys
from nemo_gym.rollout_compare.producers.gym import (
    NEMO_GYM,
    RowsAtHand,
    agent_error,
    load_rollouts,
    mask_reason,
    measured_failure_kind,
    task_id_of,
    tasksets_of,
)
from nemo_gym.rollout_compare.producers.harbor import HARBOR
from nemo_gym.rollout_compare.producers.inspect import INSPECT
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.lm_eval import LM_EVAL
from nemo_gym.rollout_compare.producers.nemo_evaluator import NEMO_EVALUATOR
from nemo_gym.rollout_compare.producers.openai_evals import OPENAI_EVALS
from nemo_gym.rollout_compare.producers.openhands import OPENHANDS
from nemo_gym.rollout_compare.producers.outputs import MOST_OUTPUT_CHARACTERS
from nemo_gym.rollout_compare.producers.promptfoo import PROMPTFOO
from nemo_gym.rollout_compare.producers.recognize import producer_of
from nemo_gym.rollout_compare.producers.scores import could_be_reward, to_choose_from
from nemo_gym.rollout_compare.producers.swebench import SWEBENCH
from nemo_gym.rollout_compare.producers.tables import TABLE
from nemo_gym.rollout_compare.producers.terminal_bench import TERMINAL_BENCH
from nemo_gym.rollout_compare.producers.verifiers import VERIFIERS

__all__ = [
    "MOST_OUTPUT_CHARACTERS",
    "PRODUCERS",
    "Failures",
    "LocatedRun",
    "Piece",
    "Plan",
    "Producer",
    "Readable",
    "RowsAtHand",
    "Run",
    "Shard",
    "agent_error",
    "check_keys",
    "could_be_reward",
    "dig",
    "load_rollouts",
    "locate_run",
    "mask_reason",
    "measured_failure_kind",
    "producer_of",
    "read_again",
    "task_id_of",
    "tasksets_of",
    "to_choose_from",
    "together",
    "would_hold",
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
