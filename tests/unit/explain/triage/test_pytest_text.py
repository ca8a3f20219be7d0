import pytest

from nemo_gym.rollout_compare.explain.triage import read_tests
from nemo_gym.rollout_compare.explain.triage.pytest_text import read_pytest
from tests.triage_support import sample, words

FILE = "tests/test_calc.py::"

PASSED = {
    FILE + "test_add",
    FILE + "test_text[plain]",
    FILE + "test_text[[brackets]]",
    FILE + "test_text[a - b]",
    FILE + "test_text[PASSED or not]",
    FILE + r"test_text[new\nline]",
    FILE + r"test_text[\x1b[31mred]",
    FILE + "test_divide[1-2]",
    FILE + "test_mended",
    FILE + "TestMore::test_inside",
}
FAILED = {
    FILE + "test_text[two words]",
    FILE + "test_divide[3-0]",
    FILE + "test_wrong_sum",
    FILE + "test_strict",
    FILE + "TestMore::test_parts",
}
ERROR = {FILE + "test_needs_database", FILE + "test_leaky"}
SKIPPED = {FILE + "test_known"}
SKIPPED_UNNAMED = {FILE + "test_later", FILE + "test_much_later"}

SUITE = {
    **dict.fromkeys(PASSED, "passed"),
    **dict.fromkeys(FAILED, "failed"),
    **dict.fromkeys(ERROR, "error"),
    **dict.fromkeys(SKIPPED, "skipped"),
}
WHOLE_SUITE = SUITE | dict.fromkeys(SKIPPED_UNNAMED, "skipped")


@pytest.mark.parametrize("kind", ["verbose", "colour", "xdist", "uncaptured"])
def test_verbose_output_names_every_test(kind: str) -> None:
    results = read_tests(sample(f"pytest/{kind}.txt"))

    assert results is not None
    assert words(results) == WHOLE_SUITE
    assert results.naming == "pytest"
    assert not results.truncated


def test_the_summary_of_all_names_every_test_but_skipped_ones() -> None:
    results = read_tests(sample("pytest/summary-all.txt"))

    assert results is not None
    assert words(results) == SUITE
    assert not results.truncated


@pytest.mark.parametrize("kind", ["plain", "quiet"])
def test_output_that_names_failures_only_says_that_names_are_missing(kind: str) -> None:
    results = read_tests(sample(f"pytest/{kind}.txt"))

    assert results is not None
    assert words(results) == {name: outcome for name, outcome in SUITE.items() if outcome in {"failed", "error"}}
    assert results.truncated


def test_a_file_that_cannot_be_imported_is_an_error() -> None:
    results = read_tests(sample("pytest/collection-error.txt"))

    assert results is not None
    assert words(results) == {"broken/test_import.py": "error"}
    assert not results.truncated


def test_a_run_that_stopped_itself_is_not_truncated() -> None:
    results = read_tests(sample("pytest/first-failure.txt"))

    assert results is not None
    assert len(results.outcomes) == 3
    assert not results.truncated


