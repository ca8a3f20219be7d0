"""Text from inputs, made safe to print: no terminal obeys it and no line of it can be forged."""

from __future__ import annotations

import re

# Every repetition is possessive (`*+`): none is tried again. C1 controls (0x80-0x9f) stand for two-byte escapes; none
# may occur inside a string sequence, so that a scan never restarts over text it has seen. Sequences that are cut off go
# as well, but of a title that never ends only its first two bytes: it must not swallow what follows.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"  # CSI: colours, cursor movement
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f\n]*+(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, APC: titles, links
    r"|\x1b[ -/]*+[0-~]?"  # the other escapes
)
# Controls, line and paragraph separators, marks that reorder text, and surrogates that no encoding can carry.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_LINES = re.compile(f"(?![\t\n]){_UNSAFE.pattern}")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")


def without_escapes(text: str) -> str:
    """The text without terminal escape sequences, those cut off half-way included."""
    return _ESCAPES.sub("", text) if "\x1b" in text or not text.isascii() else text


def one_line(text: str, limit: int | None = None) -> str:
    r"""The text on one line: escape sequences removed, control characters shown as `\n` or `\x07`.

    With a limit, what goes beyond that many characters is left out and counted: in the middle, so that two texts which
    differ at their ends are still told apart.
    """
    plain = text.isascii() and text.isprintable()
    safe = text if plain else _UNSAFE.sub(_escaped, without_escapes(text))
    if limit is None or len(safe) <= limit:
        return safe
    end = limit // 2
    return f"{safe[: limit - end]}... ({len(safe) - limit} more characters) ...{safe[len(safe) - end :]}"


def several_lines(text: str) -> str:
    """The text with its lines and tabs as they are: escape sequences removed, control characters shown."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE_IN_LINES.sub(_escaped, without_escapes(text).replace("\r\n", "\n"))


def encodable(text: str, encoding: str | None) -> str:
    r"""The text with what the encoding cannot carry written as an escape (`\u2717`)."""
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)
