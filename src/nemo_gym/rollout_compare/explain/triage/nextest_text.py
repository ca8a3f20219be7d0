"""The text of `cargo nextest`.

PASS [   0.005s] shop basket::adds
FAIL [   0.007s] shop::it rounds
SIGABRT [   0.030s] (2/9) shop crashes
Summary [   0.012s] 9 tests run: 7 passed, 2 failed, 1 skipped
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_TEST = re.compile(r" ++(?:TRY (\d++) )?+([A-Z][\w-]*+) \[[^\]]*+\] (?:\([\d /]++\) )?+(\S++ \S++)$")
_OUTCOMES = {"PASS": Outcome.PASSED, "LEAK": Outcome.PASSED, "FLAKY": Outcome.PASSED, "SKIP": Outcome.SKIPPED}
_FAILED = {"FAIL": Outcome.FAILED, "TIMEOUT": Outcome.ERROR, "ABORT": Outcome.ERROR}
_RUN = re.compile(r" ++Summary \[[^\]]*+\] ++(\d{1,9}+)(?:/\d++)? tests? run: ")


def read_nextest(text: str) -> TestResults | None:
    """The tests that nextest names, as `binary test`; of a test that was tried again its last attempt counts."""
    if " PASS [" not in text and " FAIL [" not in text:
        return None
    collected, ran = Collector(), None
    for line in lines(text):
        if found := _RUN.match(line):
            ran = int(found[1])
        elif ran is None and (found := _TEST.match(line)):
            tried, word, name = found.groups()
            outcome = _OUTCOMES.get(word) or _FAILED.get(word)
            outcome = Outcome.ERROR if outcome is None and word.startswith("SIG") else outcome
            if outcome:
                collected.add(name, outcome, again=bool(tried))
    return collected.results("nextest", truncated=ran is None or len(collected.outcomes) < ran)
