import pickle
from types import MappingProxyType

import pytest

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults, merge_tests

PASSED, FAILED, ERROR, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


def results(naming: str = "pytest", truncated: bool = False, **outcomes: Outcome) -> TestResults:
    return TestResults(outcomes, naming, truncated)


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


def test_a_name_of_several_suites_has_its_suite() -> None:
    collected = Collector()
    collected.add_by_suite("one", "a", FAILED)
    collected.add_by_suite("two", "a", PASSED)
    collected.add_by_suite("two", "b", PASSED)

    found = collected.with_suites().results("junit", truncated=False)
    assert found is not None
    assert found.outcomes == {"one > a": FAILED, "two > a": PASSED, "b": PASSED}


def test_of_a_test_that_was_tried_again_the_last_attempt_counts() -> None:
    collected = Collector()
    collected.add("a", FAILED)
    collected.add("a", PASSED, again=True)
    collected.add_by_suite("s", "b", FAILED, again=True)
    collected.add_by_suite("s", "b", PASSED, again=True)
    collected.add_by_suite("s", "c", PASSED)
    collected.add_by_suite("s", "c", FAILED)

    assert collected.with_suites().outcomes == {"a": PASSED, "b": PASSED, "c": FAILED}


def test_what_holds_tests_is_no_test() -> None:
    collected = Collector()
    for name in ("s", "s > t", "s > t > a", "b"):
        collected.add(name, FAILED)
    collected.leave_out_parents()

    assert list(collected.outcomes) == ["s > t > a", "b"]


def test_merged_parts_stay_merged() -> None:
    part = TestResults({"a": FAILED}, "pytest", merged=True)
    merged = merge_tests([results(b=PASSED), part])

    assert merged is not None
    assert merged.merged
