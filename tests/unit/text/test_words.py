"""Numbers and lists in words."""

from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.text import first_of


@pytest.mark.parametrize(
    ("names", "most", "total", "told"),
    [
        ([], 2, 0, ""),
        (["a", "b"], 2, 0, "a, b"),
        (["a", "b", "c"], 2, 0, "a, b and 1 more"),
        (["a", "b"], 2, 9, "a, b and 7 more"),
    ],
)
def test_the_first_names_and_how_many_more_there_are(names: list[str], most: int, total: int, told: str) -> None:
    assert first_of(names, most, total) == told
