"""Text from somebody else's machine, made plain: shared by the readers and the signatures."""

import json
import re
from typing import Any

#: A test's name is shown, so it has an end. Longer ones are cut.
NAME_LIMIT = 500

# Every repetition is possessive (`*+`): none is ever tried again, so a search costs what its text is long. Either part
# begins with one character and no repetition, which lets a search skip to the next such character.
_ESCAPES = re.compile(
    r"""\x1b (?: \[[0-?]*+[ -/]*+[@-~]?               # control sequences: colours, cursor
                    | [\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\)?  # strings for the terminal: titles, links
                    | [ -/]*+[0-~]? )                       # everything shorter
      | \x9b[0-?]*+[ -/]*+[@-~]?                      # a control sequence in one character fewer
    """,
    re.VERBOSE,
)


def plain(text: str) -> str:
    """The text without escape sequences, those cut off half-way included."""
    return _ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text


def lines(text: str) -> list[str]:
    """The text's lines but for blank ones, each in its last state if carriage returns overwrote it."""
    if "\r" in text:
        text = "\n".join(map(_last_state, text.split("\n")))
    return list(filter(str.strip, text.split("\n")))


def safe_name(name: str) -> str:
    """The name as one printable line: no escape sequences, control characters and lone surrogates shown as escapes."""
    name = plain(name[: 2 * NAME_LIMIT]).strip()
    if not name.isprintable():
        name = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in name)
    return name if len(name) <= NAME_LIMIT else name[:NAME_LIMIT] + "\N{HORIZONTAL ELLIPSIS}"


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is, or None: it is something else, is broken, or is nested without end."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _last_state(line: str) -> str:
    """What a terminal still shows of a line; a carriage return that ends it overwrites nothing."""
    return line.rstrip().rpartition("\r")[2]
