"""The vocabulary of what is found out: evidence, changed tests, and what a gate made of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


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
