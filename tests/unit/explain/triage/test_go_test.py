import json
from collections.abc import Mapping

import pytest

from nemo_gym.rollout_compare.explain.triage import read_tests
from nemo_gym.rollout_compare.explain.triage.go_test import read_go_json, read_go_text
from tests.triage_support import sample, words

BASKET = {
    "TestAdd": "passed",
    "TestTable": "failed",
    "TestTable/zero": "passed",
    "TestTable/two_words": "failed",
    "TestTable/slash/inside": "passed",
    "TestTable/(paren)_x": "passed",
    "TestTable/zero#01": "passed",
    "TestParallel": "passed",
    "TestParallel/a": "passed",
    "TestParallel/b": "skipped",
    "TestSkipped": "skipped",
    "TestNoisy": "passed",
    "TestShared": "passed",
    "ExampleAdd": "passed",
}


def test_verbose_text() -> None:
    results = read_tests(sample("go/verbose.txt"))

    assert results is not None
    # TestShared passed in one package and failed in the other.
    others = {"TestPanics": "failed", "TestShared": "failed", "example.com/shop/bad": "error"}
    assert words(results) == BASKET | others
    assert results.naming == "go"
    assert not results.truncated


def test_events_tell_packages_apart() -> None:
    results = read_tests(sample("go/json.txt"))

    assert results is not None
    assert words(results) == {
        **{f"example.com/shop/basket.{name}": outcome for name, outcome in BASKET.items()},
        "example.com/shop/till.TestShared": "failed",
        "example.com/shop/till.TestPanics": "failed",
        "example.com/shop/bad": "error",
    }
    assert results.naming == "go-json"
    assert not results.truncated


def test_text_that_is_not_verbose_names_failures_only_and_says_so() -> None:
    results = read_tests(sample("go/plain.txt"))

    assert results is not None
    assert set(words(results).values()) == {"failed", "error"}
    assert results.truncated


@pytest.mark.parametrize(("kind", "package"), [("timeout", ""), ("timeout-json", "example.com/shop/hang.")])
def test_what_was_running_when_the_time_ran_out_is_an_error(kind: str, package: str) -> None:
    results = read_tests(sample(f"go/{kind}.txt"))

    assert results is not None
    assert words(results) == {package + "TestQuick": "passed", package + "TestHangs": "error"}
    assert not results.truncated


@pytest.mark.parametrize("kind", ["verbose", "json"])
@pytest.mark.parametrize("keep", [slice(None, 0.6), slice(0.4, None)], ids=["end is cut off", "start is cut off"])
def test_truncated_output_gives_what_it_has_and_says_so(kind: str, keep: slice) -> None:
    text = sample(f"go/{kind}.txt")
    start, stop = (int(len(text) * part) if part is not None else None for part in (keep.start, keep.stop))

    results = read_tests(text[start:stop])

    assert results is not None
    assert words(results).keys() < words(read_tests(text)).keys()
    assert results.truncated


@pytest.mark.parametrize(
    ("text", "outcomes", "truncated"),
    [
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n", {"TestA": "passed"}, False),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \tm\t(cached)\n", {"TestA": "passed"}, False),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", {"TestA": "passed"}, True),
        ("--- PASS: TestA (0.00s)\nPASS\n", {"TestA": "passed"}, True),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n=== RUN   TestB\n", {"TestA": "passed"}, True),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nFAIL\tm\t1s\n",
            {"TestA": "passed", "TestB": "error"},
            False,
        ),
        ("=== RUN   TestA\n--- PASS: TestA (0s)\n=== RUN   TestB\nok  \tm\t1s\n", {"TestA": "passed"}, False),
        ("=== RUN   TestA\nhalf--- SKIP: TestA (0.00s)\nPASS\n", {"TestA": "skipped"}, False),
        ("FAIL\tm [setup failed]\nFAIL\n", {"m": "error"}, False),
    ],
)
def test_text(text: str, outcomes: dict[str, str], truncated: bool) -> None:
    results = read_go_text(text)

    assert results is not None
    assert words(results) == outcomes
    assert results.truncated is truncated


@pytest.mark.parametrize(
    "text", ["said: --- PASS: TestA (0.00s)\n", "--- PASS: TestA\n", "=== RUN   TestA\nok  \tm\t1s\n", "--- PASS: \x01"]
)
def test_text_that_names_no_outcome(text: str) -> None:
    assert read_go_text(text) is None


def events(*of: Mapping[str, object]) -> str:
    return "".join(json.dumps({"Package": "m", **event}) + "\n" for event in of)


RUN = {"Action": "run", "Test": "TestA"}
PASS = {"Action": "pass", "Test": "TestA"}
END = {"Action": "pass"}


@pytest.mark.parametrize(
    ("text", "outcomes", "truncated"),
    [
        (events(RUN, PASS, END), {"m.TestA": "passed"}, False),
        (events(RUN, PASS), {"m.TestA": "passed"}, True),
        (events(PASS, END), {"m.TestA": "passed"}, True),
        ('{"Action":"ru\n' + events(RUN, PASS, END), {"m.TestA": "passed"}, True),
        (
            events(RUN, PASS, END, {"Action": "fail", "Package": "n", "FailedBuild": "n"}),
            {"m.TestA": "passed", "n": "error"},
            False,
        ),
        (
            events(RUN, {"Action": "output", "Test": "TestA", "Output": "x--- FAIL: TestA (0.00s)\n"}, END),
            {"m.TestA": "failed"},
            False,
        ),
        (
            events(RUN, {"Action": "output", "Test": "TestA", "Output": "--- PASS: TestA (0s)"}, PASS, END),
            {"m.TestA": "passed"},
            False,
        ),
        (
            events(RUN, {"Action": "output", "Test": "TestA", "Output": "--- FAIL: TestB (0s)"}, PASS, END),
            {"m.TestA": "passed"},
            False,
        ),
        (
            events(RUN, {"Action": "output", "Test": "TestA", "Output": 5}, {"Action": ["x"]}, PASS, END),
            {"m.TestA": "passed"},
            False,
        ),
    ],
)
def test_events(text: str, outcomes: dict[str, str], truncated: bool) -> None:
    results = read_go_json(text)

    assert results is not None
    assert words(results) == outcomes
    assert results.truncated is truncated


def test_other_lines_with_actions_are_no_events() -> None:
    assert read_go_json('"Action"\n{"Action": "pause", "Test": "a"}\n') is None


@pytest.mark.parametrize(
    ("action", "output", "outcome"),
    [
        ("fail", "panic: no way\n", "error"),
        ("pass", "panic: no way\n", "passed"),  # a test may print anything
        ("fail", "no way\n", "passed"),  # another one failed
    ],
)
def test_a_test_that_passed_with_a_panic_as_its_package_failed_is_an_error(
    action: str, output: str, outcome: str
) -> None:
    """As Go before 1.15 tells a panic."""
    told = [{"Action": "run"}, {"Action": "output", "Output": output}, {"Action": "pass"}]
    events = [*({**event, "Test": "TestA"} for event in told), {"Action": action}]
    results = read_go_json("\n".join(json.dumps({**event, "Package": "p"}) for event in events))
    assert words(results) == {"p.TestA": outcome}
