"""Samples as rows: those of the chosen filter, each with the chosen metric."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import compress
from typing import Any

from nemo_gym.rollout_compare.producers.chat import steps_of
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.lm_eval.layout import (
    ANSWERS,
    FILTER,
    HASH,
    HASH_DIGITS,
    OUTPUT_FIELDS,
    PLACE,
    RESPONSES,
    TARGET,
    Choice,
    Layout,
    asked_of,
)
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import shown, without_number
from nemo_gym.rollout_compare.schema import (
    Batch,
    CompareInputError,
    Identity,
    Mask,
    MaskKind,
    Output,
    Record,
    Row,
    Step,
    Wanted,
    identities_of,
    input_numbers,
    setting_texts,
    task_input,
    text_of,
)

_NUMBERS = {float, int}


def paths_for(layout: Layout, choice: Choice, fields: Sequence[str]) -> tuple[str, ...]:
    """The fields that are read of every row."""
    return (FILTER, choice.metric, layout.asked, *fields)


def not_a_filter(value: Any) -> str:
    """Why a sample whose filter has no name is not a row."""
    return f"{FILTER} {shown(value)} is not the name of a filter"


def samples_batch(
    columns: Sequence[Sequence[Any]],
    fields: Sequence[str],
    layout: Layout,
    choice: Choice,
    *,
    numbers: Sequence[int],
    offsets: Sequence[int],
) -> Batch:
    """The samples of the chosen filter, by their values at `paths_for`."""
    filters, *_ = columns
    if choice.filter is not None and filters.count(choice.filter) < len(filters):
        odd = next((one for one in filters if not isinstance(one, str)), "")
        if odd != "":
            raise CompareInputError(not_a_filter(odd))
        chosen = [one == choice.filter for one in filters]
        columns = [list(compress(column, chosen)) for column in columns]
        numbers, offsets = list(compress(numbers, chosen)), list(compress(offsets, chosen))
    _, values, asked, *named = columns
    rewards, masked = _rewards(values, choice)
    nothing: list[None] = [None] * len(values)
    return Batch(
        rewards=rewards,
        masked=[None if said is None else Mask(MaskKind.SAID, said) for said in masked],
        agent_errors=nothing,
        failure_kinds=nothing,
        task_indexes=nothing,
        rollout_indexes=nothing,
        inputs=input_numbers([asked_of(one) for one in asked]) if values else array("Q"),
        has_output=b"\x01" * len(values),
        identities={
            field: _identities(field, column, layout.task) for field, column in zip(fields, named, strict=True)
        },
        lines=numbers,
        offsets=offsets,
        settings={name: [text] * len(values) for name, text in setting_texts(dict(layout.settings)).items()},
        has_transcript=b"\x01" * len(values),
    )


def _rewards(values: Sequence[Any], choice: Choice) -> tuple[Sequence[float], Sequence[str | None]]:
    """The rewards, and why those that are none do not count; most files have a plain number in every row."""
    if choice.fault:
        return [math.nan] * len(values), [choice.fault] * len(values)
    if _NUMBERS.issuperset(map(type, values)) and all(map(_is_fine, values)):
        return values, [None] * len(values)
    rewards = [number_of(value) for value in values]
    return (
        [math.nan if reward is None else reward for reward in rewards],
        [
            None if reward is not None else _why(choice.metric, value)
            for value, reward in zip(values, rewards, strict=True)
        ],
    )


def _is_fine(value: float) -> bool:
    return -1e300 < value < 1e300


def _why(metric: str, value: Any) -> str:
    return f"no value of {metric}" if value is None else without_number(metric, value)


def _identities(field: str, values: Sequence[Any], task: str) -> Sequence[Identity | None]:
    """The documents that a field names, each in its task; a number is a place in the task's split."""
    if field == HASH:
        return [None if value is None else (task, text_of(value)[:HASH_DIGITS]) for value in values]
    if field == PLACE:
        return [None if value is None else (task, text_of(value)) for value in values]
    return identities_of(values)


def record_of(row: Row, wanted: Wanted, layout: Layout) -> Record:
    """What is wanted of a row that was read again."""
    asked = asked_of(dig(row, layout.asked.split(".")))
    return Record(
        values=tuple(dig(row, field.split(".")) for field in wanted.fields),
        task_input=task_input(asked) if wanted.task_input else None,
        input_number=input_numbers([asked])[0] if wanted.task_input else 0,
        output=_output(row, layout) if wanted.output else None,
        row=row if wanted.row else None,
        transcript=_transcript(row, asked) if wanted.transcript else None,
    )


def _output(row: Row, layout: Layout) -> Output:
    """What the answer was, as the filter left it, against the target, and all metrics."""
    metrics = ", ".join(f"{name} {text_of(row.get(name))}" for name in layout.metrics)
    lines = [f"answer: {_plain(row.get(ANSWERS))}", f"target: {_plain(row.get(TARGET))}", metrics]
    return Output(None, ((f"{ANSWERS}, {TARGET}", "\n".join(lines)),), OUTPUT_FIELDS)


def _plain(value: Any) -> str:
    """A value without the lists around a single one."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return text_of(value)


def _transcript(row: Row, asked: Any) -> tuple[Step, ...]:
    return (*steps_of(asked), Step("assistant", _plain(row.get(RESPONSES))))
