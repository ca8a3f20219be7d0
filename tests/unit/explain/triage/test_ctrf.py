import json

import pytest

from nemo_gym.rollout_compare.explain.triage import read_test_file, read_tests
from nemo_gym.rollout_compare.explain.triage.ctrf import read_ctrf
from tests.triage_support import SAMPLES, sample, words

DATA = (SAMPLES / "ctrf/ctrf.json").read_bytes()


def test_it_names_tests_as_pytest_does() -> None:
    results = read_test_file("logs/ctrf.json", DATA)

    assert results is not None
    by_text = words(read_tests(sample("pytest/verbose.txt")))
    # CTRF knows no errors.
    assert words(results) == {name: outcome.replace("error", "failed") for name, outcome in by_text.items()}
    assert results.naming == "pytest"
    assert not results.truncated


@pytest.mark.parametrize("size", range(2000, len(DATA) - 100, 1999))
def test_a_file_that_is_cut_off_gives_the_tests_before_the_cut(size: int) -> None:
    results = read_ctrf(DATA[:size])

    assert results is not None
    assert 0 < len(results.outcomes) <= 20
    assert words(results).items() <= words(read_ctrf(DATA)).items()
    assert results.naming == "pytest"
    assert results.truncated


def report(*tests: object, tool: object = None) -> bytes:
    return json.dumps({"results": {"tool": tool, "summary": {"tests": len(tests)}, "tests": tests}}).encode()


def test_each_status() -> None:
    statuses = ["passed", "failed", "skipped", "pending", "other", "unheard of"]
    results = read_ctrf(report(*({"name": status, "status": status} for status in statuses)))

    assert results is not None
    assert list(words(results).values()) == ["passed", "failed", "skipped", "skipped", "error", "error"]
    assert results.naming == "ctrf"


def test_what_is_no_test_is_left_out() -> None:
    data = report(5, None, {"name": 1, "status": "passed"}, {"name": "a"}, {"name": "b", "status": "passed"})

    assert words(read_ctrf(data)) == {"b": "passed"}


def test_a_byte_order_mark_and_broken_text_are_harmless() -> None:
    data = b'\xef\xbb\xbf{"results": {"tests": [{"name": "\xff\\ud800", "status": "passed"}]}}'

    results = read_ctrf(data)

    assert results is not None
    assert not results.truncated
    assert words(results) == {"\N{REPLACEMENT CHARACTER}\\ud800": "passed"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"5",
        b'{"results": 5}',
        b'{"results": {"tests": 5}}',
        b'{"results": {"tests": []}}',
        b'{"results": {"tests": [',
        b'{"results": {"tests": [[[',
        b'{"results": {"tests": 5, "tests"',
        b'{"tests": [{"name": "a", "status": "passed"},',
        b'{"results": {"tests": [' + b"[" * 100_000,
    ],
)
def test_a_file_without_tests(data: bytes) -> None:
    assert read_ctrf(data) is None


@pytest.mark.parametrize(("tool", "outcome"), [("pytest", "failed"), ("jest", "passed")])
def test_pytests_attempts_are_the_parameters_of_one_test_and_one_that_failed_is_not_lost(
    tool: str, outcome: str
) -> None:
    test = {"name": "a", "status": "passed", "retryAttempts": [7, {"status": "passed"}, {"status": "failed"}]}
    document = {"results": {"tool": {"name": tool}, "tests": [test]}}
    assert words(read_ctrf(json.dumps(document).encode())) == {"a": outcome}
