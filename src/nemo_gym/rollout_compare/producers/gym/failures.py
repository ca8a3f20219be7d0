"""The failures sidecar: which failed attempts of a run still stand, as rows.

Beside `<stem>.jsonl` a run may leave `<stem>_failures.jsonl`, one record for each attempt that gave no result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from nemo_gym.rollout_compare.producers.gym.facts import ATTEMPT_PATHS, FailedAttempt, attempt_part
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.schema.result import Attempt, Row, key_paths

Failure = tuple[int, int, FailedAttempt]
"""A failed attempt with the line number and byte offset of its record."""


def standing_failures(
    records: Iterable[tuple[int, int, Row]], finished: Collection[Attempt], fields: Sequence[str] | None = None
) -> Iterator[Failure]:
    """The failures that still stand, in the order of their records.

    A failure stands if it is the last record of its attempt and no row of the main file is of that attempt. A record
    that does not say which attempt it is of always stands.

    Args:
        records: The sidecar's records, each with its line number and byte offset.
        finished: The attempts that the main file has rows of.
        fields: The dotted paths of which the values are kept; the whole records when None.
    """
    last: dict[Attempt | int, Failure | None] = {}
    for line, offset, record in records:
        if record.get("_ng_unrouted_run_error") or record.get("_ng_dispatch_drained"):
            continue
        attempt = attempt_of(record)
        if attempt in finished:
            continue
        identity = line if attempt is None else attempt
        last.pop(identity, None)
        last[identity] = None if record.get("_ng_omitted_rollout") else (line, offset, failed_attempt(record, fields))
    return (failure for failure in last.values() if failure)


def attempt_of(record: Row) -> Attempt | None:
    """The attempt that a record is of, when it has both halves of the pair."""
    index, rollout = (attempt_part(record.get(name)) for name in ATTEMPT_PATHS)
    return None if index is None or rollout is None else (index, rollout)


def failed_attempt(record: Row, fields: Sequence[str] | None = None) -> FailedAttempt:
    """The masked row that a failure stands for, with the record's values at the given paths, or all of them."""
    row = FailedAttempt(record if fields is None else {})
    for path in fields or ():
        _plant(row, path.split("."), dig(record, path.split(".")))
    row["mask_sample"] = True
    row["reward"] = None
    row["failure_kind"] = record.get("failure_kind") or record.get("_ng_failure_class") or "failure"
    row["failure_reason"] = record.get("failure_reason") or record.get("_ng_failure_message")
    return row


def named_by_index(failure: FailedAttempt, rows: Iterable[Row]) -> FailedAttempt:
    """The failure; one that names no task with the names of the first of its shard's rows that has its task index."""
    index = attempt_part(failure.get(ATTEMPT_PATHS[0]))
    if index is None or any(dig(failure, path.split(".")) is not None for path in key_paths(None)):
        return failure
    for row in rows:
        if attempt_part(row.get(ATTEMPT_PATHS[0])) == index:
            for path in key_paths(None):
                _plant(failure, path.split("."), dig(row, path.split(".")))
            break
    return failure


def _plant(row: dict[str, Any], names: list[str], value: Any) -> None:
    """Set the value at a path, unless there is none or a shorter path has brought it already."""
    if value is None:
        return
    *outer, last = names
    for name in outer:
        row = row.setdefault(name, {})
    row[last] = value
