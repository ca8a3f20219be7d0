"""What is common to producers that record several scores for an attempt: numbers, and messages about the choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.text import first_of, many, one_line

#: A score under other names, best known first.
SCORES = (
    "score",
    "resolved",
    "is_resolved",
    "correct",
    "is_correct",
    "passed",
    "is_passed",
    "pass",
    "success",
    "is_success",
    "solved",
    "accuracy",
    "acc",
    "exact_match",
    "final_score",
    "total_score",
    "final_reward",
    "grade",
)
#: Objects, or what the names of columns begin with, that hold several scores.
GROUPS = ("scores", "feedback", "rewards", "metrics")

_DEEPEST = 4
_LAST_CHARACTERS = 1 << 12
_LONG = 1 << 14
MOST_LISTED = 20
_MOST_SHOWN = 80

_SCORE_WORDS = {*SCORES, *GROUPS, "reward", "reward_components", "test_result"}


def without_number(name: str, value: Any) -> str:
    """Why an attempt whose score is no number does not count."""
    if isinstance(value, float):
        return f"non-finite reward ({value})"
    if isinstance(value, list | tuple | dict):
        return f"{name} has no value for a single attempt ({shown(value)})"
    return f"{name} is not a number ({shown(value)})"


def shown(value: Any, most: int = 60) -> str:
    """A value as a message shows it, on one line, of which no more than its first characters."""
    if isinstance(value, str) and len(value) > _LONG:  # only its beginning is worth the memory
        return f"{' '.join(repr(value[:most]).split())[:most]}... ({len(value)} characters)"
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # more digits, or deeper, than Python shows
        text = f"{type(value).__name__} value"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def there_are(names: Iterable[str]) -> str:
    """The names that there are, as the end of a message: `(there are: a, b)`."""
    return f"(there are: {', '.join(one_line(name, _MOST_SHOWN) for name in names) or 'none'})"


def to_choose_from(names: Iterable[str], noun: str) -> str:
    """What the reward may be, by every name on every row: the names with how many rows carry each, most first."""
    ordered = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    named = [f"{one_line(name, _MOST_SHOWN)} ({many(count, noun)})" for name, count in ordered[: MOST_LISTED + 1]]
    return f"--reward NAME takes one of: {first_of(named, MOST_LISTED, len(ordered)) or 'none'}"


def last_line(text: str, most: int = 120) -> str:
    """The last line of an error's text that is not blank, of which no more than its first characters.

    No more of the text is split than its end: it may have millions of lines.
    """
    end = _LAST_CHARACTERS
    while True:
        *before, last = [line for line in text[-end:].splitlines() if line.strip()] or [""]
        if before or end >= len(text):
            return last.strip()[:most] or "(blank)"
        end *= 8


def plain(name: str) -> str:
    """A name as it is looked up."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def numbers_in(value: Any, path: str, deepest: int = _DEEPEST) -> Iterator[str]:
    """The dotted paths of all numbers, true and false among them, in a value."""
    if isinstance(value, bool | int | float):
        yield path
    elif isinstance(value, Mapping) and deepest:
        for name, inner in value.items():
            yield from numbers_in(inner, f"{path}.{name}", deepest - 1)


def could_be_reward(row: Mapping[str, Any]) -> Iterator[str]:
    """The numbers of a row whose names, or those of the objects that they are in, are such as scores have."""
    for name, value in row.items():
        for path in numbers_in(value, name):
            if not _SCORE_WORDS.isdisjoint(map(plain, path.split("."))):
                yield path
