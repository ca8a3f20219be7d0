"""The vocabulary of what else changed, what it cost, and where the agents parted."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from nemo_gym.rollout_compare.schema.batch import Place
from nemo_gym.rollout_compare.schema.figures import Count


class Change(Struct, frozen=True):
    """A setting that is another in the new run.

    Attributes:
        field: The setting.
        old: The most common values of the old run's rows, each with how many rows have it.
        new: The same of the new run.
        old_values: How many values the old run's rows have.
        new_values: The same of the new run.
        tasks: For how many joined tasks the values differ.
        total: How many joined tasks tell of the setting on both sides.
        rows: A row of each side in which it differs, where only length and hash of a long text are known; else None.
        first_difference: The first character that differs, from 1; None where it was not looked up.
    """

    field: str
    old: Mapping[str, int]
    new: Mapping[str, int]
    old_values: int
    new_values: int
    tasks: int
    total: int
    rows: tuple[Place, Place] | None = None
    first_difference: int | None = None


class Setting(Struct, frozen=True):
    """A setting in which two attempts differ.

    Attributes:
        field: The setting.
        old: Its value in the old attempt; a long text is its length and a hash.
        new: Its value in the new attempt.
    """

    field: str
    old: str
    new: str


class Ratio(Struct, frozen=True):
    """How many times of the old side's cost the new side's is, task by task.

    Attributes:
        tasks: The tasks that it is over: those whose cost is known and above 0 on both sides.
        times: The ratio of the geometric means; null under 6 tasks.
        ci_low: Lower end of its 95% interval, from Student's t on the paired logarithms.
        ci_high: Its upper end.
        reason: Why a figure is null.
    """

    tasks: Count
    times: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    reason: str | None = None


class Carrier(Struct, frozen=True):
    """A task that makes up most of the change of a cost.

    Attributes:
        task: Its label.
        share: Its part of all change, up and down, from 0 to 1.
    """

    task: str
    share: float


class Cost(Struct, frozen=True):
    """What the runs cost by one measure, over the tasks with a measured attempt on both sides.

    Attributes:
        measure: The measure.
        tasks: How many tasks tell it on both sides.
        mean_old: The old side's mean over them, a task being the mean of its measured attempts.
        mean_new: The new side's.
        ratio: The change as a factor.
        solved: The same over the tasks that both sides solved in every measured attempt.
        carried_by: The task that makes up more than half of all change, None without.
    """

    measure: str
    tasks: Count
    mean_old: float
    mean_new: float
    ratio: Ratio
    solved: Ratio
    carried_by: Carrier | None = None


class Truncated(Struct, frozen=True):
    """How many answers a limit cut off.

    Attributes:
        old: Of the old run's rows.
        old_known: How many of them tell.
        new: Of the new run's rows.
        new_known: How many of them tell.
    """

    old: Count
    old_known: Count
    new: Count
    new_known: Count


class Parted(Struct, frozen=True):
    """Where the two agents first acted differently.

    Attributes:
        step: Which of their acts it was, from 1; null where both acted the same to the end.
        old: What the old agent did there; null where it had ended.
        new: What the new agent did there; null where it had ended.
        old_steps: How many acts the old agent made.
        new_steps: How many the new one made.
    """

    step: int | None
    old: str | None
    new: str | None
    old_steps: Count
    new_steps: Count
