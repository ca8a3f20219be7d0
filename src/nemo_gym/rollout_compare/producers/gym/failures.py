"""The failures sidecar: which failed attempts of a run still stand, as rows.

Beside `<stem>.jsonl` a run may leave `<stem>_failures.jsonl`, one record for each attempt that gave no result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from nemo_gym.rollout_compare.producers.gym.fields import (
    ATTEMPT_PATHS,
    FAILED,
    FAILURE_KINDS,
    FAILURE_REASONS,
    NOT_AN_ATTEMPT,
    OMITTED,
    key_fields,
)
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.schema import Attempt, Row, attempt_part

Made = TypeVar("Made")


def standing_failures(
    records: Iterable[tuple[int, int, Row]],
    finished: Collection[Attempt],
    made_of: Callable[[int, int, dict[str, Any]], Made],
) -> Iterator[Made]:
    """The failures that still stand, in the order of their records.

    A failure stands if it is the last record of its attempt and no row of the main file is of that attempt. A record
    that does not say which attempt it is of always stands.

    Args:
        records: The sidecar's records, each with its line number and byte offset.
        finished: The attempts that the main file has rows of.
        made_of: What is kept of a failure: of its line number, its byte offset and the masked row it stands for.
    """
    last: dict[Attempt | int, Made | None] = {}
    for line, offset, record in records:
        if any(record.get(name) for name in NOT_AN_ATTEMPT):
            continue
        attempt = attempt_of(record)
        if attempt in finished:
            continue
        identity = line if attempt is None else attempt
        last.pop(identity, None)
        last[identity] = None if record.get(OMITTED) else made_of(line, offset, failed_attempt(record))
        del record  # it may be as large as the next one
    return (failure for failure in last.values() if failure is not None)


def attempt_of(record: Row) -> Attempt | None:
    """The attempt that a record is of, when it has both halves of the pair."""
    index, rollout = (attempt_part(record.get(name)) for name in ATTEMPT_PATHS)
    return None if index is None or rollout is None else (index, rollout)


def failed_attempt(record: Row) -> dict[str, Any]:
    """The masked row that a failure stands for.

    The row itself says that it was made of a failed attempt: so does a copy, or one that was JSON in between.
    """
    row = dict(record)
    row["mask_sample"] = True
    row["reward"] = None
    row["failure_kind"] = next((kind for name in FAILURE_KINDS if (kind := record.get(name))), "failure")
    row["failure_reason"] = next((said for name in FAILURE_REASONS if (said := record.get(name))), None)
    row[FAILED] = True
    return row


def named_by_index(failure: dict[str, Any], first_rows: Mapping[int | str, Row]) -> dict[str, Any]:
    """The failure; one that names no task with the names of the first of its shard's rows that has its task index."""
    index = attempt_part(failure.get(ATTEMPT_PATHS[0]))
    paths = [path.split(".") for path in key_fields(None).all()]
    if index is None or any(dig(failure, names) is not None for names in paths):
        return failure
    row = first_rows.get(index)
    for names in paths if row is not None else ():
        _plant(failure, names, dig(row, names))
    return failure


def _plant(row: dict[str, Any], names: list[str], value: Any) -> None:
    """Set the value at a path, unless there is none or a shorter path has brought it already."""
    if value is None:
        return
    *outer, last = names
    for name in outer:
        inner = row.get(name)
        if not isinstance(inner, dict):
            inner = row[name] = {}
        else:
            inner = row[name] = dict(inner)
        row = inner
    row[last] = value
