"""What an attempt was run with, as short texts: whole prompts and tools are never kept, and secrets not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from xxhash import xxh3_64

from nemo_gym.rollout_compare.schema.identity import utf8_pieces

#: Settings that say what ran rather than how it was asked to: a row without one says nothing, a row without a limit
#: has none.
UNKNOWN_IF_ABSENT = frozenset(
    {
        "agent",
        "agent version",
        "environment server",
        "harness",
        "model",
        "model provider",
        "system prompt",
        "task content",
        "versions",
    }
)

#: What is said in place of a secret.
SECRET = "(secret)"  # noqa: S105  # what is shown in place of one

#: What a setting is called that a row does not have, where another row has it.
NONE = "none"

_SHOWN_CHARACTERS = 80
_MOST_NAMES = 100
_MOST_ENTRIES = 1000
_DEEPEST = 20

_SECRET = re.compile(
    r"(?:^|[_\W])(?:api|access|private|secret|signing|encryption)?[_-]?key$"
    r"|secret|passw|passphrase|credential|authorization|cookie|bearer"
    r"|(?:^|[_\W]|access|auth|api|session|id|refresh)[_-]?token$|^auth$",
    re.IGNORECASE,
)
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")
_SUMMED_UP = re.compile(r"(?:[0-9]+ [a-z]+|.*,? ?)#[0-9a-f]{16}", re.DOTALL)
_LONG = re.compile(r"([0-9]+) characters #[0-9a-f]{16}")
_LIKE_JSON = re.compile(r"none|null|true|false|-?[0-9.]+(?:e[+-]?[0-9]+)?|\(secret\)|", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a name says that its value is nobody's business: `api_key`, `Authorization`."""
    return _SECRET.search(name) is not None


def setting_text(name: str, value: Any) -> str | None:
    """The value of a setting as a short text that is equal for equal values, None where there is none.

    A text that is long, or goes over several lines, is its length and a hash of 64 bits (XXH3), the same on every
    machine. So is a list; one of tools begins with their names.
    """
    value = _known(value)
    if value is None:
        return None
    if is_secret(name):
        return SECRET
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _entries(value)
    if isinstance(value, list | tuple):
        return _list(value)
    return _plain(value)


def setting_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """The settings that have a value."""
    return {name: text for name, value in values.items() if (text := setting_text(name, value)) is not None}


def summed_up(text: str) -> str:
    """A text as its length and hash, however short it is."""
    return f"{len(text)} characters #{_digest(text)}"


def long_text(text: str) -> int | None:
    """How many characters a text had that is kept as its length and hash; None for any other."""
    match = _LONG.fullmatch(text)
    return int(match[1]) if match else None


def named_parts(text: str) -> list[str] | None:
    """The names that a list begins with, of whose entries a hash is kept; None for any other text."""
    names, sharp, digest = text.rpartition(" #")
    if not sharp or len(digest) != 16 or long_text(text) is not None:
        return None
    return names.split(", ")


def _known(value: Any, depth: int = 0) -> Any:
    """The value without what says nothing, null and empty lists and objects, and without secrets."""
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return "..."
        held = {
            str(name): SECRET if is_secret(str(name)) else _known(inner, depth + 1)
            for name, inner in islice(value.items(), _MOST_ENTRIES)
            if inner is not None
        }
        return {name: inner for name, inner in held.items() if inner is not None} or None
    if isinstance(value, list | tuple):
        if depth >= _DEEPEST:
            return "..."
        return [_known(inner, depth + 1) for inner in value] or None
    return value


def _text(value: str) -> str:
    value = _USER_IN_URL.sub("", value)
    if len(value) > _SHOWN_CHARACTERS or "\n" in value:
        return summed_up(value)
    ambiguous = _LIKE_JSON.fullmatch(value) or _SUMMED_UP.fullmatch(value) or value != value.strip()
    return json.dumps(value, ensure_ascii=False) if ambiguous else value


def _entries(value: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={_inner(inner)}" for name, inner in sorted(value.items()))
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    del text  # it may be as large as the row
    return f"{_names(sorted(value))} #{_digest(value)}"


def _inner(value: Any) -> str:
    return value if isinstance(value, str) else _canonical(value)


def _list(value: Sequence[Any]) -> str:
    if len(value) == 1 and isinstance(value[0], str):
        return _text(value[0])
    names = list(_names_of(value))
    if names and len(names) == len(value):
        return f"{_names(names)} #{_digest(value)}"
    text = _canonical(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{len(value)} entries #{_digest(value)}"


def _names_of(entries: Sequence[Any]) -> Iterator[str]:
    """The names of tools: their own, those of their functions, else what they are."""
    for entry in entries:
        if isinstance(entry, Mapping):
            function = entry.get("function")
            inner = function.get("name") if isinstance(function, Mapping) else None
            name = entry.get("name") or inner or entry.get("type")
            if isinstance(name, str) and name:
                yield name


def _names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} names"
    return ", ".join(name[:_SHOWN_CHARACTERS].replace(",", ";").replace("#", "") for name in names)


def _plain(value: Any) -> str:
    text = _canonical(value)
    return text if len(text) <= _SHOWN_CHARACTERS else summed_up(text)


def _canonical(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):
        return f"({type(value).__name__})"


def _digest(value: Any) -> str:
    digest = xxh3_64()
    for piece in utf8_pieces(value if isinstance(value, str) else _canonical(value)):
        digest.update(piece)
    return digest.hexdigest()
