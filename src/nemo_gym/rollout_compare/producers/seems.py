"""What a file that holds no rollouts seems to be, so that an error can say what to do."""

from __future__ import annotations

_SHOWN_BYTES = 40


def what_text_seems(line: bytes) -> str | None:
    """What a file seems to be that begins with a line that is not a row; None if it may be rollouts all the same."""
    text = line.strip()
    if text.startswith(b"["):
        return "the file seems to be a JSON list (of metrics?), not rollouts with one object a line"
    if text == b"{":
        return "the file seems to be one JSON document over several lines; rollouts have one object a line"
    if text.startswith(b"{"):
        return None
    beginning = text[:_SHOWN_BYTES].decode("utf-8", "replace")
    return f"the file seems to be no rollouts at all: it begins with {beginning!r}"
