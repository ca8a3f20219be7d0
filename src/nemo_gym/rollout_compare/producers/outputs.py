"""What a field that may hold verifier output says, by its value or as it is written in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from nemo_gym.rollout_compare.producers.json_rows import end_of_text, parse_value

#: Of a field no more than so many characters at its end are looked at, as of a file: a text of short lines takes thirty
#: times its size.
MOST_OUTPUT_CHARACTERS = 2 << 20


def output_text(value: Any, *, as_json: bool) -> str:
    """What a field says as text: an object or list as JSON, where it may be one; "" if it says nothing.

    Of a very long value no more than its end is made. That of an object is as it is written, in a row that the fast
    decoder reads.
    """
    if isinstance(value, Raw):
        written = memoryview(value)
        if bytes(written[:1]) == b'"':
            value = end_of_text(written, MOST_OUTPUT_CHARACTERS)
        elif not as_json or not _says(value):
            return ""
        elif len(written) > 4 * MOST_OUTPUT_CHARACTERS:
            return str(written[-4 * MOST_OUTPUT_CHARACTERS - 1 :], "utf-8", "replace")
        else:
            value = parse_value(written)
    if isinstance(value, str):
        return "" if value.isspace() else value
    return (
        json.dumps(value, ensure_ascii=False, indent=1) if as_json and isinstance(value, dict | list) and value else ""
    )


def any_said(columns: Sequence[Sequence[Any]], rows: int) -> bytes:
    """For each row 1 if any of the columns has a value, else 0."""
    said = [column for column in columns if rows and (_says(column[0]) or column.count(column[0]) < rows)]
    if not said:
        return bytes(rows)
    return bytes(any(map(_says, values)) for values in zip(*said, strict=True))


_NOTHING_WRITTEN = (b"", b"null")


def _says(value: Any) -> bool:
    """Whether a field has a value, which may be as it is written."""
    return value is not None and not (isinstance(value, Raw) and memoryview(value) in _NOTHING_WRITTEN)
