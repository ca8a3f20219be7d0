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
    def test_the_next_test_does_not_explain_one_that_failed(self) -> None:
        text = "not ok 1 - adds\nok 2 - rounds\n# no rate\n"
        assert errors(text) == [ErrorLine(Weight.VAGUE, "not ok 1 - adds")]

    def test_a_test_without_an_explanation_is_told_by_its_name(self) -> None:
        assert errors("not ok 1 - adds") == [ErrorLine(Weight.VAGUE, "not ok 1 - adds")]

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
