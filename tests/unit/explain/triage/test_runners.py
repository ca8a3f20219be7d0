"""The readers on real output of their programs, whole and cut."""

from collections.abc import Callable

import pytest

from nemo_gym.rollout_compare.explain.triage import read_test_file, read_tests
from nemo_gym.rollout_compare.explain.triage.js_json import failure_messages, read_js_json
from nemo_gym.rollout_compare.explain.triage.junit_text import read_junit_core, read_launcher
from nemo_gym.rollout_compare.explain.triage.maven_text import read_maven
from nemo_gym.rollout_compare.explain.triage.nextest_text import read_nextest
from nemo_gym.rollout_compare.explain.triage.prove_text import read_prove
from nemo_gym.rollout_compare.explain.triage.results import TestResults
from nemo_gym.rollout_compare.explain.triage.rspec_text import read_rspec
from nemo_gym.rollout_compare.explain.triage.tree_text import read_tree
from tests.triage_support import SAMPLES, sample, words

MONEY = {
    "money > adds numbers": "passed",
    "money > throws an error on a bad key": "passed",
    "money > rounding > rounds half up": "failed",
    "money > rounding > rounds down": "skipped",
    "tax > adds numbers": "failed",
}


def under(file: str) -> dict[str, str]:
    return {f"{file} > {name}": outcome for name, outcome in MONEY.items()}


JAVA = {"parses": "error", "rounds": "failed", "adds": "passed", "waits": "skipped"}
CTEST = {
    "reads": "passed",
    "writes": "failed",
    "waits": "error",
    "crashes": "error",
    "gone": "error",
    "later": "skipped",
}
RSPEC = {
    "Money adds": "passed",
    "Money raises an error on nil": "passed",
    "Money when rounding rounds half up": "failed",
    "Money when rounding parses": "failed",
    "Money when rounding waits": "skipped",
}
RUBY = {"adds": "passed", "rounds": "failed", "parses": "error", "waits": "skipped"}

