"""The types that all packages use: the values that one step of a comparison hands to the next.

* `batch`: rows as a reader hands them over, and where they can be read again
* `identity`: what tells tasks and attempts apart
* `task_input`: what the system was asked, as a number and as a label
* `result`: tasks, their sides and categories, the result
* `figures`: evidence, changed tests, statistics, what a gate made of them
* `errors`: the one error that a user sees
"""

from nemo_gym.rollout_compare.schema.batch import Batch, Output, Place, Record, Source, Step, Wanted, no_rows
from nemo_gym.rollout_compare.schema.errors import CompareInputError, Fault
from nemo_gym.rollout_compare.schema.figures import (
    Count,
    Evidence,
    JoinCheck,
    Probability,
    Repeats,
    Rule,
    SignificanceTest,
    Statistics,
    TestChanges,
    Unmeasured,
    Verdict,
)
from nemo_gym.rollout_compare.schema.identity import (
    Attempt,
    Fields,
    Identity,
    Row,
    attempt_part,
    attempt_parts,
    identities_of,
    identity_of,
    kept,
    label_of,
    text_of,
)
from nemo_gym.rollout_compare.schema.marks import Mark, Mask, MaskKind
from nemo_gym.rollout_compare.schema.notes import FaultKind, KeyFault, KeyKind, Note, NoteKind, PassedKey, Twins
from nemo_gym.rollout_compare.schema.provenance import Provenance, ReadFile, RunSource
from nemo_gym.rollout_compare.schema.result import (
    DEFAULT_TAIL,
    REWARD_TOLERANCE,
    Category,
    Cluster,
    CompareResult,
    Flip,
    TaskComparison,
    TaskRows,
    TaskSide,
    reward_text,
)
from nemo_gym.rollout_compare.schema.side import Side
from nemo_gym.rollout_compare.schema.task_input import input_label, input_labels, input_numbers, task_input

__all__ = [
    "DEFAULT_TAIL",
    "REWARD_TOLERANCE",
    "Attempt",
    "Batch",
    "Category",
    "Cluster",
    "CompareInputError",
    "CompareResult",
    "Count",
    "Evidence",
    "Fault",
    "FaultKind",
    "Fields",
    "Flip",
    "Identity",
    "JoinCheck",
    "KeyFault",
    "KeyKind",
    "Mark",
    "Mask",
    "MaskKind",
    "Note",
    "NoteKind",
    "Output",
    "PassedKey",
    "Place",
    "Probability",
    "Provenance",
    "ReadFile",
    "Record",
    "Repeats",
    "Row",
    "Rule",
    "RunSource",
    "Side",
    "SignificanceTest",
    "Source",
    "Statistics",
    "Step",
    "TaskComparison",
    "TaskRows",
    "TaskSide",
    "TestChanges",
    "Twins",
    "Unmeasured",
    "Verdict",
    "Wanted",
    "attempt_part",
    "attempt_parts",
    "identities_of",
    "identity_of",
    "input_label",
    "input_labels",
    "input_numbers",
    "kept",
    "label_of",
    "no_rows",
    "reward_text",
    "task_input",
    "text_of",
]
