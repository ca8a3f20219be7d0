"""Why did it flip? A result to one that tells: evidence of both sides, single tests, signatures and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.compare import MOST_AGREEING
from nemo_gym.rollout_compare.evidence import OUTPUT_DECODER, Output, Roots, log_roots, no_output, output_of
from nemo_gym.rollout_compare.figures import Evidence, TestChanges
from nemo_gym.rollout_compare.logs import LogRoots, Reports, read_reports
from nemo_gym.rollout_compare.origins import batches, read_again
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, Cluster, CompareResult, Flip, Note, RowSource, Side, TaskRows
from nemo_gym.rollout_compare.workers import map_by_processes, may_fork

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.triage import TestResults


class _Finding(Struct):
    """What a row's verifier said, as far as it is kept."""

    evidence: Evidence
    tests: TestResults | None = None
    signature: str | None = None


class _Asked(Struct, frozen=True):
    """A row whose verifier output is asked for: the task, the run, how many lines of output are kept."""

    task: TaskRows
    side: Side
    tail: int

    @property
    def source(self) -> RowSource:
        """Where the row is read."""
        return self.task.old if self.side is Side.OLD else self.task.new


#: So many rows are read sooner than a process starts, and so many are read in one go.
_WORTH_PROCESSES = 400
_ROWS_A_BATCH = 50


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
        result: A comparison.
        roots: Where each side's logs are looked for.
        tail: How many lines of verifier output are kept for each side of a flip; 0 for none.
        jobs: How many processes may read at a time.
    """
    tasks = [*(flip.rows for flip in result.flips), *result.agreeing]
    if not tasks:
        return result
    found = _findings(tasks, roots, tail, jobs)
    flips = tuple(_told(flip, *found[i]) for i, flip in enumerate(result.flips))
    differing = tuple(
        task.comparison.task for i, task in enumerate(tasks[len(flips) :], len(flips)) if _differ(_changes(*found[i]))
    )
    limit = f" (of the first {MOST_AGREEING} such tasks)" * (len(result.agreeing) == MOST_AGREEING)
    notes = (*result.notes, *([Note(f"{_DIFFERING}{limit}", differing)] if differing else []))
    return replace(result, flips=flips, clusters=_clusters(flips), notes=notes)


_DIFFERING = "equal rewards, but single tests differ"


def _findings(
    tasks: Sequence[TaskRows], roots: Mapping[Side, LogRoots], tail: int, jobs: int
) -> list[tuple[_Finding, _Finding]]:
    """What the verifiers of both sides said of each task."""
    from nemo_gym.rollout_compare.triage import signature

    asked = [_Asked(task, side, tail if task.comparison.winner else 0) for side in Side for task in tasks]
    found = [_Finding(no_output().evidence, signature=signature(None))] * len(asked)
    places = [i for i, one in enumerate(asked) if one.source.has_output]
    jobs = jobs if len(places) >= _WORTH_PROCESSES and may_fork() else 1
    most = _ROWS_A_BATCH if jobs > 1 else len(places)
    groups = [[places[i] for i in batch] for batch in batches([asked[i].source for i in places], most)]
    jobs = min(jobs, len(groups))

    def read(group: Sequence[int], _: object = None) -> list[_Finding | Exception]:
        return list(_read([asked[i] for i in group], roots))

    said = map_by_processes(read, groups, jobs, lambda *_: None) if jobs > 1 else map(read, groups)
    for group, findings in zip(groups, said, strict=True):
        for i, finding in zip(group, findings, strict=True):
            # How deep a row may be nested depends on how deep in calls its reader is: what counts is this process.
            found[i] = _settled(finding if isinstance(finding, _Finding) else read([i])[0])
    return list(zip(found[: len(tasks)], found[len(tasks) :], strict=True))


def _settled(finding: _Finding | Exception) -> _Finding:
    return finding if isinstance(finding, _Finding) else _Finding(Evidence(None, unavailable=str(finding)))


def _read(asked: Sequence[_Asked], roots: Mapping[Side, LogRoots]) -> Iterator[_Finding | Exception]:
    """What the verifier said of each row, or why it cannot be read."""
    from nemo_gym.rollout_compare.triage import signature

    found: dict[int, _Finding | Exception] = {}
    for i, values in read_again([one.source for one in asked], OUTPUT_DECODER):
        if isinstance(values, Exception):
            found[i] = values
            continue
        side = asked[i].side
        output = output_of(values, roots[side], asked[i].tail)
        signed = signature(output.text) if asked[i].task.comparison.loser is side else None
        found[i] = _Finding(output.evidence, _tests(output, roots[side]), signed)
    return (found[i] for i in range(len(asked)))


def _tests(output: Output, roots: LogRoots) -> TestResults | None:
    """The single tests: those of the reports in the logs folder, else those that the text names."""
    from nemo_gym.rollout_compare.triage import merge_tests, read_test_file, read_tests

    reports = read_reports(output.logs, roots) if output.logs else Reports()
    read = [read_test_file(name, data) for name, data in reports.files]
    results = merge_tests(tests for tests in read if tests)
    if results:
        return results if reports.complete and all(read) else replace(results, truncated=True)
    return read_tests(output.text, cut=output.cut) if output.text else None


def _told(flip: Flip, old: _Finding | None, new: _Finding | None) -> Flip:
    loser = old if flip.comparison.loser is Side.OLD else new
    return replace(
        flip,
        old=old and old.evidence,
        new=new and new.evidence,
        tests=_changes(old, new),
        signature=loser and loser.signature,
    )


def _changes(old: _Finding | None, new: _Finding | None) -> TestChanges | None:
    from nemo_gym.rollout_compare.triage import compare_tests

    return compare_tests(old.tests if old else None, new.tests if new else None)


def _differ(changes: TestChanges | None) -> bool:
    return changes is not None and bool(changes.broken or changes.fixed)


def _clusters(flips: Sequence[Flip]) -> tuple[Cluster, ...]:
    from nemo_gym.rollout_compare.triage import SignedFlip, clusters

    return clusters(
        SignedFlip(flip.comparison.task, flip.comparison.winner, flip.signature)
        for flip in flips
        if flip.comparison.winner is not None
    )
