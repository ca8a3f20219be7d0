"""CTRF, the Common Test Report Format: one JSON object, tests under `results.tests`."""

import json
import re
from collections.abc import Iterator
from typing import Any

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text.plain import json_object

# The format's other word, "other", says that the program knows a fifth outcome: whatever it is, the test did not pass.
_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
}

# What may stand between two values of an array, and between a key and its array.
_GAP = re.compile(r"[ \t\r\n,:]*+")


def read_ctrf(data: bytes) -> TestResults | None:
    """The tests of a CTRF file; of one that is cut off, the tests before the cut."""
    text = data.decode("utf-8-sig", "replace")
    document = json_object(text)
    if document is None:
        naming = _naming(text[: text.find('"tests"')])
        return _collect(_tests_before_the_cut(text), naming, truncated=True)
    results = document.get("results")
    if not isinstance(results, dict) or not isinstance(tests := results.get("tests"), list):
        return None
    return _collect(iter(tests), _naming(json.dumps(results.get("tool"))), truncated=False)


def _naming(tool: str) -> str:
    """Pytest's own names are the same in a CTRF file as in its text."""
    return "pytest" if '"pytest"' in tool else "ctrf"


def _collect(tests: Iterator[Any], naming: str, *, truncated: bool) -> TestResults | None:
    collected = Collector()
    for test in tests:
        if isinstance(test, dict) and isinstance(test.get("name"), str) and isinstance(test.get("status"), str):
            collected.add(test["name"], _OUTCOMES.get(test["status"], Outcome.ERROR))
    return collected.results(naming, truncated=truncated)


def _tests_before_the_cut(text: str) -> Iterator[Any]:
    """Decode the array of tests one by one, until one cannot be."""
    decoder = json.JSONDecoder()
    position = _array_start(text)
    while 0 < position < len(text):
        try:
            test, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield test
        position = _after_gap(text, position)


def _array_start(text: str) -> int:
    """Where the first test of a CTRF file begins, or -1. The summary has a `tests` too, which is a number."""
    key = '"tests"'
    found = text.find(key) if '"results"' in text else -1
    while found >= 0:
        start = _after_gap(text, found + len(key))
        if text[start : start + 1] == "[":
            return _after_gap(text, start + 1)
        found = text.find(key, start)
    return -1


def _after_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    assert gap is not None  # it matches nothing as well
    return gap.end()
