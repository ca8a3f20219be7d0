import pytest

from nemo_gym.rollout_compare.explain.triage import read_tests
from nemo_gym.rollout_compare.explain.triage.unittest_text import read_unittest
from tests.triage_support import sample, words

SUITE = {
    "unittest.loader._FailedTest.test_import": "error",
    "test_shop.TestBasket.test_discount": "failed",
    "test_shop.TestBasket.test_empty": "passed",
    "test_shop.TestBasket.test_known": "skipped",
    "test_shop.TestBasket.test_mended": "failed",
    "test_shop.TestBasket.test_named_parts": "error",
    "test_shop.TestBasket.test_noisy": "passed",
    "test_shop.TestBasket.test_prices": "failed",
    "test_shop.TestBasket.test_receipt": "skipped",
    "test_shop.TestBasket.test_till": "error",
    "test_shop.TestBasket.test_total": "passed",
    "test_shop.TestCellar.test_cold": "skipped",
    "test_shop.TestShelf.setUpClass": "error",
}


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
def test_verbose_output_names_every_test_in_the_same_way_in_each_python(version: str) -> None:
    results = read_tests(sample(f"unittest/verbose-{version}.txt"))

    assert results is not None
    assert words(results) == SUITE
    assert results.naming == "unittest"
    assert not results.truncated


def test_output_that_is_not_verbose_names_failures_only_and_says_so() -> None:
    results = read_tests(sample("unittest/plain.txt"))

    assert results is not None
    assert words(results) == {name: outcome for name, outcome in SUITE.items() if outcome in {"failed", "error"}}
    assert results.truncated


@pytest.mark.parametrize("keep", [slice(None, 800), slice(-1200, None)], ids=["end is cut off", "start is cut off"])
def test_truncated_output_gives_what_it_has_and_says_so(keep: slice) -> None:
    results = read_tests(sample("unittest/verbose-3.11.txt")[keep])

    assert results is not None
    assert 0 < len(results.outcomes) < len(SUITE)
    assert results.truncated


@pytest.mark.parametrize(
    ("text", "name", "outcome"),
    [
        ("test_a (m.T.test_a) ... ok", "m.T.test_a", "passed"),
        ("test_a (m.T) ... ok", "m.T.test_a", "passed"),
        ("test_a (m.f.<locals>.T.test_a) ... FAIL", "m.f.<locals>.T.test_a", "failed"),
        ("test_a (m.T)\nSays ... more ... skipped 'no ok'", "m.T.test_a", "skipped"),
        ("test_a (m.T) ... printed skipped 'why'", "m.T.test_a", "skipped"),
        ("test_a (m.T) ... printedok", "m.T.test_a", "passed"),
        ("test_a (m.T) ... \nprinted\nERROR", "m.T.test_a", "error"),
        ("test_a (m.T) ... expected failure", "m.T.test_a", "skipped"),
        ("test_a (m.T) ... unexpected success", "m.T.test_a", "failed"),
        ("FAIL: test_a (m.T) [part (b)] (i=1)", "m.T.test_a", "failed"),
        ("ERROR: setUpModule (m)", "m.setUpModule", "error"),
        ("UNEXPECTED SUCCESS: test_a (m.T.test_a)", "m.T.test_a", "failed"),
    ],
)
def test_a_test(text: str, name: str, outcome: str) -> None:
    assert words(read_unittest(text)) == {name: outcome}


@pytest.mark.parametrize(
    "text",
    [
        "loading (once) ... ok",
        "ERROR: no such table (users)",
        "test_a (m.T)x ... ok",
        "test_a (m.T) ... ",
        "test_a (m.T)\n=====\n ... ok",
        "waiting ... ok",
    ],
)
def test_text_that_names_no_outcome(text: str) -> None:
    assert read_unittest(text) is None


def test_two_tests_on_one_line() -> None:
    text = "test_a (m.T) ... test_b (m.T) ... ok\nFAIL: test_a (m.T) (i=1)\n"

    assert words(read_unittest(text)) == {"m.T.test_a": "failed", "m.T.test_b": "passed"}


@pytest.mark.parametrize(
    ("last_lines", "truncated"),
    [
        ("Ran 1 test in 0.1s", False),
        ("Ran 2 tests in 0.1s", True),
        ("Ran 1 test in 0.1s\nRan 1 test in 0.1s", True),
        ("Ran away", True),
        ("", True),
    ],
)
def test_names_are_missing_unless_as_many_tests_ran_as_are_named(last_lines: str, truncated: bool) -> None:
    results = read_unittest(f"test_a (m.T) ... ok\n\n{last_lines}\n")

    assert results is not None
    assert results.truncated is truncated
