"""CTRF, the Common Test Report Format: one JSON object, tests under `results.tests`."""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.triage.js_json import items
from nemo_gym.rollout_compare.explain.triage.results import BETWEEN, Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import json_object

# The format's other word, "other", says that the program knows a fifth outcome: whatever it is, the test did not pass.
_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
}

_ARRAY = re.compile(r'"tests"\s*+:\s*+\[')


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
    merged = False
    for test in tests:
        if isinstance(test, dict) and isinstance(test.get("name"), str) and isinstance(test.get("status"), str):
            outcome = _OUTCOMES.get(test["status"], Outcome.ERROR)
            # pytest's plugin files the parameters of one test as attempts at it: one that failed must not be lost.
            attempts = _attempts(test) if naming == "pytest" else []
            merged = merged or bool(attempts)
            if outcome is Outcome.PASSED and "failed" in attempts:
                outcome = Outcome.FAILED
            collected.add_by_suite(_suite(test), test["name"], outcome)
    results = collected.with_suites().results(naming, truncated=truncated)
    return replace(results, merged=merged) if results and merged else results


def _attempts(test: dict[str, Any]) -> list[Any]:
    attempts = test.get("retryAttempts")
    return (
        [attempt.get("status") for attempt in attempts if isinstance(attempt, dict)]
        if isinstance(attempts, list)
        else []
    )


def _suite(test: dict[str, Any]) -> str:
    """The suite is text in older files and a list of its parts in newer ones."""
    suite = test.get("suite")
    parts = suite if isinstance(suite, list) else [suite]
    return BETWEEN.join(part for part in parts if isinstance(part, str))


def _tests_before_the_cut(text: str) -> Iterator[Any]:
    """Decode the array of tests one by one, until one cannot be."""
    start = _array_start(text)
    return (test for test, _ in items(text, start)) if start > 0 else iter(())


def _array_start(text: str) -> int:
    """Where the first test of a CTRF file begins, or -1. The summary has a `tests` too, which is a number."""
    found = _ARRAY.search(text) if '"results"' in text else None
    return found.end() if found else -1
