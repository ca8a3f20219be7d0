"""Which of a run's metrics is the reward, and what its value says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.scores import MOST_LISTED, to_choose_from, without_number
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text import first_of

#: Why an attempt does not count that began and left no result.
NO_RESULT = "no result: killed or still running"


class Main(Struct, frozen=True):
    """The metric that is a run's reward unless the user chose one.

    Attributes:
        name: The metric; None where none of several is the main one.
        problem: What is said then.
    """

    name: str | None
    problem: str = ""

    def chosen(self, named: str | None) -> str:
        """The metric that is the reward, where the user named one or none.

        Raises:
            CompareInputError: The user named none, and there is no main one.
        """
        name = named or self.name
        if name is None:
            raise CompareInputError(self.problem)
        return name


def main_of(where: object, usual: str, carried: Iterable[Mapping[str, Any]]) -> Main:
    """The usual metric where any attempt carries it, else the only one that there is.

    Args:
        where: What the run is called in messages.
        usual: The producer's main metric.
        carried: For each attempt its metrics; it is read no further than needed.
    """
    names: list[str] = []
    for metrics in carried:
        if usual in metrics:
            return Main(usual)
        names.extend(metrics)
    if len(set(names)) < 2:
        return Main(names[0] if names else usual)
    return Main(None, f"{where}: no attempt has a metric {usual!r}; {to_choose_from(names, 'attempt')}")


def number_of(value: Any) -> float | None:
    """A metric's value as a finite number: true and false are 1 and 0, text counts as the number it spells."""
    if isinstance(value, bool | int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def no_reward(name: str, value: Any, metrics: Iterable[str]) -> str:
    """Why an attempt without a number for its metric does not count, with the metrics that it has."""
    if value is not None:
        return without_number(name, value)
    named = first_of(sorted(metrics), MOST_LISTED)
    return f"no reward {name!r}: the verifier gave {named}" if named else "no reward: the verifier gave none"


def seconds_between(start: Any, end: Any) -> float | None:
    """How many seconds lie between two times as ISO 8601 writes them; None where that cannot be told."""
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
