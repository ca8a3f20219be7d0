"""What is common to producers that record several scores for an attempt: numbers, and messages about the choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

_SHOWN_CHARACTERS = 60
_MOST_LISTED = 20


def without_number(name: str, value: Any) -> str:
    """Why an attempt whose score is no number does not count."""
    if isinstance(value, float):
        return f"non-finite reward ({value})"
    if isinstance(value, list | tuple | dict):
        return f"{name} has no value for a single attempt ({shown(value)})"
    return f"{name} is not a number ({shown(value)})"


def shown(value: Any) -> str:
    """A value as a message shows it, on one line."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # more digits, or deeper, than Python shows
        text = f"{type(value).__name__} value"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def listed(counts: Counter[str] | Mapping[str, int], what: str) -> str:
    """Names with how many rows carry each, most first."""
    if not counts:
        return "none"
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = ", ".join(f"{name} ({count:,} {what if count != 1 else what.removesuffix('s')})" for name, count in ordered)
    return names if len(ordered) <= _MOST_LISTED else ", ".join(names.split(", ")[:_MOST_LISTED]) + ", ..."


def last_line(text: str, most: int = 120) -> str:
    """The last line of an error's text that is not blank."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:most] if lines else "(blank)"
