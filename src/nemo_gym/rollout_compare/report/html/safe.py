"""Text of inputs as it may stand on a page: visible characters only, and nothing that ends the block it stands in."""

from __future__ import annotations

import json
import re
from typing import Any

from nemo_gym.rollout_compare.text import one_line

#: A name that is longer is cut in its middle.
NAME_LIMIT = 400

#: A text that is longer is cut in its middle: a page is read, not searched for the end of a core dump.
TEXT_LIMIT = 20_000

_KEPT = re.compile(r"(\n|\t)")
_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def name(text: str) -> str:
    """A label or another text of one line."""
    return one_line(text, NAME_LIMIT)


def text(long: str, limit: int = TEXT_LIMIT) -> str:
    """A text of several lines: line breaks and tabs stay, other control characters are shown as escapes."""
    if len(long) > limit:
        half = limit // 2
        long = f"{long[:half]}\n... ({len(long) - limit:,} characters left out) ...\n{long[-half:]}"
    long = long.replace("\r\n", "\n")
    return "".join(part if part in ("\n", "\t") else one_line(part) for part in _KEPT.split(long))


def names(value: Any) -> Any:
    """A plain value with every text in it made a text of one line."""
    if isinstance(value, str):
        return name(value)
    if isinstance(value, dict):
        return {name(str(key)): names(held) for key, held in value.items()}
    return [names(held) for held in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> str:
    """A value as JSON for a data block of a page: no text in it can end the block or begin another."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: _MARKUP[found.group()], written)
