"""The JSON summary: one object, every task in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import gmtime, strftime
from typing import Any, Final

from msgspec import to_builtins

from nemo_gym.rollout_compare.report.facts import TranscriptSummary, facts_of
from nemo_gym.rollout_compare.report.notes import note_text, solved_text
from nemo_gym.rollout_compare.report.shape import (
    ChangeSummary,
    Counts,
    FlipSummary,
    Gate,
    JoinedBy,
    RepeatsSummary,
    SideSummary,
    Summary,
    SummaryFile,
    SummaryRun,
    SummarySource,
    TaskSummary,
    Winner,
)
from nemo_gym.rollout_compare.schema import (
    Category,
    Change,
    CompareResult,
    Flip,
    Provenance,
    Repeats,
    RunSource,
    Side,
    TaskComparison,
    TaskSide,
)
from nemo_gym.rollout_compare.text import json_line

SCHEMA_VERSION: Final = 1


def summary_dict(result: CompareResult) -> dict[str, Any]:
    """The summary as plain values; `summary_schema` says what they mean."""
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        run=_run(result.run) if result.run else None,
        counts=Counts(**result.counts()),
        join=JoinedBy(
            result.old_key,
            result.new_key,
            result.old_prefix_stripped,
            result.new_prefix_stripped,
            result.keyed_by_taskset,
        ),
        join_check=result.join_check,
        statistics=result.statistics,
        settings_compared=list(result.settings_compared),
        changes=[_change(change) for change in result.changes],
        costs=list(result.costs),
        truncated=result.truncated,
        flips=[_flip(flip) for flip in result.flips],
        clusters=list(result.clusters),
        other_reasons=list(result.other_reasons),
        gate=Gate(not any(rule.tripped for rule in result.gate), list(result.gate)),
        notes=[note_text(note) for note in result.notes],
        tasks=[_task(task) for task in result.tasks],
        transcripts=[
            TranscriptSummary(task, list(both.old), list(both.new), list(both.rows))
            for task, both in result.transcripts.items()
        ],
        facts=facts_of(result),
    )
    plain: dict[str, Any] = _plain(to_builtins(summary))
    return plain


def _winner(side: Side) -> Winner:
    return "old" if side is Side.OLD else "new"


def _task(task: TaskComparison) -> TaskSummary:
    winner = _winner(task.winner) if task.winner else None
    return TaskSummary(task.task, task.category, winner, _side(task.old), _side(task.new))


def _side(side: TaskSide | None) -> SideSummary | None:
    if side is None:
        return None
    return SideSummary(side.reward, side.rows, side.masked, side.agent_error, side.failure_kind)


def _flip(flip: Flip) -> FlipSummary:
    task = flip.comparison
    assert task.winner
    return FlipSummary(
        task=task.task,
        category="flipped" if task.category is Category.FLIPPED else "flipped_agent_error",
        winner=_winner(task.winner),
        old=flip.old,
        new=flip.new,
        tests=flip.tests,
        signature=flip.signature,
        repeats=_repeats(flip.repeats) if flip.repeats else None,
        same_answer=flip.same_answer,
        parted=flip.parted,
        settings=list(flip.settings),
    )


def _change(change: Change) -> ChangeSummary:
    return ChangeSummary(
        change.field,
        change.old,
        change.new,
        change.old_values,
        change.new_values,
        change.tasks,
        change.total,
        change.first_difference,
    )


def _repeats(repeats: Repeats) -> RepeatsSummary:
    return RepeatsSummary(*solved_text(repeats), repeats.p_value, repeats.within_noise, repeats.too_few_attempts)


def _run(run: Provenance) -> SummaryRun:
    return SummaryRun(run.version, run.options, _source(run.old), _source(run.new))


def _source(source: RunSource) -> SummarySource:
    files = [SummaryFile(file.path, file.size, _moment(file.modified)) for file in source.files]
    return SummarySource(files, source.reader, source.rows)


def _moment(seconds: int | None) -> str | None:
    return None if seconds is None else strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def _plain(value: Any) -> Any:
    """A value as JSON has it: sequences as lists."""
    if isinstance(value, dict):
        return {name: _plain(held) for name, held in value.items()}
    return [_plain(held) for held in value] if isinstance(value, list | tuple) else value


def summary_schema() -> dict[str, Any]:
    """The JSON Schema of the summary, made from its types."""
    from nemo_gym.rollout_compare.report import jsonschema

    return jsonschema.summary_schema()


def summary_lines(summary: dict[str, Any], *, ascii_only: bool = False) -> Iterator[str]:
    """The summary as JSON text, a line for each key and for each element of a list of objects.

    What a terminal would obey, and what nobody would see, stands as an escape.
    """

    def _json(value: Any) -> str:
        return json_line(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False))

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