#: What is named, and whether everything is.
RUNS: dict[str, tuple[dict[str, str], bool]] = {
    "jest-verbose.txt": (
        {**under("t/money.test.js"), "t/one.test.js > stands alone": "passed", "t/broken.test.js": "failed"},
        True,
    ),
    "jest.txt": (
        {
            "t/money.test.js > money > rounding > rounds half up": "failed",
            "t/money.test.js > tax > adds numbers": "failed",
            "t/one.test.js": "passed",
            "t/broken.test.js": "failed",
        },
        False,
    ),
    "jest.json": ({**MONEY, "stands alone": "passed"}, True),
    "vitest-verbose.txt": ({**under("money.test.mjs"), "one.test.mjs > stands alone": "passed"}, True),
    "vitest.txt": (
        {
            "money.test.mjs > money > rounding > rounds half up": "failed",
            "money.test.mjs > tax > adds numbers": "failed",
            "one.test.mjs": "passed",
        },
        False,
    ),
    "vitest.json": ({**MONEY, "stands alone": "passed"}, True),
    "mocha.txt": ({**MONEY, "stands alone": "passed"}, True),
    "mocha.json": (
        {**{name.replace(" > ", " "): said for name, said in MONEY.items()}, "stands alone": "passed"},
        True,
    ),
    "mocha-tap.txt": (
        {**{name.replace(" > ", " "): said for name, said in MONEY.items()}, "stands alone": "passed"},
        True,
    ),
    "mocha-dot.txt": ({"money > rounding > rounds half up": "failed", "tax > adds numbers": "failed"}, False),
    "mocha-list.txt": (
        {
            name.replace(" > ", " "): said
            for name, said in {**MONEY, "stands alone": "passed"}.items()
            if said != "skipped"  # where they stand cannot be told from what is around them
        },
        True,
    ),
    "node-spec.txt": (MONEY, True),
    "node-tap.txt": (MONEY, True),
    "maven.txt": (
        {
            "org.acme.TaxTest": "passed",
            "org.acme.MoneyTest": "failed",
            "org.acme.MoneyTest.parses": "error",
            "org.acme.MoneyTest.rounds": "failed",
        },
        True,
    ),
    "gradle.txt": ({f"MoneyTest > {name}": said.replace("error", "failed") for name, said in JAVA.items()}, True),
    "ant.txt": ({f"MoneyTest.{name}": said for name, said in JAVA.items()}, True),
    "junit-core.txt": ({"MoneyTest.parses": "failed", "MoneyTest.rounds": "failed"}, False),
    "ctest.txt": (CTEST, True),
    "ctest-verbose.txt": (CTEST, True),
    "ctest-failure.txt": (CTEST, True),
    "gtest.txt": (
        {
            "Money.Adds": "passed",
            "Money.Rounds": "failed",
            "Money.Waits": "skipped",
            "All/Tax.IsPositive/0": "passed",
            "All/Tax.IsPositive/1": "failed",
        },
        True,
    ),
    "phpunit.txt": (
        {
            "MoneyTest::testParses": "error",
            "MoneyTest::testRoundsHalfUp": "failed",
            'MoneyTest::testRate with data set "none"': "failed",
        },
        False,
    ),
    "phpunit-testdox.txt": (
        {
            "Money > Adds": "passed",
            "Money > Rounds half up": "failed",
            "Money > Parses": "failed",
            "Money > Waits": "skipped",
            "Money > Rate with data set #0": "passed",
            'Money > Rate with data set "none"': "failed",
        },
        True,
    ),
    "minitest-verbose.txt": ({f"TestMoney#test_{name}": said for name, said in RUBY.items()}, True),
    "minitest.txt": ({"TestMoney#test_rounds": "failed", "TestMoney#test_parses": "error"}, False),
    "test-unit-verbose.txt": ({f"TestMoney#test_{name}": said for name, said in RUBY.items()}, True),
    "rspec-documentation.txt": (RSPEC, True),
    "rspec.json": (RSPEC, True),
    "rspec.txt": ({name: said for name, said in RSPEC.items() if said == "failed"}, False),
    "prove-verbose.txt": (
        {
            "t/money.t > reads": "passed",
            "t/money.t > rounds": "failed",
            "t/money.t > test 3": "skipped",
            "t/money.t > parses": "skipped",
            "t/money.t > exits with an error when the file is missing": "passed",
            "t/tax.t > reads": "passed",
        },
        True,
    ),
    "prove.txt": ({"t/money.t": "failed", "t/tax.t": "passed"}, True),
    "automake.txt": ({"reads.sh": "passed", "rounds.sh": "failed", "waits.sh": "skipped"}, True),
    "sympy.txt": (
        {
            "sympy/core/tests/test_cache.py:test_cacheit_doc": "passed",
            "sympy/core/tests/test_cache.py:test_cacheit_unhashable": "passed",
            "sympy/core/tests/test_cache.py:test_cachit_exception": "passed",
            "sympy/core/tests/test_cache.py:test_cached_property": "passed",
            "sympy/core/tests/test_cache.py:test_lazy_function": "passed",
            "sympy/core/tests/test_cache.py:test_zz_raises": "error",
            "sympy/core/tests/test_cache.py:test_zz_fails": "failed",
            "sympy/core/tests/test_singleton.py:test_Singleton": "passed",
            "sympy/core/tests/test_singleton.py:test_singleton_redefinition": "passed",
            "sympy/core/tests/test_singleton.py:test_names_in_namespace": "passed",
        },
        True,
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_whole_run(name: str) -> None:
    expected, whole = RUNS[name]
    results = read_tests(sample(f"runners/{name}"))

    assert words(results) == expected
    assert results is not None
    assert results.truncated is not whole


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_cut_is_truncated_if_a_test_is_lost(name: str) -> None:
    lines = sample(f"runners/{name}").splitlines()
    passed = [test for test, said in RUNS[name][0].items() if said == "passed"]
    for start, end in ((0, len(lines) // 2), (len(lines) // 3, len(lines) - len(lines) // 3)):
        results = read_tests("\n".join(lines[start:end]))
        named = words(results).values() if results else []
        assert results is None or results.truncated or len(passed) == list(named).count("passed")
    hole = ["[... 120 lines omitted ...]"]
    results = read_tests("\n".join([*lines[: len(lines) // 3], *hole, *lines[len(lines) // 2 :]]))
    assert results is None or results.truncated


@pytest.mark.parametrize("name", ["jest.json", "vitest.json", "mocha.json", "rspec.json"])
def test_json_reports_are_read_from_files_as_well(name: str) -> None:
    data = (SAMPLES / "runners" / name).read_bytes()
    assert words(read_test_file(f"logs/{name}", data)) == RUNS[name][0]
    cut = read_test_file(name, data[: len(data) // 2])
    assert cut is None or cut.truncated


def test_json_reports_say_why_tests_failed() -> None:
    # Terminal colours are gone, and only a message's first line counts.
    assert failure_messages(sample("runners/mocha.json")) == [
        "AssertionError: Expected values to be strictly equal:",
        "no rate",
    ]
    assert failure_messages(sample("runners/rspec.json")) == [
        "expected: 4",
        'ArgumentError: invalid value for Integer(): "x"',
    ]
    assert failure_messages(sample("runners/vitest.json")) == [
        "AssertionError: expected 3 to be 4 // Object.is equality",
        "Error: no rate",
    ]
    assert failure_messages("plain text") is None
    assert failure_messages('{"stats": {}, "tests": [{"title": "a", "err": {}}]}') is None


NEXTEST = """
    Starting 5 tests across 2 binaries
        PASS [   0.005s] shop basket::adds
        FAIL [   0.007s] shop::it rounds
  TRY 1 FAIL [   0.004s] shop flaky
  TRY 2 PASS [   0.004s] shop flaky
     SIGABRT [   0.030s] (4/5) shop crashes
     TIMEOUT [  60.004s] shop waits
     Summary [   0.012s] 5 tests run: 2 passed, 2 failed, 1 timed out, 0 skipped
        FAIL [   0.007s] shop::it rounds
"""
KARMA = """
HeadlessChrome 120.0.0 (Linux x86_64) money rounds half up FAILED
    Expected 3 to be 4.
HeadlessChrome 120.0.0 (Linux x86_64): Executed 2 of 2 (1 FAILED) (0.01 secs / 0.002 secs)
"""
REDIS = """
[ok]: SET and GET an item (3 ms)
[err]: MGET against non existing key in tests/unit/type/string.tcl
Expected 'a' to be equal to 'b'
[skip]: slow one: Not supported in this configuration
!!! WARNING The following tests failed:
"""

LAUNCHER = """
╷
├─ JUnit Jupiter ✔
│  ├─ MoneyTest ✔
│  │  ├─ adds() ✔
│  │  ├─ rounds() ✘ expected: <4> but was: <3>
│  │  ├─ says() ✘ no rate
│  │  │     for EUR
│  │  ├─ waits() ↷ later
│  │  ├─ assumes() ■ no network
│  │  ├─ isPositive(int) ✔
│  │  │  ├─ [1] 1 ✔
│  │  │  └─ [2] -1 ✘ expected: <true> but was: <false>
│  │  └─ Deep ✔
│  │     └─ raises an error on nil ✔
│  └─ TaxTest ✔
│     └─ adds() ✔
└─ JUnit Vintage ✔

Test run finished after 64 ms
[         9 tests found           ]
"""
LAUNCHED = {
    "MoneyTest > adds()": "passed",
    "MoneyTest > rounds()": "failed",
    "MoneyTest > says()": "failed",
    "MoneyTest > waits()": "skipped",
    "MoneyTest > assumes()": "skipped",
    "MoneyTest > isPositive(int) > [1] 1": "passed",
    "MoneyTest > isPositive(int) > [2] -1": "failed",
    "MoneyTest > Deep > raises an error on nil": "passed",
    "TaxTest > adds()": "passed",
}
_ASCII = {
    "╷": ".",
    "├─": "+--",
    "└─": "'--",
    "│  ": "| ",
    "✔": "[OK]",
    "✘": "[X]",
    "↷": "[S]",
    "■": "[A]",
}


def in_ascii(text: str) -> str:
    """The launcher's tree as it stands where the terminal has no UTF-8."""
    text = text.replace("   ", "  ").replace("│  ", "│ ").replace("│ ", "│  ")
    for unicode, ascii_ in _ASCII.items():
        text = text.replace(unicode, ascii_)
    return text


FEED = """
JUnit Jupiter > MoneyTest :: STARTED
JUnit Jupiter > MoneyTest > adds() :: STARTED
JUnit Jupiter > MoneyTest > adds() :: SUCCESSFUL
JUnit Jupiter > MoneyTest > rounds() :: STARTED
JUnit Jupiter > MoneyTest > rounds() :: FAILED
	org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
JUnit Jupiter > MoneyTest > waits() :: SKIPPED
	Reason: later
JUnit Jupiter > MoneyTest :: SUCCESSFUL
JUnit Jupiter :: SUCCESSFUL
[         3 tests found           ]
"""
PROVE = """
no rate for EUR at t/die.t line 1.
t/die.t ....
Dubious, test returned 255 (wstat 65280, 0xff00)
Failed 1/2 subtests
t/raw.t ....
Failed 1/2 subtests
t/skip.t ... skipped: no network
t/syn.t ....
Dubious, test returned 255 (wstat 65280, 0xff00)
No subtests run
[03:17:03] t/tax.t .... ok      284 ms ( 0.00 usr  0.00 sys +  0.08 cusr  0.03 csys =  0.11 CPU)
t/todo.pl .. ok

Test Summary Report
-------------------
t/todo.pl (Wstat: 0 Tests: 1 Failed: 0)
  TODO passed:   1
Files=6, Tests=6,  2 wallclock secs ( 0.05 usr  0.04 sys +  0.56 cusr  0.14 csys =  0.79 CPU)
Result: FAIL
"""
PROVED = {
    **dict.fromkeys(("t/die.t", "t/raw.t", "t/syn.t"), "failed"),
    "t/skip.t": "skipped",
    **dict.fromkeys(("t/tax.t", "t/todo.pl"), "passed"),
}
CORE = "There was 1 failure:\n1) adds[0](org.acme.T)\njava.lang.AssertionError\n\nFAILURES!!!\n"


@pytest.mark.parametrize(
    ("text", "expected", "whole"),
    [
        (
            NEXTEST,
            {
                "shop basket::adds": "passed",
                "shop::it rounds": "failed",
                "shop flaky": "passed",
                "shop crashes": "error",
                "shop waits": "error",
            },
            True,
        ),
        (KARMA, {"money rounds half up": "failed"}, False),
        (
            REDIS,
            {
                "SET and GET an item": "passed",
                "MGET against non existing key": "failed",
                "slow one: Not supported in this configuration": "skipped",
            },
            True,
        ),
        (
            "rounds(org.acme.T)  Time elapsed: 0.03 s  <<< FAILURE!\nTests run: 1, x",
            {"org.acme.T.rounds": "failed"},
            False,
        ),
        ("[ RUN      ] Money.Crashes\nSegmentation fault", {"Money.Crashes": "error"}, False),
        (LAUNCHER, LAUNCHED, True),
        (in_ascii(LAUNCHER), LAUNCHED, True),
        (LAUNCHER.partition("Test run")[0], LAUNCHED, False),
        (
            FEED,
            {"MoneyTest > adds()": "passed", "MoneyTest > rounds()": "failed", "MoneyTest > waits()": "skipped"},
            True,
        ),
        (CORE, {"org.acme.T.adds[0]": "failed"}, False),
        (f"{CORE}Tests run: 1,  Failures: 1\n", {"org.acme.T.adds[0]": "failed"}, True),
        (PROVE, PROVED, True),
        ("t/tax.t .. ok\nt/money.t .. \n", {"t/tax.t": "passed"}, False),
        (
            "  1) money adds\n  0 passing (1ms)\n  1 failing\n\n  1) money\n       adds:\n",
            {"money > adds": "failed"},
            True,
        ),
    ],
    ids=[
        *("nextest", "karma", "redis", "surefire 2", "googletest that crashed", "launcher", "launcher in ASCII"),
        *(
            "launcher that was cut",
            "launcher's feed",
            "JUnitCore that was cut",
            "JUnitCore",
            "prove",
            "prove that was cut",
        ),
        "mocha of which no test passed",
    ],
)
def test_lines_as_documents_show_them(text: str, expected: dict[str, str], whole: bool) -> None:
    results = read_tests(text)

    assert words(results) == expected
    assert results is not None
    assert results.truncated is not whole


SLOW = "        PASS [   0.005s] shop adds\n        SLOW [> 60.000s] shop waits\n"
COUNTS = "Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.2 s"
LONG = "x" * 301


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (read_nextest, SLOW, {"shop adds": "passed"}),
        (read_nextest, f"{SLOW}        FAIL [  61.000s] shop waits\n", {"shop adds": "passed", "shop waits": "failed"}),
        (read_maven, f"Tests run: 1, {COUNTS} -- in a.B\nTests run: 2, {COUNTS}\n", {"a.B": "passed"}),
        (read_maven, f"Tests run: 2, {COUNTS}\nRunning a.B\nTests run: 1, {COUNTS}\n", {"a.B": "passed"}),
        (read_maven, f"[ERROR] no test at all <<< FAILURE!\nTests run: 1, {COUNTS} -- in a.B\n", {"a.B": "passed"}),
        (
            read_rspec,
            f"Money\n  Warning: a gem is old\n  adds\n  {LONG}\n\nFinished in 0.1 seconds\n1 example, 0 failures\n",
            {"Money adds": "passed"},
        ),
        (read_tree, f"{LONG}\n  \u2713 adds\n\n  1 passing (3ms)\n", {"adds": "passed"}),
        (read_tree, "money\n  \u2713 adds\n\n  1 passing (3ms)\n", {"money > adds": "passed"}),
        (
            read_tree,
            "  1 passing (3ms)\n  1 failing\n\n  1) money\n  no title\n       adds:\n  2) tax\n       adds:\n",
            {"tax > adds": "failed"},
        ),
        (read_launcher, "+-- a [X] no engine stands above it\n| +-- b [OK]\n", {"b": "passed"}),
        (read_prove, "checking for gcc.t ... yes\nt/a.t .. ok\n", {"t/a.t": "passed"}),
        (
            read_js_json,
            """{"stats": {}, "tests": [7, {"title": "a", "err": {}}, {"title": "b"}, {"err": {}}],
            "pending": [7, {"fullTitle": 7}, {"fullTitle": "c"}]}""",
            {"a": "passed", "c": "skipped"},
        ),
    ],
    ids=[
        "nextest: slow",
        "nextest: slow, then failed",
        "maven: counts of no class",
        "maven: counts before a class",
        "maven: a mark without a time",
        "rspec",
        "tree: a line too long for a suite",
        "tree: a suite",
        "tree: a failure without a title",
        "launcher: an engine",
        "prove: what is no file's verdict",
        "json",
    ],
)
def test_lines_that_name_no_test_are_left_out(
    read: Callable[[str], TestResults | None], text: str, expected: dict[str, str]
) -> None:
    assert words(read(text)) == expected


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_launcher, "[         0 tests found           ]\n"),
        (read_junit_core, "1) adds(T)\nTests run: 1,  Failures: 0\n"),
        (read_tree, "  \u00d7 Getting requirements to build wheel did not run successfully.\n  \u2502 exit code: 1\n"),
        (read_tree, "Using CPython 3.12\n  \u00d7 No solution found when resolving dependencies:\n"),
        (
            read_tree,
            "/app/a.js\n  3:5  error  'x' is not defined  no-undef\n\n\u2716 1 problem (1 error, 0 warnings)\n",
        ),
        (read_prove, "checking for gcc... ok\n"),
        (read_prove, "checking for a.t ... yes\nFiles=0, Tests=0,  0 wallclock secs\n"),
    ],
    ids=[
        "launcher: no test",
        "JUnitCore: a list of something else",
        "pip",
        "uv",
        "eslint",
        "a configuration",
        "prove: no verdict",
    ],
)
def test_what_names_no_test_has_no_results(read: Callable[[str], TestResults | None], text: str) -> None:
    assert read(text) is None
