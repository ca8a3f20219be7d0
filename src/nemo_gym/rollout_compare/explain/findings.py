"""Why did it flip? A result to one that tells: evidence of both sides, single tests, signatures and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.compare import MOST_AGREEING
from nemo_gym.rollout_compare.engine import map_by_processes, may_fork
from nemo_gym.rollout_compare.explain.evidence import Output, Roots, any_output, log_roots, nothing_said, output_of
from nemo_gym.rollout_compare.explain.logs import LogRoots, found_reports, read_reports
from nemo_gym.rollout_compare.explain.transcripts import with_transcripts
from nemo_gym.rollout_compare.producers import read_again, together
from nemo_gym.rollout_compare.schema import (
    DEFAULT_TAIL,
    Cluster,
    CompareResult,
    Evidence,
    Flip,
    Note,
    NoteKind,
    OtherReasons,
    Place,
    Record,
    Side,
    TaskRows,
    TestChanges,
    Wanted,
)

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.explain.triage import ErrorLine, TestResults
    from nemo_gym.rollout_compare.text import PlainText


class _Finding(Struct, frozen=True):
    """What a row's verifier said, and what the agent answered."""

    evidence: Evidence
    tests: TestResults | None = None
    errors: tuple[ErrorLine, ...] = ()
    answer: str | None = None


class _Told(Struct, frozen=True):
    """What both sides' verifiers said of a task, as far as it is kept.

    Attributes:
        old: The old side's output.
        new: The new side's output.
        tests: The single tests that changed.
        signature: What made the losing side of a flip fail.
        reasons: What made both sides of an agreeing task fail, old before new, if both are known.
        same_answer: Whether both rows end in the same answer.
    """

    old: Evidence
    new: Evidence
    tests: TestChanges | None = None
    signature: str | None = None
    reasons: tuple[str, str] | None = None
    same_answer: bool = False


class _Asked(NamedTuple):
    """A task whose verifiers are asked, and whether they are asked for a cause: a side failed."""

    rows: TaskRows
    failed: bool


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
    return with_findings(with_transcripts(result), dict.fromkeys(Side, log_roots(roots)), tail)


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
    lower = result.statistics is not None and result.statistics.lower_is_better
    told = _findings([_Asked(task, _failed(task, lower_is_better=lower)) for task in tasks], roots, tail, jobs)
    flips = tuple(map(_explained, result.flips, told))
    agreeing = list(zip(result.agreeing, told[len(flips) :], strict=True))
    notes = [note for note in result.notes if note.kind not in _FOUND_HERE]  # of an earlier call
    differing = tuple(task.comparison.task for task, said in agreeing if said.tests)
    if differing:
        total = MOST_AGREEING if len(result.agreeing) == MOST_AGREEING else 0
        notes.append(Note(NoteKind.TESTS_DIFFER, tasks=differing, total=total))
    if flips and not any_output(flips) and not any(flip.tests for flip in flips):
        notes.append(Note(NoteKind.NO_OUTPUT))
    return replace(
        result, flips=flips, clusters=_clusters(flips), other_reasons=_other_reasons(agreeing), notes=tuple(notes)
    )


_FOUND_HERE = {NoteKind.TESTS_DIFFER, NoteKind.NO_OUTPUT}


def _explained(flip: Flip, said: _Told) -> Flip:
    return replace(
        flip, old=said.old, new=said.new, tests=said.tests, signature=said.signature, same_answer=said.same_answer
    )


def _findings(tasks: Sequence[_Asked], roots: Mapping[Side, LogRoots], tail: int, jobs: int) -> list[_Told]:
    """What the verifiers said of each task."""

    def read(group: Sequence[int], _: object = None) -> list[_Told]:
        return _read([tasks[i] for i in group], roots, tail)

    told = [_silent(rows) for rows, _ in tasks]
    places = [i for i, (rows, _) in enumerate(tasks) if rows.old.has_output or rows.new.has_output]
    jobs = jobs if len(places) >= _WORTH_PROCESSES and may_fork() else 1
    rows = [(tasks[i].rows.old, tasks[i].rows.new) for i in places]
    groups = [[places[i] for i in batch] for batch in together(rows, _TASKS_A_BATCH if jobs > 1 else len(places))]
    jobs = min(jobs, len(groups))
    found = map_by_processes(read, groups, jobs, lambda *_: None) if jobs > 1 else map(read, groups)
    for group, said in zip(groups, found, strict=True):
        for i, one in zip(group, said, strict=True):
            told[i] = one
    return told


def _read(asked: Sequence[_Asked], roots: Mapping[Side, LogRoots], tail: int) -> list[_Told]:
    """What the verifiers said of some tasks, whose rows are read in the order of their files."""
    tasks = [task.rows for task in asked]
    found = {(i, side): list(map(_silence, _rows(task, side))) for i, task in enumerate(tasks) for side in Side}
    wanted = [(i, side, number, place) for i, task in enumerate(tasks) for side in Side
              for number, place in enumerate(_rows(task, side)) if place.has_output]  # fmt: skip
    for (i, side, number, _), record in _read_again(wanted, tasks):
        if isinstance(record, Exception):
            found[i, side][number] = _Finding(Evidence(None, unavailable=str(record)))
        else:
            shown = tail if tasks[i].comparison.winner and not number else 0
            failed = not number and asked[i].failed
            found[i, side][number] = _finding(record, roots[side], shown, is_cause_asked=failed)
        del record  # it may be as large as the next one
    return [_compared(task, found[i, Side.OLD], found[i, Side.NEW]) for i, task in enumerate(tasks)]


