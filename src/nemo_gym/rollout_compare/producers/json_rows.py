"""A line to the values of the few fields that a comparison needs.

Two decoders give the same values. The fast one knows the fields beforehand and skips everything else; whatever it
refuses is tried by the plain one, which alone decides what is an error. Rows that are already objects are picked apart
by the same paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from operator import is_
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import astuple

from nemo_gym.rollout_compare.producers.depth import TOO_DEEP, is_too_deep, room_for_rows, shallow_only
from nemo_gym.rollout_compare.schema import CompareInputError, Row

_JSON_SPACE = " \t\r\n"
#: What Python before 3.13 expects where a comma is the last thing in an object or an array.
_AFTER_COMMA = {"Expecting property name enclosed in double quotes": ("}", "object"), "Expecting value": ("]", "array")}

_Tree = dict[str, "_Tree"]

#: The values of each field of the objects at a path.
_Opened = dict[tuple[str, ...], list[Sequence[Any]]]

# A path of more names is not one that rows have; types nested as deep as it are costly to make.
_MOST_FAST_NAMES = 32

# What the fast decoder raises, for a line or for one of several, where the plain one has to be asked.
REFUSALS = (msgspec.MsgspecError, RecursionError, ValueError)


class InvalidLine(CompareInputError):
    """A line is not JSON, or not an object."""


class NotAnObject(InvalidLine):
    """A line is JSON, but not an object."""


class LineTooLong(InvalidLine):
    """A line is longer than a line may be."""


def parse_object(line: bytes | memoryview) -> dict[str, Any]:
    """The whole row, by the rules of `json.loads`: the plain decoder.

    Invalid UTF-8 becomes U+FFFD. An integer of more digits than Python converts is kept as text.

    Raises:
        InvalidLine: The line is not JSON, is nested too deeply, or is not an object.
    """
    if is_too_deep(line):
        raise InvalidLine(f"invalid JSON ({TOO_DEEP})")
    try:
        with room_for_rows():
            value = json.loads(str(line, "utf-8", "replace"), parse_int=integer)
    except json.JSONDecodeError as error:
        raise InvalidLine(f"invalid JSON ({_what_is_wrong(error)})") from None
    if not isinstance(value, dict):
        raise NotAnObject("expected a JSON object per line")
    return value


def _what_is_wrong(error: json.JSONDecodeError) -> str:
    """What is wrong with a line, and where: in the words of Python 3.13, whichever Python reads it."""
    end, whole = _AFTER_COMMA.get(error.msg, ("", ""))
    if end and error.doc.startswith(end, error.pos):
        before = error.doc[: error.pos].rstrip(_JSON_SPACE)
        if before.endswith(","):
            return f"Illegal trailing comma before end of {whole}: column {len(before)}"
    return f"{error.msg}: column {error.colno}"


def integer(digits: str) -> int | str:
    """A whole number; its digits where there are more than Python converts."""
    try:
        return int(digits)
    except ValueError:
        return digits


def dig(value: object, names: Sequence[str]) -> Any:
    """The value at a path of field names; None where there is none."""
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


#: A place in a text as it is written where no escape is cut: the longest is `\\ud83d\\ude00`.
_OUTSIDE_ESCAPES = re.compile(rb"[^\\]{12}(?=[^\x80-\xbf])", re.DOTALL)


def parse_value(written: bytes | memoryview) -> Any:
    """The value of a field that was taken as it is written, by the plain decoder."""
    return parse_object(b'{"":%b}' % bytes(written))[""]


def end_of_text(written: memoryview, most: int) -> str:
    """A text as it is written in JSON; of one with more than `most` characters as many at its end, or somewhat more."""
    size = 2 * most
    while (cut := len(written) - size) > 0 and (found := _OUTSIDE_ESCAPES.search(written, cut)):
        end = bytearray(b'"')
        end += written[found.end() :]
        text = _text(end)
        if len(text) > most:
            return text
        size *= 4
    return _text(written)


def _text(written: bytearray | memoryview) -> str:
    try:
        return msgspec.json.decode(written, type=str)
    except REFUSALS:
        return str(parse_value(bytes(written)))


class RowDecoder:
    """Gives the values at fixed dotted paths of rows, in the order of the paths.

    A path that a row does not have, or whose value is null, gives None.
    """

    def __init__(self, paths: Sequence[str], kinds: Mapping[str, Any] | None = None) -> None:
        """Prepare the decoders.

        Args:
            paths: The paths.
            kinds: For paths whose values the fast decoder need not build whole, what it makes of them instead. The
                plain decoder gives the values as they are.
        """
        self._names = [tuple(path.split(".")) for path in paths]
        self._fast: FastDecoder | None = None
        if max(map(len, self._names), default=0) <= _MOST_FAST_NAMES:
            with suppress(ValueError):  # a field that cannot be known beforehand, with a quote or a backslash
                self._fast = FastDecoder(self._names, kinds or {})

    def decode(self, line: bytes | memoryview) -> tuple[Any, ...]:
        """The values of a line, or `InvalidLine`."""
        if self._fast:
            try:
                return tuple(value for (value,) in self._fast.columns([line]))
            except REFUSALS:
                pass
        return self.pick(parse_object(line))

    def columns(self, lines: Sequence[bytes | memoryview]) -> list[Sequence[Any]]:
        """For each path the values of all lines, or `InvalidLine` for any of them."""
        if not lines:
            return [()] * len(self._names)
        if self._fast:
            try:
                return self._fast.columns(lines)
            except REFUSALS:
                pass
        return list(zip(*map(self.decode, lines), strict=True))

    def pick(self, row: Row) -> tuple[Any, ...]:
        """The values of a row that is an object already."""
        return tuple(dig(row, names) for names in self._names)


class _Column(NamedTuple):
    """How the values of a wanted path are found: the decoded objects on the way to it, then what is inside its value.

    A wanted path may go on inside another wanted value (`response.metadata.id`), which is decoded whole.

    Attributes:
        way: The path's first name, its first two and so on, each with the place of its last name in the object.
        inside: The names inside the value.
    """

    way: Sequence[tuple[tuple[str, ...], int]]
    inside: Sequence[str]


class FastDecoder:
    """Decodes the wanted fields and skips over the rest; raises one of `REFUSALS` where it cannot tell."""

    def __init__(
        self, wanted: Sequence[tuple[str, ...]], kinds: Mapping[str, Any] | None = None, whole: str | None = None
    ) -> None:
        """Prepare the decoder.

        Args:
            wanted: The paths of the wanted fields.
            kinds: What is made of the values at some paths, where that is not simply the value.
            whole: An object, named in a wanted path, that is refused if it has any other field than those wanted.

        Raises:
            ValueError: A field cannot be known beforehand.
        """
        leaves = [_shortest(names, wanted) for names in wanted]
        tree: _Tree = {}
        for leaf in leaves:
            branch = tree
            for name in leaf:
                branch = branch.setdefault(name, {})
        row_type = _struct(tree, kinds or {}, whole)
        self._row: Callable[[bytes | memoryview], Any] = msgspec.json.Decoder(row_type).decode
        self._absent = dict(_objects(tree, row_type()))
        self._columns = [
            _Column(
                [(leaf[:depth], _place(tree, leaf[:depth])) for depth in range(1, len(leaf) + 1)], names[len(leaf) :]
            )
            for names, leaf in zip(wanted, leaves, strict=True)
        ]

    def columns(self, lines: Sequence[bytes | memoryview]) -> list[Sequence[Any]]:
        """For each path the values of all lines, of which there is at least one."""
        with shallow_only() as sure:
            if not sure and any(map(is_too_deep, lines)):
                raise ValueError(TOO_DEEP)
            opened: _Opened = {(): list(zip(*map(astuple, map(self._row, lines)), strict=True))}
        return [self._of(column, opened) for column in self._columns]

    def _of(self, column: _Column, opened: _Opened) -> Sequence[Any]:
        """A path's values, by the fields of the objects that have been taken apart: each is once."""
        values: Sequence[Any] = ()
        path: tuple[str, ...] = ()
        for longer, place in column.way:
            if path not in opened:
                opened[path] = _fields(values, self._absent[path])
            values, path = opened[path][place], longer
        return [dig(value, column.inside) for value in values] if column.inside else values


