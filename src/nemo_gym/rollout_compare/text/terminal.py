"""Text from inputs, made safe to print: no terminal obeys it and no line of it can be forged."""

from __future__ import annotations

import re
from functools import cache

# A set of characters comes first, which a search skips to: what follows looks back at the one that was found. Every
# repetition is possessive (`*+`): none is tried again. C1 controls (0x80-0x9f) stand for two-byte escapes; none
# may occur inside a string sequence, so that a scan never restarts over text it has seen. Sequences that are cut off go
# as well, but of a title that never ends only its first two bytes: it must not swallow what follows.
_ESCAPES = re.compile(
    r"[\x1b\x90\x98\x9b\x9d-\x9f](?:"
    r"(?:(?<=\x9b)|(?<=\x1b)\[)[0-?]*+[ -/]*+[@-~]?"  # CSI: colours, cursor movement
    r"|(?:(?<=[\x90\x98\x9d-\x9f])|(?<=\x1b)[\]PX^_])"  # OSC, DCS, APC: titles, links
    r"[^\x07\x1b\x80-\x9f\n]*+(?:\x07|\x1b\\|\x9c)"
    r"|(?<=\x1b)[ -/]*+[0-~]?)"  # the other escapes
)
# What has no shape of its own: controls (Cc) but for the tab and the end of a line, marks that are not seen or reorder
# text (Cf), line and paragraph separators (Zl, Zp), surrogates (Cs), and what every font draws as it likes (Co).
# Listed, since Pythons know more or fewer of them.
_SHAPELESS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    "\ud800-\udfff\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
)
_LINES = "\t\n"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Joiners that belong to what is written: between letters of scripts that are spelt with them (Arabic, Syriac, those of
# India and its neighbours, Mongolian), and between two emoji, each perhaps with a colour or in its picture form.
_JOINERS = "\u200c\u200d"
_SPELT_WITH_JOINERS = (
    "\u0620-\u06d3\u0710-\u077f\u0840-\u085b\u08a0-\u08c9\u0900-\u0dff\u1000-\u109f\u1780-\u17d3\u1820-\u18aa"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINED = f"(?:[{_SPELT_WITH_JOINERS}].[{_SPELT_WITH_JOINERS}]|[{_EMOJI}\ufe0f]\u200d[{_EMOJI}])"


@cache
def _unsafe(also: str = "") -> re.Pattern[str]:
    """A character without a shape, or one of some others. Such patterns take milliseconds: most starts need none."""
    return re.compile(f"[{also}{_SHAPELESS}]")


@cache
def _joined() -> re.Pattern[str]:
    """A joiner that belongs to what is written, between its neighbours."""
    return re.compile(_JOINED, re.DOTALL)


def _is_joiner(match: re.Match[str]) -> bool:
    """Whether a mark that is not seen is there for the letters or pictures on either side of it."""
    place = match.start()
    return match.group() in _JOINERS and place > 0 and _joined().match(match.string, place - 1) is not None


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if _is_joiner(match):
        return char
    code = ord(char)
    return _NAMED.get(char) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
    )


def _json_escaped(match: re.Match[str]) -> str:
    char = match.group()
    if _is_joiner(match):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def json_line(text: str) -> str:
    r"""A line of JSON with the characters that `one_line` shows as escapes escaped too (`\u009b`): the same JSON."""
    return text if text.isascii() and text.isprintable() else _unsafe(_LINES).sub(_json_escaped, text)


def without_escapes(text: str) -> str:
    """The text without terminal escape sequences, those cut off half-way included."""
    return _ESCAPES.sub("", text) if "\x1b" in text or not text.isascii() else text


def one_line(text: str, limit: int | None = None) -> str:
    r"""The text on one line: escape sequences removed, control characters shown as `\n` or `\x07`.

    With a limit, what goes beyond that many characters is left out and counted: in the middle, so that two texts which
    differ at their ends are still told apart.
    """
    plain = text.isascii() and text.isprintable()
    safe = text if plain else _unsafe(_LINES).sub(_escaped, without_escapes(text))
    if limit is None or len(safe) <= limit:
        return safe
    end = limit // 2
    return f"{safe[: limit - end]}... ({len(safe) - limit} more characters) ...{safe[len(safe) - end :]}"


def several_lines(text: str) -> str:
    """The text with its lines and tabs as they are: escape sequences removed, control characters shown."""
    if text.isascii() and text.isprintable():
        return text
    return _unsafe().sub(_escaped, without_escapes(text).replace("\r\n", "\n"))


def encodable(text: str, encoding: str | None) -> str:
    r"""The text with what the encoding cannot carry written as an escape (`\u2717`)."""
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)
