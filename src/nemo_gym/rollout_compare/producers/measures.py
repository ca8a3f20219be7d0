"""What an attempt cost and was made with, as its record says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.schema import text_of


def measures_of(names: Iterable[str], values: Sequence[Any]) -> dict[str, float]:
    """The measures that are numbers, by their names; none is negative."""
    found = ((name, number_of(value)) for name, value in zip(names, values, strict=True) if type(value) in (int, float))
    return {name: number for name, number in found if number is not None and number >= 0}


def setting_of(value: Any) -> bool | int | float | str:
    """A setting that can be looked up: a list or an object is its text."""
    return value if isinstance(value, bool | int | float | str) else text_of(value)
