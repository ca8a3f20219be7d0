"""The JSON summary's shape: its types, from which the schema is made. What other packages' values say stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from nemo_gym.rollout_compare.report.facts import Facts, TranscriptSummary
from nemo_gym.rollout_compare.schema import (
    Category,
    Cluster,
    Cost,
    Count,
    Evidence,
    JoinCheck,
    OtherReasons,
    Parted,
    Probability,
    Rule,
    Setting,
    Statistics,
    TestChanges,
    Truncated,
)

Winner: TypeAlias = Literal["old", "new"]


class SummaryFile(Struct, frozen=True):
    """A file that was read.

    Attributes:
        path: Its path as it was named or found.
        size: Its size in bytes, as it is stored.
        modified: When it was last changed, in UTC, as `2026-11-02T14:10:00Z`; null for a pipe or standard input.
    """

    path: str
    size: Count
    modified: str | None


class SummarySource(Struct, frozen=True):
    """Where a run's rows are from.

    Attributes:
        files: The files that were read, rollouts first.
        reader: What read them, by the kind of run.
        rows: How many rows they gave, failures that stand included.
    """

    files: list[SummaryFile]
    reader: str
    rows: Count


class SummaryRun(Struct, frozen=True):
    """What was compared, and by what.

    Attributes:
        version: The version of the program.
        options: The options that were given and may change what is said, by name.
        old: Where the old run's rows are from.
        new: Where the new run's rows are from.
    """

    version: str
    options: dict[str, Any]
    old: SummarySource
    new: SummarySource


class Counts(Struct, frozen=True):
    """How many tasks there are of each category and, where it tells more, of each side.

    Attributes:
        tasks: All tasks, anonymous failures included.
        identical: Rewards within the tolerance.
        flipped: Rewards differ and neither side has an agent error.
        flipped_old_win: Of `flipped`, those with the better reward on the old side.
        flipped_new_win: Of `flipped`, those with the better reward on the new side.
        flipped_agent_error: Rewards differ and a side has an agent error: rerun before counting.
        masked: Either side does not count.
        masked_old: Of `masked`, those whose old side is masked; a task masked on both sides is in both numbers.
        masked_new: Of `masked`, those whose new side is masked.
        missing: Tasks on one side only.
        missing_old_only: Of `missing`, those on the old side.
        missing_new_only: Of `missing`, those on the new side.
    """

    tasks: Count
    identical: Count
    flipped: Count
    flipped_old_win: Count
    flipped_new_win: Count
    flipped_agent_error: Count
    masked: Count
    masked_old: Count
    masked_new: Count
    missing: Count
    missing_old_only: Count
    missing_new_only: Count


class JoinedBy(Struct, frozen=True):
    """How the rows of the two sides were joined.

    Attributes:
        old_key: The field, as a dotted path, that names the task of an old row.
        new_key: The field, as a dotted path, that names the task of a new row.
        old_prefix_stripped: Taken off every old label, with the slash after it; null if nothing was.
        new_prefix_stripped: Taken off every new label, with the slash after it; null if nothing was.
        keyed_by_taskset: Whether both sides' labels are TASKSET/ID.
    """

    old_key: str
    new_key: str
    old_prefix_stripped: str | None
    new_prefix_stripped: str | None
    keyed_by_taskset: bool


class RepeatsSummary(Struct, frozen=True):
    """A flip seen through its attempts.

    Attributes:
        old: Solved of all attempts on the old side, as `3/4`.
        new: The same on the new side.
        p_value: Fisher's exact two-sided p.
        within_noise: Whether it is above 0.05, though so many attempts could have brought it below.
        too_few_attempts: Whether even all solved against none would leave it above 0.05.
    """

    old: Annotated[str, Meta(pattern="^[0-9]+/[0-9]+$")]
    new: Annotated[str, Meta(pattern="^[0-9]+/[0-9]+$")]
    p_value: Probability
    within_noise: bool
    too_few_attempts: bool


class ChangeSummary(Struct, frozen=True):
    """A setting that is another in the new run, by the rows of tasks that both runs have.

    Attributes:
        field: The setting.
        old: The 20 most common values of the old run's rows, each with how many rows have it. A long text is its length
            and a hash; no secret is told.
        new: The same of the new run.
        old_values: How many values the old run's rows have.
        new_values: The same of the new run.
        tasks: For how many tasks the values differ.
        total: How many tasks tell of the setting on both sides.
        first_difference: Where a long text first differs, the first character being 1, in the first such task; null
            for other settings, and where it was not looked up.
    """

    field: str
    old: Mapping[str, Count]
    new: Mapping[str, Count]
    old_values: Count
    new_values: Count
    tasks: Count
    total: Count
    first_difference: int | None


class FlipSummary(Struct, frozen=True):
    """Why a task flipped.

    Attributes:
        task: The label.
        category: One of the two kinds of flips.
        winner: The side with the better reward.
        old: The old side's verifier output; null where it was not looked up.
        new: The new side's.
        tests: Single tests that changed; null where the tests of a side are not known.
        signature: The error that made the losing side fail with what varies taken out; null if it is not known.
        repeats: Attempts that solved it; null unless both sides have two rows or more, all 0 or 1.
        same_answer: Whether both sides end in the same answer, so that the verifier disagrees with itself.
        parted: Where the agents parted; null where a transcript is missing, and after the first 100 flips.
        settings: The settings in which its two attempts differ, what matters most first.
    """

    task: str
    category: Literal["flipped", "flipped_agent_error"]
    winner: Winner
    old: Evidence | None
    new: Evidence | None
    tests: TestChanges | None
    signature: str | None
    repeats: RepeatsSummary | None
    same_answer: bool
    parted: Parted | None
    settings: list[Setting]


class Gate(Struct, frozen=True):
    """What the gate made of the comparison.

    Attributes:
        passed: Whether no rule is broken.
        rules: The rules of `--fail-on`, in the order in which they were given; empty without any.
    """

    passed: bool
    rules: list[Rule]


class SideSummary(Struct, frozen=True):
    """What one run says of one task.

    Attributes:
        reward: The mean of the finite rewards; null without any.
        rows: How many attempts there are.
        masked: Why the side does not count; null if it does.
        agent_error: The first agent error of its rows, or null.
        failure_kind: The first failure kind among its unmasked rows, or null.
    """

    reward: float | None
    rows: Annotated[int, Meta(ge=1)]
    masked: str | None
    agent_error: str | None
    failure_kind: str | None


class TaskSummary(Struct, frozen=True):
    """A task in both runs.

    Attributes:
        task: The label.
        category: What became of it.
        winner: The side with the better reward, for both kinds of flips; else null.
        old: What the old run says of it; null if it has no row of it.
        new: What the new run says of it; null if it has no row of it.
    """

    task: str
    category: Category
    winner: Winner | None
    old: SideSummary | None
    new: SideSummary | None


class Summary(Struct, frozen=True):
    """What `gym dev compare OLD NEW --json PATH` writes. Keys may be added at the top level only.

    Attributes:
        schema_version: The version of this shape.
        run: What was compared; null where the rows were at hand.
        counts: How many tasks there are of each category.
        join: How the rows of the two sides were joined.
        join_check: Whether the tasks that were joined were given the same input.
        statistics: Whether the difference is real, over the tasks that both sides measured.
        settings_compared: The settings that both runs tell.
        changes: Those that differ, what matters most first.
        costs: What the runs cost, by each measure that both tell.
        truncated: Answers that a limit cut off; null where neither run tells.
        flips: Why each flip flipped, both kinds, in the order of `tasks`.
        clusters: Flips of one signature that are beyond noise, largest first; one flip alone is a cluster too.
        other_reasons: Tasks that fail on both sides with equal rewards, for another reason, largest group first.
        gate: What `--fail-on` asked for, and whether it holds.
        notes: What a reader must know, as text, with every task that it is about.
        tasks: Every task, in the order of the labels; anonymous failures come last.
        transcripts: What the agents did at tasks that flipped, as far as `--transcripts` asked for it.
        facts: What the other keys say in words or not at all, for programs.
    """

    schema_version: Literal[1]
    run: SummaryRun | None
    counts: Counts
    join: JoinedBy
    join_check: JoinCheck
    statistics: Statistics | None
    settings_compared: list[str]
    changes: list[ChangeSummary]
    costs: list[Cost]
    truncated: Truncated | None
    flips: list[FlipSummary]
    clusters: list[Cluster]
    other_reasons: list[OtherReasons]
    gate: Gate
    notes: list[str]
    tasks: list[TaskSummary]
    transcripts: list[TranscriptSummary]
    facts: Facts
