import pytest

from nemo_gym.rollout_compare.explain.triage.names import parts_of, same_names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("../tests/x.py::TestT::a", ("tests", "x", "TestT", "a")),
        ("tests.x.TestT.a", ("tests", "x", "TestT", "a")),
        ("x.test.js > money > adds", ("x", "test", "money", "adds")),
        ("t.py::a[x/y::z.w]", ("t", "a[x/y::z.w]")),
        ("[a]", ("[a]",)),
        ("a", ("a",)),
    ],
)
def test_the_parts_of_a_name(name: str, parts: tuple[str, ...]) -> None:
    assert parts_of(name) == parts


def test_names_are_paired_by_their_longest_common_ending() -> None:
    old = ["../tests/x.py::a", "../tests/y.py::a", "only.py::b"]
    new = ["tests/x.py::a", "tests/y.py::a", "other.py::c"]

    assert same_names(old, new) == {"tests/x.py::a": "../tests/x.py::a", "tests/y.py::a": "../tests/y.py::a"}


def test_names_that_could_be_several_are_not_paired() -> None:
    assert same_names(["x.py::a", "y.py::a"], ["z.py::a"]) is None
    assert same_names(["x.py::a"], ["y.py::b"]) == {}
