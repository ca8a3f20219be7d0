"""Which field tells the tasks of a run apart: a ladder of fields, and the proof that one of them does."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby, product

from msgspec import Struct

from nemo_gym.rollout_compare.columns import Column
from nemo_gym.rollout_compare.labels import Labels, input_labels, labels_of
from nemo_gym.rollout_compare.planned import planned_columns
from nemo_gym.rollout_compare.rows import Identity, label_of
from nemo_gym.rollout_compare.schema import KEY_CANDIDATES, CompareInputError, Note, Side
from nemo_gym.rollout_compare.table import INDEX_PATH, Table
from nemo_gym.rollout_compare.task_input import INPUT_PATH

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


class Rung(Struct, frozen=True):
    """A field that every row with a say carries.

    Attributes:
        name: The field, as a dotted path; of the planned rows with `materialized_inputs:` before it.
        kind: What sort of identity it gives.
        rank: Its place on the ladder, from 0.
        ids: For each row the place of its identity in `values`; 0 where it has none.
        values: The identities.
        rejected: Why it does not tell tasks apart, None if it may.
    """

    name: str
    kind: Kind
    rank: int
    ids: array[int]
    values: Sequence[Identity | None]
    rejected: str | None


class Choice(Struct, frozen=True):
    """The key of each run.

    Attributes:
        rungs: Each run's key.
        notes: Why these, where they are not among the first candidates.
    """

    rungs: dict[Side, Rung]
    notes: tuple[Note, ...]

    def relabelled(self, identities: Mapping[Side, Sequence[Identity | None]]) -> Labels:
        """What the runs' identities, those of the keys and perhaps more, are called."""
        return _labels(self.rungs, identities)


def choose_keys(tables: dict[Side, Table]) -> Choice:
    """The key of each run: the earliest that tells its tasks apart and by which some task is in both runs.

    A run without a row that has a say takes the other's key.

    Raises:
        CompareInputError: A run has no such field.
    """
    ladders = {side: list(_ladder(table)) for side, table in tables.items() if table.has_voters()}
    if not ladders:
        raise CompareInputError("neither run has a row that names a task: there is nothing to compare")
    for side, ladder in ladders.items():
        if not ladder or (ladder[0].kind is Kind.INDEX and not _indexes_agree(ladders, tables)):
            raise _no_key(tables[side], ladders)
    for side in Side:
        if side not in ladders:
            ladders[side] = [_without_rows(rung, tables[side]) for rung in ladders[side.other]]
    old, new = _best_pair(ladders, tables)
    rungs = {Side.OLD: old, Side.NEW: new}
    return Choice(rungs, tuple(_why(rungs, ladders)))


def first_key(table: Table) -> str | None:
    """The earliest field that tells a run's tasks apart, None where there is none."""
    ladder = list(_ladder(table))
    rung = _first([rung for rung in ladder if not rung.rejected]) or _first(ladder)
    return rung.name if rung else None


def _ladder(table: Table) -> Iterator[Rung]:
    """The fields that every row with a say carries, in the order in which they are asked."""
    fields = len(table.keys)
    for rank, (path, column) in enumerate(table.keys.items()):
        if column.first_missing is None:
            why = _merges(column, table) if table.key is None and path != _UNQUESTIONED else None
            yield Rung(path, Kind.FIELD, rank, column.ids, column.values, why)
    if table.key is not None:
        return
    for rank, (path, planned) in enumerate(planned_columns(table).items(), fields):
        yield Rung(PLANNED + path, Kind.PLANNED, rank, planned.ids, planned.values, _merges(planned, table))
    if _on_every_voter(table, table.inputs.ids, 0):
        asked = table.inputs
        yield Rung(INPUT_PATH, Kind.INPUT, 2 * fields, asked.ids, asked.values, _crosses_index(table))
    if _on_every_voter(table, table.task_index.codes, -1):
        by_index: Column[Identity] = Column()
        by_index.append_all([str(table.task_index.value(code)) for code in table.task_index.codes])
        yield Rung(INDEX_PATH, Kind.INDEX, 2 * fields + 1, by_index.ids, by_index.values, None)


def _on_every_voter(table: Table, ids: Sequence[int], nothing: int) -> bool:
    silent = {failure.row for failure in table.nameless}
    return all(row in silent for row, value in enumerate(ids) if value == nothing)


def _merges(column: Column[Identity], table: Table) -> str | None:
    """How a field merges tasks that have different inputs, None if it does not."""
    known = {pair for pair in zip(column.ids, table.inputs.ids, strict=True) if all(pair)}
    inputs = Counter(value for value, _ in known)
    value, most = max(inputs.items(), key=lambda item: (item[1], -item[0]), default=(0, 1))
    if most == 1:
        return None
    label = label_of(column.values[value] or "", with_taskset=True)
    return f"{column.ids.count(value)} rows share {label!r} with {most} different inputs"


