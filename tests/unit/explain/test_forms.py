"""Two failures of one form need not have one cause."""

from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.explain.forms import is_mere_form


@pytest.mark.parametrize(
    "signature",
    [
        "assert <n> == <n>",
        "Expected equality of these values:",
        "Structures begin differing at:",
        "got: '<n>' expected: '<n>'",
        "assert [<n>, '<value>'] == [<n>, '<value>']",
        "assert not True",
        "AssertionError",
        "AssertionError: <n> != <n>",
        "AssertionFailedError: expected: <n> but was: <n>",
        "AssertionError: Expected values to be strictly equal: <n> !== <n>",
        "Failed asserting that <n> is identical to <n>.",
        "expect(received).toBe(expected)",
        "assertion `left == right` failed",
    ],
)
def test_what_only_compares_values_is_a_form(signature: str) -> None:
    assert is_mere_form(signature)


@pytest.mark.parametrize(
    "signature",
    [
        "ModuleNotFoundError: No module named 'numpy'",
        "HTTP 502",
        "timed out",
        "KeyError: 'price'",
        "assert <n> == <n>, totals differ",
        "assert len([<n>]) == <n>",
        "Sum() = <n>, want <n>",
        "ValueError: row <n> of <path> has <n> fields",
        "exit code 3",
    ],
)
def test_whatever_says_more_is_a_cause(signature: str) -> None:
    assert not is_mere_form(signature)
