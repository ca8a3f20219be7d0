"""The JSON summary: one object, every task in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, to_builtins

from nemo_gym.rollout_compare.schema import CompareResult, Flip, TaskComparison, TaskSide

SCHEMA_VERSION = 1


def summary_dict(result: CompareResult) -> dict[str, Any]:
    """The summary as plain values; `summary_schema` says what they mean."""
    return {
        "schema_version": SCHEMA_VERSION,
        "counts": result.counts(),
        "join": {
            "old_key": result.old_key,
            "new_key": result.new_key,
            "old_prefix_stripped": result.old_prefix_stripped,
            "new_prefix_stripped": result.new_prefix_stripped,
            "keyed_by_taskset": result.keyed_by_taskset,
        },
        "join_check": {
            "joined": result.join_check.joined,
            "inputs_compared": result.join_check.inputs_compared,
            "inputs_differ": result.join_check.inputs_differ,
            "tasks_differ": list(result.join_check.tasks_differ),
        },
        "statistics": result.statistics and to_builtins(result.statistics),
        "flips": [_flip(flip) for flip in result.flips],
        "clusters": [_plain(cluster) for cluster in result.clusters],
        "other_reasons": [_plain(group) for group in result.other_reasons],
        "gate": [to_builtins(rule) for rule in result.gate],
        "notes": [str(note) for note in result.notes],
        "tasks": [_task(task) for task in result.tasks],
    }


def _task(task: TaskComparison) -> dict[str, Any]:
    return {
        "task": task.task,
        "category": task.category.value,
        "winner": task.winner and task.winner.value,
        "old": _side(task.old),
        "new": _side(task.new),
    }


def _flip(flip: Flip) -> dict[str, Any]:
    task = flip.comparison
    return {
        "task": task.task,
        "category": task.category.value,
        "winner": task.winner and task.winner.value,
        "old": _plain(flip.old),
        "new": _plain(flip.new),
        "tests": _plain(flip.tests),
        "signature": flip.signature,
        "repeats": _plain(flip.repeats),
        "same_answer": flip.same_answer,
    }


def _plain(value: Struct | None) -> dict[str, Any] | None:
    """A value as JSON has it: its fields by name, sequences as lists."""
    if value is None:
        return None
    return {name: list(held) if isinstance(held, tuple) else held for name, held in to_builtins(value).items()}


def _side(side: TaskSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "reward": side.reward,
        "rows": side.rows,
        "masked": side.masked,
        "agent_error": side.agent_error,
        "failure_kind": side.failure_kind,
    }


def summary_schema() -> dict[str, Any]:
    """The JSON Schema of the summary, as it ships with the package."""
    from importlib import resources

    text = resources.files(__package__).joinpath("summary.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def summary_lines(summary: dict[str, Any], *, ascii_only: bool = False) -> Iterator[str]:
    """The summary as JSON text, a line for each key and for each element of a list of objects.

    Unless it is to be ASCII only, surrogates without a partner stand as they are: whoever encodes the text as UTF-8
    writes them as escapes.
    """

    def _json(value: Any) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)

    yield "{"
    for i, (name, value) in enumerate(summary.items()):
        end = "," if i + 1 < len(summary) else ""
        if isinstance(value, list) and value:
            yield f"  {_json(name)}: ["
            for j, element in enumerate(value):
                yield f"    {_json(element)}{',' if j + 1 < len(value) else ''}"
            yield f"  ]{end}"
        else:
            yield f"  {_json(name)}: {_json(value)}{end}"
    yield "}"
