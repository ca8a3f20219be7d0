"""The vocabulary: the values that one step of a comparison hands to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from os import PathLike
from typing import Any, Self

from msgspec import Struct

from nemo_gym.rollout_compare.schema.batch import Place
from nemo_gym.rollout_compare.schema.changes import Change, Cost, Parted, Truncated
from nemo_gym.rollout_compare.schema.figures import Evidence, JoinCheck, Rule, TestChanges
from nemo_gym.rollout_compare.schema.marks import Mark, Mask
from nemo_gym.rollout_compare.schema.notes import Note
from nemo_gym.rollout_compare.schema.provenance import Provenance
from nemo_gym.rollout_compare.schema.side import Side
from nemo_gym.rollout_compare.schema.statistics import Repeats, Statistics
from nemo_gym.rollout_compare.schema.transcripts import Transcripts
from nemo_gym.rollout_compare.text import masked_text

#: Two rewards are the same result when they differ by at most this much.
REWARD_TOLERANCE = 1e-9

#: How many lines of verifier output a report shows for a flip.
DEFAULT_TAIL = 15


class Category(StrEnum):
    """What became of a task. Every task has exactly one."""

    IDENTICAL = "identical"
    FLIPPED = "flipped"
    FLIPPED_AGENT_ERROR = "flipped_agent_error"
    MASKED = "masked"
    MISSING = "missing"


class Measured(Struct, frozen=True, gc=False):
    """The measured rows of a side that has masked ones too.

    Attributes:
        rows: How many there are; at least 1.
        reward: The mean of their rewards, correctly rounded.
        solved: How many of them have the reward 1, where every one's is 0 or 1; else None.
    """

    rows: int
    reward: float
    solved: int | None


class TaskSide(Struct, frozen=True, gc=False):
    """What one run says about one task.

    Attributes:
        rows: How many attempts the run has at the task; at least 1.
        reward: The mean of the finite rewards, correctly rounded; None without any.
        reward_rows: How many of the rows have a finite reward.
        mask: Why the side does not count, the reason of its first masked row; else None.
        mark: Why its result is doubtful, the first agent error of its rows; else None.
        failure_kind: The first failure kind among the unmasked rows, else None.
        solved: How many rows have the reward 1, where every row's is 0 or 1; else None. Where lower is better: 0.
        flaky: Whether its rows disagree.
        masked_rows: How many of the rows are masked.
        measured_part: The measured rows where others are masked; None where all or none are masked.
    """

    rows: int
    reward: float | None
    reward_rows: int
    mask: Mask | None = None
    mark: Mark | None = None
    failure_kind: str | None = None
    solved: int | None = None
    flaky: bool = False
    masked_rows: int = 0
    measured_part: Measured | None = None

    @property
    def measured(self) -> TaskSide | Measured | None:
        """What has the `rows`, `reward` and `solved` of the measured rows: the side itself where none is masked."""
        return self if self.mask is None else self.measured_part

    @property
    def masked(self) -> str | None:
        """Why the side does not count, in words; None where it does."""
        return masked_text(str(self.mask), self.masked_rows, self.rows) if self.mask else None

    @property
    def agent_error(self) -> str | None:
        """Why its result is doubtful, in words; None where it is not."""
        return str(self.mark) if self.mark else None

    @property
    def repeated(self) -> bool:
        """Whether the run tried the task more than once."""
        return self.rows > 1

    def reward_text(self) -> str:
        """The reward rounded to 4 places, with the number of rows it is the mean of."""
        text = reward_text(self.reward)
        if not self.repeated or self.reward is None:
            return text
        if self.reward_rows == self.rows:
            return f"{text} (mean of {self.rows} rows)"
        return f"{text} (mean of {self.reward_rows} of {self.rows} rows)"


def reward_text(reward: float | None) -> str:
    """A reward as a report shows it: rounded to 4 places, `none` without one."""
    return "none" if reward is None else repr(round(reward, 4) + 0.0)


class TaskComparison(Struct, frozen=True, gc=False):
    """One task in both runs.

    Attributes:
        task: The label.
        category: What became of it.
        old: What the old run says, None where it has no row of the task.
        new: What the new run says, None where it has no row of the task.
        winner: The run with the better reward, for both kinds of flips; else None.
    """

    task: str
    category: Category
    old: TaskSide | None
    new: TaskSide | None
    winner: Side | None = None

    def side(self, side: Side) -> TaskSide | None:
        """What the given run says about the task."""
        return self.old if side is Side.OLD else self.new

    @property
    def loser(self) -> Side | None:
        """The run with the lower reward, for both kinds of flips; else None."""
        return self.winner.other if self.winner else None


class Cluster(Struct, frozen=True):
    """Flips of one signature that are beyond noise; one flip alone is a cluster too.

    Attributes:
        signature: What they have in common.
        old_wins: How many of them the old run won.
        new_wins: How many of them the new run won.
        tasks: Their labels, sorted.
    """

    signature: str
    old_wins: int
    new_wins: int
    tasks: tuple[str, ...]


class OtherReasons(Struct, frozen=True):
    """Tasks that fail on both sides with equal rewards, for another reason.

    Attributes:
        old_signature: What made them fail on the old side.
        new_signature: What made them fail on the new side; the same where only their failed tests differ.
        tasks: Their labels, sorted.
    """

    old_signature: str
    new_signature: str
    tasks: tuple[str, ...]


class TaskRows(Struct, frozen=True):
    """A task of both runs, and the rows that tell most about it.

    Of a flip these are the losing run's worst row and the winning run's best, of equals the first.

    Attributes:
        comparison: The task.
        old: The old run's row.
        new: The new run's row.
        old_attempts: The first measured rows of the old run, where a side of a flip has several; else none.
        new_attempts: The same of the new run.
    """

    comparison: TaskComparison
    old: Place
    new: Place
    old_attempts: tuple[Place, ...] = ()
    new_attempts: tuple[Place, ...] = ()


class Flip(Struct, frozen=True):
    """A task whose rewards differ, and why.

    Attributes:
        comparison: The task; its category is one of the two kinds of flips.
        rows: The rows that tell most about it.
        old: What the old run's verifier said; None until it was looked up.
        new: What the new run's verifier said; None until it was looked up.
        tests: The single tests that broke and those that were fixed; None where either side's are not known.
        signature: The error that made the losing side fail with what varies taken out, None where it is not known.
        repeats: The flip seen through its attempts, None unless both runs have several, all of them 0 or 1.
        same_answer: Whether both rows end in the same answer, so that the verifier disagrees with itself.
        parted: Where the agents parted; None where it was not looked up, or a transcript is missing.
    """

    comparison: TaskComparison
    rows: TaskRows
    old: Evidence | None = None
    new: Evidence | None = None
    tests: TestChanges | None = None
    signature: str | None = None
    repeats: Repeats | None = None
    same_answer: bool = False
    parted: Parted | None = None

    @property
    def task(self) -> str:
        """The task's label."""
        return self.comparison.task

    def evidence(self, side: Side) -> Evidence | None:
        """What the given run's verifier said."""
        return self.old if side is Side.OLD else self.new


