"""`cargo test`: unit, integration and documentation tests, in the order of their binaries.

    running 2 tests
    test tests::adds ... ok
    test tests::panics - should panic ... FAILED
    test src/lib.rs - add (line 5) ... ignored
    test result: FAILED. 1 passed; 1 failed; 1 ignored; ...

A binary is named on the other output stream, which may have been kept elsewhere. So tests of one name in several
binaries share one entry, and it has their worst outcome.
"""

import re
from dataclasses import dataclass, field

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_TEST = "test "
_BETWEEN = " ... "
_RUNNING = re.compile(r"running (\d{1,9}+) tests?$")

_OUTCOMES = {
    "ok": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
}
_WORDS = tuple(_OUTCOMES)

_LISTED = re.compile(r" {4}\S")

# How a test is meant to end is no part of its name.
_INTENT = re.compile(r" - (?:should panic|compile fail|compile)$")


def read_cargo_test(text: str) -> TestResults | None:
    """The tests that `cargo test` names, without their crate."""
    if _TEST not in text or _BETWEEN not in text:
        return None
    run = _Run()
    for line in lines(text):
        run.read(line)
    return run.collected.results("cargo", truncated=not run.names_all())


@dataclass(slots=True)
class _Run:
    """The binaries' runs as their lines tell them.

    Attributes:
        expected: How many tests the binaries so far said that they run.
        named: How many of them have an outcome.
        open: Whether a binary has begun and not told its result.
        damaged: Whether something is missing for certain: a binary ended that never began.
        pending: The test whose outcome is to come: with `--nocapture` its own output is in between.
        mixed: Tests that began on one line, so that nobody knows whose the outcomes are.
        listing: Whether the failed tests are being listed.
    """

    collected: Collector = field(default_factory=Collector)
    expected: int = 0
    named: int = 0
    open: bool = False
    damaged: bool = False
    pending: str = ""
    mixed: list[str] = field(default_factory=list)
    listing: bool = False

    def read(self, line: str) -> None:
        if running := _RUNNING.match(line):
            self.expected += int(running[1])
            self.pending, self.open = "", True
        elif line.startswith("test result: "):
            self._settle_mixed(line)
            self.damaged |= not self.open
            self.pending, self.open, self.listing = "", False, False
        elif line.startswith("failures:"):
            self.listing = True
        elif self.listing and _LISTED.match(line):
            self._list_failed(line.strip())
        elif line.startswith(_TEST) and _BETWEEN in line:
            self._read_test(line.removeprefix(_TEST))
        elif self.pending:
            self._read_outcome(line)

    def _read_test(self, line: str) -> None:
        name, _, rest = line.partition(_BETWEEN)
        name = _INTENT.sub("", name)
        if rest.startswith(_TEST) and _BETWEEN in rest:
            self.pending = ""
            self.mixed.append(name)
            self._read_test(rest.removeprefix(_TEST))
        elif self.mixed and not _outcome(rest.rstrip()):
            self.mixed.append(name)
        else:
            self.pending = name
            self._read_outcome(rest)

    def _list_failed(self, name: str) -> None:
        name = _INTENT.sub("", name)
        if name in self.mixed:
            self.mixed.remove(name)
            self.named += 1
            self.collected.add(name, Outcome.FAILED)

    def _settle_mixed(self, result: str) -> None:
        """Of the tests whose outcomes are mixed up those passed that are not listed as failed, if none was ignored."""
        if " 0 ignored;" in result:
            for name in self.mixed:
                self.named += 1
                self.collected.add(name, Outcome.PASSED)
        self.mixed = []

    def names_all(self) -> bool:
        """Whether each binary came to its end and each test that it counted has been named."""
        return not self.open and not self.damaged and self.named == self.expected

    def _read_outcome(self, rest: str) -> None:
        outcome = _outcome(rest.rstrip())
        if outcome:
            self.collected.add(self.pending, outcome)
            self.named += 1
            self.pending = ""


def _outcome(rest: str) -> Outcome | None:
    """The outcome that the text is, or that ends it: what a test prints without a line's end is glued to it."""
    if rest.startswith("ignored, "):
        return Outcome.SKIPPED
    if rest.startswith("bench: "):
        return Outcome.PASSED
    if not rest.endswith(_WORDS):
        return None
    return next(outcome for word, outcome in _OUTCOMES.items() if rest.endswith(word))
