import pytest

from nemo_gym.rollout_compare.explain.triage.changes import compare_attempts, compare_tests, natural
from nemo_gym.rollout_compare.explain.triage.results import Outcome, TestResults
from nemo_gym.rollout_compare.schema import TestChanges, TestRate

PASSED, FAILED, ERROR, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


def results(naming: str = "pytest", truncated: bool = False, **outcomes: Outcome) -> TestResults:
    return TestResults(outcomes, naming, truncated)


@pytest.mark.parametrize("worse", [FAILED, ERROR])
def test_a_test_that_passed_on_one_side_and_failed_on_the_other_changed(worse: Outcome) -> None:
    good, bad = results(a=PASSED, b=PASSED), results(a=PASSED, b=worse)

    assert compare_tests(good, bad) == TestChanges(broken=("b",))
    assert compare_tests(bad, good) == TestChanges(fixed=("b",))


def test_a_test_that_passed_on_neither_side_did_not_change() -> None:
    assert compare_tests(results(a=FAILED, b=ERROR), results(a=SKIPPED, c=FAILED)) == TestChanges()


def test_a_test_that_passed_and_is_gone_or_skipped_did_not_run() -> None:
    old, new = results(a=PASSED, b=PASSED, c=PASSED), results(a=PASSED, b=SKIPPED)

    assert compare_tests(old, new) == TestChanges(not_run=("b", "c"))
    assert compare_tests(new, old) == TestChanges()


def test_of_truncated_output_nobody_knows_what_did_not_run() -> None:
    whole, cut = results(a=PASSED, b=PASSED), results(a=FAILED, truncated=True)

    assert compare_tests(whole, cut) == TestChanges(broken=("a",))
    assert compare_tests(cut, whole) == TestChanges(fixed=("a",))


def test_names_are_in_the_order_in_which_people_count() -> None:
    assert natural(["t10", "t9", "t", "a2b10", "a2b9", "t09"]) == ("a2b9", "a2b10", "t", "t09", "t9", "t10")
    assert natural(["9" * 5_000, "x"]) == ("9" * 5_000, "x")


@pytest.mark.parametrize(
    ("old", "new"),
    [(None, results(a=PASSED)), (results(a=PASSED), None), (None, None), (results("go", a=PASSED), results(b=PASSED))],
)
def test_changes_are_unknown_where_tests_are(old: TestResults | None, new: TestResults | None) -> None:
    assert compare_tests(old, new) is None


def test_one_test_under_two_names() -> None:
    old = TestResults({"../tests/x.py::a": PASSED, "../tests/x.py::b": PASSED}, "pytest")
    new = TestResults({"tests.x.a": FAILED, "tests.x.b": PASSED}, "junit")

    assert compare_tests(old, new) == TestChanges(broken=("../tests/x.py::a",))


def test_names_that_share_nothing_but_the_program_are_other_tests() -> None:
    assert compare_tests(results(a=PASSED), results(b=PASSED)) == TestChanges(not_run=("a",))


def attempts(passed: int, of: int) -> list[TestResults | None]:
    return [results(t=PASSED if i < passed else FAILED) for i in range(of)]


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ((2, 2), (0, 2), TestChanges(broken=("t",))),  # all against none, though p = 1/3
        ((0, 3), (2, 2), TestChanges(fixed=("t",))),
        ((8, 8), (2, 8), TestChanges(broken=("t",))),  # p = 0.007
        ((2, 4), (3, 4), TestChanges(changed=(TestRate("t", "2/4", "3/4"),))),
        ((1, 1), (0, 4), TestChanges(changed=(TestRate("t", "1/1", "0/4"),))),
        ((1, 2), (2, 4), TestChanges()),
    ],
)
def test_with_several_attempts_a_pass_rate_must_differ_beyond_noise(
    old: tuple[int, int], new: tuple[int, int], changes: TestChanges
) -> None:
    assert compare_attempts(attempts(*old), attempts(*new)) == changes


def test_an_attempt_whose_tests_are_not_known_is_left_out() -> None:
    assert compare_attempts([None, results(t=PASSED)], [results(t=FAILED), None]) == TestChanges(broken=("t",))


def test_with_several_attempts_a_test_did_not_run_if_no_attempt_ran_it() -> None:
    old, new = [results(a=PASSED, b=PASSED)] * 2, [results(a=PASSED), results(a=PASSED, b=SKIPPED)]

    assert compare_attempts(old, new) == TestChanges(not_run=("b",))
    assert compare_attempts(old, [*new, results(truncated=True, a=PASSED)]) == TestChanges()
    assert compare_attempts(old, [*new, results(a=PASSED, b=PASSED)]) == TestChanges()
