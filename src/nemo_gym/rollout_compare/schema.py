"""The vocabulary: the values that one step of a comparison hands to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

#: A rollout, a failed attempt or a planned row, as its JSON object.
Row = Mapping[str, Any]

#: Fields that may hold a task's id, best first.
KEY_CANDIDATES = (
    "_ng_task_id",
    "task_name",
    "task_id",
    "verifier_metadata.task_id",
    "verifier_metadata.task_name",
    "verifier_metadata.instance_id",
    "verifier_metadata.id",
)

#: Two rewards are the same result when they differ by at most this much.
REWARD_TOLERANCE = 1e-9

#: How many lines of verifier output a report shows for a flip.
DEFAULT_TAIL = 15


class CompareInputError(ValueError):
    """An input cannot be read or is not rollouts, or an output cannot be written.

    Its text is one line: what is wrong, where, and what to do. It never holds a line break.
    """


class Side(StrEnum):
    """One of the two runs."""

    OLD = "old"
    NEW = "new"

    @property
    def other(self) -> Side:
        """The run that this one is compared with."""
        return Side.NEW if self is Side.OLD else Side.OLD


class Category(StrEnum):
    """What became of a task. Every task has exactly one."""

    IDENTICAL = "identical"
    FLIPPED = "flipped"
    FLIPPED_AGENT_ERROR = "flipped_agent_error"
    MASKED = "masked"
    MISSING = "missing"


class RowSource(Protocol):
    """Where one row can be read again, whole."""

    @property
    def where(self) -> str:
        """The place as a message names it: `PATH:LINE`."""
        ...

    def read(self) -> Row:
        """Give the row, or raise `CompareInputError` when it is no longer there."""
        ...


@dataclass(frozen=True, slots=True)
class TaskSide:
    """What one run says about one task.

    Attributes:
        rows: How many attempts the run has at the task; at least 1.
        reward: The mean of the finite rewards, correctly rounded; None without any.
        reward_rows: How many of the rows have a finite reward.
        masked: Why the side does not count, else None.
        agent_error: The first agent error of the side's rows, else None.
        failure_kind: The first failure kind among the unmasked rows, else None.
    """

    rows: int
    reward: float | None
    reward_rows: int
    masked: str | None = None
    agent_error: str | None = None
    failure_kind: str | None = None

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


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """One task in both runs. A side is None where the run has no row of the task."""

    task: str
    category: Category
    old: TaskSide | None
    new: TaskSide | None

    def side(self, side: Side) -> TaskSide | None:
        """What the given run says about the task."""
        return self.old if side is Side.OLD else self.new

    @property
    def winner(self) -> Side | None:
        """The run with the higher reward, for both kinds of flips; else None."""
        if self.category not in (Category.FLIPPED, Category.FLIPPED_AGENT_ERROR):
            return None
        assert self.old is not None
        assert self.new is not None
        return Side.OLD if (self.old.reward or 0.0) > (self.new.reward or 0.0) else Side.NEW

    @property
    def loser(self) -> Side | None:
        """The run with the lower reward, for both kinds of flips; else None."""
        return self.winner.other if self.winner else None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The end of a row's verifier output, or why there is none.

    Attributes:
        source: `file`, `field`, or None when nothing was found.
        path: The file as it was looked up, or the field's name.
        lines: The last lines, as text that is safe to print.
        unavailable: Why there are no lines, or why the first place to look at was passed over.
    """

    source: Literal["file", "field"] | None
    path: str | None = None
    lines: tuple[str, ...] = ()
    unavailable: str | None = None


@dataclass(frozen=True, slots=True)
class Flip:
    """A task whose rewards differ, and the losing run's worst row (the first of equals).

    Attributes:
        comparison: The task; its category is one of the two kinds of flips.
        losing_row: Where the row with the lowest finite reward can be read again.
        evidence: What its verifier said; None until it was looked up.
    """

    comparison: TaskComparison
    losing_row: RowSource
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader must know to trust the numbers, and the tasks it is about."""

    message: str
    tasks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The note in full, with every task."""
        return f"{self.message}: {', '.join(self.tasks)}" if self.tasks else self.message


@dataclass(frozen=True)
class CompareResult:
    """A finished comparison: everything that a report or summary says, before any text exists.

    Attributes:
        tasks: Every task, by label in Python's string order, anonymous failures last.
        old_key: The field that told the old run's tasks apart.
        new_key: The field that told the new run's tasks apart.
        old_rows: How many rows the old run has, failures that stand included.
        new_rows: How many rows the new run has, failures that stand included.
        old_masked_rows: How many of the old run's rows are masked.
        new_masked_rows: How many of the new run's rows are masked.
        old_prefix_stripped: The prefix taken off every label of the old run, else None.
        new_prefix_stripped: The prefix taken off every label of the new run, else None.
        keyed_by_taskset: Whether both runs' tasks are told apart by taskset and id.
        notes: What a reader must know to trust the numbers.
        flips: One for each flipped task, in the order of `tasks`.
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
    flips: tuple[Flip, ...] = field(default=(), repr=False)

    def by_category(self, category: Category | str) -> list[TaskComparison]:
        """The tasks of one category, in the order of `tasks`."""
        return [task for task in self.tasks if task.category == category]

    def counts(self) -> dict[str, int]:
        """How many tasks there are of each category and, where it tells more, of each side.

        A task that is masked on both sides is counted in `masked_old` and in `masked_new`.
        """
        seen: Counter[tuple[Category, Side | None]] = Counter()
        masked: Counter[Side] = Counter()
        for task in self.tasks:
            seen[task.category, _side_that_tells(task)] += 1
            if task.category is Category.MASKED:
                masked.update(side for side in Side if (facts := task.side(side)) and facts.masked)
        total = {category: sum(n for (kind, _), n in seen.items() if kind is category) for category in Category}
        return {
            "tasks": len(self.tasks),
            "identical": total[Category.IDENTICAL],
            "flipped": total[Category.FLIPPED],
            "flipped_old_win": seen[Category.FLIPPED, Side.OLD],
            "flipped_new_win": seen[Category.FLIPPED, Side.NEW],
            "flipped_agent_error": total[Category.FLIPPED_AGENT_ERROR],
            "masked": total[Category.MASKED],
            "masked_old": masked[Side.OLD],
            "masked_new": masked[Side.NEW],
            "missing": total[Category.MISSING],
            "missing_old_only": seen[Category.MISSING, Side.OLD],
            "missing_new_only": seen[Category.MISSING, Side.NEW],
        }


def _side_that_tells(task: TaskComparison) -> Side | None:
    """The winner of a flip, the only side of a missing task; None for the rest."""
    if task.category is Category.MISSING:
        return Side.OLD if task.old else Side.NEW
    return task.winner
