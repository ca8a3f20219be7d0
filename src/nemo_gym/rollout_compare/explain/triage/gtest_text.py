"""googletest's text.

    [ RUN      ] Money.Rounds
    t.cc:3: Failure
    [  FAILED  ] Money.Rounds (0 ms)
    [  FAILED  ] All/Tax.IsPositive/1, where GetParam() = -1 (0 ms)
    [==========] 5 tests from 2 test suites ran. (0 ms total)

At the end the failed tests are listed again. A test that began and never ended took its process with it.
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_MARKS = {
    "[       OK ] ": Outcome.PASSED,
    "[  FAILED  ] ": Outcome.FAILED,
    "[  SKIPPED ] ": Outcome.SKIPPED,
}
_RUN = "[ RUN      ] "
_WIDTH = len(_RUN)
_NAME = re.compile(r"([\w/]++\.[\w/]++)(?=$|,| \()")
_ENDED = re.compile(r"\[==========\] (\d{1,9}+) tests? from \d++ test (?:suite|case)s? ran")


def read_gtest(text: str) -> TestResults | None:
    """The tests that googletest names, as `Suite.Test`."""
    if _RUN not in text and "[  FAILED  ]" not in text:
        return None
    collected, running, ran = Collector(), "", None
    for line in lines(text):
        at = line.find("[ ")
        mark = line[at : at + _WIDTH] if at >= 0 else ""
        name = _NAME.match(line, at + _WIDTH)
        if name and mark == _RUN:
            running = name[1]
        elif name and mark in _MARKS and (ran is None or name[1] not in collected.outcomes):
            collected.add(name[1], _MARKS[mark])
            running = "" if name[1] == running else running
        elif found := _ENDED.match(line):
            ran = (ran or 0) + int(found[1])
    if running and ran is None:
        collected.add(running, Outcome.ERROR)
    return collected.results("gtest", truncated=ran is None or len(collected.outcomes) < ran)
