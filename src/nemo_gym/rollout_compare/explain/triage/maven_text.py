"""The text of Maven's Surefire and Failsafe: a line for each class, and one for each test that failed.

    [INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.229 s -- in org.acme.TaxTest
    [ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.2 s <<< FAILURE! -- in org.acme.MoneyTest
    [ERROR] org.acme.MoneyTest.rounds -- Time elapsed: 0.034 s <<< FAILURE!
    rounds(org.acme.MoneyTest)  Time elapsed: 0.034 s  <<< FAILURE!      <- Surefire 2

A class counts as a test, because the tests that passed in it are not named. It passed if all of them did.
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_CLASS = re.compile(r"Tests run: (\d{1,9}+), Failures: (\d{1,9}+), Errors: (\d{1,9}+), Skipped: (\d{1,9}+), Time ")
_IN = re.compile(r"--? in ([\w.$]++)$")
_RUNNING = re.compile(r"Running ([\w.$]++)$")
_MARKS = {"<<< FAILURE!": Outcome.FAILED, "<<< ERROR!": Outcome.ERROR}
_TEST = re.compile(r"(\w++[^\s(]*+)(?:\(([\w.$]++)\))?+(?:\[\d++\])?+ ++(?:-- )?+Time elapsed: ")
_TOTAL = re.compile(r"Tests run: \d++, Failures: \d++, Errors: \d++, Skipped: \d++$")
_LEVELS = ("[INFO] ", "[ERROR] ", "[WARNING] ")


def read_maven(text: str) -> TestResults | None:
    """The classes and failed tests that Surefire names: `package.Class` and `package.Class.test`."""
    if "Tests run: " not in text:
        return None
    collected, running, ended = Collector(), "", False
    for line in lines(text):
        level = next((level for level in _LEVELS if line.startswith(level)), "")
        said = line.removeprefix(level).strip()
        if found := _RUNNING.match(said):
            running = found[1]
        elif found := _CLASS.match(said):
            named = _IN.search(said)
            _add_class(collected, named[1] if named else running, found)
        elif mark := next((mark for mark in _MARKS if said.endswith(mark)), None):
            _add_test(collected, said, running, _MARKS[mark])
        elif _TOTAL.match(said):
            ended = True
    return collected.results("maven", truncated=not ended)


def _add_class(collected: Collector, name: str, counts: re.Match[str]) -> None:
    run, failures, errors, skipped = (int(count) for count in counts.groups())
    if name:
        outcome = Outcome.FAILED if failures else Outcome.ERROR if errors else Outcome.PASSED
        collected.add(name, Outcome.SKIPPED if skipped == run else outcome)


def _add_test(collected: Collector, said: str, running: str, outcome: Outcome) -> None:
    found = _TEST.match(said)
    if found:
        test, scope = found[1], found[2] or running
        collected.add(test if not scope or test.startswith(f"{scope}.") else f"{scope}.{test}", outcome)
