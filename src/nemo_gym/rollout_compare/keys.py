"""Which field tells the tasks of a run apart: a ladder of fields, and the proof that one of them does."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, partial
from itertools import groupby, product
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.columns import Column
from nemo_gym.rollout_compare.labels import Labels, input_labels, labels_of
from nemo_gym.rollout_compare.planned import planned_columns
from nemo_gym.rollout_compare.rows import Identity, label_of
from nemo_gym.rollout_compare.schema import KEY_CANDIDATES, CompareInputError, Note, Side
from nemo_gym.rollout_compare.table import INDEX_PATH, Table
from nemo_gym.rollout_compare.task_input import INPUT_PATH, input_label

#: A field that is an identity by its definition: it is never questioned.
_UNQUESTIONED = "_ng_task_id"
PLANNED = "materialized_inputs:"
_SHOWN_FIELDS = 20


class Kind(StrEnum):
    """What sort of identity a rung of the ladder gives."""

    FIELD = "field"
    PLANNED = "planned"
    INPUT = "input"
    INDEX = "index"


class Rung:
    """A field that every row with a say carries. What costs a look at every row is found out when it is asked for.

    Attributes:
        name: The field, as a dotted path; of the planned rows with `materialized_inputs:` before it.
        kind: What sort of identity it gives.
        rank: Its place on the ladder, from 0.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        rank: int,
        column: Callable[[], Column[Any]],
        judge: Callable[[Column[Any]], str | None],
    ) -> None:
        """Make one of the column of its identities and of what finds fault with it."""
        self.name, self.kind, self.rank = name, kind, rank
        self._column, self._judge = column, judge

    @cached_property
    def column(self) -> Column[Identity]:
        """Each row's identity."""
        return self._column()

    @cached_property
    def rejected(self) -> str | None:
        """Why it does not tell tasks apart, None if it may."""
        return self._judge(self.column)


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
    ladders = {side: _ladder(table) for side, table in tables.items() if table.has_voters()}
    if not ladders:
        raise CompareInputError("neither run has a row that names a task: there is nothing to compare")
    for side, ladder in ladders.items():
        if not _fallback(ladder) and not _indexes_agree(ladders, tables):
            raise _no_key(tables[side], ladders)
    for side in Side:
        if side not in ladders:
            ladders[side] = [_without_rows(rung, tables[side]) for rung in ladders[side.other]]
    rungs, labels = _best_pair(ladders, tables)
    return Choice(rungs, labels, tuple(_why(rungs, ladders)))


def first_key(table: Table) -> str | None:
    """The earliest field that tells a run's tasks apart, None where there is none."""
    ladder = _ladder(table)
    rung = _fallback(ladder)
    return rung.name if rung else None


def _ladder(table: Table) -> list[Rung]:
    """The fields that every row with a say carries, in the order in which they are asked."""
    ladder = [
        Rung(
            path,
            Kind.FIELD,
            rank,
            partial(_itself, column),
            partial(_merges, table) if _questioned(table, path) else _fine,
        )
        for rank, (path, column) in enumerate(table.keys.items())
        if column.first_missing is None
    ]
    if table.key is not None:
        return ladder
    fields = len(table.keys)
    codes = table.task_index.codes
    for rank, (path, planned) in enumerate(planned_columns(table).items(), fields):
        ladder.append(Rung(PLANNED + path, Kind.PLANNED, rank, partial(_itself, planned), partial(_merges, table)))
    if _on_every_voter(table, table.inputs.ids, 0):
        by_input = partial(_itself, table.inputs)
        ladder.append(Rung(INPUT_PATH, Kind.INPUT, 2 * fields, by_input, lambda _: _crosses_identity(table)))
    if _on_every_voter(table, table.task_index.codes, -1) and len(set(_positions(table))) == len(set(codes)):
        ladder.append(Rung(INDEX_PATH, Kind.INDEX, 2 * fields + 1, partial(_by_index, table), _fine))
    return ladder


def _questioned(table: Table, path: str) -> bool:
    return table.key is None and path != _UNQUESTIONED


def _itself(column: Column[Any]) -> Column[Any]:
    return column


def _fine(_: Column[Any]) -> None:
    return None


def _by_index(table: Table) -> Column[Identity]:
    column: Column[Identity] = Column()
    column.append_all([str(table.task_index.value(code)) for code in table.task_index.codes])
    return column


def _on_every_voter(table: Table, ids: array[int], nothing: int) -> bool:
    silent = {failure.row for failure in table.nameless}
    return ids.count(nothing) == sum(ids[row] == nothing for row in silent)


def _merges(table: Table, column: Column[Identity]) -> str | None:
    """How a field merges tasks that have different inputs, None if it does not.

    One task may be asked in other words at each attempt: rows of one task index are no two tasks.
    """
    pairs = set(zip(column.ids, table.inputs.ids, strict=True))
    inputs = Counter(value for value, asked in pairs if value and asked)
    several = {value: count for value, count in inputs.items() if count > 1}
    if several:
        one_index = Counter(value for value, _ in set(zip(column.ids, _positions(table), strict=True)))
        unknown = {value for value, position in zip(column.ids, _positions(table), strict=True) if position == -1}
        several = {value: n for value, n in several.items() if one_index[value] > 1 or value in unknown}
    if not several:
        return None
    named = {value: label_of(column.values[value] or "", with_taskset=True) for value in several}
    worst = max(several, key=lambda value: (several[value], named[value]))
    return f"{column.ids.count(worst)} rows share {named[worst]!r} with {several[worst]} different inputs"


