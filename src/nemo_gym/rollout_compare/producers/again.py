"""Rows read again: of the few that matter, what is wanted of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from nemo_gym.rollout_compare.producers.steps import bounded
from nemo_gym.rollout_compare.schema import Place, Record, Source, Wanted


def read_again(
    places: Sequence[Place], wanted: Wanted, *, grown: bool = False
) -> Iterator[tuple[int, Record | Exception]]:
    """What is wanted of each row or why it cannot be read, with the row's place in the sequence.

    The rows of a source come in the source's order: it is opened once, and read no further than its last row.

    Args:
        places: Where the rows are.
        wanted: What of them is wanted.
        grown: Whether a source may be another than it was: it may have grown, and the caller knows the rows again.
    """
    numbers = _numbered([place.source for place in places])
    order = sorted(range(len(places)), key=lambda i: (numbers[i], places[i].offset))
    for _, group in groupby(order, key=numbers.__getitem__):
        same = list(group)
        found = places[same[0]].source.again([places[i] for i in same], wanted, grown=grown)
        for position in same:  # not by `zip`, which holds a record, as large as its row, until it has the next
            record = next(found)
            yield position, _bounded(record, tool_outputs=wanted.tool_outputs) if wanted.transcript else record
            del record
        next(found, None)  # it closes the source


def _bounded(record: Record | Exception, *, tool_outputs: bool) -> Record | Exception:
    if isinstance(record, Exception) or record.transcript is None:
        return record
    return replace(record, transcript=bounded(record.transcript, tool_outputs=tool_outputs))


def together(pairs: Sequence[tuple[Place, Place]], most: int) -> list[list[int]]:
    """The numbers of pairs of rows that are read together: so many at a time, in the order of their first rows.

    Where a source has to be read from its start it is all of them.
    """
    numbers = _numbered([first.source for first, _ in pairs])
    order = sorted(range(len(pairs)), key=lambda i: (numbers[i], pairs[i][0].offset))
    if any(place.source.from_start for pair in pairs for place in pair):
        most = len(order)
    return [order[start : start + most] for start in range(0, len(order), max(most, 1))]


def _numbered(sources: Sequence[Source]) -> list[int]:
    """A number for each source, the same for equal ones, in the order of their names."""
    distinct = {id(source): source for source in sources}  # far fewer than there are rows, and costly to compare
    equal: dict[Source, int] = {}
    for source in sorted(distinct.values(), key=lambda source: str(source.path)):
        equal.setdefault(source, len(equal))
    numbers = {place: equal[source] for place, source in distinct.items()}
    return [numbers[id(source)] for source in sources]
