"""Which producer a run is of, told from names and first bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN
from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.schema import CompareInputError

_MOST_PROBED = 20
_MOST_DESCENDED = 4


class Recognized(Struct, frozen=True):
    """What a named path turned out to be.

    Attributes:
        producer: Whose run it is.
        named: The run: what the user named, or a folder in it.
    """

    producer: Producer
    named: str


def producer_of(named: str, producers: Mapping[str, Producer], name: str | None = None) -> Recognized:
    """Which producer a run is of.

    Args:
        named: What the user named as a run.
        producers: Every producer by its name, in the order in which they are asked; the last one takes what cannot be
            looked at before it is read, such as standard input.
        name: The producer that the user named, None where it is to be found.

    Raises:
        CompareInputError: There is no such producer, or none knows the path.
    """
    if name is not None and name not in producers:
        raise CompareInputError(f"there is no format {name!r}; known are {', '.join(producers)}")
    asked = list(producers.values()) if name is None else [producers[name]]
    usual = asked[-1]
    try:
        if named == STDIN or not Path(named).exists():
            return Recognized(usual, named)
        place = Glimpse(Path(named))
        found = _seen_in_folder(place, asked) if place.is_folder else _seen(place, asked) or _refused(place, asked)
    except (OSError, ValueError):  # what cannot be looked at cannot be read: its reader says why
        return Recognized(usual, named)
    if found:
        return found
    if not place.is_folder or name is not None or any(usual.looks_like(one.path.name) for one in place.children()):
        return Recognized(usual, named)
    others = ", ".join(f"{producer.name} ({producer.signs})" for producer in asked[:-1])
    raise CompareInputError(
        f"cannot read {named}: it is a folder without {usual.signs} and without what shows another format: {others}"
    )


def _seen_in_folder(folder: Glimpse, producers: Sequence[Producer]) -> Recognized | None:
    """Whose run a folder is, or the only folder in it, or the only one in that, ..."""
    for _ in range(_MOST_DESCENDED):
        found = _seen(folder, producers) or _seen_in_files(folder, producers)
        if found:
            return found
        folders = [one for one in islice(folder.children(), 1000) if one.is_folder]
        if len(folders) != 1:
            return None
        (folder,) = folders
    return None


def _seen_in_files(folder: Glimpse, producers: Sequence[Producer]) -> Recognized | None:
    """Whose run a folder is by the first files in it."""
    files = (one for one in folder.children() if not one.is_folder)
    probed = [(one, _seen(one, producers)) for one in islice(files, _MOST_PROBED)]
    by_name = {found.producer.name for _, found in probed if found}
    ordered = [producer for producer in producers if producer.name in by_name and not producer.common]
    left = any(producers[-1].looks_like(one.path.name) for one, found in probed if not found)
    if not ordered and not left:
        ordered = [producer for producer in producers if producer.name in by_name]
    if not ordered and not left:
        ordered = [producer for producer in producers if any(producer.refused(one) for one, _ in probed)]
    return _recognized(folder, iter(ordered))


def _seen(place: Glimpse, producers: Sequence[Producer]) -> Recognized | None:
    return _recognized(place, (producer for producer in producers if producer.seen(place)))


def _refused(place: Glimpse, producers: Sequence[Producer]) -> Recognized | None:
    return _recognized(place, (producer for producer in producers if producer.refused(place)))


def _recognized(place: Glimpse, found: Iterator[Producer]) -> Recognized | None:
    first = next(found, None)
    return Recognized(first, str(place.path)) if first else None
