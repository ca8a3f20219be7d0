"""A task in both runs: what each says about it, and what became of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from nemo_gym.rollout_compare.schema.marks import Mark, Mask
from nemo_gym.rollout_compare.schema.side import Side
from nemo_gym.rollout_compare.text import masked_text

#: Two rewards are the same result when they differ by at most this much.
REWARD_TOLERANCE = 1e-9


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
        flaky: Whether its measured rows disagree.
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

    def __repr__(self) -> str:
        """A line: the task, what became of it, and both rewards."""
        rewards = [one.reward if one else None for one in (self.old, self.new)]
        return f"TaskComparison({self.task!r}, {self.category.value}, old={rewards[0]}, new={rewards[1]})"

    def side(self, side: Side) -> TaskSide | None:
        """What the given run says about the task."""
        return self.old if side is Side.OLD else self.new

    @property
    def measured(self) -> bool:
        """Whether both runs have a measured row of the task, though others may be masked."""
        return bool(self.old and self.old.measured and self.new and self.new.measured)

    @property
    def loser(self) -> Side | None:
        """The run with the lower reward, for both kinds of flips; else None."""
        return self.winner.other if self.winner else None
