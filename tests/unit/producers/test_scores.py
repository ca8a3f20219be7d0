"""Messages about the choice among several scores."""

from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.producers.scores import to_choose_from

TAKES = "--reward NAME takes one of: "


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "none"),
        (["b", "a", "b"], "b (2 rows), a (1 row)"),
        (["x"] * 1200, "x (1,200 rows)"),
        ([f"n{i:02}" for i in range(22)], ", ".join(f"n{i:02} (1 row)" for i in range(20)) + " and 2 more"),
        ([f"f(a, {i:02})" for i in range(21)], ", ".join(f"f(a, {i:02}) (1 row)" for i in range(20)) + " and 1 more"),
    ],
)
def test_the_names_on_most_rows_come_first_and_none_is_cut(names: list[str], told: str) -> None:
    assert to_choose_from(names, "row") == TAKES + told


def test_a_name_of_several_lines_or_of_great_length_is_told_on_one_line() -> None:
    told = to_choose_from(["two\nlines", "x" * 1000], "row")
    assert told.startswith(r"--reward NAME takes one of: two\nlines (1 row), xxx")
    assert "\n" not in told
    assert len(told) < 200
