"""The text of sympy's own runner, with `verbose`.

sympy/core/tests/test_cache.py[6]
test_zz_broken E
test_lazy_function ok                                                     [FAIL]
=========== tests finished: 8 passed, 1 exceptions, in 0.08 seconds ============
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_FILE = re.compile(r"([^\s\[]++)\[\d++\] ")
_TEST = re.compile(r"(test\w*+) (ok|E|F|f|X|T|K|s|w)(?: ++\[(?:OK|FAIL)\])?+\s*+$")
_OUTCOMES = {"ok": Outcome.PASSED, "E": Outcome.ERROR, "F": Outcome.FAILED, "X": Outcome.PASSED, "T": Outcome.ERROR}
_START, _END = " test process starts ", "= tests finished: "


def read_sympy(text: str) -> TestResults | None:
    """The tests that sympy's runner names, as `file.py:test`."""
    if _START not in text and _END not in text:
        return None
    collected, file, began, ended = Collector(), "", False, False
    for line in lines(text):
        began |= _START in line
        ended |= _END in line
        if found := _FILE.match(f"{line} "):
            file = found[1]
        elif file and (found := _TEST.match(line)):
            collected.add(f"{file}:{found[1]}", _OUTCOMES.get(found[2], Outcome.SKIPPED))
    return collected.results("sympy", truncated=not (began and ended))
