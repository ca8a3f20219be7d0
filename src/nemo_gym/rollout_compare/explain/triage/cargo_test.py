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
from nemo_gym.rollout_compare.text.plain import lines

_TEST = "test "
_BETWEEN = " ... "
_RUNNING = re.compile(r"running (\d{1,9}+) tests?$")

_OUTCOMES = {
    "ok": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
}
_WORDS = tuple(_OUTCOMES)

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
    """

    collected: Collector = field(default_factory=Collector)
    expected: int = 0
    named: int = 0
    open: bool = False
    damaged: bool = False
    pending: str = ""

    def read(self, line: str) -> None:
        if running := _RUNNING.match(line):
            self.expected += int(running[1])
            self.pending, self.open = "", True
        elif line.startswith("test result: "):
            self.damaged |= not self.open
            self.pending, self.open = "", False
        elif line.startswith(_TEST) and _BETWEEN in line:
            name, _, rest = line.removeprefix(_TEST).partition(_BETWEEN)
            self.pending = _INTENT.sub("", name)
            self._read_outcome(rest)
        elif self.pending:
            self._read_outcome(line)

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
