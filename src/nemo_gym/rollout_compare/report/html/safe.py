"""Text of inputs as it may stand on a page: visible characters only, and nothing that ends the block it stands in."""

from __future__ import annotations

import json
import re
from typing import Any

from nemo_gym.rollout_compare.text import one_line

#: A name that is longer is cut in its middle.
NAME_LIMIT = 400

_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def name(text: str) -> str:
    """A label or another text of one line."""
    return one_line(text, NAME_LIMIT)


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
