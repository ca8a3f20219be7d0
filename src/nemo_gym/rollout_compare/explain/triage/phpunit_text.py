"""PHPUnit's text: it names the tests that did not pass.

There was 1 failure:
1) MoneyTest::testRate with data set "none" (0)
Failed asserting that 0 is greater than 0.
Tests: 6, Assertions: 4, Errors: 1, Failures: 2, Skipped: 1.
OK (6 tests, 9 assertions)
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_HEADING = re.compile(r"There (?:was|were) \d++ (\w++)(?: test)?+s?:$")
_OUTCOMES = {
    "error": Outcome.ERROR,
    "errors": Outcome.ERROR,
    "failure": Outcome.FAILED,
    "failures": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "incomplete": Outcome.SKIPPED,
    "risky": Outcome.PASSED,
}
_TEST = re.compile(r"\d++\) ([\w\\]++::\w++(?: with data set (?:\"[^\"]*+\"|#\S++))?+)")


def read_phpunit(text: str) -> TestResults | None:
    """The tests that PHPUnit names, as `Class::test`. Those that passed are not among them."""
    if "There w" not in text or "::" not in text:
        return None
    collected, outcome = Collector(), None
    for line in lines(text):
        if heading := _HEADING.match(line):
            outcome = _OUTCOMES.get(heading[1])
        elif outcome and (found := _TEST.match(line)):
            collected.add(found[1], outcome)
        elif line.startswith(("Tests: ", "OK (")):
            outcome = None
    return collected.results("phpunit", truncated=True)
