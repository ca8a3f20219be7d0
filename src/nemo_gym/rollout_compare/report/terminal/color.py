"""Colour for the report: the same characters, some of them in a colour of the terminal's own palette.

A line is known by its form, which the report's words fix; no text of a run can look like a heading or a verdict,
because it never stands at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_BOLD, _DIM, _RED, _GREEN, _YELLOW = "1", "2", "31", "32", "33"

#: The first form that a line has colours the part of it that the form's group finds.
_FORMS = (
    (re.compile(r"(## .*)"), _BOLD),
    (re.compile(r"(### .* -> old wins)$"), _RED),
    (re.compile(r"(### .* -> new wins)$"), _GREEN),
    (re.compile(r"(worse)(?=: )"), _RED),
    (re.compile(r"(better)(?=: )"), _GREEN),
    (re.compile(r"(same within [^:]*|not worse by [^:]*|no significant change|cannot tell)(?=: )"), _BOLD),
    (re.compile(r"(note: )"), _YELLOW),
    (re.compile(r"(    \|.*)"), _DIM),
)


def colored(lines: Iterable[str]) -> Iterator[str]:
    """The report's lines with colours."""
    return map(_colored, lines)


def _colored(line: str) -> str:
    for form, color in _FORMS:
        found = form.match(line)
        if found:
            return f"\x1b[{color}m{found[1]}\x1b[0m{line[found.end(1) :]}"
    return line
