"""Which field tells the tasks of a run apart: a ladder of fields, and the proof that one of them does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, product
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.join.asked import count_fields
from nemo_gym.rollout_compare.join.candidates import PLANNED, Kind, Rung, fine, itself, ladder_of
from nemo_gym.rollout_compare.join.labels import Labels, input_labels, labels_of
from nemo_gym.rollout_compare.producers.again import read_again
from nemo_gym.rollout_compare.schema import CompareInputError, Identity, Note, Place, Side, Wanted, input_label
from nemo_gym.rollout_compare.table.columns import Column
from nemo_gym.rollout_compare.table.table import Table

_SHOWN_FIELDS = 20


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
        raise CompareInputError("neither run has a row that names a task: there is nothing to compare")
    for side, ladder in ladders.items():
        if not _fallback(ladder) and not _indexes_agree(ladders, tables):
            raise _no_key(tables[side], ladders)
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
    for group in _pairs(ladders):
        meeting = []
        for pair in group:
            if any(rung.rejected for rung in pair):
                continue
            rungs = dict(zip(Side, pair, strict=True))
            labels = _labels(rungs)
            if labels.meet() and (pair[0].kind is not Kind.INDEX or _indexes_agree(ladders, tables)):
                meeting.append((rungs, labels))
        if len(meeting) == 1:
            return meeting[0]
        if meeting:
            return max(meeting, key=lambda one: (len(shared := one[1].shared()), min(shared)))
    rungs = {side: _fallback(ladders[side]) or ladders[side][0] for side in Side}
    return rungs, _labels(rungs)


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
    own = [rung for rung in ladder if rung.kind in (Kind.FIELD, Kind.PLANNED)]
    by_input = [rung for rung in ladder if rung.kind is Kind.INPUT]
    return next((rung for rung in (*own, *by_input) if not rung.rejected), None) or next(iter(own), None)


def _may_join(old: Rung, new: Rung) -> bool:
    """Inputs join inputs only, and positions positions only."""
    alone = (Kind.INPUT, Kind.INDEX)
    return old.kind is new.kind or (old.kind not in alone and new.kind not in alone)


def _labels(rungs: dict[Side, Rung], identities: Mapping[Side, Sequence[Identity | None]] | None = None) -> Labels:
    named = dict(identities or {side: rung.column.values for side, rung in rungs.items()})
    by_input = [side for side, rung in rungs.items() if rung.kind is Kind.INPUT]
    if len(by_input) == len(rungs):
        return input_labels(named)
    for side in by_input:  # the other run has no inputs: nothing joins
        named[side] = [None if one is None else input_label(str(one)) for one in named[side]]
    return labels_of(named)


def _indexes_agree(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> bool:
    """Whether an index means one task in both runs: some index tells its input in both, and all such inputs agree."""
    if len(ladders) < 2 or any(not ladder or ladder[-1].kind is not Kind.INDEX for ladder in ladders.values()):
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
    reasons: dict[Side | None, str | None] = {side: _why_of(side, rungs, ladders) for side in ladders}
    if len(set(reasons.values())) == 1 and len(reasons) == len(Side):
        reasons = {None: reasons[Side.OLD]}
    for who, reason in reasons.items():
        if reason:
            yield Note(f"the {who} run is {reason}" if who else f"both runs are {reason}")


def _why_of(side: Side, rungs: dict[Side, Rung], ladders: dict[Side, list[Rung]]) -> str | None:
    """Why a run is joined by a key, None where that needs no word."""
    rung = rungs[side]
    if rung.rejected:
        return f"joined by {rung.name}, which may be wrong: {rung.rejected}, and no other field tells its tasks apart"
    passed = [f"{other.name}: {_fault(side, other, ladders)}" for other in ladders[side] if other.rank < rung.rank]
    if not passed and rung.usual:
        return None
    return (
        f"joined by {_described(rung)} ({'; '.join(passed) or 'no field that usually names the task is on every row'})"
    )


def _fault(side: Side, passed: Rung, ladders: dict[Side, list[Rung]]) -> str:
    """Why a field that stands before a run's key was passed over."""
    if passed.rejected:
        return f"rejected, {passed.rejected}"
    others = [other for other in ladders.get(side.other, []) if _may_join(passed, other) and not other.rejected]
    meets = any(_labels({side: passed, side.other: other}).meet() for other in others)
    return "passed over" if meets else "by it the runs share no task"


def _described(rung: Rung) -> str:
    described = {
        Kind.FIELD: rung.name,
        Kind.PLANNED: f"{rung.name.removeprefix(PLANNED)} of the rows planned in the materialized inputs",
        Kind.INPUT: "the task input, what the system was asked",
        Kind.INDEX: f"{rung.name}, the position in the input file, under which both runs were asked the same",
    }
    return described[rung.kind]


def _no_key(table: Table, ladders: dict[Side, list[Rung]]) -> CompareInputError:
    """Say on how many rows each candidate stands, which row spoils the best, and what can be done."""
    stands = count_fields(table)
    best = max(stands, key=stands.__getitem__)
    row = table.place(table.keys[best].first_missing or 0)
    if table.fields.said:
        names = list(_whole(row))
        more = f" and {len(names) - _SHOWN_FIELDS} more" if len(names) > _SHOWN_FIELDS else ""
        return CompareInputError(
            f"{row.where}: row has no '{best}' field (keys: {', '.join(names[:_SHOWN_FIELDS])}{more})"
        )
    found = [f"{path} {number}" for path, number in stands.items() if number or path in table.fields.usual]
    rows = len(table) - len(table.anonymous)
    index = [ladder[-1].name for ladder in ladders.values() if ladder and ladder[-1].kind is Kind.INDEX]
    return CompareInputError(
        f"{row.where}: row has no '{best}' field, and no other field names the task of every row "
        f"(of {rows} {'row' if rows == 1 else 'rows'}: {', '.join(found)}); name the field with --key"
        + (f"; --key {index[0]} is right if both runs read the same inputs file" if len(index) == len(ladders) else "")
    )


def _whole(place: Place) -> Mapping[str, Any]:
    """The whole row at a place."""
    ((_, record),) = read_again([place], Wanted(row=True), grown=True)
    if isinstance(record, Exception):
        raise record
    return record.row or {}
