"""What test programs say about a failed test, several lines each."""

from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.explain.triage.blocks import Reader
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine, Weight


def errors(text: str) -> list[ErrorLine]:
    return list(Reader([line for line in text.split("\n") if line.strip()]).errors())


def own(message: str) -> ErrorLine:
    return ErrorLine(Weight.OWN, message)


GTEST = """\
[ RUN      ] Money.Rounds
money_test.cc:12: Failure
Expected equality of these values:
  round(2.5)
    Which is: 2
  3
"""


class TestGoogleTest:
    @pytest.mark.parametrize("end", ["[  FAILED  ] Money.Rounds (0 ms)", ""], ids=["failed", "never heard of again"])
    def test_what_failed_is_told_with_the_value_in_question(self, end: str) -> None:
        assert errors(GTEST + end)[0] == own("Expected equality of these values:\nround(2.5)")

    def test_the_end_of_the_next_test_says_nothing_of_one_that_failed(self) -> None:
        both = f"{GTEST}[  FAILED  ] Money.Rounds (0 ms)\n[ RUN      ] Money.Adds\n[       OK ] Money.Adds (0 ms)\n"
        assert errors(both)[0].message.startswith("Expected equality")

    def test_a_failure_in_a_test_that_passed_was_meant(self) -> None:
        assert errors(f"{GTEST}[       OK ] Money.Rounds (0 ms)") == []

    def test_a_message_on_one_line_is_told_alone(self) -> None:
        assert errors("C:\\money_test.cc(12): error\nno rate\nof 2026\n") == [own("no rate")]

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("t.cc:3: Failure\nFailed\nno rate for EUR\n", "no rate for EUR"),
            ("t.cc:3: Failure\nno rate for EUR\n", "no rate for EUR"),
            ("t.cc(3): error\nFailed\nno rate for EUR\n", "no rate for EUR"),
            ('unknown file: Failure\nC++ exception with description "no rate" thrown in the test body.\n', "no rate"),
            (
                "unknown file: Failure\nUnknown C++ exception thrown in the test body.\n",
                "Unknown C++ exception thrown in the test body.",
            ),
        ],
    )
    def test_a_message_of_the_tests_own_counts_and_not_that_it_failed(self, said: str, told: str) -> None:
        begun, ended = "[ RUN      ] Money.Says\n", "[  FAILED  ] Money.Says (0 ms)\n"
        assert errors(begun + said + ended) == [own(told)]

    @pytest.mark.parametrize(
        "follows",
        [
            "",
            "[  FAILED  ] Money.Says (0 ms)\n",
            "Google Test trace:\nt.cc:10: row 3\n[  FAILED  ] Money.Says (0 ms)\n",
        ],
    )
    def test_a_failure_without_a_message_says_nothing(self, follows: str) -> None:
        assert errors(f"[ RUN      ] Money.Says\nt.cc:4: Failure\nFailed\n{follows}") == [own("")]

    def test_failed_tests_that_are_listed_say_nothing(self) -> None:
        assert errors("[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Money.Says\n\n 1 FAILED TEST\n") == []


class TestJUnit:
    def test_the_console_launcher_tells_the_exception_behind_an_arrow(self) -> None:
        text = """\
Failures (1):
  JUnit Jupiter:MoneyTest:says()
    MethodSource [className = 'MoneyTest', methodName = 'says', methodParameterTypes = '']
    => java.lang.IllegalStateException: no rate for EUR
       MoneyTest.says(MoneyTest.java:7)
       [...]
"""
        assert errors(text)[0] == own("java.lang.IllegalStateException: no rate for EUR")

    def test_what_else_has_an_arrow_is_not_taken_for_it(self) -> None:
        assert errors("=> Building the image\n") == []

    def test_a_numbered_failure_of_a_class_is_told_by_the_next_line(self) -> None:
        text = "There was 1 failure:\n1) adds[0](org.acme.MoneyTest)\njava.lang.AssertionError: no rate for EUR\n"
        assert errors(text)[0] == own("java.lang.AssertionError: no rate for EUR")

    @pytest.mark.parametrize("line", ["07) (58.1.0)", "3) (see below)", "1) download (2)"])
    def test_what_only_looks_numbered_is_not_a_failure(self, line: str) -> None:
        assert errors(f"{line}\nBuilding wheels for collected packages: money\n") == []


