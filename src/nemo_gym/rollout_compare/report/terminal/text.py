"""The report that people read: plain text, stable to the byte for the same inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from nemo_gym.rollout_compare.explain import any_output
from nemo_gym.rollout_compare.report.notes import TASKS_IN_JSON_ONLY, note_message, note_names
from nemo_gym.rollout_compare.report.terminal.changes import change_lines, cost_lines, settings_parts
from nemo_gym.rollout_compare.report.terminal.decision import decision_text
from nemo_gym.rollout_compare.report.terminal.difference import difference_lines
from nemo_gym.rollout_compare.report.terminal.flips import (
    BY_SIZE,
    by_size,
    cluster_lines,
    flip_lines,
    other_reason_lines,
)
from nemo_gym.rollout_compare.report.terminal.masked import changed_first, masked_line
from nemo_gym.rollout_compare.report.terminal.provenance import source_text
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, label, listed, section
from nemo_gym.rollout_compare.schema import Category, CompareResult, JoinCheck, Note, Side, TaskComparison
from nemo_gym.rollout_compare.text import PAGE_MB, counted, one_line


class Shown(Struct, frozen=True):
    """What of a result the report shows; its counts are always those of the whole.

    Attributes:
        categories: The sections, all but `identical` when empty.
        max_flips: How many flips of each kind, all when None.
        output: Whether a flip shows its verifier output at all.
        hide_noise: Whether flips within the noise of their attempts are left out.
        sort: In which order flips stand: `size`, those beyond noise first, then the largest changes, or `label`.
        both_sides: Whether the winning side's verifier output stands under the losing side's.
        title: What the report calls itself: the command as it was called.
        html_limit: How many megabytes of data a page has at most.
        table: What kind of table is written, as the end of its name says it.
        color: Whether the report is coloured.
        width: How many columns the terminal has; None where the report goes elsewhere: its lines are not wrapped.
    """

    categories: Collection[str] = ()
    max_flips: int | None = None
    both_sides: bool = False
    output: bool = True
    title: str = "gym dev compare"
    hide_noise: bool = False
    sort: str = BY_SIZE
    html_limit: int = PAGE_MB
    table: str = ".csv"
    color: bool = False
    width: int | None = None

    def sides(self) -> int:
        """Of how many sides a flip shows the verifier output, the losing one first."""
        return self.output * (1 + self.both_sides)

    def shows(self, category: Category) -> bool:
        """Whether a category's section is shown."""
        return category in self.categories if self.categories else category is not Category.IDENTICAL


def report_lines(result: CompareResult, shown: Shown | None = None) -> Iterator[str]:
    """The report's lines, without their ends."""
    shown = shown or Shown()
    count = counted(len(result.tasks), "task")
    yield f"{shown.title}: {count} ({_rows(result, Side.OLD)}, {_rows(result, Side.NEW)})"
    if result.run:
        yield f"old: {source_text(result.run.old)}"
        yield f"new: {source_text(result.run.new)}"
    yield from join_lines(result)
    yield from (f"note: {_note(note)}" for note in result.notes)
    yield ""
    yield from _table(result.counts())
    yield from change_lines(result)
    yield from difference_lines(result)
    yield from cost_lines(result)
    yield from _flips(result, shown)
    for title, category, line in _LISTS:
        if shown.shows(category):
            tasks = result.by_category(category)
            if category is Category.MASKED:
                tasks.sort(key=changed_first)
            yield from _list(title, [line(task) for task in tasks])
    decision = decision_text(result)
    if decision is not None:
        yield ""
        yield decision


def join_lines(result: CompareResult) -> Iterator[str]:
    """How the tasks were joined, and whether they are the same tasks."""
    yield from map(": ".join, join_parts(result))


def join_parts(result: CompareResult) -> Iterator[tuple[str, str]]:
    """The same: what each is called, and what is said of it."""
    yield "join key", f"{_key(result, Side.OLD)}, {_key(result, Side.NEW)}"
    yield from _join_check(result.join_check)
    if result.statistics and result.statistics.lower_is_better:
        yield "reward", "lower is better"
    yield from settings_parts(result)


def _flips(result: CompareResult, shown: Shown) -> Iterator[str]:
    """What flips have in common, the flips of both kinds, and what fails on both sides for another reason."""
    if shown.shows(Category.FLIPPED):
        yield from cluster_lines(result.clusters, result.flips, output=shown.output)
    for title, category in (("Flips", Category.FLIPPED), ("Flips with agent errors", Category.FLIPPED_AGENT_ERROR)):
        flips = [flip for flip in result.flips if flip.comparison.category is category]
        if shown.shows(category) and (flips or category is Category.FLIPPED):
            if shown.sort == BY_SIZE:
                flips.sort(key=by_size)
            sides, hide = shown.sides() if any_output(result.flips) else 0, shown.hide_noise
            yield from flip_lines(title, flips, most=shown.max_flips, sides=sides, hide_noise=hide, width=shown.width)
    if shown.shows(Category.FLIPPED):
        yield from other_reason_lines(result.other_reasons)


def _rows(result: CompareResult, side: Side) -> str:
    rows, masked = (
        (result.old_rows, result.old_masked_rows) if side is Side.OLD else (result.new_rows, result.new_masked_rows)
    )
    return f"{side} {counted(rows, 'row')}" + (f" incl. {masked} masked" if masked else "")


def _key(result: CompareResult, side: Side) -> str:
    key, prefix = (
        (result.old_key, result.old_prefix_stripped)
        if side is Side.OLD
        else (result.new_key, result.new_prefix_stripped)
    )
    text = f"{side}={one_line(key)}"
    return text if prefix is None else f"{text} (prefix '{one_line(prefix)}' stripped)"


def _join_check(check: JoinCheck) -> Iterator[tuple[str, str]]:
    """How many of the tasks that were joined were given the same input, as far as both runs tell."""
    if check.inputs_compared:
        agree = check.inputs_compared - check.inputs_differ
        rest = "" if check.inputs_compared == check.joined else f" (of {counted(check.joined, 'joined task')})"
        inputs = "1 input agrees" if check.inputs_compared == 1 else f"{check.inputs_compared} inputs agree"
        yield "join check", f"{agree} of {inputs}{rest}"


def _note(note: Note) -> str:
    message = one_line(note_message(note))
    names = () if note.kind in TASKS_IN_JSON_ONLY else note_names(note)
    return f"{message}: {listed(names)}" if names else message


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


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from section(title, len(lines))
    yield from lines


def _identical(task: TaskComparison) -> str:
    assert task.old is not None
    return f"- {label(task.task)}: {task.old.reward_text()}"


def _missing(task: TaskComparison) -> str:
    side = Side.OLD if task.old else Side.NEW
    facts = task.side(side)
    assert facts
    masked = f"; {one_line(facts.masked, LABEL_LIMIT)}" if facts.masked else ""
    return f"- {label(task.task)}: only on {side} side (reward {facts.reward_text()}{masked})"


_LISTS = (
    ("Identical", Category.IDENTICAL, _identical),
    ("Masked", Category.MASKED, masked_line),
    ("Missing", Category.MISSING, _missing),
)
