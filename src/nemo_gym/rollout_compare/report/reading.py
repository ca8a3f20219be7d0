"""A summary to the result that it was made from: the source of every other output, without the runs."""

from __future__ import annotations

import json
import os
from calendar import timegm
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import strptime

from msgspec import ValidationError, convert

from nemo_gym.rollout_compare.report.facts import GroupFacts, SideFacts, side_of
from nemo_gym.rollout_compare.report.shape import (
    ChangeSummary,
    FlipSummary,
    RepeatsSummary,
    SideSummary,
    Summary,
    SummarySource,
)
from nemo_gym.rollout_compare.schema import (
    Change,
    CompareInputError,
    CompareResult,
    Flip,
    Place,
    Provenance,
    ReadFile,
    Repeats,
    RunSource,
    Side,
    TaskComparison,
    TaskRows,
    TaskSide,
    Transcripts,
    Wanted,
)
from nemo_gym.rollout_compare.text import one_line


class FromSummary:
    """The source of rows that are known by a summary alone: none can be read again."""

    from_start = False
    output_fields = ()

    def __init__(self, path: Path) -> None:
        self.path = path

    def where(self, line: int) -> str:  # noqa: ARG002  # what every source is asked
        """The summary."""
        return str(self.path)

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Exception]:  # noqa: ARG002  # as `Source`
        """For each row that it is not there."""
        for _ in places:
            yield CompareInputError(f"{self.path} is a summary: it does not hold the rows")


def read_summary(path: str | os.PathLike[str]) -> CompareResult:
    """The result that a JSON summary was made from.

    Raises:
        CompareInputError: It cannot be read, or is not a summary of this version.
    """
    name = one_line(os.fspath(path))
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise CompareInputError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CompareInputError(f"{name} is not a JSON summary: {one_line(str(error), 200)}") from None
    try:
        return result_of(convert(value, Summary), Path(path))
    except ValidationError as error:
        raise CompareInputError(
            f"{name} is not a JSON summary of this version: {one_line(str(error), 200)}; write it again with --json"
        ) from None


def result_of(summary: Summary, path: Path) -> CompareResult:
    """A summary as the result that it was made from; its rows cannot be read again."""
    facts, sides = summary.facts, {(facts.task, facts.side): facts for facts in summary.facts.sides}
    tasks = [
        TaskComparison(
            task.task,
            task.category,
            _side(task.old, sides.get((number, Side.OLD))),
            _side(task.new, sides.get((number, Side.NEW))),
            Side(task.winner) if task.winner else None,
        )
        for number, task in enumerate(summary.tasks)
    ]
    by_label = {task.task: task for task in tasks}
    place = Place(FromSummary(path), 1, 0, has_output=False)
    run = summary.run
    return CompareResult(
        tasks=tasks,
        **{name: getattr(summary.join, name) for name in summary.join.__struct_fields__},
        **{name: getattr(facts, name) for name in _COUNTED},
        notes=tuple(facts.notes),
        flips=tuple(_flip(flip, by_label, place) for flip in summary.flips),
        clusters=tuple(summary.clusters),
        other_reasons=tuple(summary.other_reasons),
        join_check=summary.join_check,
        statistics=summary.statistics,
        gate=tuple(summary.gate.rules),
        settings_compared=tuple(summary.settings_compared),
        changes=tuple(map(_change, summary.changes)),
        costs=tuple(summary.costs),
        truncated=summary.truncated,
        run=Provenance(run.version, run.options, _source(run.old), _source(run.new)) if run else None,
        transcripts={
            one.task: Transcripts(tuple(one.old), tuple(one.new), tuple(one.rows)) for one in summary.transcripts
        },
        groups={group.field: _values(group, len(tasks)) for group in facts.groups},
        rows_at_hand=False,
    )


_COUNTED = ("old_rows", "new_rows", "old_masked_rows", "new_masked_rows", "anonymous")


def _side(side: SideSummary | None, facts: SideFacts | None) -> TaskSide | None:
    return None if side is None else side_of(side.reward, side.rows, side.failure_kind, facts)


def _values(group: GroupFacts, tasks: int) -> list[str]:
    if len(group.tasks) != tasks or max(group.tasks, default=-1) >= len(group.values):
        raise ValidationError(f"`groups` does not give a value of {group.field!r} for each task")
    return [group.values[place] for place in group.tasks]


def _flip(flip: FlipSummary, by_label: dict[str, TaskComparison], place: Place) -> Flip:
    if flip.task not in by_label:
        raise ValidationError(f"`tasks` lacks the flip {flip.task!r}")
    task = by_label[flip.task]
    return Flip(
        task,
        TaskRows(task, place, place),
        old=flip.old,
        new=flip.new,
        tests=flip.tests,
        signature=flip.signature,
        repeats=_repeats(flip.repeats) if flip.repeats else None,
        same_answer=flip.same_answer,
        parted=flip.parted,
        settings=tuple(flip.settings),
    )


def _change(told: ChangeSummary) -> Change:
    return Change(**{name: getattr(told, name) for name in told.__struct_fields__})


def _repeats(told: RepeatsSummary) -> Repeats:
    (old_solved, old_rows), (new_solved, new_rows) = (map(int, text.split("/")) for text in (told.old, told.new))
    return Repeats(old_solved, old_rows, new_solved, new_rows, told.p_value, told.within_noise, told.too_few_attempts)


def _source(source: SummarySource) -> RunSource:
    files = (ReadFile(file.path, file.size, _seconds(file.modified)) for file in source.files)
    return RunSource(tuple(files), source.reader, source.rows)


def _seconds(moment: str | None) -> int | None:
    if moment is None:
        return None
    try:
        return timegm(strptime(moment, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError as error:
        raise ValidationError(str(error)) from None
