"""The report that people read: plain text, stable to the byte for the same inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.evidence import source_text
from nemo_gym.rollout_compare.report.difference import difference_lines, repeats_text
from nemo_gym.rollout_compare.safe_text import one_line
from nemo_gym.rollout_compare.schema import (
    Category,
    CompareResult,
    Evidence,
    Flip,
    Note,
    Side,
    TaskComparison,
    reward_text,
)

LABEL_LIMIT = 200
WHERE_LIMIT = 400
NOTE_TASKS = 10


def report_lines(result: CompareResult) -> Iterator[str]:
    """The report's lines, without their ends."""
    yield f"gym dev compare: {_count(len(result.tasks), 'task')} ({_rows(result, Side.OLD)}, {_rows(result, Side.NEW)})"
    yield f"join key: {_key(result, Side.OLD)}, {_key(result, Side.NEW)}"
    yield from (f"note: {_note(note)}" for note in result.notes)
    yield ""
    yield from _table(result.counts())
    yield from difference_lines(result)
    certain = [flip for flip in result.flips if flip.comparison.category is Category.FLIPPED]
    doubtful = [flip for flip in result.flips if flip.comparison.category is Category.FLIPPED_AGENT_ERROR]
    yield from _flips("Flips", certain)
    if doubtful:
        yield from _flips("Flips with agent errors", doubtful)
    yield from _list("Masked", [_masked(task) for task in result.by_category(Category.MASKED)])
    yield from _list("Missing", [_missing(task) for task in result.by_category(Category.MISSING)])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _label(text: str) -> str:
    """A task's label, one line and not too long; an empty one is made visible."""
    return one_line(text, LABEL_LIMIT) or "''"


def _rows(result: CompareResult, side: Side) -> str:
    rows, masked = (
        (result.old_rows, result.old_masked_rows) if side is Side.OLD else (result.new_rows, result.new_masked_rows)
    )
    return f"{side} {_count(rows, 'row')}" + (f" incl. {masked} masked" if masked else "")


def _key(result: CompareResult, side: Side) -> str:
    key, prefix = (
        (result.old_key, result.old_prefix_stripped)
        if side is Side.OLD
        else (result.new_key, result.new_prefix_stripped)
    )
    text = f"{side}={one_line(key)}"
    return text if prefix is None else f"{text} (prefix '{one_line(prefix)}/' stripped)"


def _note(note: Note) -> str:
    if not note.tasks:
        return one_line(note.message)
    named = ", ".join(_label(task) for task in note.tasks[:NOTE_TASKS])
    more = len(note.tasks) - NOTE_TASKS
    return f"{one_line(note.message)}: {named}" + (f" and {more} more" if more > 0 else "")


def _table(counts: dict[str, int]) -> Iterator[str]:
    rows = [
        ("identical", "identical", ""),
        ("flipped", "flipped", f"old-win {counts['flipped_old_win']}, new-win {counts['flipped_new_win']}"),
        ("flipped (agent error)", "flipped_agent_error", "rerun before counting" * bool(counts["flipped_agent_error"])),
        ("masked", "masked", f"old {counts['masked_old']}, new {counts['masked_new']}"),
        ("missing", "missing", f"old-only {counts['missing_old_only']}, new-only {counts['missing_new_only']}"),
    ]
    yield f"{'category':<21} {'count':>8}"
    for name, key, detail in rows:
        yield f"{name:<21} {counts[key]:>8}   {detail}".rstrip()


def _section(title: str, count: int) -> Iterator[str]:
    yield ""
    yield f"## {title} ({count})"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from _section(title, len(lines))
    yield from lines


def _flips(title: str, flips: Sequence[Flip]) -> Iterator[str]:
    yield from _section(title, len(flips))
    for flip in flips:
        yield from _flip(flip)


def _flip(flip: Flip) -> Iterator[str]:
    task, old, new = flip.comparison, flip.comparison.old, flip.comparison.new
    assert old is not None
    assert new is not None
    yield f"### {_label(task.task)}: old={old.reward_text()} new={new.reward_text()} -> {task.winner} wins"
    if flip.repeats:
        yield f"    {repeats_text(flip.repeats)}"
    if reward_text(old.reward) == reward_text(new.reward):
        yield f"    rewards in full: old={old.reward!r} new={new.reward!r}"
    for side, facts in ((Side.OLD, old), (Side.NEW, new)):
        if facts.agent_error:
            yield f"    {side} agent error: {one_line(facts.agent_error, LABEL_LIMIT)}"
        if facts.failure_kind:
            yield f"    {side} scored with failure_kind={one_line(facts.failure_kind, LABEL_LIMIT)} (not masked)"
    if flip.evidence:
        yield from _evidence(str(task.loser), flip.evidence)


def _evidence(side: str, evidence: Evidence) -> Iterator[str]:
    where = one_line(source_text(evidence), WHERE_LIMIT)
    if evidence.source is None:
        yield f"    {side} verifier output unavailable: {where}"
        return
    if evidence.unavailable:
        yield f"    {side} verifier log passed over: {one_line(evidence.unavailable, WHERE_LIMIT)}"
    yield f"    {side} verifier output (last {_count(len(evidence.lines), 'line')} of {where}):"
    yield from (f"    | {line}".rstrip() for line in evidence.lines)


def _masked(task: TaskComparison) -> str:
    sides = [(side, facts) for side in Side if (facts := task.side(side))]
    rewards = " ".join(f"{side}={facts.reward_text()}" for side, facts in sides)
    reasons = "; ".join(f"{side} {one_line(facts.masked, LABEL_LIMIT)}" for side, facts in sides if facts.masked)
    return f"- {_label(task.task)}: {rewards}; {reasons}"


def _missing(task: TaskComparison) -> str:
    side = Side.OLD if task.old else Side.NEW
    facts = task.side(side)
    assert facts
    masked = f"; {one_line(facts.masked, LABEL_LIMIT)}" if facts.masked else ""
    return f"- {_label(task.task)}: only on {side} side (reward {facts.reward_text()}{masked})"