TEST_MORE = """\
#   Failed test 'rounds'
#   at t/money.t line 3.
#          got: '3'
#     expected: '4'
# Looks like you failed 1 test of 5.
"""


class TestTestMore:
    def test_what_was_compared_is_told(self) -> None:
        assert errors(TEST_MORE) == [own("got: '3' expected: '4'")]
        assert errors("not ok 2 - rounds\n" + TEST_MORE)[0] == own("got: '3' expected: '4'")

    def test_structures_that_differ_are_told_by_the_first_line(self) -> None:
        text = "#   Failed test at t/ok.t line 1.\n#     Structures begin differing at:\n#          $got->[0] = '1'\n"
        assert errors(text) == [own("Structures begin differing at:")]

    @pytest.mark.parametrize(
        ("text", "told"), [("#   Failed test 'is open'", "not ok - is open"), ("#   Failed test at t/ok.t line 1.", "")]
    )
    def test_a_test_that_compares_nothing_is_told_by_its_name(self, text: str, told: str) -> None:
        assert errors(text + "\n#   at t/ok.t line 1.\n") == [ErrorLine(Weight.VAGUE, told)]

    def test_a_test_that_is_still_to_do_says_nothing(self) -> None:
        text = "#   Failed (TODO) test 'parses'\n#   at t/a.t line 4.\n#          got: '3'\n#     expected: '4'\n"
        assert errors(text) == []
        assert errors(text + TEST_MORE) == [own("got: '3' expected: '4'")]

    def test_perl_says_of_what_a_program_died(self) -> None:
        assert errors("no rate for EUR at t/die.t line 1.\n# at t/die.t line 1.\n") == [
            ErrorLine(Weight.VAGUE, "no rate for EUR at t/die.t line 1.")
        ]


class TestOthers:
    def test_dotnet_tells_the_message_under_a_heading(self) -> None:
        text = """\
  Failed Shop.Tests.MoneyTest.Rounds [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 4
Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 12 ms - Shop.Tests.dll (net8.0)
"""
        assert [found for found in errors(text) if found.weight is Weight.OWN] == [
            own("Assert.Equal() Failure: Values differ")
        ]
        assert not any("Passed" in found.message for found in errors(text))

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("Assertion with == failed", "Assertion with == failed"),
            ("** (RuntimeError) no rate", "(RuntimeError) no rate"),
        ],
    )
    def test_ex_unit_tells_the_place_first(self, said: str, told: str) -> None:
        text = f"  1) test rounds half up (MoneyTest)\n     test/money_test.exs:5\n     {said}\n     left:  2\n"
        assert errors(text)[0] == own(told)

    def test_bats_tells_the_place_first(self) -> None:
        text = "not ok 2 rounds\n# (in test file tests/a.bats, line 12)\n#   `[ $output = 12 ]' failed\n"
        assert errors(text)[0] == own("`[ $output = 12 ]' failed")

    def test_a_groups_exceptions_tell_more_than_the_group(self) -> None:
        text = """\
  + Exception Group Traceback (most recent call last):
  |   File "/app/a.py", line 3, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/a.py", line 9, in f
    | ValueError: no rate
    +------------------------------------
"""
        assert [found.message for found in errors(text) if found.weight is Weight.TELLING] == ["ValueError: no rate"]