def _fields(objects: Sequence[Any], absent: Any) -> list[Sequence[Any]]:
    """The values of each field of some objects; one that is absent is the default, of which there is one."""
    if all(map(is_, objects, repeat(absent))):
        return [[value] * len(objects) for value in astuple(absent)]
    try:
        return list(zip(*map(astuple, objects), strict=True))
    except TypeError:  # a scalar, a list or null stands where a path goes on
        kind = type(absent)
        objects = [value if isinstance(value, kind) else absent for value in objects]
        return list(zip(*map(astuple, objects), strict=True))


def _objects(tree: _Tree, absent: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The default of each object that paths lead through."""
    yield path, absent
    for (name, branch), value in zip(tree.items(), astuple(absent), strict=True):
        if branch:
            yield from _objects(branch, value, (*path, name))


def _place(tree: _Tree, path: Sequence[str]) -> int:
    """The place of a path's last name among the fields of its object."""
    for name in path[:-1]:
        tree = tree[name]
    return list(tree).index(path[-1])


def _shortest(names: tuple[str, ...], wanted: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest wanted path that a wanted path lies in: below it everything is decoded."""
    return min((other for other in wanted if names[: len(other)] == other), key=len)


def _struct(
    tree: _Tree, kinds: Mapping[str, Any], whole: str | None, path: tuple[str, ...] = ()
) -> type[msgspec.Struct]:
    """A decoder's type for an object with the given fields. They may be called anything: attributes are not."""
    fields: list[tuple[str, Any, Any]] = []
    renamed: dict[str, str] = {}
    for i, (name, branch) in enumerate(tree.items()):
        attribute = f"field_{i}"
        renamed[attribute] = name
        if branch:
            inner = _struct(branch, kinds, whole, (*path, name))
            fields.append((attribute, inner | None | bool | int | float | str | list[Any], inner()))
        else:
            kind = kinds.get(".".join((*path, name)), Any)
            fields.append((attribute, kind, msgspec.Raw() if kind is msgspec.Raw else None))
    strict = path == (whole,)
    return msgspec.defstruct("Fields", fields, frozen=True, gc=False, rename=renamed, forbid_unknown_fields=strict)
