"""A comment for a pull request: GitHub's and GitLab's Markdown.

What inputs say stands in code alone, in spans or blocks whose fences are longer than any in the text: there no markup,
mention, link or reference works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from nemo_gym.rollout_compare.explain import source_text as evidence_source
from nemo_gym.rollout_compare.report.gate import told_gate
from nemo_gym.rollout_compare.report.notes import TASKS_IN_JSON_ONLY, note_message, note_names
from nemo_gym.rollout_compare.report.terminal.changes import (
    CHANGES_TITLE,
    COST_TITLE,
    changed_settings,
    cost_texts,
    parted_text,
)
from nemo_gym.rollout_compare.report.terminal.decision import decision_text
from nemo_gym.rollout_compare.report.terminal.difference import difference_sentences, repeats_text
from nemo_gym.rollout_compare.report.terminal.flips import by_size, common_causes, same_form
from nemo_gym.rollout_compare.report.terminal.groups import subset_lines
from nemo_gym.rollout_compare.report.terminal.masked import masked_text
from nemo_gym.rollout_compare.report.terminal.provenance import source_text
from nemo_gym.rollout_compare.report.terminal.text import join_lines
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, TASKS_NAMED, counted
from nemo_gym.rollout_compare.schema import Category, Cluster, CompareResult, Evidence, Flip, Note, Side, TestChanges
from nemo_gym.rollout_compare.text import first_of, one_line

#: GitHub refuses comments of more than 65,536 characters.
LIMIT: Final = 60_000

_ROOM_FOR_THE_END = 400
_TESTS_NAMED = 10
#: The head must fit in any case, so the tables of its groups have an end of their own.
_TABLE_LINES = 100


def markdown_lines(result: CompareResult, title: str) -> Iterator[str]:
    """The comment's lines: the decision, counts and figures, then flips as far as there is room."""
    room = LIMIT - _ROOM_FOR_THE_END
    left_out = []
    for what, parts in _sections(result, title):
        head, *blocks = parts
        tail = ["", "</details>", ""] if what else []
        size = _size([*head, *tail])
        if size > room:
            left_out.append(counted(len(blocks), what))
            continue
        room -= size
        yield from head
        for number, block in enumerate(blocks):
            if _size(block) > room:
                left_out.append(counted(len(blocks) - number, what))
                break
            room -= _size(block)
            yield from block
        yield from tail
    if left_out:
        yield f"Left out, because a comment has an end: {', '.join(left_out)}. `--html` or `--json` has all."


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _sections(result: CompareResult, title: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Each section: what it counts, empty where it is not folded; its head, then its blocks."""
    yield "", [list(_head(result, title))]
    changed = [*_changed(result)]
    if changed:
        yield "line", [_fold("What else changed, and what it cost"), *([line] for line in changed)]
    common = common_causes(result.clusters)
    if common:
        blocks = [[f"* {_company(one)}: {code(one.signature)}<br>{_listed(one.tasks)}"] for one in common]
        yield "cause", [_fold(f"Flips with the same cause ({len(common)})"), *blocks]
    for heading, category in (
        ("Flips", Category.FLIPPED),
        ("Flips with agent errors", Category.FLIPPED_AGENT_ERROR),
    ):
        flips = sorted((flip for flip in result.flips if flip.comparison.category is category), key=by_size)
        if flips:
            yield "flip", [_fold(f"{heading} ({len(flips)})"), *(list(_flip(flip)) for flip in flips)]
    masked = result.by_category(Category.MASKED)
    if masked:
        yield (
            "masked task",
            [_fold(f"Masked ({len(masked)})"), *([f"* {code(masked_text(one))}"] for one in masked)],
        )
    missing = result.by_category(Category.MISSING)
    if missing:
        lines = [[f"* {code(one.task)}: only in the {Side.OLD if one.old else Side.NEW} run"] for one in missing]
        yield "missing task", [_fold(f"Missing ({len(missing)})"), *lines]
    notes = [[f"* {_note(note)}"] for note in result.notes]
    yield "note", [_fold("What was compared"), list(_about(result)), *notes]


def _changed(result: CompareResult) -> Iterator[str]:
    costs = [line for told in cost_texts(result) for line in told]
    for title, lines in ((CHANGES_TITLE, list(changed_settings(result))), (COST_TITLE, costs)):
        if lines:
            yield f"**{title}**"
            yield from (f"* {code(line)}" for line in lines)


def _head(result: CompareResult, title: str) -> Iterator[str]:
    counts, decision = result.counts(), decision_text(result)
    yield f"### {plain(decision or title)}"
    yield ""
    yield "| identical | flipped | with agent error | masked | missing |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    flipped = f"{counts['flipped']} (lost {counts['flipped_old_win']}, won {counts['flipped_new_win']})"
    yield (
        f"| {counts['identical']} | {flipped} | {counts['flipped_agent_error']} | {counts['masked']} "
        f"| {counts['missing']} |"
    )
    yield ""
    figures = result.statistics
    table = list(subset_lines(figures)) if figures else []
    yield from (f"* {plain(line)}" for line in (difference_sentences(result, figures) if figures else ()))
    more = [f"... and {counted(len(table) - _TABLE_LINES, 'more line')}"] if len(table) > _TABLE_LINES else []
    if table:
        yield from ["", *_block([*table[:_TABLE_LINES], *more])]
    yield ""
    gate = told_gate(result)
    if gate:
        broken = [rule for rule in gate if rule.tripped]
        rules = ", ".join(f"{code(rule.rule)} ({code(str(rule.value))})" for rule in broken or gate)
        yield f"**Gate: {'broken' if broken else 'passed'}**: {rules}"
        yield ""


def _company(cluster: Cluster) -> str:
    told = ((cluster.old_wins, "lost"), (cluster.new_wins, "won"))
    return ", ".join(f"{number} {fate}" for number, fate in told if number) + same_form(cluster)


def _about(result: CompareResult) -> Iterator[str]:
    if result.run:
        yield f"* old: {code(source_text(result.run.old))}"
        yield f"* new: {code(source_text(result.run.new))}"
    yield from (f"* {code(line)}" for line in join_lines(result))


def _note(note: Note) -> str:
    names = () if note.kind in TASKS_IN_JSON_ONLY else note_names(note)
    return code(note_message(note), 400) + (f": {_listed(names)}" if names else "")


def _flip(flip: Flip) -> Iterator[str]:
    task = flip.comparison
    assert task.old
    assert task.new
    yield ""
    yield f"**{code(task.task)}**: old {task.old.reward_text()}, new {task.new.reward_text()}, {task.winner} wins"
    yield ""
    if flip.repeats:
        yield f"* {repeats_text(flip.repeats)}"
    for side, facts in ((Side.OLD, task.old), (Side.NEW, task.new)):
        if facts.agent_error:
            yield f"* {side} agent error: {code(facts.agent_error)}"
    if flip.parted:
        yield f"* {code(parted_text(flip.parted), 500)}"
    yield from _tests(flip.tests)
    assert task.loser
    evidence = flip.evidence(task.loser)
    if evidence:
        yield from _evidence(task.loser, evidence)


def _tests(tests: TestChanges | None) -> Iterator[str]:
    kinds = (("broken", tests.broken), ("fixed", tests.fixed), ("not run", tests.not_run)) if tests else ()
    for kind, names in kinds:
        if names:
            yield f"* {kind} tests ({len(names)}): {_listed(names, _TESTS_NAMED)}"


def _evidence(side: Side, evidence: Evidence) -> Iterator[str]:
    if not evidence.lines:
        yield f"* {side} verifier output unavailable: {code(evidence_source(evidence))}"
        return
    yield f"* {side} verifier output, {code(evidence_source(evidence))}:"
    yield ""
    yield from _block(evidence.lines)


def _block(lines: Sequence[str]) -> list[str]:
    """Lines as they are, between fences that none of them can close."""
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return [f"{fence}text", *map(one_line, lines), fence]


def _listed(names: Sequence[str], most: int = TASKS_NAMED) -> str:
    return first_of([code(name) for name in names[:most]], most, len(names))


def _fold(title: str) -> list[str]:
    return ["<details>", f"<summary>{escape(title)}</summary>", ""]


def code(text: str, limit: int = LABEL_LIMIT) -> str:
    """A text of an input as code: the fence is longer than any run of backticks in it."""
    shown = one_line(text, limit) or "''"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    edge = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def plain(text: str) -> str:
    """A sentence of ours, which may name a task or a field: what has a meaning in Markdown is taken literally."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|~$:/.-])", r"\\\1", escape(one_line(text), quote=False))
    return escaped.replace("@", "@\N{ZERO WIDTH SPACE}")