class TestGo:
    def test_a_log_without_a_message_says_nothing(self) -> None:
        begun = "=== RUN   TestAdds\n    add_test.go:5: \n    add_test.go:6: got 4\n"
        assert errors(f"{begun}--- FAIL: TestAdds (0.00s)\n") == [own("got 4")]
        assert errors("--- FAIL: TestAdds (0.00s)\n    add_test.go:5: \n    add_test.go:6: got 4\n") == [own("got 4")]


class TestRspec:
    def test_a_source_of_several_lines_is_left_out(self) -> None:
        text = """\
  1) Money rounds
     Failure/Error:
       expect(round(2.5))
         .to eq 4
       expected: 4
            got: 3
"""
        assert errors(text)[0] == own("expected: 4 got: 3")

    @pytest.mark.parametrize("more", ["", "\n       expect(round(2.5))"])
    def test_output_that_ends_in_the_source_says_nothing(self, more: str) -> None:
        assert errors(f"     Failure/Error: expect(x).to eq 4{more}") == []


class TestMocha:
    def test_a_numbered_list_that_is_no_title_hides_nothing(self) -> None:
        text = "  1) fetch the rates\n  2) round them\nKeyError: 'a'\n"
        assert errors(text) == [ErrorLine(Weight.TELLING, "KeyError: 'a'")]

    def test_a_title_without_a_message_says_nothing(self) -> None:
        assert errors("  1) money\n       rounds half up:\n") == []

    def test_a_message_that_is_noise_says_nothing(self) -> None:
        assert errors("  \u25cf money \u203a rounds half up\n    at Object.it (money.test.js:5:3)\n") == []


class TestTap:
    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("  no rate\n  RangeError: no rate\n      at Context.<anonymous> (m.js:7:44)\n", "RangeError: no rate"),
            (
                "  Values differ:\n  3 !== 4\n  AssertionError [ERR_ASSERTION]: Values differ:\n  3 !== 4\n",
                "AssertionError [ERR_ASSERTION]: Values differ: 3 !== 4",
            ),
            ("  RangeError:\n", "RangeError:"),
        ],
    )
    def test_mocha_tells_the_exception_further_right(self, said: str, told: str) -> None:
        assert errors(f"not ok 4 money rounds half up\n{said}ok 5 tax\n")[0] == own(told)

    def test_an_exception_of_another_test_is_not_this_ones(self) -> None:
        text = "not ok 1 money\nRangeError: no rate\n# tests 1\n# pass 0\n# fail 1\n"
        assert errors(text) == [
            ErrorLine(Weight.VAGUE, "not ok money"),
            ErrorLine(Weight.TELLING, "RangeError: no rate"),
        ]

    def test_the_next_test_does_not_explain_one_that_failed(self) -> None:
        text = "not ok 1 - adds\nok 2 - rounds\n# no rate\n"
        assert errors(text) == [ErrorLine(Weight.VAGUE, "not ok - adds")]

    def test_a_test_without_an_explanation_is_told_by_its_name(self) -> None:
        assert errors("not ok 1 - adds") == [ErrorLine(Weight.VAGUE, "not ok - adds")]

    def test_the_name_of_the_next_ones_exception_is_not_its_own(self) -> None:
        first = "not ok 1 - adds\n  ---\n  error: 'got 3'\n  ...\n"
        second = "not ok 2 - rounds\n  ---\n  error: 'no rate'\n  name: 'TypeError'\n  ...\n"
        told = [error.message for error in errors(first + second) if error.weight is Weight.OWN]
        assert told == ["got 3", "TypeError: no rate"]

    def test_a_name_that_is_no_exceptions_is_left_out(self) -> None:
        text = "not ok 1 - adds\n  ---\n  type: 'test'\n  error: 'got 3'\n  name: 'adds'\n  ...\n"
        assert errors(text)[0] == own("got 3")

    def test_a_comment_needs_no_name(self) -> None:
        assert errors("not ok 1 - adds\n# got 3\n")[0] == own("got 3")
