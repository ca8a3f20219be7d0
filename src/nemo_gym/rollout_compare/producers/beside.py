"""What stands in an object of a row beside the fields that are known: settings, of which most rows say the same.

Rows that have nothing beside the known fields are decoded as if nobody asked. Of the others the object is taken as it
is written, and what was once made of a text is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import astuple

from nemo_gym.rollout_compare.producers.json_rows import (
    REFUSALS,
    FastDecoder,
    RowDecoder,
    dig,
    parse_object,
    parse_value,
)
from nemo_gym.rollout_compare.schema import Row

#: What is remembered of texts of objects, in bytes: they are forgotten together when there are more.
_MOST_REMEMBERED = 4 << 20

_EMPTY = b"{}"
_SHORTEST_WITH_FIELD = 5  # {"":1} is longer, null and true are not
_BETWEEN = b": \t\r\n"


class Beside(NamedTuple):
    """What is asked of an object beside its known fields.

    Attributes:
        object: The object's name in the row.
        apart: The fields that do not belong to it.
        made: What is made of the other fields that are not null, once for all objects that say the same.
    """

    object: str
    apart: frozenset[str]
    made: Callable[[Mapping[str, Any]], Any]

    def of(self, value: Any) -> Any:
        """What is made of the value that a row has for the object, None where it has nothing beside."""
        if not isinstance(value, Mapping):
            return None
        return self.of_fields({name: held for name, held in value.items() if name not in self.apart})

    def of_fields(self, fields: Mapping[str, Any]) -> Any:
        """What is made of these fields."""
        said = {name: held for name, held in fields.items() if held is not None}
        return self.made(said) if said else None


class BesideDecoder:
    """A decoder of rows with one column more: what stands in an object beside its known fields."""

    def __init__(self, paths: Sequence[str], kinds: Mapping[str, Any], beside: Beside) -> None:
        """Prepare the decoders."""
        self._plain = RowDecoder(paths, kinds)
        self._beside = beside
        self._paths = len(paths)
        names = [tuple(path.split(".")) for path in paths]
        self._bare: FastDecoder | None = None
        self._full: _FullDecoder | None = None
        if (beside.object,) not in names:
            with suppress(ValueError):  # a field that cannot be known beforehand
                self._bare = FastDecoder(names, kinds, whole=beside.object)
                self._full = _FullDecoder(names, kinds, beside)
        self._seen = False

    def columns(self, lines: Sequence[bytes | memoryview]) -> list[Sequence[Any]]:
        """For each path the values of all lines, then what stands beside, or `InvalidLine` for any of them."""
        if not lines:
            return [()] * (self._paths + 1)
        if self._bare and not self._seen:
            try:
                return [*self._bare.columns(lines), [None] * len(lines)]
            except REFUSALS:
                pass
        if self._full:
            try:
                columns = self._full.columns(lines)
            except REFUSALS:
                pass
            else:
                self._seen = self._seen or columns[-1].count(None) < len(lines)
                return columns
        return list(zip(*(self.pick(parse_object(bytes(line))) for line in lines), strict=True))

    def pick(self, row: Row) -> tuple[Any, ...]:
        """The values of a row that is an object already."""
        return (*self._plain.pick(row), self._beside.of(dig(row, (self._beside.object,))))


class _FullDecoder:
    """Takes the object as it is written, then what is wanted inside it."""

    def __init__(self, names: Sequence[tuple[str, ...]], kinds: Mapping[str, Any], beside: Beside) -> None:
        self._inside = [place for place, path in enumerate(names) if path[0] == beside.object]
        self._outside = [place for place, path in enumerate(names) if path[0] != beside.object]
        outer = [*(names[place] for place in self._outside), (beside.object,)]
        self._outer = FastDecoder(outer, {**kinds, beside.object: msgspec.Raw})
        self._inner = FastDecoder([names[place][1:] for place in self._inside])
        self._written = _Written(beside)

    def columns(self, lines: Sequence[bytes | memoryview]) -> list[Sequence[Any]]:
        *outside, objects = self._outer.columns(lines)
        texts = [_text(memoryview(held)) for held in objects]
        inside = self._inner.columns(texts)
        columns: list[Sequence[Any]] = [()] * (len(self._inside) + len(self._outside))
        for places, found in ((self._outside, outside), (self._inside, inside)):
            for place, column in zip(places, found, strict=True):
                columns[place] = column
        return [*columns, list(map(self._written.of, texts))]


def _text(written: memoryview) -> bytes | memoryview:
    """An object as it is written; a very large one as it stands in its row."""
    if len(written) < _SHORTEST_WITH_FIELD:
        return _EMPTY
    return written if len(written) > _MOST_REMEMBERED else bytes(written)


class _Written:
    """What is made of an object as it is written, remembered by what it says beside the fields that stand apart."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._quoted = [b'"%b"' % name.encode() for name in beside.apart]
        self._absent = msgspec.Raw()
        fields = [(f"field_{i}", msgspec.Raw, self._absent) for i in range(len(self._quoted))]
        renamed = dict(zip((field for field, *_ in fields), beside.apart, strict=True))
        apart = msgspec.defstruct("Apart", fields, frozen=True, gc=False, rename=renamed)
        self._apart: Callable[[bytes], Any] = msgspec.json.Decoder(apart).decode
        self._fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._known: dict[tuple[bytes, ...], Any] = {}
        self._remembered = 0

    def of(self, text: bytes | memoryview) -> Any:
        if text is _EMPTY:
            return None
        key = self._key(text) if isinstance(text, bytes) else None
        if key is None:
            return self._made(text)
        if key not in self._known:
            size = sum(map(len, key))
            if self._remembered + size > _MOST_REMEMBERED:
                self._known.clear()
                self._remembered = 0
            self._remembered += size
            self._known[key] = self._made(text)
        return self._known[key]

    def _key(self, text: bytes) -> tuple[bytes, ...] | None:
        """What is left of the text without the values of the fields that stand apart; None where that is not clear.

        A value may stand after its name somewhere deeper too. Then what is left holds the field itself, so two texts
        of which the same is left say the same all the same.
        """
        spans: list[tuple[int, int]] = []
        for quoted, value in zip(self._quoted, astuple(self._apart(text)), strict=True):
            if value is self._absent:
                continue
            held = bytes(value)
            start = text.find(quoted) + len(quoted)
            while text[start : start + 1] and text[start] in _BETWEEN:
                start += 1
            if not text.startswith(held, start):
                return None
            spans.append((start, start + len(held)))
        left, end = [], 0
        for start, stop in sorted(spans):
            if start < end:
                return None
            left.append(text[end:start])
            end = stop
        return (*left, text[end:])

    def _made(self, text: bytes | memoryview) -> Any:
        fields = self._fields(text)
        return self._beside.of_fields(
            {name: _value(memoryview(raw)) for name, raw in fields.items() if name not in self._beside.apart}
        )


def _value(written: memoryview) -> Any:
    """The value of a field as it is written, by the plain decoder; of a very large one by the fast one if it can."""
    if len(written) > _MOST_REMEMBERED:
        with suppress(*REFUSALS):
            return msgspec.json.decode(written)
    return parse_value(written)
