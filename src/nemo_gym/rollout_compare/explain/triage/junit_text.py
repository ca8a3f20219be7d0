"""The text of JUnit's own programs: the console launcher and JUnitCore.

JUnit Jupiter > MoneyTest > adds() :: SUCCESSFUL        <- the launcher with --details=testfeed
+-- JUnit Jupiter [OK]                                  <- with --details=tree; in UTF-8 with lines and ticks
| +-- MoneyTest [OK]
| | +-- adds() [OK]
| | '-- rounds() [X] expected: <4> but was: <3>
[         2 tests found           ]

There was 1 failure:                                    <- JUnitCore, which names failed tests only
1) rounds(org.acme.MoneyTest)
java.lang.AssertionError: expected:<4> but was:<3>
Tests run: 2,  Failures: 1
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import BETWEEN, Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_MARKS = {
    **dict.fromkeys(("[OK]", "\u2714", "SUCCESSFUL"), Outcome.PASSED),
    **dict.fromkeys(("[X]", "\u2718", "FAILED"), Outcome.FAILED),
    **dict.fromkeys(("[S]", "\u21b7", "[A]", "\u25a0", "SKIPPED", "ABORTED"), Outcome.SKIPPED),
}
_NODE = re.compile(
    r"([ .|\u2502\u2577]{0,80})(?:\+--|'--|\u251c\u2500|\u2514\u2500|\u2570\u2500) "
    r"(\S.*?) (\[(?:OK|X|S|A)\]|[\u2714\u2718\u21b7\u25a0])(?= |$)"
)
_FEED = " :: "
_FOUND = re.compile(r"\[ +(\d{1,9}+) tests found +\]$")

_CORE_BEGINS = re.compile(r"There (?:was|were) \d++ failures?:$")
_CORE_FAILED = re.compile(r"[1-9]\d*+\) ([^\s(][^(]{0,300})\(([A-Za-z_$][\w.$]*+)\)$")
_CORE_ENDS = re.compile(r"Tests run: (\d{1,9}+), {2}Failures: (\d{1,9}+)$")


def read_launcher(text: str) -> TestResults | None:
    """The tests that JUnit's console launcher names, as `class > test`; which engine ran them is left out."""
    if " tests found " not in text and not any(mark in text for mark in ("+-- ", "\u251c\u2500 ", _FEED)):
        return None
    collected, above, total = Collector(), list[tuple[int, str]](), None
    for line in lines(text):
        if found := _NODE.match(line):
            depth = len(found[1])
            above = [(at, name) for at, name in above if at < depth]
            above.append((depth, found[2]))
            collected.add(BETWEEN.join(name for _, name in above[1:]), _MARKS[found[3]])
        elif found := _FOUND.match(line):
            total = (total or 0) + int(found[1])
        else:
            path, _, word = line.rpartition(_FEED)
            if word in _MARKS:
                collected.add(path.partition(BETWEEN)[2], _MARKS[word])
    collected.leave_out_parents()
    return collected.results("junit-text", truncated=total is None or len(collected.outcomes) < total)


def read_junit_core(text: str) -> TestResults | None:
    """The failed tests that JUnitCore names, as `class.test`."""
    if ",  Failures: " not in text and " failure:" not in text and " failures:" not in text:
        return None
    collected, begun, passed = Collector(), False, None
    for line in lines(text):
        if _CORE_BEGINS.match(line):
            begun = True
        elif begun and (found := _CORE_FAILED.match(line)):
            collected.add(f"{found[2]}.{found[1]}", Outcome.FAILED)
        elif found := _CORE_ENDS.match(line):
            passed, begun = int(found[1]) - int(found[2]), False
    return collected.results("junit-text", truncated=passed != 0)
