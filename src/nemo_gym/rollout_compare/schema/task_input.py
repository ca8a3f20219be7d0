"""The input of a task: what a row says that the system was asked, as a number or as an identity that has a label."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, repeat
from typing import Any

from xxhash import xxh3_64, xxh3_64_intdigest

from nemo_gym.rollout_compare.schema.identity import MOST_CHARACTERS, utf8_pieces

_SHOWN_CHARACTERS = 60
_DIGEST_BYTES = 8
_SPARED_DIGITS = 8

#: A single user message that is no longer than this is its own identity: hashing it would take longer than reading it.
_SHORT_CHARACTERS = 80
_USER = "user"
_SHORT = "="
_HASHED = "#"


def task_input(value: Any) -> str | None:
    """The identity of a task's input, None where there is no text. `input_label` says what it is called.

    Two inputs are the same when they have the same roles and texts in the same order, whatever else they say: a string
    is one user message.
    """
    if isinstance(value, str) and len(value) <= _SHORT_CHARACTERS:
        return _SHORT + value if value and not value.isspace() else None
    messages = list(_messages(value))
    if not any(text.strip() for _, text in messages):
        return None
    if len(messages) == 1 and messages[0][0] == _USER and len(messages[0][1]) <= _SHORT_CHARACTERS:
        return _SHORT + messages[0][1]
    asked = next((text for role, text in reversed(messages) if role == _USER and text), messages[-1][1])
    return f"{_HASHED}{_digest(messages)}{_shown(asked)}"


def input_numbers(values: Sequence[Any]) -> array[int]:
    """For each input its number: equal for equal identities, 0 where there is no text.

    It is a hash of 64 bits (XXH3), the same on every machine and by every Python.
    """
    if (
        {str}.issuperset(map(type, values))
        and all(map(str.strip, values))
        and max(map(len, values), default=0) <= MOST_CHARACTERS
    ):
        with suppress(UnicodeEncodeError):  # half a pair of surrogates
            return array("Q", map(max, map(xxh3_64_intdigest, map(str.encode, values)), repeat(1)))
    return array("Q", map(_number, values))


def _number(value: Any) -> int:
    if value is None:
        return 0
    parts = tuple(chain.from_iterable(_messages(value)))
    if not any(map(str.strip, parts[1::2])):
        return 0
    if len(parts) == 2 and parts[0] == _USER:
        return _number_of_text(parts[1])
    # Lengths before the parts, so that no text can pass for two; the seed, so that it cannot pass for a lone message.
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    lengths = ",".join(map(str, map(len, encoded))).encode()
    return xxh3_64_intdigest(b"".join([lengths, b";", *encoded]), seed=1) or 1


def _number_of_text(text: str) -> int:
    if len(text) <= MOST_CHARACTERS:
        return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) or 1
    digest = xxh3_64()
    for piece in utf8_pieces(text):
        digest.update(piece)
    return digest.intdigest() or 1


def input_label(identity: str) -> str:
    """What an input is called: the beginning of the last user message, ` #`, and 16 hexadecimal digits of the hash."""
    text = identity[1:]
    if identity.startswith(_SHORT):
        return f"{_shown(text)} #{_digest([(_USER, text)])}"
    return f"{text[2 * _DIGEST_BYTES :]} #{text[: 2 * _DIGEST_BYTES]}"


def _digest(messages: list[tuple[str, str]]) -> str:
    from hashlib import blake2b

    digest = blake2b(digest_size=_DIGEST_BYTES)
    for message in messages:
        for part in message:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # so that no text can pass for two
            digest.update(data)
    return digest.hexdigest()


def _shown(text: str) -> str:
    return " ".join(text[: 20 * _SHOWN_CHARACTERS].split())[:_SHOWN_CHARACTERS].strip()


def _messages(value: Any) -> Iterator[tuple[str, str]]:
    """Role and text of each message."""
    if isinstance(value, str):
        yield _USER, value
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


def input_labels(identities: Collection[str]) -> dict[str, str]:
    """What inputs are called, with 8 of their 16 digits as far as these tell them apart."""
    long = {identity: input_label(identity) for identity in identities}
    short = {identity: label[:-_SPARED_DIGITS] for identity, label in long.items()}
    return short if len(set(short.values())) == len(short) else long