def _crosses_index(table: Table) -> str | None:
    """Why the input does not tell tasks apart as the rows' task indexes do, None if it does or there are none."""
    known = {
        (asked, code)
        for asked, code in zip(table.inputs.ids, table.task_index.codes, strict=True)
        if asked and code != -1
    }
    if len({asked for asked, _ in known}) < len(known):
        return f"rows with different {INDEX_PATH} share an input"
    if len({code for _, code in known}) < len(known):
        return f"rows with one {INDEX_PATH} have different inputs"
    return None


def _without_rows(rung: Rung, table: Table) -> Rung:
    """The other run's key for a run of which no row has a say."""
    return Rung(rung.name, rung.kind, rung.rank, array("I", bytes(4 * len(table))), [None], None)


def _best_pair(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> tuple[Rung, Rung]:
    """The earliest fields that tell tasks apart and by which the runs meet; else the earliest that tell them apart."""
    sound = {side: [rung for rung in ladder if not rung.rejected] for side, ladder in ladders.items()}
    pairs = [pair for pair in product(sound[Side.OLD], sound[Side.NEW]) if _may_join(*pair)]
    pairs.sort(key=lambda pair: (max(rung.rank for rung in pair), sum(rung.rank for rung in pair)))
    for _, group in groupby(pairs, key=lambda pair: (max(rung.rank for rung in pair), sum(rung.rank for rung in pair))):
        meeting = [(shared, pair) for pair in group if (shared := _shared(pair))]
        meeting = [one for one in meeting if one[1][0].kind is not Kind.INDEX or _indexes_agree(ladders, tables)]
        if meeting:
            return max(meeting, key=lambda one: (len(one[0]), min(one[0])))[1]
    first = {side: _first(sound[side]) or _first(ladders[side]) or ladders[side][0] for side in Side}
    return first[Side.OLD], first[Side.NEW]


def _first(ladder: Sequence[Rung]) -> Rung | None:
    """The earliest that is an identity of its own: a position in a file is none."""
    return next((rung for rung in ladder if rung.kind is not Kind.INDEX), None)


def _may_join(old: Rung, new: Rung) -> bool:
    """Inputs join inputs only, and positions positions only."""
    alone = (Kind.INPUT, Kind.INDEX)
    return old.kind is new.kind or (old.kind not in alone and new.kind not in alone)


def _labels(rungs: dict[Side, Rung], identities: Mapping[Side, Sequence[Identity | None]] | None = None) -> Labels:
    named = identities or {side: rung.values for side, rung in rungs.items()}
    return input_labels(named) if any(rung.kind is Kind.INPUT for rung in rungs.values()) else labels_of(named)


def _shared(pair: tuple[Rung, Rung]) -> set[str]:
    """The labels by which two runs meet."""
    labels = _labels(dict(zip(Side, pair, strict=True))).of
    return {label for label in set(labels[Side.OLD]).intersection(labels[Side.NEW]) if label is not None}


def _indexes_agree(ladders: dict[Side, list[Rung]], tables: dict[Side, Table]) -> bool:
    """Whether an index means one task in both runs: some index tells its input in both, and all such inputs agree."""
    if len(ladders) < 2 or any(not ladder or ladder[-1].kind is not Kind.INDEX for ladder in ladders.values()):
        return False
    asked = [_inputs_by_index(tables[side], ladders[side][-1]) for side in Side]
    both = asked[0].keys() & asked[1].keys()
    return bool(both) and all(asked[0][index] == asked[1][index] for index in both)


def _inputs_by_index(table: Table, rung: Rung) -> dict[Identity, set[str]]:
    found: dict[Identity, set[str]] = {}
    for index, asked in set(zip(rung.ids, table.inputs.ids, strict=True)):
        identity, text = rung.values[index], table.inputs.values[asked]
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
    rejected = [
        f"{other.name} was rejected, {other.rejected}" for other in ladder if other.rejected and other is not rung
    ]
    if rung.rejected:
        return f"joined by {rung.name}, which may be wrong: {rung.rejected}, and no other field tells its tasks apart"
    if rung.rank >= len(KEY_CANDIDATES):
        return f"joined by {_described(rung)}: {'; '.join(rejected) or _NONE_CARRIED}"
    return f"joined by {rung.name}: {'; '.join(rejected)}" if rejected and ladder[0] is not rung else None


_NONE_CARRIED = "no field that usually names the task stands on every row"


def _described(rung: Rung) -> str:
    described = {
        Kind.FIELD: rung.name,
        Kind.PLANNED: f"{rung.name.removeprefix(PLANNED)} of the planned rows in the materialized inputs",
        Kind.INPUT: "what the system was asked (the task input)",
        Kind.INDEX: f"{INDEX_PATH}, the position in the input file, because the inputs of both runs agree",
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