class CompareResult(Struct, frozen=True):
    """A finished comparison: everything that a report or summary says, before any text exists.

    Attributes:
        tasks: Every task, by label in Python's string order, anonymous failures last.
        old_key: The field that told the old run's tasks apart.
        new_key: The field that told the new run's tasks apart.
        old_rows: How many rows the old run has, failures that stand included.
        new_rows: How many rows the new run has, failures that stand included.
        old_masked_rows: How many of the old run's rows are masked.
        new_masked_rows: How many of the new run's rows are masked.
        old_prefix_stripped: The prefix taken off every label of the old run, with its slash, else None.
        new_prefix_stripped: The prefix taken off every label of the new run, with its slash, else None.
        keyed_by_taskset: Whether both runs' tasks are told apart by taskset and id.
        notes: What a reader must know to trust the numbers.
        flips: One for each flipped task, in the order of `tasks`.
        agreeing: The first identical tasks whose rows have verifier output on both sides.
        clusters: The flips gathered by signature, largest first.
        other_reasons: The agreeing tasks that fail on both sides for another reason, gathered, largest first.
        join_check: Whether the tasks that were joined were given the same input.
        statistics: Whether the difference is real, None where nobody asked.
        anonymous: How many failures that name no task stand at the end of `tasks`.
        gate: The rules that were asked for, held against the comparison.
        run: What was compared, and by what; None where the rows were at hand.
        transcripts: What the agents did at tasks that flipped, by label, as far as that was asked for.
        rows_at_hand: Whether its rows can be read again: not where it is from a summary.
        settings_compared: The settings that both runs tell.
        changes: Those that differ.
        costs: What the runs cost, by each measure that both tell.
        truncated: How many answers a limit cut off, None where neither run tells.
    """

    tasks: Sequence[TaskComparison]
    old_key: str
    new_key: str
    old_rows: int
    new_rows: int
    old_masked_rows: int
    new_masked_rows: int
    old_prefix_stripped: str | None = None
    new_prefix_stripped: str | None = None
    keyed_by_taskset: bool = False
    notes: tuple[Note, ...] = ()
    flips: tuple[Flip, ...] = ()
    agreeing: tuple[TaskRows, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    other_reasons: tuple[OtherReasons, ...] = ()
    join_check: JoinCheck = JoinCheck()
    statistics: Statistics | None = None
    gate: tuple[Rule, ...] = ()
    anonymous: int = 0
    run: Provenance | None = None
    transcripts: Mapping[str, Transcripts] = {}
    rows_at_hand: bool = True
    settings_compared: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    costs: tuple[Cost, ...] = ()
    truncated: Truncated | None = None

    def by_category(self, category: Category | str) -> list[TaskComparison]:
        """The tasks of one category, in the order of `tasks`."""
        wanted = Category(category)
        return [task for task in self.tasks if task.category is wanted]

    def counts(self) -> dict[str, int]:
        """How many tasks there are of each category and side; one masked on both sides counts for each."""
        tasks = {category: self.by_category(category) for category in Category}
        flipped, masked, missing = (tasks[name] for name in (Category.FLIPPED, Category.MASKED, Category.MISSING))
        return {
            "tasks": len(self.tasks),
            "identical": len(tasks[Category.IDENTICAL]),
            "flipped": len(flipped),
            "flipped_old_win": sum(task.winner is Side.OLD for task in flipped),
            "flipped_new_win": sum(task.winner is Side.NEW for task in flipped),
            "flipped_agent_error": len(tasks[Category.FLIPPED_AGENT_ERROR]),
            "masked": len(masked),
            "masked_old": sum(task.old is not None and task.old.mask is not None for task in masked),
            "masked_new": sum(task.new is not None and task.new.mask is not None for task in masked),
            "missing": len(missing),
            "missing_old_only": sum(task.new is None for task in missing),
            "missing_new_only": sum(task.old is None for task in missing),
        }

    def __repr__(self) -> str:
        """One line: how many tasks there are, and what became of them."""
        counts = ", ".join(f"{name}={number}" for name, number in self.counts().items() if number)
        verdict = f", verdict={self.statistics.verdict.value!r}" if self.statistics else ""
        return f"CompareResult({counts or 'tasks=0'}{verdict})"

    def _repr_html_(self) -> str:
        """The head of the report, for a notebook: a small table."""
        made: str = _report("frames").notebook_table(self)
        return made

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Self:
        """The result that a JSON summary was made from. Its rows cannot be read again; all else is there.

        Raises:
            CompareInputError: It cannot be read, or is not a summary of this version.
        """
        result: Self = _report("reading").read_summary(path)
        return result

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dict a task, in the order of `tasks`: the rows of `--table`."""
        records: list[dict[str, Any]] = _report("facts").records_of(self)
        return records

    def to_pandas(self) -> Any:
        """The records as a data frame; needs pandas."""
        import pandas as pd

        return pd.DataFrame(_report("frames").columns_of(self))

    def to_polars(self) -> Any:
        """The records as a data frame; needs polars."""
        import polars as pl

        return pl.DataFrame(_report("frames").columns_of(self), strict=False)


def _report(module: str) -> Any:
    """A module of `report`, which stands above this package: these methods are doors to it, opened when called."""
    return import_module(f"{__package__.rpartition('.')[0]}.report.{module}")
