"""How deep a row may be nested: 500 levels, whichever decoder, Python and stack it is read with.

Decoders stop at the limit of the interpreter's stack, which depends on the Python and on how deep in calls one is.
So a row is measured where it could be too deep, and the interpreter is given room for all that are not.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from nemo_gym.rollout_compare.schema import CompareInputError

#: The most levels of objects and lists in a row, the row itself included.
MOST_LEVELS = 500
TOO_DEEP = "nested too deeply"

# What a decoder and what is made of its values need a level, and beside that.
_CALLS_A_LEVEL, _CALLS_BESIDE = 4, 500
_SPARED_LEVELS = 20
_SHOWN_KEY = 60

#: Python 3.11 counts a decoder's levels as calls. Since 3.12 it has a limit of its own for them, which cannot be set.
_LEVELS_ARE_CALLS = sys.version_info < (3, 12)

_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ONE_KIND, _NO_BRACKETS = bytes.maketrans(b"{}", b"[]"), bytes(set(range(256)) - set(b"[]{}"))


def check_keys(keys: Iterable[str | None]) -> None:
    """Refuse a dotted path that no row can have.

    Raises:
        CompareInputError: It has more parts than a row has levels.
    """
    for key in keys:
        parts = key.count(".") + 1 if key else 0
        if parts > MOST_LEVELS:
            shown = f"{(key or '')[:_SHOWN_KEY]}..."
            raise CompareInputError(
                f"no row has the field {shown}: it has {parts} parts, and a row no more than {MOST_LEVELS} levels"
            )


def is_too_deep(line: bytes | memoryview, around: int = 0) -> bool:
    """Whether a line is nested deeper than a row may be. Most lines are too short, or have too few brackets.

    Args:
        line: The line, or a document.
        around: The levels of a document that are around its rows.
    """
    most = MOST_LEVELS + around
    if len(line) <= 2 * most:
        return False
    data = bytes(line)
    if data.count(b"{") + data.count(b"[") <= most:
        return False
    brackets = _STRINGS.sub(b"", data).translate(_ONE_KIND, _NO_BRACKETS)
    for _ in range(most):
        inner = brackets.replace(b"[]", b"")  # one level less, everywhere
        if not inner:
            return False
        if len(inner) == len(brackets):
            break
        brackets = inner
    return _deepest(data) > most


def _deepest(data: bytes) -> int:
    """How many brackets are open at a time at most, in what may be cut off anywhere."""
    depth = deepest = 0
    for token in _TOKENS.finditer(data):
        kind = data[token.start()]
        if kind in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif kind in b"]}":
            depth -= 1
    return deepest


@contextmanager
def shallow_only() -> Iterator[bool]:
    """See to it that a decoder refuses what is too deep, and perhaps a little less; False where that cannot be done."""
    if not _LEVELS_ARE_CALLS or threading.active_count() > 1:  # the limit is that of all threads
        yield False
        return
    with _limited_to(_calls() + MOST_LEVELS - _SPARED_LEVELS):
        yield True


@contextmanager
def room_for_rows() -> Iterator[None]:
    """Give the interpreter room for a row that is as deep as it may be, however deep in calls one is."""
    with _limited_to(max(sys.getrecursionlimit(), _calls() + _CALLS_A_LEVEL * MOST_LEVELS + _CALLS_BESIDE)):
        yield


def _calls() -> int:
    """How deep in calls the interpreter is."""
    depth, frame = 0, sys._getframe()  # noqa: SLF001  # the only cheap way to tell
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


@contextmanager
def _limited_to(calls: int) -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(calls)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
