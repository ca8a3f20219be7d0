"""CTest's text.

1/6 Test #1: reads ............................   Passed    0.00 sec
3/6 Test #3: waits ............................***Timeout   1.01 sec
20% tests passed, 4 tests failed out of 5
The following tests FAILED:
2 - writes (SEGFAULT)
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_TEST = re.compile(r" *+\d++/\d++ Test +#\d++: (\S++(?: \S++)*?) \.{2,}+")
_LISTED = re.compile(r"\s*+\d++ - (\S++(?: \S++)*?) \((?!Disabled)[^()]*+\)$")
_ENDED = re.compile(r"\d++% tests passed, (\d{1,9}+) tests failed out of (\d{1,9}+)")


def read_ctest(text: str) -> TestResults | None:
    """The tests that CTest names."""
    if " Test " not in text and "tests failed out of" not in text:
        return None
    collected, ran, failing = Collector(), None, False
    for line in lines(text):
        if found := _TEST.match(line):
            collected.add(found[1], _outcome(line[found.end() :].lstrip(". ")))
        elif found := _ENDED.match(line):
            ran = int(found[2])
        elif line.startswith("The following tests"):
            failing = line.startswith("The following tests FAILED")
        elif failing and (found := _LISTED.match(line)):
            collected.add(found[1], Outcome.FAILED)
    return collected.results("ctest", truncated=ran is None or len(collected.outcomes) < ran)


def _outcome(rest: str) -> Outcome:
    if rest.startswith("Passed"):
        return Outcome.PASSED
    if rest.startswith(("***Skipped", "***Not Run (Disabled)")):
        return Outcome.SKIPPED
    return Outcome.FAILED if rest.startswith("***Failed") else Outcome.ERROR
