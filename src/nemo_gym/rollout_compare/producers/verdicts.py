"""A reward as a record has it: the number, or why the attempt does not count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import last_line, shown, without_number
from nemo_gym.rollout_compare.schema import CompareInputError, text_of

Verdict = tuple[float | None, str | None]
"""The reward as a finite number, or None and why there is none."""


def own_reward(value: Any, name: str = "reward") -> Verdict:
    """The producer's main metric, which is to be a number, null or absent.

    Args:
        value: What the record says.
        name: What the record calls it, for messages.

    Raises:
        CompareInputError: It is anything else, true and false among them: such a producer is broken, and nobody
            guesses what it meant.
    """
    if value is None:
        return None, "no reward"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CompareInputError(f"{name} {shown(value)} is not a number")
    number = number_of(value)
    if number is None and not isinstance(value, float):
        raise CompareInputError(f"{name} {shown(value)} is not a number that a double holds")
    return (number, None) if number is not None else (None, f"non-finite reward ({value})")


def chosen_reward(metric: str, value: Any) -> Verdict:
    """The metric that the user chose: true and false are 1 and 0, text counts as the number it spells."""
    number = number_of(value)
    if number is not None:
        return number, None
    return None, f"no value of {metric}" if value is None else without_number(metric, value)


def error_text(error: Any, *names: str) -> str:
    """The last line of an error: a text, or an object that says it under one of the names."""
    if isinstance(error, Mapping):
        error = next((error[name] for name in names if error.get(name)), error)
    return last_line(text_of(error))


_TESTS = {"success": "passed", "failure": "failed"}


def tests_of_report(statuses: Iterable[Any]) -> dict[str, str] | None:
    """Single tests by name, from values of `tests_status` as SWE-bench writes them; None where none of them is one.

    One has lists of names under `success` and `failure`, by the kind of test: `FAIL_TO_PASS`, `PASS_TO_PASS`. A test of
    several kinds failed if it failed in one.
    """
    kinds = [kind for status in statuses if isinstance(status, Mapping) for kind in status.values()]
    found: dict[str, str] = {}
    for word, outcome in _TESTS.items():
        for names in (kind.get(word) for kind in kinds if isinstance(kind, Mapping)):
            found |= {name: outcome for name in names if isinstance(name, str)} if isinstance(names, list) else {}
    return found or None
