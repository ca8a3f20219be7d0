"""What a file that holds no rollouts seems to be, so that an error can say what to do."""

from __future__ import annotations

_SHOWN_BYTES = 40

#: How text in other encodings begins: with a byte order mark, or with `{` or `[`. The longer ones come first.
_WIDE = {
    "UTF-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"{\0\0\0", b"\0\0\0{", b"[\0\0\0", b"\0\0\0["),
    "UTF-16": (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0["),
}


def what_text_seems(line: bytes, *, shown: bool = True) -> str | None:
    """What a file seems to be that begins with a line that is not a row; None if it may be rollouts all the same.

    Args:
        line: The line.
        shown: Whether its beginning is shown where nothing else can be said; not where a link may lead anywhere.
    """
    encoding = _other_encoding(line)
    if encoding:
        return f"the file is {encoding} text, and rollouts are UTF-8: convert it (iconv -f {encoding} -t UTF-8)"
    text = line.strip()
    if text.startswith(b"["):
        return "the file seems to be a JSON list (of metrics?), not rollouts with one object a line"
    if text == b"{":
        return "the file seems to be one JSON document over several lines; rollouts have one object a line"
    if text.startswith(b"{"):
        return None
    if not shown:
        return "the file does not seem to hold rollouts"
    beginning = text[:_SHOWN_BYTES].decode("utf-8", "replace")
    return f"the file does not seem to hold rollouts: it begins with {beginning!r}"


def _other_encoding(line: bytes) -> str | None:
    """The encoding of text that begins with a line, if it is one in which `{` takes several bytes."""
    for encoding, marks in _WIDE.items():
        if line.startswith(marks):
            return encoding
    return None
