"""Attempts as a reader of folders and archives finds them, one by one, made into batches."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from nemo_gym.rollout_compare.schema import (
    Batch,
    Fault,
    Mark,
    Mask,
    MaskKind,
    attempt_part,
    identities_of,
    input_numbers,
    setting_texts,
)

T = TypeVar("T")


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt at a task.

    Attributes:
        ids: For each field of the reader that may name the task its value, None where the attempt lacks it.
        reward: The reward as a finite number; None where there is none.
        masked: Why the attempt does not count, a text being the producer's own words; None where it does. Without a
            reward there must be a reason.
        agent_error: Why the result is doubtful, though it counts; a text is `FIELD=VALUE`.
        failure_kind: What labels a measured result as a kind of failure.
        task_index: The task's position in what the run was given, where it is recorded.
        attempt: The attempt's number or name among those at its task, where it is recorded.
        asked: What the system was asked: a text, or messages with `role` and `content`.
        has_output: Whether verifier output may be found when the attempt is read again.
        number: The attempt's number in its source, from 1: what a message calls it by.
        offset: What the source needs to read it again.
        settings: What the attempt was run with, by name: model, temperature, limits, versions, digests. Only what the
            reader itself names: a run has a few names, whatever stands in it.
        measures: What it cost, by the names in `text.words.MEASURES`; `truncated` is 1 for an answer that a limit
            cut off, else 0.
        has_transcript: Whether the attempt may tell what the agent did when it is read again.
    """

    ids: Mapping[str, Any]
    reward: float | None
    masked: Mask | str | None = None
    agent_error: Mark | str | None = None
    failure_kind: str | None = None
    task_index: Any = None
    attempt: Any = None
    asked: Any = None
    has_output: bool = False
    number: int
    offset: int = 0
    settings: Mapping[str, Any] = {}
    measures: Mapping[str, float] = {}
    has_transcript: bool = True


def batch_of(attempts: Sequence[Attempt], fields: Iterable[str], faults: Sequence[Fault] = (), last: int = 0) -> Batch:
    """Attempts as a batch.

    Args:
        attempts: The attempts, in their order.
        fields: The fields that may still be the key.
        faults: What could not be read among them.
        last: The number of the last attempt that was looked at, faults included.
    """
    return Batch(
        rewards=[math.nan if one.reward is None else float(one.reward) for one in attempts],
        masked=[_mask(one.masked) for one in attempts],
        agent_errors=[_mark(one.agent_error) for one in attempts],
        failure_kinds=[one.failure_kind for one in attempts],
        task_indexes=[attempt_part(one.task_index) for one in attempts],
        rollout_indexes=[attempt_part(one.attempt) for one in attempts],
        inputs=input_numbers([one.asked for one in attempts]) if attempts else array("Q"),
        has_output=bytes(one.has_output for one in attempts),
        identities={field: identities_of([one.ids.get(field) for one in attempts]) for field in fields},
        lines=[one.number for one in attempts],
        offsets=[one.offset for one in attempts],
        settings=_by_name([setting_texts(one.settings) for one in attempts], None),
        measures=_by_name([one.measures for one in attempts], math.nan),
        has_transcript=bytes(one.has_transcript for one in attempts),
        faults=faults,
        last_line=last,
    )


def slices(sizes: Sequence[int], piece_bytes: int, may_begin: Callable[[int], bool] = bool) -> list[tuple[int, int]]:
    """Attempts in slices of about so many bytes, by how many each has: where each slice begins and ends.

    Args:
        sizes: How many bytes each attempt has.
        piece_bytes: About how many bytes a slice has, at least.
        may_begin: Whether a slice may begin with the attempt at a position, 1 or more.

    >>> slices([3, 3, 3, 9], 5)
    [(0, 2), (2, 4)]
    """
    starts, taken = [0], 0
    for i, size in enumerate(sizes, 1):
        taken += size
        if taken >= piece_bytes and i < len(sizes) and may_begin(i):
            starts.append(i)
            taken = 0
    return list(zip(starts, [*starts[1:], len(sizes)], strict=True))


def _by_name(rows: Sequence[Mapping[str, T]], absent: T) -> dict[str, list[T]]:
    """A column for each name that occurs in a row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, absent) for row in rows] for name in names}


def _mask(reason: Mask | str | None) -> Mask | None:
    return Mask(MaskKind.SAID, reason) if isinstance(reason, str) else reason


def _mark(said: Mark | str | None) -> Mark | None:
    if not isinstance(said, str):
        return said
    field, _, value = said.partition("=")
    return Mark(field, value)
