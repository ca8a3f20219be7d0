"""Which field tells the tasks of a run apart: a ladder of fields, and the proof that one of them does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import groupby, product
from operator import or_

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.join.candidates import PLANNED, Rung, fine, itself, ladder_of
from nemo_gym.rollout_compare.join.hints import no_key
from nemo_gym.rollout_compare.join.labels import Labels, input_labels, labels_of
from nemo_gym.rollout_compare.schema import (
    CompareInputError,
    FaultKind,
    Identity,
    KeyFault,
    KeyKind,
    Note,
    NoteKind,
    PassedKey,
    Side,
    input_label,
)
from nemo_gym.rollout_compare.table import Column, Table


class Choice(Struct, frozen=True):
    """The key of each run.

    Attributes:
        rungs: Each run's key.
        labels: What the tasks are called by them.
        notes: Why these, where they are not among the first candidates.
    """

    rungs: dict[Side, Rung]
    labels: Labels
    notes: tuple[Note, ...]

    def relabelled(self, identities: Mapping[Side, Sequence[Identity | None]]) -> Labels:
        """What the runs' identities, those of the keys and perhaps more, are called."""
        if all(identities[side] is rung.column.values for side, rung in self.rungs.items()):
            return self.labels
        return _labels(self.rungs, identities)


def choose_keys(tables: dict[Side, Table]) -> Choice:
    """The key of each run: the earliest that tells its tasks apart and by which some task is in both runs.

    A run without a row that has a say takes the other's key.

    Raises:
        CompareInputError: A run has no such field.
    """
    ladders = {side: ladder_of(table) for side, table in tables.items() if table.has_voters()}
    if not ladders:
        if not any(map(len, tables.values())):
            raise CompareInputError("no rows in either input")
        raise CompareInputError("neither run has a row that names a task: there is nothing to compare")
    for side, ladder in ladders.items():
        if not _fallback(ladder) and not _indexes_agree(ladders, tables):
            raise no_key(tables[side], tables, by_index=_may_join_by_index(ladders))
    if len(ladders) < len(Side):
        rungs = _for_both(ladders, tables)
        labels = _labels(rungs)
    else:
        rungs, labels = _best_pair(ladders, tables)
    return Choice(rungs, labels, tuple(_why(rungs, ladders)))


def first_key(table: Table) -> str | None:
    """The earliest field that tells a run's tasks apart, None where there is none."""
    ladder = ladder_of(table)
    rung = _fallback(ladder)
    return rung.name if rung else None


