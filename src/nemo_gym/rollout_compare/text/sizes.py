"""Numbers of bytes as people write them."""

from __future__ import annotations

MB = 1_000_000

#: The units, largest first.
SIZES = {"GB": 1000 * MB, "MB": MB, "kB": 1_000, "B": 1}

#: A line may be so long if nothing else is said.
MOST_LINE_BYTES = 1_000_000_000

#: A page has so many megabytes of data if nothing else is said.
PAGE_MB = 20

_MOST_DIGITS = 18


def size_text(number: int) -> str:
    """A number of bytes, at least 1, in the largest unit that needs no fraction: `1GB`, `1500kB`."""
    unit = next(unit for unit, size in SIZES.items() if number % size == 0)
    return f"{number // SIZES[unit]}{unit}"


def bytes_of(text: str) -> int | None:
    """The number of bytes that a text names, with or without a unit; None where it names none."""
    number, size = text, 1
    for unit, size_of_unit in SIZES.items():
        if text.lower().endswith(unit.lower()):
            number, size = text[: -len(unit)], size_of_unit
            break
    return int(number) * size if number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS else None