def _read_again(
    wanted: Sequence[tuple[int, Side, int, Place]], tasks: Sequence[TaskRows]
) -> Iterator[tuple[tuple[int, Side, int, Place], Record | Exception]]:
    """What the rows say; the agent's answer only where a task flipped: it takes as long to find as all the rest.

    Files that are read from their start are read once all the same.
    """
    at_once = any(place.source.from_start for *_, place in wanted)
    for flipped in (True,) if at_once else (True, False):
        asked = [one for one in wanted if at_once or bool(tasks[one[0]].comparison.winner) is flipped]
        for position, record in read_again([place for *_, place in asked], Wanted(output=True, answer=flipped)):
            yield asked[position], record
            del record  # it may be as large as the next one


def _rows(task: TaskRows, side: Side) -> tuple[Place, ...]:
    """The row that tells most about a side, then its other attempts if there are any."""
    row, attempts = (task.old, task.old_attempts) if side is Side.OLD else (task.new, task.new_attempts)
    return (row, *(place for place in attempts if (place.line, place.offset) != (row.line, row.offset)))


def _finding(record: Record, roots: LogRoots, tail: int, *, is_cause_asked: bool) -> _Finding:
    """What a row says; its errors only where somebody asks for a cause: they take the most time."""
    from nemo_gym.rollout_compare.explain.triage import errors_of
    from nemo_gym.rollout_compare.text import PlainText

    assert record.output is not None
    output = output_of(record.output, roots, tail)
    plain = PlainText(output.text) if output.text else None
    errors = errors_of(plain) if is_cause_asked else ()
    return _Finding(output.evidence, _tests(output, plain, roots), errors, record.answer)


def _silent(task: TaskRows) -> _Told:
    """What is told of a task of which no row has any output."""
    return _Told(_silence(task.old).evidence, _silence(task.new).evidence)


def _silence(place: Place) -> _Finding:
    """What is found in a row without any output."""
    return _Finding(Evidence(None, unavailable=nothing_said(place.source.output_fields)))


def _compared(task: TaskRows, old: Sequence[_Finding], new: Sequence[_Finding]) -> _Told:
    from nemo_gym.rollout_compare.explain.triage import cause_of, compare_attempts

    changes = compare_attempts([one.tests for one in old], [one.tests for one in new])
    first, other = old[0], new[0]
    told = _Told(first.evidence, other.evidence, changes)
    loser = task.comparison.loser
    if loser is None:
        both = cause_of(first.errors), cause_of(other.errors)
        return replace(told, reasons=both) if all(both) else told
    lost, won = (first, other) if loser is Side.OLD else (other, first)
    same = first.answer is not None and first.answer == other.answer
    return replace(told, signature=cause_of(lost.errors, won.errors), same_answer=same)


def _failed(task: TaskRows, *, lower_is_better: bool) -> bool:
    """Whether a side failed: the task flipped, or its equal rewards are not the best.

    Of rewards in [0, 1] the best is 1, and above 1 nobody knows it; where lower is better it is 0.
    """
    if task.comparison.winner:
        return True
    old = task.comparison.old
    if old is not None and old.solved is not None:
        return old.solved < old.rows
    if old is None or old.reward is None:
        return False
    return old.reward > 0 if lower_is_better else old.reward < 1


def _tests(output: Output, plain: PlainText | None, roots: LogRoots) -> TestResults | None:
    """The single tests: those of the reports, else what the row says, else those of the text.

    A report in which one name stands for several tests gives way to a text that names them all.
    """
    from nemo_gym.rollout_compare.explain.triage import (
        is_certain_report,
        merge_tests,
        named_within,
        read_test_file,
        read_tests,
        recorded_tests,
    )

    reports = read_reports(output.logs, roots) if output.logs else found_reports(output.reports)
    read = reports.parsed(read_test_file)
    results = merge_tests(named_within(output.reports.get(name, ""), tests) for name, tests in read if tests)
    if results is None and output.tests:
        return recorded_tests(output.tests)
    of_text = read_tests(plain, cut=output.cut) if plain and (not results or results.merged) else None
    if results is None or (results.merged and of_text and of_text.naming == results.naming):
        return of_text
    whole = reports.complete and all(tests or not is_certain_report(name) for name, tests in read)
    return results if whole else replace(results, truncated=True)


def _clusters(flips: Sequence[Flip]) -> tuple[Cluster, ...]:
    from nemo_gym.rollout_compare.explain.triage import SignedFlip, clusters

    return clusters(
        SignedFlip(flip.comparison.task, flip.comparison.winner, flip.signature)
        for flip in flips
        if flip.comparison.winner is not None and not flip.within_noise
    )


def _other_reasons(agreeing: Sequence[tuple[TaskRows, _Told]]) -> tuple[OtherReasons, ...]:
    from nemo_gym.rollout_compare.explain.triage import other_reasons

    both = ((task.comparison.task, said.reasons) for task, said in agreeing if said.reasons)
    return other_reasons((task, old, new) for task, (old, new) in both if old != new)
