import json
import re

import pytest

from nemo_gym.rollout_compare.explain.triage import signature
from nemo_gym.rollout_compare.explain.triage.messages import SIGNATURE_LIMIT
from nemo_gym.rollout_compare.explain.triage.signature import LINE_LIMIT
from tests.triage_support import DOCS, sample

DOCUMENTED = re.findall(
    r"```text\n(.*?)\n=> (.*?)\n```", (DOCS / "signatures.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("output", "expected"), DOCUMENTED)
def test_the_documents_examples(output: str, expected: str) -> None:
    assert signature(output) == expected


def test_the_document_has_examples() -> None:
    assert len(DOCUMENTED) >= 15


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cargo/all", "note: test did not panic as expected"),
        ("cargo/first-failure", "note: test did not panic as expected"),
        ("cargo/compile-error", "error[E0425]: cannot find value `missing` in this scope"),
        ("go/verbose", "Add(<n>) = <n>, want <n>"),
        ("go/json", "till differs"),
        ("go/timeout", "timed out"),
        ("go/timeout-json", "timed out"),
        ("pytest/collection-error", "ModuleNotFoundError: No module named 'numpie'"),
        ("pytest/first-failure", "assert '<value>' != '<value>'"),
        ("pytest/colour", "RuntimeError: no database"),
        ("unittest/verbose-3.11", "ModuleNotFoundError: No module named 'numpie'"),
    ],
)
def test_real_output(name: str, expected: str) -> None:
    assert signature(sample(name + ".txt")) == expected


@pytest.mark.parametrize("text", [None, "", " \n\t\r\n", "\x1b[0m\n"])
def test_no_output(text: str | None) -> None:
    assert signature(text) is None


@pytest.mark.parametrize(
    "text", ["all is well", "score: 0.5", "1 failed, 3 passed in 0.1s", "FAILED (failures=2)", "0 errors"]
)
def test_output_without_an_error(text: str) -> None:
    assert signature(text) is None


def test_the_first_error_counts() -> None:
    assert signature("KeyError: 'a'\nValueError: b\n") == "KeyError: 'a'"


def test_an_error_that_the_winner_has_too_is_not_the_cause() -> None:
    harmless = "/eval.sh: line 4: conda: command not found\n"

    assert signature(f"{harmless}KeyError: 'a'\n", f"{harmless}2 passed\n") == "KeyError: 'a'"
    assert signature(harmless, harmless) is None
    assert signature("E   assert 3 == 4\n", "E   assert 5 == 6\n") == "assert <n> == <n>"


def test_what_could_not_be_fetched_overrides_what_is_missing() -> None:
    missing = "sh: 1: pytest: not found\n"

    assert signature(f"curl: (6) Could not resolve host: x.example\n{missing}") == "host name not resolved"
    assert signature(f"{missing}curl: (6) Could not resolve host: x.example\n") == "command not found: pytest"
    assert signature("curl: (6) Could not resolve host: x.example\nKeyError: 'a'\n") == "host name not resolved"


def test_a_vague_line_does_not_hide_what_came_before() -> None:
    assert signature("KeyError: 'a'\nsomething failed\nx - y failed\n") == "KeyError: 'a'"


def test_a_summary_speaks_where_nothing_else_does() -> None:
    assert signature("it failed\nFAILED a.py::b - KeyError: 'a'\ncleaning up failed\n") == "KeyError: 'a'"


def test_a_traceback_names_its_exception_whatever_its_name() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nqueue.Empty\nbye\n'

    assert signature(text) == "Empty"
    assert signature(text.replace("queue.Empty", "MemoryError")) == "out of memory or killed"


def test_a_traceback_that_is_cut_off_says_nothing() -> None:
    assert signature('Traceback (most recent call last):\n  File "a.py", line 1, in f\n') is None


def test_the_first_of_chained_exceptions_counts() -> None:
    one = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
    text = one + "\nDuring handling of the above exception, another exception occurred:\n\n" + one.replace("a'", "b'")

    assert signature(text) == "KeyError: 'a'"


def test_an_exception_in_a_group() -> None:
    assert signature("  +-+---------------- 1 ----------------\n    | ValueError: bad row\n") == "ValueError: bad row"


def test_of_pytests_lines_the_message_counts() -> None:
    text = 'E     File "/app/a.py", line 3\nE       def f(:\nE             ^\nE   SyntaxError: invalid syntax\na.py:3\n'

    assert signature(text) == "SyntaxError: invalid syntax"
    assert (
        signature("E       assert 1 == 2\nE        +  where 1 = f()\n\na.py:3: AssertionError\n") == "assert <n> == <n>"
    )


