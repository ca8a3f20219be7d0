"""unittest's text: the lines of `-v`, and the headers of what failed.

    test_a (test_m.TestT.test_a) ... ok
    test_b (test_m.TestT)                        <- Python 3.10 and older leave the method out
    First line of the docstring. ... FAIL
    ERROR: setUpClass (test_m.TestU)
    Ran 2 tests in 0.001s

A subtest counts for its test.
"""

import re
from dataclasses import dataclass, field

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_BETWEEN = " ... "

_HEADERS = {
    "FAIL: ": Outcome.FAILED,
    "ERROR: ": Outcome.ERROR,
    "UNEXPECTED SUCCESS: ": Outcome.FAILED,
}

_OUTCOMES = {
    "ok": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "expected failure": Outcome.SKIPPED,
    "unexpected success": Outcome.FAILED,
}

# "test_a (test_m.TestT.test_a)", and of a subtest "[message] (i=1)" behind it
_TEST = re.compile(r"(\S++) \(([^\s()]++)\)(?=$| [\[(])")

_RAN = re.compile(r"Ran (\d{1,9}+) tests? in ")


def read_unittest(text: str) -> TestResults | None:
    """The tests that unittest names, as `module.class.method`."""
    if not any(mark in text for mark in (_BETWEEN, *_HEADERS)):
        return None
    run = _Run()
    for line in lines(text):
        run.read(line.strip())
    return run.collected.results("unittest", truncated=not run.names_all())


@dataclass(slots=True)
class _Run:
    """A unittest run as its lines tell it.

    Attributes:
        ran: How many tests ran, by the run's last line; None until it came.
        pending: The test whose outcome is to come: the docstring or the test's own output may be in between.
    """

    collected: Collector = field(default_factory=Collector)
    ran: int | None = None
    pending: str = ""

    def read(self, line: str) -> None:
        header = next((header for header in _HEADERS if line.startswith(header)), None)
        if header:
            name = _test_name(line[len(header) :])
            if name:
                self.collected.add(name, _HEADERS[header])
        elif line.startswith(("=====", "Ran ")):
            self._read_end(line)
        else:
            self._read_verbose(line)

    def names_all(self) -> bool:
        """Whether the run came to its end and each test that it counts has been named."""
        return self.ran is not None and len(self.collected.outcomes) >= self.ran

    def _read_end(self, line: str) -> None:
        self.pending = ""
        if ran := _RAN.match(line):
            self.ran = (self.ran or 0) + int(ran[1])

    def _read_verbose(self, line: str) -> None:
        """`test ... outcome`; before Python 3.11 the next test follows on the line of one whose subtests failed."""
        for part in line.split(_BETWEEN):
            if name := _test_name(part.removesuffix(" ...")):
                self.pending = name
            elif self.pending and (outcome := _outcome(part)):
                self.collected.add(self.pending, outcome)
                self.pending = ""


def _test_name(text: str) -> str:
    """`method (module.class)`, with or without the method in it -> `module.class.method`; "" if it is no test."""
    test = _TEST.match(text)
    if not test or not ("." in test[2] or test[1].startswith(("setUp", "tearDown"))):
        return ""
    method, scope = test.groups()
    return scope if scope.endswith("." + method) else f"{scope}.{method}"


def _outcome(part: str) -> Outcome | None:
    """The outcome that the part is, or that ends it: what a test prints without a line's end is glued to it."""
    if part.startswith("skipped") or " skipped '" in part:
        return Outcome.SKIPPED
    return next((outcome for word, outcome in _OUTCOMES.items() if part.endswith(word)), None)
