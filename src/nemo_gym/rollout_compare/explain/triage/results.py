"""What became of single tests on one side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.text import safe_name


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
    has the worst of their outcomes: error, failed, passed, skipped. A test that was tried again has its last one.

    Attributes:
        outcomes: By test name, in the order of the output. Never empty: an output that names no test has no results.
        naming: Who gave the names: `pytest`, `unittest`, `go`, `go-json`, `cargo`, `junit`, `ctrf` and so on. Names of
            two namings are compared by their endings.
        truncated: Tests may have passed that are not named here: the output's start or end is cut off, or its program
            was told to name failures only. That a test is not named then means nothing.
        merged: Some tests may stand for several: the output's text, if it names them, knows better.
    """

    __test__: ClassVar[bool] = False  # the name begins as that of a pytest class

    outcomes: Mapping[str, Outcome]
    naming: str
    truncated: bool = False
    merged: bool = False

    def __reduce__(self) -> tuple[type["TestResults"], tuple[dict[str, Outcome], str, bool, bool]]:
        """How it gets from one process to another: a mapping that nobody can change does not by itself."""
        return TestResults, (dict(self.outcomes), self.naming, self.truncated, self.merged)


_DEEPEST = 10

#: What stands between the parts of a name that is made of several.
BETWEEN = " > "


@dataclass(slots=True)
class Collector:
    """Tests as a reader comes upon them."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    suites: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    def add(self, name: str, outcome: Outcome, *, again: bool = False) -> None:
        """Note what became of a test; a name without anything printable is no name.

        If the name is known, the worse outcome counts; the later one if the test was tried `again`.
        """
        name = safe_name(name)
        if name:
            known = outcome if again else self.outcomes.get(name, outcome)
            self.outcomes[name] = max(known, outcome, key=_SEVERITY.__getitem__)

    def add_by_suite(self, suite: str, name: str, outcome: Outcome, *, again: bool = False) -> None:
        """Note what became of a test of a suite. See `with_suites`."""
        suites = self.suites.setdefault(safe_name(name), {})
        suite = safe_name(suite)
        known = outcome if again else suites.get(suite, outcome)
        suites[suite] = max(known, outcome, key=_SEVERITY.__getitem__)

    def with_suites(self) -> "Collector":
        """Name the tests that were noted by their suites: with the suite where the name occurs in several."""
        for name, suites in self.suites.items():
            for suite, outcome in suites.items():
                self.add(f"{suite}{BETWEEN}{name}" if len(suites) > 1 and suite else name, outcome)
        return self

    def leave_out_parents(self) -> None:
        """Leave out what is no test but holds some: `a` where there is `a > b`."""
        for name in list(self.outcomes):
            parts = name.split(BETWEEN)
            for end in range(1, min(len(parts), _DEEPEST)):
                self.outcomes.pop(BETWEEN.join(parts[:end]), None)

    def results(self, naming: str, *, truncated: bool) -> TestResults | None:
        """The immutable results, or None if there are none."""
        return TestResults(MappingProxyType(self.outcomes), naming, truncated) if self.outcomes else None


def recorded_tests(outcomes: Mapping[str, str]) -> TestResults | None:
    """The tests of an attempt whose record says what became of each."""
    collected = Collector()
    for name, outcome in outcomes.items():
        collected.add(name, Outcome(outcome))
    return collected.results("record", truncated=False)


def named_within(prefix: str, results: TestResults) -> TestResults:
    """The same results, with names that begin with the name of what the tests are a part of."""
    collected = Collector()
    for name, outcome in results.outcomes.items():
        collected.add(prefix + name, outcome)
    return replace(results, outcomes=MappingProxyType(collected.outcomes))


def merge_tests(parts: Iterable[TestResults]) -> TestResults | None:
    """One side's results from several files of one naming (a JUnit file for each class); None if there are no parts.

    Parts of another naming than the first are left out.
    """
    collected = Collector()
    naming, truncated, merged = None, False, False
    for part in parts:
        naming = naming or part.naming
        if part.naming == naming:
            truncated, merged = truncated | part.truncated, merged | part.merged
            for name, outcome in part.outcomes.items():
                collected.add(name, outcome)
    results = collected.results(naming, truncated=truncated) if naming else None
    return replace(results, merged=True) if results and merged else results
