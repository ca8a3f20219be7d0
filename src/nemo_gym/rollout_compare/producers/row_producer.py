"""Producers whose runs are files of JSON rows and nothing else: what differs between them is data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from nemo_gym.rollout_compare.files import Input
from nemo_gym.rollout_compare.producers.contract import LocatedRun, Producer
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.located import LocatedFiles, located_paths
from nemo_gym.rollout_compare.producers.row_format import Results, RowFormat
from nemo_gym.rollout_compare.schema import Fields, Mark, Mask, MaskKind, Row, input_numbers, task_input, text_of


class Became(NamedTuple):
    """What became of an attempt.

    Attributes:
        reward: The reward; None or no finite number where there is none.
        masked: Why the attempt does not count, in the producer's words; None where it does.
        agent_error: A field by which the row says that its result is doubtful, and what it says there.
        failure_kind: What labels a measured result as a kind of failure.
    """

    reward: float | None
    masked: str | None = None
    agent_error: tuple[str, str] | None = None
    failure_kind: str | None = None


def row_producer(  # noqa: PLR0913  # all but the name by keyword: it is a table
    name: str,
    *,
    known_by: Sequence[str],
    ids: Sequence[str],
    results: Sequence[str],
    became: Callable[..., Became],
    attempt: tuple[str, str] | None = None,
    asked: str | None = None,
    logs: str | None = None,
    outputs: Sequence[str] = (),
) -> Producer:
    """A producer whose runs are files with a JSON object a line. All fields are dotted paths.

    Args:
        name: How `--format` and the report call it.
        known_by: The top-level keys that its rows have and no other producer's.
        ids: The fields that may name a row's task, best first.
        results: The fields that say what became of an attempt, the reward first.
        became: What a row's values of these fields mean; it may raise `CompareInputError`.
        attempt: The task's position in the run's input, and the attempt's number.
        asked: What the system was asked: a text, or messages.
        logs: Where the path of the verifier's log is.
        outputs: What the verifier said, best first.
    """
    rows = RowFormat(
        name=name,
        results=tuple(results),
        results_of=_ByRow(became),
        fields_for=_KeyFields(tuple(ids), asked or "task input"),
        label=_Label(tuple(ids)),
        attempt=attempt,
        input=asked,
        input_numbers=input_numbers,
        input_text=task_input,
        logs=logs,
        outputs=tuple(outputs),
    )
    keys = frozenset(known_by)

    def seen(place: Glimpse) -> bool:
        return not place.is_folder and place.keys >= keys

    return Producer(name, partial(_locate, rows, seen), seen, signs=f"lines with {' and '.join(known_by)}")


def _locate(rows: RowFormat, seen: Callable[[Glimpse], bool], named: str) -> LocatedRun:
    paths = located_paths(named, f"a file of {rows.name}", lambda path: seen(Glimpse(path)))
    return LocatedFiles(rows.name, paths, partial(_source, rows))


def _source(rows: RowFormat, source: Input, _alone: bool) -> RowsFile:
    return RowsFile(source, rows)


class _ByRow(Struct, frozen=True):
    """What the values of many rows mean, row by row. Unlike partial functions, equal ones are equal everywhere."""

    became: Callable[..., Became]

    def __call__(self, columns: Sequence[Sequence[Any]]) -> Results:
        facts = [self.became(*values) for values in zip(*columns, strict=True)]
        rewards = [math.nan if one.reward is None or not math.isfinite(one.reward) else one.reward for one in facts]
        masked = [_mask(one) for one in facts]
        marks = [Mark(*one.agent_error) if one.agent_error else None for one in facts]
        kinds = [None if mask else one.failure_kind for one, mask in zip(facts, masked, strict=True)]
        return rewards, masked, marks, kinds


def _mask(one: Became) -> Mask | None:
    if one.masked:
        return Mask(MaskKind.SAID, one.masked)
    if one.reward is None:
        return Mask(MaskKind.NO_REWARD)
    return None if math.isfinite(one.reward) else Mask(MaskKind.NON_FINITE, str(one.reward))


class _KeyFields(Struct, frozen=True):
    """The fields that may name the task."""

    ids: tuple[str, ...]
    asked: str

    def __call__(self, key: str | None) -> Fields:
        return Fields(self.ids, input=self.asked).or_named(key)


class _Label(Struct, frozen=True):
    """What a row's task is called in messages."""

    ids: tuple[str, ...]

    def __call__(self, row: Row, key: str | None) -> str:
        found = (dig(row, path.split(".")) for path in ((key, *self.ids) if key else self.ids))
        return next((text_of(value) for value in found if value is not None), "unknown")
