"""What became of single tests on one side, and what changed between two sides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct

from nemo_gym.rollout_compare.schema import TestChanges
from nemo_gym.rollout_compare.text.plain import safe_name


class Outcome(StrEnum):
    """What became of a test. A failure that was expected is `skipped`: it shows neither working code nor a fault."""

    SKIPPED = "skipped"
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


_SEVERITY = {outcome: rank for rank, outcome in enumerate(Outcome)}


class TestResults(Struct, frozen=True):
    """The single tests that an output names.

    Names are one printable line each. A name that stands for several tests (of two packages, of a test and its parts)
    has the worst of their outcomes: error, failed, passed, skipped.

    Attributes:
        outcomes: By test name, in the order of the output. Never empty: an output that names no test has no results.
        naming: Who gave the names: `pytest`, `unittest`, `go`, `go-json`, `cargo`, `junit` or `ctrf`. Names of two
            namings cannot be compared.
        truncated: Tests may have passed that are not named here: the output's start or end is cut off, or its program
            was told to name failures only. That a test is not named then means nothing.
    """

    __test__: ClassVar[bool] = False  # the name begins as that of a pytest class

    outcomes: Mapping[str, Outcome]
    naming: str
    truncated: bool = False

    def __reduce__(self) -> tuple[type["TestResults"], tuple[dict[str, Outcome], str, bool]]:
        """How it gets from one process to another: a mapping that nobody can change does not by itself."""
        return TestResults, (dict(self.outcomes), self.naming, self.truncated)


@dataclass(slots=True)
class Collector:
    """Tests as a reader comes upon them."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def add(self, name: str, outcome: Outcome) -> None:
        """Note what became of a test; a name without anything printable is no name."""
        name = safe_name(name)
        if name:
            known = self.outcomes.get(name, outcome)
            self.outcomes[name] = max(known, outcome, key=_SEVERITY.__getitem__)

    def results(self, naming: str, *, truncated: bool) -> TestResults | None:
        """The immutable results, or None if there are none."""
        return TestResults(MappingProxyType(self.outcomes), naming, truncated) if self.outcomes else None


def recorded_tests(outcomes: Mapping[str, str]) -> TestResults | None:
    """The tests of an attempt whose record says what became of each."""
    collected = Collector()
    for name, outcome in outcomes.items():
        collected.add(name, Outcome(outcome))
    return collected.results("record", truncated=False)


def compare_tests(old: TestResults | None, new: TestResults | None) -> TestChanges | None:
    """Which tests broke and which were fixed.

    A test that one side does not name did not pass there: it did not run, because its file could not be imported, its
    class could not be set up, or the run ended before it. It counts like a failed one, unless that side's output is
    truncated: then nobody knows, and it is left out.

    Returns:
        None where either side's tests are not known, or the sides name their tests in different ways.
    """
    if old is None or new is None or old.naming != new.naming:
        return None
    return TestChanges(broken=_only_passed_on(old, new), fixed=_only_passed_on(new, old))


def merge_tests(parts: Iterable[TestResults]) -> TestResults | None:
    """One side's results from several files of one naming (a JUnit file for each class); None if there are no parts.

    Parts of another naming than the first are left out.
    """
    collected = Collector()
    naming, truncated = None, False
    for part in parts:
        naming = naming or part.naming
        if part.naming == naming:
            truncated |= part.truncated
            for name, outcome in part.outcomes.items():
                collected.add(name, outcome)
    return None if naming is None else collected.results(naming, truncated=truncated)


def _only_passed_on(side: TestResults, other: TestResults) -> tuple[str, ...]:
    absent = Outcome.PASSED if other.truncated else Outcome.SKIPPED
    return tuple(
        sorted(
            name
            for name, outcome in side.outcomes.items()
            if outcome is Outcome.PASSED and other.outcomes.get(name, absent) is not Outcome.PASSED
        )
    )
