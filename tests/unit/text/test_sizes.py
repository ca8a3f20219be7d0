from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.text.sizes import bytes_of, size_text


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("2kB", 2000), ("2KB", 2000), ("500MB", 500_000_000), ("1gb", 1_000_000_000), ("3 B", None), ("", None)],
)
def test_a_number_of_bytes_may_have_a_unit(text: str, number: int | None) -> None:
    assert bytes_of(text) == number


def test_it_is_told_in_the_largest_unit_that_needs_no_fraction() -> None:
    assert [size_text(number) for number in (1_500_000, 2_000_000_000, 7_000_000)] == ["1500kB", "2GB", "7MB"]
