"""Lines of the report made to fit a terminal: prose goes on in the next line, further in than it began.

Verifier output is left as it is, and so are tables: their lines say by their form what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: In less room nothing can be read: such a terminal breaks the lines itself.
LEAST_WIDTH = 40

#: So much further in than the first line stand the others. It is more than nothing, so that no text of a run ever
#: stands at the start of a line; and it is not a multiple of four, so that none looks like a line of its own.
_HANGS = 2

_AS_IT_IS = re.compile(r"    \||\s*\S.*?  ")
_COLOR = re.compile(r"\x1b\[\d+m")
_NO_WIDTH = {"Mn", "Me", "Cf"}


def wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    """The lines, those of prose broken at spaces where they are wider than the terminal; a colour takes no room."""
    for line in lines:
        if len(line) * 2 <= width or _AS_IT_IS.match(plain := _COLOR.sub("", line)) or cells(plain) <= width:
            yield line
        else:
            yield from _broken(line, max(width, LEAST_WIDTH))


def _broken(line: str, width: int) -> Iterator[str]:
    text = line.lstrip(" ")
    indent = " " * (len(line) - len(text))
    first, *words = text.split(" ")
    begun, used = [indent + first], len(indent) + cells(first)
    for word in words:
        more = 1 + cells(word)
        if used + more <= width:
            begun.append(word)
            used += more
        else:
            yield " ".join(begun)
            begun, used = [f"{indent}{' ' * _HANGS}{word}"], len(indent) + _HANGS + more - 1
    yield " ".join(begun)


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, marks on others and colours none."""
    shown = _COLOR.sub("", text)
    if shown.isascii():
        return len(shown)
    from unicodedata import category, east_asian_width  # most reports need neither

    return sum(0 if category(char) in _NO_WIDTH else 1 + (east_asian_width(char) in "WF") for char in shown)
