import pickle
from types import MappingProxyType

import pytest

from nemo_gym.rollout_compare.explain.triage import Outcome, TestChanges, TestResults, compare_tests, merge_tests

PASSED, FAILED, ERROR, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


def results(naming: str = "pytest", truncated: bool = False, **outcomes: Outcome) -> TestResults:
    return TestResults(outcomes, naming, truncated)


@pytest.mark.parametrize("worse", [FAILED, ERROR, SKIPPED])
def test_a_test_that_passed_on_one_side_only_changed(worse: Outcome) -> None:
    good, bad = results(a=PASSED, b=PASSED), results(a=PASSED, b=worse)

    assert compare_tests(good, bad) == TestChanges(broken=("b",))
    assert compare_tests(bad, good) == TestChanges(fixed=("b",))


def test_a_test_that_passed_on_neither_side_did_not_change() -> None:
    assert compare_tests(results(a=FAILED, b=ERROR), results(a=SKIPPED, c=FAILED)) == TestChanges()


def test_names_are_sorted() -> None:
    changes = compare_tests(results(c=PASSED, a=PASSED, b=FAILED), results(c=FAILED, a=FAILED, b=PASSED))

    assert changes == TestChanges(broken=("a", "c"), fixed=("b",))


def test_a_test_that_did_not_run_did_not_pass() -> None:
    assert compare_tests(results(a=PASSED), results(b=PASSED)) == TestChanges(broken=("a",), fixed=("b",))


def test_of_truncated_output_nobody_knows_what_did_not_run() -> None:
    whole, cut = results(a=PASSED, b=PASSED), results(a=FAILED, truncated=True)

    assert compare_tests(whole, cut) == TestChanges(broken=("a",))
    assert compare_tests(cut, whole) == TestChanges(fixed=("a",))


@pytest.mark.parametrize(
    ("old", "new"),
    [(None, results(a=PASSED)), (results(a=PASSED), None), (None, None), (results("go"), results("junit"))],
)
def test_changes_are_unknown_where_tests_are(old: TestResults | None, new: TestResults | None) -> None:
    assert compare_tests(old, new) is None


def test_parts_are_merged_and_the_worst_outcome_counts() -> None:
    merged = merge_tests(
        [results(a=PASSED, b=ERROR), results(a=FAILED, b=PASSED, c=SKIPPED), results("go", True, d=PASSED)]
    )

    assert merged == results(a=FAILED, b=ERROR, c=SKIPPED)


def test_what_is_merged_with_a_truncated_part_is_truncated() -> None:
    merged = merge_tests([results(a=PASSED, truncated=True), results(b=PASSED)])

    assert merged == results(a=PASSED, b=PASSED, truncated=True)


def test_no_parts_are_no_results() -> None:
    assert merge_tests([]) is None


def test_results_cannot_be_changed() -> None:
    merged = merge_tests([results(a=PASSED)])

    assert merged is not None
    with pytest.raises(AttributeError):
        merged.truncated = True  # type: ignore[misc]  # this is what must not work
    with pytest.raises(TypeError):
        merged.outcomes["a"] = FAILED  # type: ignore[index]  # this is what must not work


def test_they_get_from_one_process_to_another() -> None:
    results = TestResults(MappingProxyType({"a": Outcome.PASSED, "b": Outcome.ERROR}), "pytest", truncated=True)
    assert pickle.loads(pickle.dumps(results)) == results  # noqa: S301  # made in the line before
