import pytest

from nemo_gym.rollout_compare.explain.triage import read_tests
from nemo_gym.rollout_compare.explain.triage.cargo_test import read_cargo_test
from tests.triage_support import sample, words

UNIT_AND_INTEGRATION = {
    "tests::adds": "passed",
    "tests::panics": "passed",
    "tests::ignored": "skipped",
    "tests::ignored_with_reason": "skipped",
    "tests::shared": "failed",  # passes in the library, fails in the integration tests
    "tests::indexes": "failed",
    "does_not_panic": "failed",
    "whole": "passed",
}
DOCUMENTATION = {
    "src/lib.rs - add (line 5)": "passed",
    "src/lib.rs - add (line 9)": "passed",
    "src/lib.rs - add (line 13)": "passed",
    "src/lib.rs - add (line 17)": "skipped",
    "src/lib.rs - add (line 21)": "failed",
}


@pytest.mark.parametrize("kind", ["all", "colour", "uncaptured"])
def test_all_binaries(kind: str) -> None:
    results = read_tests(sample(f"cargo/{kind}.txt"))

    assert results is not None
    assert words(results) == UNIT_AND_INTEGRATION | DOCUMENTATION
    assert results.naming == "cargo"
    assert not results.truncated


def test_a_run_that_stopped_itself_is_not_truncated() -> None:
    results = read_tests(sample("cargo/first-failure.txt"))

    assert results is not None
    assert words(results) == UNIT_AND_INTEGRATION
    assert not results.truncated


def test_code_that_does_not_compile_has_no_tests() -> None:
    assert read_tests(sample("cargo/compile-error.txt")) is None


@pytest.mark.parametrize("keep", [slice(None, 700), slice(-1300, None)], ids=["end is cut off", "start is cut off"])
def test_truncated_output_gives_what_it_has_and_says_so(keep: slice) -> None:
    results = read_tests(sample("cargo/all.txt")[keep])

    assert results is not None
    assert 0 < len(results.outcomes) < len(UNIT_AND_INTEGRATION | DOCUMENTATION)
    assert results.truncated


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("test a::b ... ok", "a::b", "passed"),
        ("test a - should panic ... FAILED", "a", "failed"),
        ("test src/a.rs - b (line 3) - compile ... ok", "src/a.rs - b (line 3)", "passed"),
        ("test a ... ignored, needs ok", "a", "skipped"),
        ("test a ... bench:          12 ns/iter (+/- 1)", "a", "passed"),
        ("test a ... printed\nmore\nFAILED", "a", "failed"),
        ("test a ... printedok", "a", "passed"),
    ],
)
def test_a_test(line: str, name: str, outcome: str) -> None:
    assert words(read_cargo_test(line)) == {name: outcome}


MIXED = """\
running 3 tests
test a::panics - should panic ... test b ... test src/lib.rs - c (line 5) ...{space}
okok

FAILED

failures:
    {failed}

test result: FAILED. 2 passed; 1 failed; {ignored} ignored; 0 measured
"""


@pytest.mark.parametrize("failed", ["a::panics - should panic", "b", "src/lib.rs - c (line 5)"])
def test_of_tests_on_one_line_those_that_are_not_listed_as_failed_passed(failed: str) -> None:
    results = read_cargo_test(MIXED.format(space=" ", failed=failed, ignored=0))

    tests = ("a::panics", "b", "src/lib.rs - c (line 5)")
    assert words(results) == {name: "failed" if failed.startswith(name) else "passed" for name in tests}
    assert results is not None
    assert not results.truncated


def test_of_tests_on_one_line_nobody_knows_which_was_ignored() -> None:
    results = read_cargo_test(MIXED.format(space=" ", failed="b", ignored=1))

    assert words(results) == {"b": "failed"}
    assert results is not None
    assert results.truncated


@pytest.mark.parametrize(
    "text",
    [
        "test a ... \ntest result: ok. 0 passed\nok\n",
        "test a ... \nrunning 0 tests\nok\n",
        "this test a ... ok",
        "test a",
    ],
)
def test_text_that_names_no_outcome(text: str) -> None:
    assert read_cargo_test(text) is None


@pytest.mark.parametrize(
    ("before", "after", "truncated"),
    [
        ("running 1 test", "test result: ok. 1 passed; 0 failed;", False),
        ("running 2 tests", "test result: ok. 2 passed; 0 failed;", True),
        ("running 1 test", "", True),
        ("", "test result: ok. 1 passed; 0 failed;", True),
        ("running 1 test", "test result: ok. 1 passed;\nrunning 0 tests\ntest result: ok. 0 passed;", False),
        ("running 1 test", "test result: ok. 1 passed;\nrunning 0 tests", True),
    ],
)
def test_names_are_missing_unless_each_binary_named_what_it_ran(before: str, after: str, truncated: bool) -> None:
    results = read_cargo_test(f"{before}\ntest a ... ok\n\n{after}\n")

    assert results is not None
    assert results.truncated is truncated