def test_what_a_test_printed_is_left_out() -> None:
    text = "E   KeyError: 'a'\n\n---- Captured stderr call ----\nValueError: b\n{after}\n"

    assert signature(text.format(after="")) == "KeyError: 'a'"
    assert (
        signature(text.format(after="").replace("E   KeyError: 'a'", "x") + "____ test_b ____\nOSError: c")
        == "OSError: c"
    )


@pytest.mark.parametrize(
    "panic",
    ["thread 'a' panicked at src/a.rs:1:2:\nno row 5\nnote: x", "thread 'a' (12) panicked at 'no row 7', src/a.rs:1:2"],
)
def test_a_panic_in_rust(panic: str) -> None:
    assert signature(panic) == "no row <n>"


def test_a_panic_in_rust_that_is_cut_off() -> None:
    assert signature("thread 'a' panicked at src/a.rs:1:2:") is None


def test_events_of_go_are_read_as_their_lines() -> None:
    event = json.dumps({"Action": "output", "Output": "panic: no row 5\n"})
    others = [json.dumps({"Action": "output", "Output": " \n"}), '{"Action": "fail"}', '{"Action": broken']

    assert signature("\n".join([event, *others])) == "panic: no row <n>"


def test_an_error_far_from_the_end_is_not_looked_for() -> None:
    assert signature("KeyError: 'a'\n" + "x\n" * (LINE_LIMIT - 1)) == "KeyError: 'a'"
    assert signature("KeyError: 'a'\n" + "x\n" * LINE_LIMIT) is None


def test_a_long_message_is_cut_between_words() -> None:
    end = " \N{HORIZONTAL ELLIPSIS}"

    assert signature("ValueError: " + "word " * 100) == "ValueError:" + " word" * 29 + end
    assert signature("E   " + "word" * 100) == ("word" * 100)[:SIGNATURE_LIMIT] + end


def test_it_is_one_printable_line() -> None:
    assert signature("ValueError: a\x07b\x0bc\ud800d\u202e") == "ValueError: a\\x<n>b\\x<n>bc\\ud<n>d\\u<n>e"


def test_the_json_of_a_test_program_says_why_its_first_failed_test_failed() -> None:
    failed = [{"title": title, "err": {"message": title, "name": "TypeError"}} for title in ("no rate", "no tax")]
    assert signature(json.dumps({"stats": {}, "tests": [{"title": "a", "err": {}}, *failed]})) == "TypeError: no rate"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bash: line 1: 42 Terminated   pytest\nCommand timed out after 1800 seconds\n", "timed out"),
        ("bash: line 1: 42 Killed   pytest\nCommand timed out after 1800 seconds\n", "timed out"),
        ("MemoryError\nCommand timed out after 1800 seconds\n", "out of memory or killed"),
        ("bash: line 1: 42 Terminated   pytest\nValueError: no rate\n", "terminated (SIGTERM)"),
    ],
)
def test_who_ran_out_of_time_was_killed_for_it(text: str, expected: str) -> None:
    assert signature(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        '{"score": 0, "reason": "The answer 12 does not match the expected 13"}',
        '[{"level": "error", "msg": "no rate"}]',
        "//pkg:a_test                                        FAILED in 0.3s",
        "[  FAILED  ] Money.Rounds",
        "There were 3 failures:",
    ],
)
def test_what_has_only_a_form_or_a_name_is_no_signature(line: str) -> None:
    assert signature(line) is None


GRADLE = """\
MoneyTest > rounds() FAILED
    org.opentest4j.AssertionFailedError at MoneyTest.java:12
2 tests completed, 1 failed
* What went wrong:
Execution failed for task ':test'.
"""
CTEST = "ledger.c:12: expected 4, got 3\nThe following tests FAILED:\n\t  2 - writes (Failed)\n"
KARMA = """\
HeadlessChrome 120.0.0 (Linux x86_64) money rounds FAILED
	Expected 3 to be 4.
HeadlessChrome 120.0.0 (Linux x86_64): Executed 2 of 2 (1 FAILED) (0.01 secs / 0.002 secs)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GRADLE, "AssertionFailedError"),
        (CTEST, "expected <n>, got <n>"),
        (KARMA, "Expected <n> to be <n>."),
    ],
    ids=["gradle", "ctest", "karma"],
)
def test_what_a_program_says_of_the_whole_is_not_the_cause(text: str, expected: str) -> None:
    assert signature(text) == expected
