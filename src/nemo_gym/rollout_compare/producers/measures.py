"""What an attempt cost, as its record says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nemo_gym.rollout_compare.producers.rewards import number_of


def measures_of(names: Iterable[str], values: Sequence[Any]) -> dict[str, float]:
    """The measures that are numbers, by their names; none is negative."""
    found = ((name, number_of(value)) for name, value in zip(names, values, strict=True) if type(value) in (int, float))
    return {name: number for name, number in found if number is not None and number >= 0}