def _positions(table: Table) -> Sequence[Hashable]:
    """Each row's task index, told apart by rollouts file where there are several; -1 where it is not recorded."""
    codes = table.task_index.codes
    if len(table.shards) < 2:
        return codes
    positions: list[Hashable] = [-1] * len(table)
    beside = [(rows, row) for rows in table.shards for row in rows]
    for rows, row in (*beside, *((failure.beside, failure.row) for failure in table.failures)):
        if codes[row] != -1:
            positions[row] = (rows.start, codes[row])
    return positions


def _crosses_identity(table: Table) -> str | None:
    """Why the input does not tell tasks apart as the rows' own identities do, None if it does or there are none."""
    known = {
        (asked, position)
        for asked, position in zip(table.inputs.ids, _positions(table), strict=True)
        if asked and position != -1
    }
    if len({asked for asked, _ in known}) < len(known):
        return f"rows with different {INDEX_PATH} share an input"
    if len({position for _, position in known}) < len(known):
        return f"rows with one {INDEX_PATH} have different inputs"
    certain = table.keys.get(_UNQUESTIONED)
    if certain is not None and certain.first_missing is None:
        ids = {pair for pair in zip(table.inputs.ids, certain.ids, strict=True) if all(pair)}
        if len({asked for asked, _ in ids}) < len(ids):
            return f"rows with different {_UNQUESTIONED} share an input"
    return None


def _without_rows(rung: Rung, table: Table) -> Rung:
    """The other run's key for a run of which no row has a say."""
    empty: Column[Identity] = Column()
    empty.append_all([None] * len(table))
    return Rung(rung.name, rung.kind, rung.rank, partial(_itself, empty), _fine)


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
    by_input = [rung for rung in ladder if rung.kind is Kind.INPUT and not rung.rejected]
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


def _inputs_by_index(table: Table, rung: Rung) -> dict[Identity, set[str]]:
    found: dict[Identity, set[str]] = {}
    for index, asked in set(zip(rung.column.ids, table.inputs.ids, strict=True)):
        identity, text = rung.column.values[index], table.inputs.values[asked]
        if identity is not None and text is not None:
            found.setdefault(identity, set()).add(text)
    return found


def _why(rungs: dict[Side, Rung], ladders: dict[Side, list[Rung]]) -> Iterator[Note]:
    """Why a key is not one of the first candidates, or what is wrong with it; once where it is the same for both."""
    reasons: dict[Side | None, str | None] = {side: _why_of(rung, ladders[side]) for side, rung in rungs.items()}
    if reasons[Side.OLD] == reasons[Side.NEW]:
        reasons = {None: reasons[Side.OLD]}
    for who, reason in reasons.items():
        if reason:
            yield Note(f"the {who} run is {reason}" if who else f"both runs are {reason}")


def _why_of(rung: Rung, ladder: Sequence[Rung]) -> str | None:
    """Why a run is joined by a key, None where that needs no word."""
    if rung.rejected:
        return f"joined by {rung.name}, which may be wrong: {rung.rejected}, and no other field tells its tasks apart"
    before = [other for other in ladder if other.rank < rung.rank]
    passed = [
        f"{other.name}: rejected, {other.rejected}" if other.rejected else f"{other.name}: by it the runs share no task"
        for other in before
    ]
    if not passed and rung.rank < len(KEY_CANDIDATES):
        return None
    return (
        f"joined by {_described(rung)} ({'; '.join(passed) or 'no field that usually names the task is on every row'})"
    )


def _described(rung: Rung) -> str:
    described = {
        Kind.FIELD: rung.name,
        Kind.PLANNED: f"{rung.name.removeprefix(PLANNED)} of the rows planned in the materialized inputs",
        Kind.INPUT: "the task input, what the system was asked",
        Kind.INDEX: f"{INDEX_PATH}, the position in the input file, under which both runs were asked the same",
    }
    return described[rung.kind]


def _no_key(table: Table, ladders: dict[Side, list[Rung]]) -> CompareInputError:
    """Say on how many rows each candidate stands, which row spoils the best, and what can be done."""
    best, column = max(table.keys.items(), key=lambda item: item[1].stands)
    row = table.origin(column.first_missing or 0)
    if table.key is not None:
        names = list(row.read())
        more = f" and {len(names) - _SHOWN_FIELDS} more" if len(names) > _SHOWN_FIELDS else ""
        return CompareInputError(
            f"{row.where}: row has no '{best}' field (keys: {', '.join(names[:_SHOWN_FIELDS])}{more})"
        )
    stands = [f"{path} {other.stands}" for path, other in table.keys.items() if other.stands or path in KEY_CANDIDATES]
    rows = len(table) - len(table.nameless)
    index = any(ladder and ladder[-1].kind is Kind.INDEX for ladder in ladders.values())
    return CompareInputError(
        f"{row.where}: row has no '{best}' field, and no other field names the task of every row "
        f"(of {rows} {'row' if rows == 1 else 'rows'}: {', '.join(stands)}); name the field with --key"
        + (f"; --key {INDEX_PATH} is right if both runs read the same inputs file" if index else "")
    )
