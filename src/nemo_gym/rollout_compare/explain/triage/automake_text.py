"""A verdict, a colon and a name on each line, as automake, DejaGnu and the tests of Redis print it.

PASS: reads.sh
FAIL: rounds.sh
[ok]: SET and GET an item (3 ms)
[err]: MGET against non existing key in tests/unit/type/string.tcl
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_OUTCOMES = {
    "PASS": Outcome.PASSED,
    "XPASS": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "XFAIL": Outcome.SKIPPED,
    "SKIP": Outcome.SKIPPED,
    "ERROR": Outcome.ERROR,
    "ok": Outcome.PASSED,
    "err": Outcome.FAILED,
    "exception": Outcome.ERROR,
    "skip": Outcome.SKIPPED,
    "ignore": Outcome.SKIPPED,
}
_AUTOMAKE = re.compile(r"(PASS|XPASS|FAIL|XFAIL|SKIP|ERROR): (\S.*)")
_REDIS = re.compile(r"\[(ok|err|exception|skip|ignore)\]: (\S.*)")
_FILE = re.compile(r" in tests/\S++$")
_TIME = re.compile(r" \(\d++ ms\)$")
_TOTAL = re.compile(r"# TOTAL: ++(\d{1,9}+)")


def read_automake(text: str) -> TestResults | None:
    """The tests that stand behind a verdict. Some line must say that one passed: failures alone may be messages."""
    if "PASS: " not in text and "[ok]: " not in text:
        return None
    collected, total, ended = Collector(), 0, False
    for line in lines(text):
        if found := _AUTOMAKE.match(line):
            collected.add(found[2], _OUTCOMES[found[1]])
        elif found := _REDIS.match(line):
            name = found[2]
            cut = _FILE.search(name) if found[1] != "ok" and len(name) < 2_000 else _TIME.search(name[-20:])
            collected.add(name[: len(name) - len(cut[0])] if cut else name, _OUTCOMES[found[1]])
        elif found := _TOTAL.match(line):
            total, ended = total + int(found[1]), True
        ended |= line.startswith(("All tests passed", "!!! WARNING The following tests failed", "The End"))
    return collected.results("automake", truncated=not ended or len(collected.outcomes) < total)
