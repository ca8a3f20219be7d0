"""The text of Ant's `junit` task, with its plain formatter.

Testsuite: MoneyTest
Tests run: 4, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.05 sec
Testcase: rounds took 0.003 sec
FAILED
expected:<4> but was:<3>
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_SUITE = "Testsuite: "
_TEST = re.compile(r"Testcase: (\S++)(?: took |$|:)")
_COUNTS = re.compile(r"Tests run: (\d{1,9}+), ")
_OUTCOMES = {"FAILED": Outcome.FAILED, "Caused an ERROR": Outcome.ERROR}


def read_ant(text: str) -> TestResults | None:
    """The tests that Ant names, as `class.test`."""
    if "Testcase: " not in text:
        return None
    collected, suite, test = Collector(), "", ""
    run: dict[str, int] = {}  # the counts stand twice
    for line in lines(text):
        said = line.strip()
        if said.startswith(_SUITE):
            suite, test = said.removeprefix(_SUITE), ""
        elif found := _TEST.match(said):
            test = f"{suite}.{found[1]}" if suite else found[1]
            collected.add(test, Outcome.PASSED)
        elif test and said in _OUTCOMES:
            collected.add(test, _OUTCOMES[said])
        elif test and said.startswith("SKIPPED"):
            collected.add(test, Outcome.SKIPPED, again=True)
        elif (counts := _COUNTS.match(said)) and suite:
            run[suite] = int(counts[1])
    return collected.results("ant", truncated=not run or len(collected.outcomes) < sum(run.values()))