def _for_both(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> dict[Side, Rung]:
    """The key of the only run that has rows with a say, for the other run too, of which no row has it."""
    ((side, ladder),) = ladders.items()
    rung = _fallback(ladder) or ladder[0]
    empty: Column[Identity] = Column()
    empty.append_all([None] * len(tables[side.other]))
    other = Rung(rung.name, rung.kind, rung.rank, partial(itself, empty), fine, usual=rung.usual)
    return {Side.OLD: rung, Side.NEW: other} if side is Side.OLD else {Side.OLD: other, Side.NEW: rung}


def _best_pair(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> tuple[dict[Side, Rung], Labels]:
    """The earliest fields that tell tasks apart and by which the runs meet; else the earliest that tell them apart."""
    meeting = _Meeting(ladders)
    for i, group in enumerate(_pairs(ladders)):
        found = []
        for pair in group:
            if any(rung.rejected for rung in pair) or _moved(pair, tables):
                continue
            rungs = dict(zip(Side, pair, strict=True))
            if any(rung.rejected for rung in pair) or (i and not meeting.possible(rungs)):
                continue  # of the first pair, which meets in most comparisons, all is found out at once
            labels = _labels(rungs)
            if labels.meet() and (pair[0].kind is not KeyKind.INDEX or _indexes_agree(ladders, tables)):
                found.append((rungs, labels))
        if len(found) == 1:
            return found[0]
        if found:
            return max(found, key=lambda one: (len(shared := one[1].shared()), min(shared)))
    rungs = {side: _fallback(ladders[side]) or ladders[side][0] for side in Side}
    return rungs, _labels(rungs)


class _Meeting:
    """Which pairs of fields may name a task in common, found out for all of them in one go over their values.

    However labels are made of tasksets, ids and prefixes, two that are equal end in the same part after the last slash.
    """

    def __init__(self, ladders: Mapping[Side, Sequence[Rung]]) -> None:
        self._ladders = ladders

    @cached_property
    def _shared(self) -> set[tuple[str, str]]:
        """The names of the pairs with such a part in common, the old run's first."""
        fields = {side: [rung for rung in self._ladders.get(side, ()) if _has_own_labels(rung)] for side in Side}
        carrying: dict[str, int] = defaultdict(int)  # for each part the new run's fields, a bit each
        for number, rung in enumerate(fields[Side.NEW]):
            for part in _last_parts(rung):
                carrying[part] |= 1 << number
        found: set[tuple[str, str]] = set()
        for rung in fields[Side.OLD]:
            common = reduce(or_, (carrying.get(part, 0) for part in _last_parts(rung)), 0)
            found.update((rung.name, new.name) for i, new in enumerate(fields[Side.NEW]) if common >> i & 1)
        return found

    def possible(self, rungs: Mapping[Side, Rung]) -> bool:
        """Whether a pair may meet; True where only a closer look can tell."""
        old, new = (rungs[side] for side in Side)
        return not (_has_own_labels(old) and _has_own_labels(new)) or (old.name, new.name) in self._shared


def _has_own_labels(rung: Rung) -> bool:
    return rung.kind in (KeyKind.FIELD, KeyKind.PLANNED)


def _last_parts(rung: Rung) -> set[str]:
    ids = (one if isinstance(one, str) else one[1] for one in rung.column.values if one is not None)
    return {one.rpartition("/")[2] for one in ids}


def _moved(pair: tuple[Rung, Rung], tables: dict[Side, Table]) -> bool:
    """Whether what may be a position is one, and moved: the same was asked under another one, and here something else.

    A task that was asked in other words under the same position has not moved.
    """
    if not all(rung.name in tables[side].fields.positions for side, rung in zip(Side, pair, strict=True)):
        return False
    old, new = (_inputs_by_index(tables[side], rung) for side, rung in zip(Side, pair, strict=True))
    elsewhere = set().union(*new.values())
    both = old.keys() & new.keys()
    return any(old[position].isdisjoint(new[position]) and old[position] & elsewhere for position in both)


def _pairs(ladders: dict[Side, list[Rung]]) -> Iterator[list[tuple[Rung, Rung]]]:
    """The pairs of keys in the order in which they are tried, those that nothing tells apart together.

    First the first field of either run; then by how far up the ladder, the same field for both before two fields. The
    order is the same whichever run is called old.
    """
    pairs = [pair for pair in product(ladders[Side.OLD], ladders[Side.NEW]) if _may_join(*pair)]
    if pairs and pairs[0] == (ladders[Side.OLD][0], ladders[Side.NEW][0]):
        yield [pairs.pop(0)]
    pairs.sort(key=_height)
    yield from (list(group) for _, group in groupby(pairs, key=_height))


def _height(pair: tuple[Rung, Rung]) -> tuple[int, bool, int]:
    old, new = pair
    return max(old.rank, new.rank), old.name != new.name, old.rank + new.rank


def _fallback(ladder: Sequence[Rung]) -> Rung | None:
    """The earliest field that tells tasks apart, else the earliest; a position in a file or a refused input never."""
    own = [rung for rung in ladder if rung.kind in (KeyKind.FIELD, KeyKind.PLANNED)]
    by_input = [rung for rung in ladder if rung.kind is KeyKind.INPUT]
    return next((rung for rung in (*own, *by_input) if not rung.rejected), None) or next(iter(own), None)


def _may_join(old: Rung, new: Rung) -> bool:
    """Inputs join inputs only, and positions positions only."""
    alone = (KeyKind.INPUT, KeyKind.INDEX)
    return old.kind is new.kind or (old.kind not in alone and new.kind not in alone)


def _labels(rungs: dict[Side, Rung], identities: Mapping[Side, Sequence[Identity | None]] | None = None) -> Labels:
    named = dict(identities or {side: rung.column.values for side, rung in rungs.items()})
    by_input = [side for side, rung in rungs.items() if rung.kind is KeyKind.INPUT]
    if len(by_input) == len(rungs):
        return input_labels(named)
    for side in by_input:  # the other run has no inputs: nothing joins
        named[side] = [None if one is None else input_label(str(one)) for one in named[side]]
    return labels_of(named)


def _may_join_by_index(ladders: dict[Side, list[Rung]]) -> bool:
    return all(ladder and ladder[-1].kind is KeyKind.INDEX for ladder in ladders.values())


def _indexes_agree(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> bool:
    """Whether an index means one task in both runs: some index tells its input in both, and all such inputs agree."""
    if len(ladders) < 2 or any(not ladder or ladder[-1].kind is not KeyKind.INDEX for ladder in ladders.values()):
        return False
    asked = [_inputs_by_index(tables[side], ladders[side][-1]) for side in Side]
    both = asked[0].keys() & asked[1].keys()
    return bool(both) and all(asked[0][index] == asked[1][index] for index in both)


def _inputs_by_index(table: Table, rung: Rung) -> dict[Identity, set[int]]:
    found: dict[Identity, set[int]] = {}
    for index, asked in set(zip(rung.column.ids, table.inputs, strict=True)):
        identity = rung.column.values[index]
        if identity is not None and asked:
            found.setdefault(identity, set()).add(asked)
    return found


def _why(rungs: dict[Side, Rung], ladders: dict[Side, list[Rung]]) -> Iterator[Note]:
    """Why a key is not one of the first candidates, or what is wrong with it; once where it is the same for both."""
    meeting = _Meeting(ladders)
    notes: dict[Side | None, Note | None] = {side: _why_of(side, rungs, ladders, meeting) for side in ladders}
    if len(set(notes.values())) == 1 and len(notes) == len(Side):
        notes = {None: notes[Side.OLD]}
    yield from (replace(note, side=side) for side, note in notes.items() if note)


def _why_of(side: Side, rungs: dict[Side, Rung], ladders: dict[Side, list[Rung]], meeting: _Meeting) -> Note | None:
    """Why a run is joined by a key, None where that needs no word; it does not say which run it is."""
    rung = rungs[side]
    if rung.rejected:
        return Note(NoteKind.DOUBTFUL_KEY, field=rung.name, fault=rung.rejected)
    before = (other for other in ladders[side] if other.rank < rung.rank)
    passed = tuple(PassedKey(other.name, _fault(side, other, ladders, meeting)) for other in before)
    if not passed and rung.usual:
        return None
    return Note(NoteKind.KEY, field=rung.name.removeprefix(PLANNED), key=rung.kind, passed=passed)


def _fault(side: Side, passed: Rung, ladders: dict[Side, list[Rung]], meeting: _Meeting) -> KeyFault:
    """Why a field that stands before a run's key was passed over."""
    if passed.rejected:
        return passed.rejected
    others = [other for other in ladders.get(side.other, []) if _may_join(passed, other) and not other.rejected]
    pairs = ({side: passed, side.other: other} for other in others)
    meets = any(_labels(pair).meet() for pair in pairs if meeting.possible(pair))
    return KeyFault(FaultKind.PASSED_OVER if meets else FaultKind.NOTHING_IN_COMMON)
