import pytest

from nemo_gym.rollout_compare.text.folding import folded


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["t.py::a[1]", "t.py::a[2]", "t.py::a[3]", "t.py::b"], ("t.py", ["a[1..3]", "b"])),
        (["t.py::a[1]", "t.py::a[2]"], ("t.py", ["a[1, 2]"])),
        (["t.py::a[1]", "t.py::a[3]", "t.py::a[4]"], ("t.py", ["a[1, 3, 4]"])),
        (["t.py::a[x]", "u.py::a[y]"], ("", ["t.py::a[x]", "u.py::a[y]"])),
        (["t.py::a"], ("", ["t.py::a"])),
        (["a", "b"], ("", ["a", "b"])),
        ([], ("", [])),
    ],
)
def test_many_names_in_few_words(names: list[str], expected: tuple[str, list[str]]) -> None:
    assert folded(names) == expected
