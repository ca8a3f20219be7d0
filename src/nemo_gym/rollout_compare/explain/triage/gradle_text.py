"""Gradle's text, where the build logs its tests: one line for each.

MoneyTest > rounds FAILED
java.lang.AssertionError at MoneyTest.java:4
MoneyTest > adds PASSED
4 tests completed, 2 failed, 1 skipped
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_OUTCOMES = {" PASSED": Outcome.PASSED, " FAILED": Outcome.FAILED, " SKIPPED": Outcome.SKIPPED}
_ENDED = re.compile(r"BUILD (?:SUCCESSFUL|FAILED) in ")
_COMPLETED = re.compile(r"(\d{1,9}+) tests completed")


def read_gradle(text: str) -> TestResults | None:
    """The tests that Gradle names, as `class > test`."""
    if " > " not in text or not any(word in text for word in _OUTCOMES):
        return None
    collected, completed, ended = Collector(), 0, False
    for line in lines(text):
        word = next((word for word in _OUTCOMES if line.endswith(word)), None)
        if word and " > " in line and not line[0].isspace():
            collected.add(line.removesuffix(word), _OUTCOMES[word])
        elif found := _COMPLETED.match(line):
            completed += int(found[1])
        ended |= bool(_ENDED.match(line))
    return collected.results("gradle", truncated=not ended or len(collected.outcomes) < completed)
