"""The text of minitest and test-unit, with `-v` or without.

TestMoney#test_adds = 0.00 s = .
1) Failure:                                                <- minitest
TestMoney#test_rounds [mini.rb:4]:
TestMoney:                                                   <- test-unit
test_adds:            .: (0.000326)
Failure: test_rounds(TestMoney)
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_LETTERS = {".": Outcome.PASSED, "F": Outcome.FAILED, "E": Outcome.ERROR, "S": Outcome.SKIPPED, "O": Outcome.SKIPPED}
_WORDS = {
    "Failure": Outcome.FAILED,
    "Error": Outcome.ERROR,
    "Skipped": Outcome.SKIPPED,
    "Omission": Outcome.SKIPPED,
    "Pending": Outcome.SKIPPED,
}

_MINITEST = re.compile(r"([^#]{1,200}+#test.*) = \d++\.\d++ s = ([.FES])$")
_HEADING = re.compile(r" *+\d++\) (Failure|Error|Skipped):$")
_NAMED = re.compile(r"([^#\[]{1,200}+#test[^\[]*+)(?: ?\[|:$|$)")
_TEST_UNIT = re.compile(r"(Failure|Error|Omission|Pending): .*?\b(test\w*+)\(([\w:]++)\)")
_CLASS = re.compile(r"([A-Z]\w*+(?:::\w++)*+): *+$")
_PASSED = re.compile(r" {2,}(test\w*+):\s++\.: \(")
_ENDED = re.compile(r"(\d{1,9}+) (?:runs|tests), \d++ assertions")


def read_ruby(text: str) -> TestResults | None:
    """The tests that minitest or test-unit names, as `Class#test`."""
    if " assertions" not in text and "#test" not in text:
        return None
    collected, heading, scope, ran = Collector(), None, "", None
    for line in lines(text):
        if found := _MINITEST.match(line):
            collected.add(found[1], _LETTERS[found[2]])
        elif found := _HEADING.match(line):
            heading = _WORDS[found[1]]
            continue
        elif heading and (found := _NAMED.match(line.strip())):
            collected.add(found[1].strip().removesuffix(":"), heading)
        elif found := _TEST_UNIT.match(line):
            collected.add(f"{found[3]}#{found[2]}", _WORDS[found[1]])
        elif found := _CLASS.match(line):
            scope = found[1]
        elif scope and (found := _PASSED.match(line)):
            collected.add(f"{scope}#{found[1]}", Outcome.PASSED)
        elif found := _ENDED.match(line):
            ran = (ran or 0) + int(found[1])
        heading = None
    return collected.results("ruby", truncated=ran is None or len(collected.outcomes) < ran)
