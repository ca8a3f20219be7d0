"""The planned rows of a run (`<stem>_materialized_inputs.jsonl`), joined to its rows by the attempt."""

from __future__ import annotations

from nemo_gym.rollout_compare.schema import Attempt, Identity, Note, NoteKind, Side
from nemo_gym.rollout_compare.table import Column, Table

Place = tuple[Table, int]
"""A planned row: its table and its place there."""


def planned_places(table: Table) -> list[Place | None]:
    """For each row the planned row of its attempt."""
    places: list[Place | None] = [None] * len(table)
    for shard, planned in table.planned.items():
        by_attempt = _by_attempt(planned)
        beside = table.rows_beside(shard)
        for row, attempt in zip(beside, table.attempts_of(beside), strict=True):
            if attempt is not None and attempt in by_attempt:
                places[row] = planned, by_attempt[attempt]
    return places


def planned_columns(table: Table) -> dict[str, Column[Identity]]:
    """The task of each row as its planned row names it, by field; the fields that do so for every row with a say."""
    if not table.planned:
        return {}
    found: dict[str, Column[Identity]] = {}
    carried = [path for path in table.keys if all(planned_by(planned, path) for planned in table.planned.values())]
    anonymous = set(table.anonymous)
    places = planned_places(table) if carried else []
    for path in carried:
        values = [place and planned_identity(place, path) for place in places]
        if all(value is not None or row in anonymous for row, value in enumerate(values)):
            found[path] = Column()
            found[path].append_all(values)
    return found


def planned_by(planned: Table, path: str) -> bool:
    """Whether every planned row names its task by a field."""
    return path in planned.keys and planned.keys[path].first_missing is None


def planned_identity(place: Place, path: str) -> Identity | None:
    """The task that a planned row names by a field."""
    planned, row = place
    return planned.keys[path][row] if planned_by(planned, path) else None


def unrecorded_note(table: Table, side: Side) -> Note | None:
    """A note that planned attempts left neither a row nor a failure that stands, None if each left one."""
    lost = 0
    for shard, planned in table.planned.items():
        recorded = set(table.attempts_of(table.rows_beside(shard)))
        if (
            None not in recorded and not table.incomplete
        ):  # else nobody can say which of the planned attempts the rows are of
            lost += len(_by_attempt(planned).keys() - recorded)
    if not lost:
        return None
    return Note(NoteKind.UNRECORDED, side, number=lost)


def _by_attempt(planned: Table) -> dict[Attempt, int]:
    """The first planned row of each attempt."""
    found: dict[Attempt, int] = {}
    for row, attempt in enumerate(planned.attempts_of(range(len(planned)))):
        if attempt is not None:
            found.setdefault(attempt, row)
    return found
