"""The words for what a row says against its own result, said once for reports, JSON and scripts."""

from __future__ import annotations

from collections.abc import Sequence

_DETAILED = {
    "mask_sample": "mask_sample (failure_kind={})",
    "non-finite reward": "non-finite reward ({})",
    "no result": "no result: {}",
    "error": "error: {}",
    "said": "{}",
}
_WITHOUT_DETAIL = {"no result": "no result: killed or still running"}


def mask_text(kind: str, detail: str | None) -> str:
    """Why a row does not count: `no reward`, `mask_sample (failure_kind=timeout)`."""
    if detail is None or kind not in _DETAILED:
        return _WITHOUT_DETAIL.get(kind, kind)
    return _DETAILED[kind].format(detail)


def masked_text(reason: str, masked: int, rows: int) -> str:
    """Why a side with several rows does not count: `2/3 rows masked: no reward`."""
    return reason if rows == 1 else f"{masked}/{rows} rows masked: {reason}"


def mark_text(field: str, value: str) -> str:
    """Why a result is doubtful: `error: the last line`, `verifier_error=the value`, or the field alone."""
    if not value:
        return field
    return f"{field}: {value}" if field == "error" else f"{field}={value}"


#: The measures of what an attempt cost, by the names that options and JSON have, and what reports call them.
MEASURES = {
    "input-tokens": "input tokens",
    "cached-tokens": "cached tokens",
    "output-tokens": "output tokens",
    "reasoning-tokens": "reasoning tokens",
    "turns": "turns",
    "tool-calls": "tool calls",
    "seconds": "seconds",
    "dollars": "dollars",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def many(number: int, noun: str) -> str:
    """A number that may be large with its noun: `1 task`, `2,000 tasks`."""
    return counted(number, noun).replace(str(number), f"{number:,}", 1)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A suggestion for a mistyped word, or nothing."""
    return "".join(f"; did you mean {close}?" for close in close_to(word, known))


def close_to(word: str, known: Sequence[str]) -> list[str]:
    """The known word that is most like a mistyped one, if any is; the dashes of an option make it like no other."""
    import difflib

    bare = {one.lstrip("-"): one for one in known}
    return [bare[close] for close in difflib.get_close_matches(word.lstrip("-"), bare, n=1)]


def first_of(names: Sequence[str], most: int = 10, total: int = 0) -> str:
    """The first names, and how many more there are: `a, b and 3 more`.

    Args:
        names: The names, or as many of them as are shown.
        most: How many are shown.
        total: How many names there are, where not all are given.
    """
    more = max(total, len(names)) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
