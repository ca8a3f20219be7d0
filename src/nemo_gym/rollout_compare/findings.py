"""Why did it flip? A result to one that tells: evidence of both sides, single tests, signatures and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.compare import MOST_AGREEING
from nemo_gym.rollout_compare.evidence import OUTPUT_DECODER, Output, Roots, log_roots, output_of
from nemo_gym.rollout_compare.figures import Evidence, TestChanges
from nemo_gym.rollout_compare.logs import LogRoots, Reports, read_reports
from nemo_gym.rollout_compare.origins import read_again
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, Cluster, CompareResult, Flip, Note, Side, TaskRows

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.triage import TestResults


class _Finding(Struct):
    """What a row's verifier said, as far as it is kept."""

    evidence: Evidence
    tests: TestResults | None = None
    signature: str | None = None


def explain_flips(result: CompareResult, roots: Roots, tail: int = DEFAULT_TAIL) -> CompareResult:
    """The result of `compare_rollouts` with the reasons of its flips: evidence, single tests, signatures, clusters.

    Args:
        result: A comparison.
        roots: The folders of the runs, in which relative log paths are looked for after the current folder.
        tail: How many lines of verifier output are kept for each side of a flip; 0 for none.
    """
    return with_findings(result, dict.fromkeys(Side, log_roots(roots)), tail)


def with_findings(result: CompareResult, roots: Mapping[Side, LogRoots], tail: int = DEFAULT_TAIL) -> CompareResult:
    """The result with the reasons of its flips, and a note on tasks of which only single tests differ.

    Args:
        result: A comparison.
        roots: Where each side's logs are looked for.
        tail: How many lines of verifier output are kept for each side of a flip; 0 for none.
    """
    tasks = [*(flip.rows for flip in result.flips), *result.agreeing]
    if not tasks:
        return result
    found = _findings(tasks, roots, tail)
    flips = tuple(_told(flip, *found[i]) for i, flip in enumerate(result.flips))
    differing = tuple(
        task.comparison.task for i, task in enumerate(tasks[len(flips) :], len(flips)) if _differ(_changes(*found[i]))
    )
    limit = f" (of the first {MOST_AGREEING} such tasks)" * (len(result.agreeing) == MOST_AGREEING)
    notes = (*result.notes, *([Note(f"{_DIFFERING}{limit}", differing)] if differing else []))
    return replace(result, flips=flips, clusters=_clusters(flips), notes=notes)


_DIFFERING = "equal rewards, but single tests differ"


def _findings(
    tasks: Sequence[TaskRows], roots: Mapping[Side, LogRoots], tail: int
) -> list[tuple[_Finding | None, _Finding | None]]:
    """What the verifiers of both sides said of each task. Rows are read in the order of their files."""
    found: list[_Finding | None] = [None] * (2 * len(tasks))
    for i, values in read_again([*(task.old for task in tasks), *(task.new for task in tasks)], OUTPUT_DECODER):
        side, task = (Side.OLD, tasks[i]) if i < len(tasks) else (Side.NEW, tasks[i - len(tasks)])
        if isinstance(values, Exception):
            found[i] = _Finding(Evidence(None, unavailable=str(values)))
        else:
            output = output_of(values, roots[side], tail)
            found[i] = _finding(output, roots[side], signed=task.comparison.loser is side)
    return list(zip(found[: len(tasks)], found[len(tasks) :], strict=True))


def _finding(output: Output, roots: LogRoots, *, signed: bool) -> _Finding:
    from nemo_gym.rollout_compare.triage import signature

    if output.text is None and output.logs is None:
        return _Finding(output.evidence, signature=signature(None) if signed else None)
    return _Finding(output.evidence, _tests(output, roots), signature(output.text) if signed else None)


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
