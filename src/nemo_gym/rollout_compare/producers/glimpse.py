"""What is seen of a path at a glance: the names in a folder, the first bytes of a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from nemo_gym.rollout_compare.files import STDIN_PATH, open_input, reading
from nemo_gym.rollout_compare.schema import CompareInputError

HEAD_BYTES = 64 << 10
#: A prompt may stand before the keys that tell: so much is read of a first value that is longer than that.
VALUE_BYTES = 4 << 20

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}:]', re.DOTALL)
_SPACE = b"\xef\xbb\xbf \t\r\n"


class Glimpse:
    """A path, and what can be told of it without reading it whole; what is asked for is looked up once.

    Of a file that is not a regular one, or cannot be read, nothing is seen: a pipe can be read only once.

    Attributes:
        path: The path.
    """

    def __init__(self, path: Path) -> None:
        """Look at a path, later."""
        self.path = path

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of what is in a folder, sorted; hidden files are none of them. A file has none."""
        try:
            return tuple(sorted(name for name in os.listdir(self.path) if not name.startswith(".")))
        except OSError:
            return ()

    def child(self, name: str) -> Glimpse:
        """What is in a folder under a name, whether there is anything or not."""
        return Glimpse(self.path / name)

    def children(self) -> Iterator[Glimpse]:
        """Everything in a folder, in the order of the names."""
        return map(self.child, self.names)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, decompressed; none of anything else."""
        return self._first(HEAD_BYTES)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The own keys of the first object in a file; of a list that of its first.

        They are those that stand in the first bytes, or in the first 4 MiB where the object goes on beyond these.
        """
        if not self.head.lstrip(_SPACE).startswith((b"{", b"[")):
            return frozenset()
        found, ended = own_keys(self.head)
        return found if ended or len(self.head) < HEAD_BYTES else own_keys(self._first(VALUE_BYTES))[0]

    @property
    def is_list(self) -> bool:
        """Whether a file's first value is a list."""
        return self.head.lstrip(_SPACE).startswith(b"[")

    def _first(self, count: int) -> bytes:
        if self.path == STDIN_PATH or not self.path.is_file():
            return b""
        try:
            with open_input(self.path) as source, reading(source) as (file, _):
                return file.read(count)
        except CompareInputError:
            return b""


def own_keys(data: bytes) -> tuple[frozenset[str], bool]:
    """The keys of the first object in JSON that may be cut off anywhere, and whether the object ends there."""
    found: set[str] = set()
    depth, outer, last = 0, 0, b""
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
            outer = outer or (depth if token == b"{" else 0)
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < max(outer, 1):
                return frozenset(found), True
        elif token == b":":
            if depth == outer:
                found.add(last.decode("utf-8", "replace"))
        else:
            last = token[1:-1]
    return frozenset(found), False
