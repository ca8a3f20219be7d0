"""The vocabulary of what is found out: evidence, changed tests, figures, and what a gate made of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Verdict(StrEnum):
    """What may be said of the new side, at the 5% level."""

    BETTER = "better"
    WORSE = "worse"
    NO_SIGNIFICANT_CHANGE = "no significant change"
    CANNOT_TELL = "cannot tell"


class SignificanceTest(StrEnum):
    """The test that gave the p-value."""

    MCNEMAR = "exact McNemar"
    SIGN_FLIP = "sign-flip permutation"


class Unmeasured(Struct, frozen=True):
    """How far the tasks that a side did not measure could have moved delta.

    Attributes:
        tasks: Number of masked or missing tasks.
        delta_worst: Delta over all tasks, had every unmeasured side been 0 or 1 to the new side's harm.
        delta_best: The same to the new side's good.
    """

    tasks: int
    delta_worst: float
    delta_best: float


class Statistics(Struct, frozen=True):
    """The paired figures of a comparison, in units of reward unless said otherwise.

    Attributes:
        n: Number of tasks measured on both sides.
        mean_old: Mean reward of the old side over them.
        mean_new: Mean reward of the new side over them.
        delta: Mean of the tasks' differences, new minus old.
        ci_low: Lower end of the 95% interval of delta.
        ci_high: Its upper end.
        old_wins: Number of tasks whose old reward is higher by more than 1e-9.
        new_wins: Number of tasks whose new reward is.
        p_value: Two-sided probability of a difference at least this large, were the sides interchangeable.
        test: The test it comes from.
        detectable: The true difference that so many tasks find in 80% of comparisons.
        verdict: The outcome in a word.
        reason: Why a figure is None or nothing can be told, and what it would take; None if there is no such case.
        unmeasured: Bounds of delta over all tasks; None if some reward lies outside 0 to 1, or there is no task at all.
    """

    n: Count
    mean_old: float | None
    mean_new: float | None
    delta: float | None
    ci_low: float | None
    ci_high: float | None
    old_wins: int
    new_wins: int
    p_value: Probability | None
    test: SignificanceTest | None
    detectable: float | None
    verdict: Verdict
    reason: str | None
    unmeasured: Unmeasured | None


class Repeats(Struct, frozen=True):
    """A flip seen through its attempts.

    Attributes:
        old_solved: How many attempts the old side solved.
        old_attempts: Of how many.
        new_solved: The same for the new side.
        new_attempts: Of how many.
        p_value: Fisher's exact two-sided p of the two counts: were both sides equally able, how often would chance
            alone split the solved attempts at least this unevenly?
        within_noise: Whether p_value is above 0.05. Categories never change for it. With 3 attempts a side p is never
            below 0.1, with 4 never below 0.029: fewer than 4 cannot lift a flip out of the noise.
    """

    old_solved: int
    old_attempts: int
    new_solved: int
    new_attempts: int
    p_value: float
    within_noise: bool


class Rule(Struct, frozen=True):
    """A rule of the gate, held against a comparison.

    Attributes:
        rule: The rule as it was given.
        value: What it looks at: a number of tasks, or the verdict.
        tripped: Whether the comparison breaks it.
    """

    rule: str
    value: int | str
    tripped: bool


class JoinCheck(Struct, frozen=True):
    """Whether the tasks that were joined are the same tasks by what the systems were asked.

    Attributes:
        joined: How many tasks both runs have.
        inputs_compared: For how many of these both runs tell the task's input.
        inputs_differ: For how many of these the inputs differ.
        tasks_differ: Their labels.
    """

    joined: Count = 0
    inputs_compared: Count = 0
    inputs_differ: Count = 0
    tasks_differ: tuple[str, ...] = ()


class Evidence(Struct, frozen=True):
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


class TestRate(Struct, frozen=True):
    """A test that passed in another share of the attempts.

    Attributes:
        test: Its name.
        old: In how many of the old side's attempts that tell of it it passed, as "2/4".
        new: The same on the new side.
    """

    __test__: ClassVar[bool] = False  # the name begins as that of a pytest class

    test: str
    old: str
    new: str


class TestChanges(Struct, frozen=True):
    """The single tests that changed from the old side to the new one, names in natural order.

    Attributes:
        broken: Passed on the old side and failed on the new one. Of several attempts: beyond noise.
        fixed: Passed on the new side and failed on the old one. Of several attempts: beyond noise.
        not_run: Passed on the old side and did not run on the new one, whose output is complete.
        changed: Passed in another share of the attempts, which may be noise.
    """

    __test__: ClassVar[bool] = False  # the name begins as that of a pytest class

    broken: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    changed: tuple[TestRate, ...] = ()

    def __bool__(self) -> bool:
        """Whether any test changed."""
        return bool(self.broken or self.fixed or self.not_run or self.changed)
