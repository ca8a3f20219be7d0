"""Which of a run's metrics is the reward, and what its value says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.scores import without_number
from nemo_gym.rollout_compare.schema import CompareInputError

#: Why an attempt does not count that began and left no result.
NO_RESULT = "no result: killed or still running"

_MOST_NAMED = 20


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
    counts: dict[str, int] = {}
    for metrics in carried:
        if usual in metrics:
            return Main(usual)
        for name in metrics:
            counts[name] = counts.get(name, 0) + 1
    if len(counts) < 2:
        return Main(next(iter(counts), usual))
    named = [f"{name} on {count}" for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    listed = ", ".join(named[:_MOST_NAMED])
    return Main(
        None, f"{where}: no attempt has a metric {usual!r}; choose one with --reward (attempts: {listed}{more})"
    )


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
    named = sorted(metrics)
    if not named:
        return "no reward: the verifier gave none"
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return f"no reward {name!r}: the verifier gave {', '.join(named[:_MOST_NAMED])}{more}"


def seconds_between(start: Any, end: Any) -> float | None:
    """How many seconds lie between two times as ISO 8601 writes them; None where that cannot be told."""
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
