"""The JSON of mocha, jest, vitest and RSpec: a file beside the log, or the output itself.

What is cut off is read up to the cut: the tests are decoded one by one.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from nemo_gym.rollout_compare.explain.triage.results import BETWEEN, Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import without_escapes

_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "pending": Outcome.SKIPPED,
    "skipped": Outcome.SKIPPED,
    "todo": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
}

#: The array that holds the tests, by who writes it.
_ARRAY = re.compile(r'"(assertionResults|tests|examples)"\s*+:\s*+\[')
# What may stand between two values of an array.
_GAP = re.compile(r"[ \t\r\n,]*+")
#: JSON that is cut off is broken at one place; whatever is broken at many is something else.
_MOST_BROKEN = 50
_PENDING = re.compile(r'"pending"\s*+:\s*+\[')


def read_js_json(text: str) -> TestResults | None:
    """The tests that such JSON holds, named by their suites and titles."""
    if '"assertionResults"' not in text and '"stats"' not in text and '"examples"' not in text:
        return None
    collected = Collector()
    whole = True
    for tests, is_whole in _arrays(text):
        for test in tests:
            _add(collected, test)
        whole &= is_whole
    pending = _PENDING.search(text)
    for test, _ in items(text, pending.end()) if pending else ():
        if isinstance(test, dict) and isinstance(test.get("fullTitle"), str):
            collected.add(test["fullTitle"], Outcome.SKIPPED, again=True)
    return collected.results("json", truncated=not whole or not text.rstrip().endswith("}"))


def failure_messages(text: str) -> list[str] | None:
    """The first line of what each failed test of such JSON says; None if the text is none."""
    if '"assertionResults"' not in text and '"stats"' not in text and '"examples"' not in text:
        return None
    tests = (test for tests, _ in _arrays(text) for test in tests)
    messages = [message for test in tests if isinstance(test, dict) and (message := _message(test))]
    return messages or None


def _message(test: dict[str, Any]) -> str:
    """`failureMessages` of jest and vitest, `err` of mocha, `exception` of RSpec."""
    said = test.get("failureMessages")
    if isinstance(said, list) and said and isinstance(said[0], str):
        return without_escapes(said[0]).partition("\n")[0]
    error = test.get("err") or test.get("exception")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return ""
    message = without_escapes(error["message"]).strip().partition("\n")[0]
    name = error.get("name") or error.get("class")
    is_named = isinstance(name, str) and name not in {"Error", "RSpec::Expectations::ExpectationNotMetError"}
    return f"{name}: {message}" if is_named else message


def read_json_file(data: bytes) -> TestResults | None:
    """The tests of such a file."""
    return read_js_json(data.decode("utf-8-sig", "replace"))


def _arrays(text: str) -> Iterator[tuple[list[Any], bool]]:
    """The arrays of tests one after the other, each with whether it is whole; none within another."""
    broken = 0
    found = _ARRAY.search(text)
    while found and broken < _MOST_BROKEN:
        tests = list(items(text, found.end()))
        end = tests[-1][1] if tests else after_gap(text, found.end())
        is_whole = text[end : end + 1] == "]"
        broken += not is_whole
        yield [test for test, _ in tests], is_whole
        found = _ARRAY.search(text, end)


def items(text: str, position: int) -> Iterator[tuple[Any, int]]:
    """The values of a JSON array from a place within it, each with the place after it, until one cannot be decoded."""
    decoder = json.JSONDecoder()
    position = after_gap(text, position)
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        position = after_gap(text, position)
        yield value, position


def after_gap(text: str, position: int) -> int:
    """The place of the next value."""
    gap = _GAP.match(text, position)
    assert gap is not None  # it matches nothing as well
    return gap.end()


def _add(collected: Collector, test: Any) -> None:
    if not isinstance(test, dict):
        return
    status, name = test.get("status"), _name(test)
    if name and isinstance(status, str) and status in _OUTCOMES:
        collected.add(name, _OUTCOMES[status])
    elif name and isinstance(test.get("err"), dict):  # mocha: what failed has an error
        collected.add(name, Outcome.FAILED if test["err"] else Outcome.PASSED)


def _name(test: dict[str, Any]) -> str:
    suites, title = test.get("ancestorTitles"), test.get("title")
    if isinstance(suites, list) and isinstance(title, str):
        return BETWEEN.join([*(str(suite) for suite in suites), title])
    names = (test.get(key) for key in ("fullTitle", "full_description", "title"))
    return next((name for name in names if isinstance(name, str)), "")
