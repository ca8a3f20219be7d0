"""One row: what it says of its result, and which task it is an attempt at.

Each rule is one function of the values that `decode` gives, whichever way the row was read. The functions that scripts
call take whole rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from nemo_gym.rollout_compare.producers.gym.fields import COMPLETED_PATH, FAULT_PATHS, KEY_CANDIDATES, RESULT_PATHS
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.schema import (
    MOST_CHARACTERS,
    CompareInputError,
    Mark,
    Mask,
    MaskKind,
    Row,
    identity_of,
    kept,
    label_of,
    text_of,
)

ERROR_TEXT_LIMIT = 120

_SHOWN_VALUE_LIMIT = 200
_LAST_CHARACTERS = 1 << 12

_COMPLETED = RESULT_PATHS.index(COMPLETED_PATH)

Masks = Sequence[Mask | None]
Marks = Sequence[Mark | None]
Texts = Sequence[str | None]

#: Integers below this are doubles too.
_EXACT = 1 << 53
_NUMBERS = {float, int}
_MASK_TYPES = {bool, type(None)}


class Facts(NamedTuple):
    """What a row says of its result. `reward` is None unless it is a finite number."""

    reward: float | None
    masked: Mask | None
    agent_error: Mark | None
    failure_kind: str | None


def facts_of(reward: Any, mask_sample: Any, instance_mask: Any, failure_kind: Any, *doubts: Any) -> Facts:
    """What the values at `RESULT_PATHS` say; the last are those that make a result doubtful.

    Raises:
        CompareInputError: The reward is not a number, or the mask is not true or false.
    """
    number = _number(reward)
    kind = kept(text_of(failure_kind)) if failure_kind else None
    masked = _mask(mask_sample if mask_sample is not None else instance_mask, kind, number)
    finite = number if number is not None and math.isfinite(number) else None
    return Facts(finite, masked, _mark(*doubts), kind if masked is None else None)


def results_of(columns: Sequence[Sequence[Any]]) -> tuple[Sequence[float], Masks, Marks, Texts]:
    """What `facts_of` says of many rows, each value a column; a row without a finite reward has NaN.

    Most rows say nothing but their reward: only the others are looked at closely.

    Raises:
        CompareInputError: As `facts_of`, for one of the rows.
    """
    rewards = list(columns[0])
    said = set(_no_plain_number(rewards))
    for column in (*columns[1:_COMPLETED], *columns[_COMPLETED + 1 :]):
        said.update(compress(range(len(rewards)), column))
    if False in columns[_COMPLETED]:
        said.update(i for i, completed in enumerate(columns[_COMPLETED]) if completed is False)
    for mask in columns[1:3]:
        if not _MASK_TYPES.issuperset(map(type, mask)):
            said.update(i for i, value in enumerate(mask) if type(value) not in _MASK_TYPES)
    masked: list[Mask | None] = [None] * len(rewards)
    errors: list[Mark | None] = [None] * len(rewards)
    kinds: list[str | None] = [None] * len(rewards)
    for i in said:
        fact = facts_of(*(column[i] for column in columns))
        rewards[i] = math.nan if fact.reward is None else fact.reward
        masked[i], errors[i], kinds[i] = fact.masked, fact.agent_error, fact.failure_kind
    return rewards, masked, errors, kinds


def _no_plain_number(rewards: Sequence[Any]) -> Sequence[int]:
    """The places of all but finite numbers that a double holds as they are."""
    given = [reward for reward in rewards if reward is not None]
    if not _NUMBERS.issuperset(map(type, given)) or not (
        min(given, default=0) > -_EXACT and max(given, default=0) < _EXACT and all(map(math.isfinite, given))
    ):
        return [i for i, reward in enumerate(rewards) if type(reward) is not float or not math.isfinite(reward)]
    return [i for i, reward in enumerate(rewards) if reward is None] if len(given) < len(rewards) else ()


def _number(reward: Any) -> float | None:
    if reward is None or isinstance(reward, float):
        return reward
    if isinstance(reward, int) and not isinstance(reward, bool):
        try:
            return float(reward)
        except OverflowError:
            pass
    raise CompareInputError(f"reward {_shown(reward)} is not a number")


def _mask(mask_sample: Any, kind: str | None, reward: float | None) -> Mask | None:
    if mask_sample is not None and (type(mask_sample) not in (bool, int) or mask_sample not in (0, 1)):
        raise CompareInputError(f"mask_sample {_shown(mask_sample)} is not true or false")
    if mask_sample:
        return Mask(MaskKind.MASK_SAMPLE, kind)
    if reward is None:
        return Mask(MaskKind.NO_REWARD)
    return None if math.isfinite(reward) else Mask(MaskKind.NON_FINITE, str(reward))


def _mark(error: Any, metadata: Any, completed: Any = None, *faults: Any) -> Mark | None:
    """The first reason to doubt a result: an agent error, else a mark of the infrastructure."""
    if error:
        return Mark("error", _last_line(error))
    if isinstance(metadata, Mapping):
        for key, value in metadata.items():
            if isinstance(key, str) and key.endswith("error_type") and value:
                return Mark(kept(key), kept(text_of(value)))
    if completed is False:
        return Mark(COMPLETED_PATH, text_of(completed))
    for path, fault in zip(FAULT_PATHS, faults, strict=False):
        if fault:
            return Mark(path, _last_line(fault))
    return None


def _last_line(value: Any) -> str:
    """The last line of a value's text that is not blank, not too long.

    No more of the text is split than its end: it may have millions of lines.
    """
    text = text_of(value)
    end = _LAST_CHARACTERS
    while True:
        *before, last = [line for line in text[-end:].splitlines() if line.strip()] or [""]
        if before or end >= len(text):
            return last.strip()[:ERROR_TEXT_LIMIT] or "(blank)"
        end *= 8


def _shown(value: Any) -> str:
    """A value as Python shows it, but never longer than a line can bear."""
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{repr(value[:_SHOWN_VALUE_LIMIT])[:_SHOWN_VALUE_LIMIT]}... ({len(value)} characters)"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more digits, or deeper, than Python shows
        text = f"{type(value).__name__} value"
    return text if len(text) <= _SHOWN_VALUE_LIMIT else f"{text[:_SHOWN_VALUE_LIMIT]}... ({len(text)} characters)"


def row_facts(row: Row) -> Facts:
    """What a whole row says of its result."""
    return facts_of(*(dig(row, path.split(".")) for path in RESULT_PATHS))


def mask_reason(row: Row) -> str | None:
    """Why the row does not count, None when it counts."""
    mask = row_facts(row).masked
    return str(mask) if mask else None


def agent_error(row: Row) -> str | None:
    """The agent's error that makes the row's result doubtful, if any: `error: ...` or `KEY=VALUE`."""
    mark = row_facts(row).agent_error
    return str(mark) if mark else None


def measured_failure_kind(row: Row) -> str | None:
    """The failure kind that labels a measured result; None for a masked row."""
    return row_facts(row).failure_kind


def task_id_of(row: Row, key: str, *, with_taskset: bool = False) -> str | None:
    """The row's label by a key (a dotted path), `S/T` with its taskset if asked; None if the row has no such field."""
    value = dig(row, key.split("."))
    return None if value is None else label_of(identity_of(value), with_taskset=with_taskset)


def tasksets_of(rows: Sequence[Row], key: str) -> set[str]:
    """The tasksets that the rows name under a key."""
    values = (dig(row, key.split(".")) for row in rows)
    found = (identity_of(value) for value in values if value is not None)
    return {identity[0] for identity in found if not isinstance(identity, str)}


def label_for_message(row: Row, key: str | None) -> str:
    """The row's task as far as it can be told, with its taskset where it names one."""
    for path in (key, *KEY_CANDIDATES) if key else KEY_CANDIDATES:
        label = task_id_of(row, path, with_taskset=True)
        if label is not None:
            return label
    return "unknown"
