"""The vocabulary: the values that one step of a comparison hands to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any, Self

from msgspec import Struct

from nemo_gym.rollout_compare.schema.batch import Place
from nemo_gym.rollout_compare.schema.changes import Change, Cost, Parted, Setting, Truncated
from nemo_gym.rollout_compare.schema.figures import Evidence, JoinCheck, Rule, TestChanges
from nemo_gym.rollout_compare.schema.notes import Note
from nemo_gym.rollout_compare.schema.provenance import Provenance
from nemo_gym.rollout_compare.schema.side import Side
from nemo_gym.rollout_compare.schema.statistics import Repeats, Statistics
from nemo_gym.rollout_compare.schema.tasks import Category, TaskComparison
from nemo_gym.rollout_compare.schema.transcripts import Transcripts

#: How many lines of verifier output a report shows for a flip.
DEFAULT_TAIL = 15


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
        settings: The settings in which its two rows differ, what matters most first.
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
    settings: tuple[Setting, ...] = ()

    def __repr__(self) -> str:
        """A line: the task, who wins, and the signature where it is known."""
        winner = self.comparison.winner.value if self.comparison.winner else None
        return f"Flip({self.task!r}, winner={winner}, signature={self.signature!r})"

    @property
    def task(self) -> str:
        """The task's label."""
        return self.comparison.task

    @property
    def within_noise(self) -> bool:
        """Whether its attempts do not tell it from noise."""
        return self.repeats is not None and self.repeats.within_noise

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
        agreeing: The first identical tasks whose worst rows have verifier output on both sides.
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
        groups: By the name of a field that groups or relates tasks its value for each of `tasks`.
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
    groups: Mapping[str, Sequence[str]] = {}

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
        records: list[dict[str, Any]] = _report("frames").records_of(self)
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