@pytest.mark.parametrize("keep", [slice(None, 1500), slice(-300, None)], ids=["end is cut off", "start is cut off"])
def test_truncated_output_gives_what_it_has_and_says_so(keep: slice) -> None:
    results = read_tests(sample("pytest/verbose.txt")[keep])

    assert results is not None
    assert 0 < len(results.outcomes) < len(WHOLE_SUITE)
    assert results.truncated


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("PASSED tests/a.py::b", "tests/a.py::b", "passed"),
        ("  FAILED a.py::b - AssertionError: x - y  ", "a.py::b", "failed"),
        ("FAILED a.py::b[x - y] z] - AssertionError: [1] - [2]", "a.py::b[x - y] z]", "failed"),
        ("FAILED a.py::b[x - y]", "a.py::b[x - y]", "failed"),
        ("FAILED a.py::b - assert [1] == [2] - no", "a.py::b", "failed"),
        ("ERROR my tests/test_a.py - ImportError", "my tests/test_a.py", "error"),
        ("ERROR a.py", "a.py", "error"),
        ("PASSED README.rst::README.rst", "README.rst::README.rst", "passed"),
        ("XPASS a.py::b - reason", "a.py::b", "passed"),
        ("XFAIL a.py::b", "a.py::b", "skipped"),
        ("[gw0] [ 50%] PASSED tests/a.py::b ", "tests/a.py::b", "passed"),
        ("[gw12] FAILED tests/a.py::b[x y]", "tests/a.py::b[x y]", "failed"),
        ("a.py::b SKIPPED (needs [x] PASSED) [ 50%]", "a.py::b", "skipped"),
        ("a.py::b[x FAILED y] PASSED [ 3/20]", "a.py::b[x FAILED y]", "passed"),
        ("a.py::b[[c] PASSED [100%] 0.01s", "a.py::b[[c]", "passed"),
        ("SUBFAILED[part (a)] (i=1) a.py::b - assert 0", "a.py::b", "failed"),
        ("a.py::b SUBFAILED(i=1) [ 50%]", "a.py::b", "failed"),
        ("a.py::b glued to outputPASSED", "a.py::b", "passed"),
        ("a.py::b[x y] glued to outputFAILED", "a.py::b[x y]", "failed"),
    ],
)
def test_a_line(line: str, name: str, outcome: str) -> None:
    assert words(read_pytest(line)) == {name: outcome}


@pytest.mark.parametrize(
    "line",
    [
        "ERROR    root:app.py:5 a.py::b",
        "ERROR std::bad_alloc",
        "ERROR in module.x::y",
        "ERROR nothing - here",
        "FAILED (failures=1)",
        "SKIPPED [2] tests/test_a.py:27: not ready",
        "SUBPASSED[part] (i=1) a.py::b",
        "PASSED",
        "FAILED SSL handshake with host.py:443 - tried::twice",
        "a.py::b",
        "no path::b PASSED",
        "three tests PASSED",
    ],
)
def test_a_line_that_names_no_outcome(line: str) -> None:
    assert read_pytest(line) is None


def test_the_outcome_may_come_after_the_tests_own_output() -> None:
    text = "a.py::b first line\nsecond line\nPASSED\na.py::c \nFAILED [ 50%]\n"

    assert words(read_pytest(text)) == {"a.py::b": "passed", "a.py::c": "failed"}


def test_a_section_ends_the_wait_for_an_outcome() -> None:
    assert read_pytest("a.py::b \n=== warnings summary ===\nsomething FAILED\n") is None


def test_the_worst_outcome_of_a_test_counts() -> None:
    assert words(read_pytest("a.py::b PASSED\na.py::b ERROR\na.py::b PASSED\n")) == {"a.py::b": "error"}


@pytest.mark.parametrize(
    ("last_line", "truncated"),
    [
        ("=== 1 passed in 0.05s ===", False),
        ("=== 1 failed, 1 passed, 2 subtests passed, 3 warnings in 61.05s (0:01:01) ===", False),
        ("1 passed in 0.05s", False),
        ("=== 1 passed, 1 xpassed in 0.05s ===", True),
        ("=== 2 passed in 0.05s ===", True),
        ("=== 1 passed in 0.05s ===\n=== 1 passed in 0.05s ===", True),
        ("said: 1 passed in 0.05s", True),
        ("", True),
    ],
)
def test_names_are_missing_unless_as_many_tests_passed_as_are_named(last_line: str, truncated: bool) -> None:
    results = read_pytest(f"a.py::b PASSED\n{last_line}\n")

    assert results is not None
    assert results.truncated is truncated


@pytest.mark.parametrize("described", ["[row 1]", "[row 1] (n=1)", "(n=1)"])
def test_a_subtest_that_failed_counts_for_its_test(described: str) -> None:
    text = (
        f"t.py::test_b[a b] {described} SUBFAIL [ 50%]\nt.py::test_b[a b] PASSED [ 50%]\nt.py::test_c PASSED [100%]\n"
    )
    assert words(read_tests(text)) == {"t.py::test_b[a b]": "failed", "t.py::test_c": "passed"}
