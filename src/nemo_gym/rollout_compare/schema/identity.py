"""What tells tasks apart, and what tells attempts apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

#: A rollout, a failed attempt or a planned row, as its JSON object.
Row = Mapping[str, Any]

#: What tells a task apart: its id as text, or (taskset, id).
Identity = str | tuple[str, str]

#: What tells attempts apart: the task's position in the run's input file, and the attempt's number.
Attempt = tuple[int | str, int | str]


#: Texts of rows that are longer are not kept whole.
MOST_CHARACTERS = 1 << 14
_KEPT = 1000

_PIECE = 1 << 20


class Fields(Struct, frozen=True):
    """The names under which a run's rows may say which task they are of.

    Attributes:
        usual: Those that usually name the task, best first; they are taken without a note.
        further: Those that are asked only after these, and never taken without a note.
        certain: Those that are ids by definition, whatever the task's input says.
        input: What the task's input is called.
        index: What the task's position in the run's input file is called.
        results: Fields that only a row has that was run.
        never: Fields that are no ids, though they may look like one: attempts, results.
        said: Whether the user named the field: it is then the only one, and never questioned.
        positions: Those that may be positions in a data set, which name a task only where both runs had it in the
            same order.
        digests: Whether rows have a digest of their task's content for the task's input: it tells whether two runs of
            the same producer had the same task, and nothing to a run that has inputs.
    """

    usual: tuple[str, ...]
    further: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    input: str = "task input"
    index: str = "task index"
    results: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    said: bool = False
    positions: tuple[str, ...] = ()
    digests: bool = False

    def all(self) -> tuple[str, ...]:
        """Every name, best first."""
        return (*self.usual, *self.further)

    def or_named(self, key: str | None) -> Fields:
        """These fields, or in place of them the one that the user named."""
        if key is None:
            return self
        return replace(self, usual=(key,), further=(), certain=(key,), said=True, positions=())


def kept(text: str) -> str:
    """A text as it is kept of a row: a very long one by its start, its end, its length and a digest of the whole.

    So what is kept of a run grows with its rows and not with their size, and texts are equal when what is kept is.
    """
    if len(text) <= MOST_CHARACTERS:
        return text
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for piece in utf8_pieces(text):
        digest.update(piece)
    return f"{text[:_KEPT]}... ({len(text)} characters, {digest.hexdigest()}) ...{text[-_KEPT:]}"


def utf8_pieces(text: str) -> Iterator[bytes]:
    """The text as UTF-8, lone surrogates too, in pieces: a hash of a very long one needs no second copy of it."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE].encode("utf-8", "surrogatepass")


def text_of(value: Any) -> str:
    """A value as text: a string as it is, anything else as JSON with sorted keys."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def identity_of(value: Any) -> Identity:
    """The task that a key's value names: its label, with the taskset where the value names one.

    An object is a structured id, `{"taskset": S, "task_id": T}` (or `id`); one with neither is its JSON, keys sorted.
    """
    if not isinstance(value, Mapping):
        return kept(text_of(value))
    task = value.get("task_id") if value.get("task_id") is not None else value.get("id")
    if task is None:
        return kept(text_of(value))
    taskset = value.get("taskset")
    return kept(text_of(task)) if taskset is None else (kept(text_of(taskset)), kept(text_of(task)))


def identities_of(values: Sequence[Any]) -> Sequence[Identity | None]:
    """The tasks that a field's values name."""
    if {str, type(None)}.issuperset(map(type, values)) and max(map(len, filter(None, values)), default=0) <= (
        MOST_CHARACTERS
    ):
        return values
    return [None if value is None else identity_of(value) for value in values]


def attempt_part(value: Any) -> int | str | None:
    """One half of the pair that tells attempts apart, as a value that can be looked up; 0.0 is 0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or type(value) is int else kept(text_of(value))


def attempt_parts(values: Sequence[Any]) -> Sequence[int | str | None]:
    """The same of many values."""
    if {int, type(None)}.issuperset(map(type, values)):
        return values
    return [attempt_part(value) for value in values]


def label_of(identity: Identity, *, with_taskset: bool) -> str:
    """What an identity is called: `S/T` with its taskset, else `T`."""
    if isinstance(identity, str):
        return identity
    return "/".join(identity) if with_taskset else identity[1]
