"""The types that all packages use: the values that one step of a comparison hands to the next.

* `batch`: rows as a reader hands them over, and where they can be read again
* `identity`: what tells tasks and attempts apart
* `task_input`: what the system was asked, as a number and as a label
* `changes`: settings that differ, costs, where agents parted
* `settings`: what an attempt was run with, as short texts
* `marks`: what a row says against its own result
* `side`: old and new
* `tasks`: a task in both runs, its sides and its category
* `result`: flips, clusters, the result
* `figures`: evidence, changed tests, what a gate made of a result
* `transcripts`: what the agents did, side by side
* `statistics`: the figures of a comparison
* `subsets`: those of groups of tasks
* `verdicts`: what may be said of the new side, and why a figure is null
* `notes`: facts that a reader must know, by kind
* `provenance`: which files a result is of
* `errors`: the one error that a user sees
"""

from nemo_gym.rollout_compare.schema.batch import Batch, Direction, Output, Place, Record, Source, Step, Wanted, no_rows
from nemo_gym.rollout_compare.schema.changes import Carrier, Change, Cost, Parted, Ratio, Setting, Truncated
from nemo_gym.rollout_compare.schema.errors import CompareInputError, Fault
from nemo_gym.rollout_compare.schema.figures import Count, Evidence, JoinCheck, Probability, Rule, TestChanges, TestRate
from nemo_gym.rollout_compare.schema.identity import (
    MOST_CHARACTERS,
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
    Cluster,
    CompareResult,
    Flip,
    OtherReasons,
    TaskRows,
)
from nemo_gym.rollout_compare.schema.settings import (
    NONE,
    UNKNOWN_IF_ABSENT,
    long_text,
    named_parts,
    setting_text,
    setting_texts,
    summed_up,
)
from nemo_gym.rollout_compare.schema.side import Side
from nemo_gym.rollout_compare.schema.statistics import (
    ByChance,
    CarriedBy,
    Estimate,
    OfAttempts,
    OnTheseTasks,
    Repeats,
    Selection,
    Statistics,
    ToDecide,
    Unmeasured,
    WithoutAgentErrors,
)
from nemo_gym.rollout_compare.schema.subsets import Clustered, Subset, Subsets
from nemo_gym.rollout_compare.schema.task_input import input_label, input_labels, input_numbers, task_input
from nemo_gym.rollout_compare.schema.tasks import (
    REWARD_TOLERANCE,
    Category,
    Measured,
    TaskComparison,
    TaskSide,
    reward_text,
)
from nemo_gym.rollout_compare.schema.transcripts import Transcripts
from nemo_gym.rollout_compare.schema.verdicts import Conclusion, IntervalKind, Margin, SignificanceTest, Verdict, Why

__all__ = [
    "DEFAULT_TAIL",
    "MOST_CHARACTERS",
    "NONE",
    "REWARD_TOLERANCE",
    "UNKNOWN_IF_ABSENT",
    "Attempt",
    "Batch",
    "ByChance",
    "CarriedBy",
    "Carrier",
    "Category",
    "Change",
    "Cluster",
    "Clustered",
    "CompareInputError",
    "CompareResult",
    "Conclusion",
    "Cost",
    "Count",
    "Direction",
    "Estimate",
    "Evidence",
    "Fault",
    "FaultKind",
    "Fields",
    "Flip",
    "Identity",
    "IntervalKind",
    "JoinCheck",
    "KeyFault",
    "KeyKind",
    "Margin",
    "Mark",
    "Mask",
    "MaskKind",
    "Measured",
    "Note",
    "NoteKind",
    "OfAttempts",
    "OnTheseTasks",
    "OtherReasons",
    "Output",
    "Parted",
    "PassedKey",
    "Place",
    "Probability",
    "Provenance",
    "Ratio",
    "ReadFile",
    "Record",
    "Repeats",
    "Row",
    "Rule",
    "RunSource",
    "Selection",
    "Setting",
    "Side",
    "SignificanceTest",
    "Source",
    "Statistics",
    "Step",
    "Subset",
    "Subsets",
    "TaskComparison",
    "TaskRows",
    "TaskSide",
    "TestChanges",
    "TestRate",
    "ToDecide",
    "Transcripts",
    "Truncated",
    "Twins",
    "Unmeasured",
    "Verdict",
    "Wanted",
    "Why",
    "WithoutAgentErrors",
    "attempt_part",
    "attempt_parts",
    "identities_of",
    "identity_of",
    "input_label",
    "input_labels",
    "input_numbers",
    "kept",
    "label_of",
    "long_text",
    "named_parts",
    "no_rows",
    "reward_text",
    "setting_text",
    "setting_texts",
    "summed_up",
    "task_input",
    "text_of",
]
