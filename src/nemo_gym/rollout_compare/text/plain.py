"""Output from somebody else's machine, made plain: for the lines that are shown, the readers and the signatures."""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import Any

from nemo_gym.rollout_compare.text.terminal import without_escapes

#: A test's name is shown, so it has an end. Longer ones are cut.
NAME_LIMIT = 500

_VERDICT = re.compile(r"fail|pass|error|assert|panic|exception", re.IGNORECASE)
_PROGRESS = re.compile(r"[\d\W_]+")

# What programs that gather output put before each line of it. Nothing here backtracks: repetitions are possessive or
# bounded.
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIXES = (
    re.compile(rf"\[{_TIME}\] ?|{_TIME}(?: |$)"),  # `docker logs -t`, build services
    re.compile(r"\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\] ?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: |$)"),
    re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S++ [^\s:]++: ?"),  # the system's journal
    re.compile(r"[\w./-]{1,80} *+\|(?: |$)"),  # docker compose
    re.compile(r"#\d{1,4} (?:\d{1,6}\.\d{1,3}(?: |$))?"),  # docker build
    re.compile(
        r"(?:stdout|stderr) [FP](?: |$)|\[pod/[^\s\]]{1,120}\] ?"
    ),  # Kubernetes: on disk, `kubectl logs --prefix`
    re.compile(r"\d\d[OE]\+? ?"),  # GitLab, after the time
    re.compile(r"(?:INFO|DEBUG)(?: |$)"),  # a log, after the time
    re.compile(r" {0,9}\[(?:junit|exec|java|javac|mkdir|testng|echo)\] ?"),  # Ant
)
_SAMPLE = 200
_SHARE = 0.85
#: Fewer lines may begin alike by chance.
_LEAST = 3
_LAYERS = 3

# Bars, corners and arrows of the boxes that programs draw around their messages.
_BARS = " \t|\u2502\u2503\u2551"
_BOX = _BARS + (
    "\u2022\u00b7\u203a\u2192\u2514\u2570\u251c\u256d\u250c\u2500\u2501\u25b6\u276f\u00d7\u2717\u2718\u2715\u2716\u274c\u26a0>"
)


class PlainText:
    """A text whose plain lines are wanted more than once: they are made when they are first asked for.

    Attributes:
        text: The text as it was written.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """Its lines as `plain_lines` gives them."""
        return plain_lines(self.text)


def plain_lines(text: str) -> list[str]:
    """The lines of an output as a person would read them, blank ones left out.

    Escape sequences are gone, overwritten lines are in their last state, and what a program that gathers output puts
    before each line (a time stamp, a container's name) is taken off.
    """
    return without_prefixes(lines(without_escapes(text)))


def lines(text: str) -> list[str]:
    """The text's lines but for blank ones; one that carriage returns overwrote counts as the states that are left."""
    if "\r" in text:
        text = "\n".join("\n".join(states_left(line)) if "\r" in line else line for line in text.split("\n"))
    return list(filter(str.strip, text.split("\n")))


def states_left(line: str) -> Sequence[str]:
    """The last state of a line that carriage returns overwrote, and before it every state that holds a verdict.

    A progress bar leaves its last state only, but no output can overwrite a verdict to hide it.
    """
    if "\r" not in line:
        return (line,)
    *before, last = [state for state in line.split("\r") if state.strip()] or [""]
    left: list[str] = []
    shape = _PROGRESS.sub("", last)
    for state in reversed(before):
        if _VERDICT.search(state) and _PROGRESS.sub("", state) != shape:
            left.append(state)
            shape = _PROGRESS.sub("", state)
    return [*reversed(left), last]


def without_prefixes(said: list[str]) -> list[str]:
    """The lines without the prefixes that nearly all of them have."""
    for _ in range(_LAYERS):
        prefix = next((prefix for prefix in _PREFIXES if _stands_before_all(prefix, said)), None)
        if prefix is None:
            break
        said = [line for line in (_after(prefix, line) for line in said) if line.strip()]
    return said


def _stands_before_all(prefix: re.Pattern[str], said: Sequence[str]) -> bool:
    sample = said[:_SAMPLE]
    others = len(sample) - max(_LEAST, ceil(_SHARE * len(sample)))  # how many may begin otherwise
    if others < 0:
        return False
    for line in sample:
        if not prefix.match(line):
            others -= 1
            if others < 0:
                return False
    return True


def _after(prefix: re.Pattern[str], line: str) -> str:
    found = prefix.match(line)
    return line[found.end() :] if found else line


def unboxed(line: str) -> str:
    """The line without blanks around it and without the bars and arrows that lead to its text."""
    return line.lstrip(_BOX).removeprefix("`-> ").rstrip(_BARS)


def safe_name(name: str) -> str:
    """The name as one printable line: no escape sequences, control characters and lone surrogates shown as escapes."""
    name = without_escapes(name[: 2 * NAME_LIMIT]).strip()
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
