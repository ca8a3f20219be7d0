"""The input of a task: what a row says that the system was asked, as one identity."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from typing import Any

#: Where a row holds its task's input.
INPUT_PATH = "responses_create_params.input"

_SHOWN_CHARACTERS = 60
_DIGEST_BYTES = 8


def task_input(value: Any) -> str | None:
    """The identity of a task's input: the beginning of the last user message, ` #`, and 16 hexadecimal digits.

    Two inputs are the same when they have the same roles and texts in the same order, whatever else they say: a string
    is one user message. None where there is no text.
    """
    messages = list(_messages(value))
    if not any(text.strip() for _, text in messages):
        return None
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for role, text in messages:
        for part in (role, text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # so that no text can pass for two
            digest.update(data)
    asked = next((text for role, text in reversed(messages) if role == "user" and text), messages[-1][1])
    shown = " ".join(asked[: 20 * _SHOWN_CHARACTERS].split())[:_SHOWN_CHARACTERS].strip()
    return f"{shown} #{digest.hexdigest()}"


def _messages(value: Any) -> Iterator[tuple[str, str]]:
    """Role and text of each message."""
    if isinstance(value, str):
        yield "user", value
    elif isinstance(value, list | tuple):
        for message in value:
            if isinstance(message, Mapping):
                role = message.get("role")
                yield role if isinstance(role, str) else "", _text(message.get("content"))


def _text(content: Any) -> str:
    """The text of a message: a string, or the texts of its parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def short_labels(labels: Collection[str]) -> dict[str, str]:
    """The labels of inputs with 8 of their 16 digits, as far as these tell them apart."""
    short = {label: label[:-8] for label in labels}
    return short if len(set(short.values())) == len(labels) else {label: label for label in labels}
