"""Why did it flip? A result to one that tells: evidence of both sides, single tests, signatures and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.compare.categories import MOST_AGREEING
from nemo_gym.rollout_compare.engine.workers import map_by_processes, may_fork
from nemo_gym.rollout_compare.explain.evidence import Output, Roots, log_roots, nothing_said, output_of
from nemo_gym.rollout_compare.explain.logs import LogRoots, Reports, read_reports
from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.schema import (
    DEFAULT_TAIL,
    Cluster,
    CompareResult,
    Evidence,
    Flip,
    Note,
    NoteKind,
    Place,
    Side,
    TaskRows,
    TestChanges,
    Wanted,
)

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.explain.triage import TestResults


class _Finding(Struct, frozen=True):
    """What a row's verifier said."""

    evidence: Evidence
    tests: TestResults | None = None
    signature: str | None = None


class _Told(Struct, frozen=True):
    """What both sides' verifiers said of a task, as far as it is kept; the signature is the losing side's."""

    old: Evidence
    new: Evidence
    tests: TestChanges | None = None
    signature: str | None = None


#: The rows of so many tasks are read sooner than a process starts, and those of so many are read in one go.
_WORTH_PROCESSES = 200
_TASKS_A_BATCH = 25


def explain_flips(result: CompareResult, roots: Roots, tail: int = DEFAULT_TAIL) -> CompareResult:
    """The result of `compare_rollouts` with the reasons of its flips: evidence, single tests, signatures, clusters.

    Args:
        result: A comparison.
        roots: The folders of the runs, in which relative log paths are looked for after the current folder.
        tail: How many lines of verifier output are kept for each side of a flip; 0 for none.
    """
    return with_findings(result, dict.fromkeys(Side, log_roots(roots)), tail)


def with_findings(
    result: CompareResult, roots: Mapping[Side, LogRoots], tail: int = DEFAULT_TAIL, jobs: int = 1
) -> CompareResult:
    """The result with the reasons of its flips, and a note on tasks of which only single tests differ.

    Args:
        result: A comparison. What an earlier call found is found anew, but for a result that is from a summary.
        roots: Where each side's logs are looked for.
        tail: How many lines of verifier output are kept for each side of a flip; 0 for none.
        jobs: How many processes may read at a time.
    """
    tasks = [*(flip.rows for flip in result.flips), *result.agreeing]
    if not tasks or not result.rows_at_hand:
        return result
    told = _findings(tasks, roots, tail, jobs)
    flips = tuple(
        replace(flip, old=said.old, new=said.new, tests=said.tests, signature=said.signature)
        for flip, said in zip(result.flips, told, strict=False)
    )
    differing = tuple(
        task.comparison.task
        for task, said in zip(result.agreeing, told[len(flips) :], strict=True)
        if said.tests and (said.tests.broken or said.tests.fixed)
    )
    total = MOST_AGREEING if len(result.agreeing) == MOST_AGREEING else 0
    told_too = [Note(NoteKind.TESTS_DIFFER, tasks=differing, total=total)] if differing else []
    return replace(result, flips=flips, clusters=_clusters(flips), notes=(*result.notes, *told_too))


def _findings(tasks: Sequence[TaskRows], roots: Mapping[Side, LogRoots], tail: int, jobs: int) -> list[_Told]:
    """What the verifiers said of each task."""

    def read(group: Sequence[int], _: object = None) -> list[_Told]:
        return _read([tasks[i] for i in group], roots, tail)

    told = [_silent(task) for task in tasks]
    places = [i for i, task in enumerate(tasks) if task.old.has_output or task.new.has_output]
    jobs = jobs if len(places) >= _WORTH_PROCESSES and may_fork() else 1
    rows = [(tasks[i].old, tasks[i].new) for i in places]
    groups = [[places[i] for i in batch] for batch in together(rows, _TASKS_A_BATCH if jobs > 1 else len(places))]
    jobs = min(jobs, len(groups))
    found = map_by_processes(read, groups, jobs, lambda *_: None) if jobs > 1 else map(read, groups)
    for group, said in zip(groups, found, strict=True):
        for i, one in zip(group, said, strict=True):
            told[i] = one
    return told


def _read(tasks: Sequence[TaskRows], roots: Mapping[Side, LogRoots], tail: int) -> list[_Told]:
    """What the verifiers said of some tasks, whose rows are read in the order of their files."""
    rows = [(task, side, task.old if side is Side.OLD else task.new) for task in tasks for side in Side]
    wanted = [i for i, (_, _, row) in enumerate(rows) if row.has_output]
    found = [_silence(place) for _, _, place in rows]
    for place, record in read_again([rows[i][2] for i in wanted], Wanted(output=True)):
        i = wanted[place]
        task, side, _ = rows[i]
        if isinstance(record, Exception):
            found[i] = _Finding(Evidence(None, unavailable=str(record)))
            continue
        assert record.output is not None
        output = output_of(record.output, roots[side], tail if task.comparison.winner else 0)
        signed = _signature(output.text) if task.comparison.loser is side else None
        found[i] = _Finding(output.evidence, _tests(output, roots[side], record.output.tests), signed)
    return [_compared(task, *found[2 * i : 2 * i + 2]) for i, task in enumerate(tasks)]


def _silent(task: TaskRows) -> _Told:
    """What is told of a task of which no row has any output."""
    old, new = _silence(task.old), _silence(task.new)
    return _Told(old.evidence, new.evidence, signature=old.signature)


def _silence(place: Place) -> _Finding:
    """What is found in a row without any output."""
    return _Finding(Evidence(None, unavailable=nothing_said(place.source.output_fields)), signature=_signature(None))


def _compared(task: TaskRows, old: _Finding, new: _Finding) -> _Told:
    from nemo_gym.rollout_compare.explain.triage import compare_tests

    loser = old if task.comparison.loser is Side.OLD else new
    changes = compare_tests(old.tests, new.tests)
    return _Told(old.evidence, new.evidence, changes, loser.signature)


def _signature(text: str | None) -> str | None:
    from nemo_gym.rollout_compare.explain.triage import signature

    return signature(text)


def _tests(output: Output, roots: LogRoots, recorded: Mapping[str, str] | None) -> TestResults | None:
    """The single tests: those of the record, of the reports in the logs folder, else those that the text names."""
    from nemo_gym.rollout_compare.explain.triage import merge_tests, read_test_file, read_tests, recorded_tests

    if recorded:
        return recorded_tests(recorded)
    reports = read_reports(output.logs, roots) if output.logs else Reports()
    read = [read_test_file(name, data) for name, data in reports.files]
    results = merge_tests(tests for tests in read if tests)
    if results:
        return results if reports.complete and all(read) else replace(results, truncated=True)
    return read_tests(output.text, cut=output.cut) if output.text else None


def _clusters(flips: Sequence[Flip]) -> tuple[Cluster, ...]:
    from nemo_gym.rollout_compare.explain.triage import SignedFlip, clusters

    return clusters(
        SignedFlip(flip.comparison.task, flip.comparison.winner, flip.signature)
        for flip in flips
        if flip.comparison.winner is not None
    )
