"""JUnit XML for dashboards of tests: a test case a task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from nemo_gym.rollout_compare.explain import source_text
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT
from nemo_gym.rollout_compare.schema import Category, CompareResult, Flip, Side, TaskComparison, reward_text
from nemo_gym.rollout_compare.text import one_line

# What XML 1.0 allows nowhere, beyond what `one_line` shows as escapes.
_NOT_XML = re.compile("[\ufffe\uffff]")


def junit_lines(result: CompareResult, title: str) -> Iterator[str]:
    """A task that the new run lost is a failure; masked and missing ones are skipped; all others passed."""
    flips = {flip.task: flip for flip in result.flips}
    lost = sum(task.winner is Side.OLD for task in result.tasks)
    skipped = sum(task.category in (Category.MASKED, Category.MISSING) for task in result.tasks)
    counts = f'tests="{len(result.tasks)}" failures="{lost}" errors="0" skipped="{skipped}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="{_text(title)}" {counts}>'
    yield f'<testsuite name="{_text(title)}" {counts}>'
    for task in result.tasks:
        yield from _case(task, flips.get(task.task))
    yield "</testsuite>"
    yield "</testsuites>"


def _case(task: TaskComparison, flip: Flip | None) -> Iterator[str]:
    case = f'<testcase classname="{task.category}" name="{_text(task.task)}"'
    if task.winner is Side.OLD:
        yield f"{case}>"
        yield from _failure(task, flip)
        yield "</testcase>"
    elif task.category in (Category.MASKED, Category.MISSING):
        yield f'{case}><skipped message="{_text(_why(task))}"/></testcase>'
    else:
        yield f"{case}/>"


def _failure(task: TaskComparison, flip: Flip | None) -> Iterator[str]:
    assert task.old
    assert task.new
    rewards = f"old={reward_text(task.old.reward)} new={reward_text(task.new.reward)}"
    cause = f"; {flip.signature}" if flip and flip.signature else ""
    error = task.old.agent_error or task.new.agent_error
    yield f'<failure type="{task.category}" message="{_text(rewards + cause)}">'
    if error:
        yield _text(f"agent error: {error}")
    if flip and flip.tests and flip.tests.broken:
        yield _text(f"broken tests ({len(flip.tests.broken)}):")
        yield from map(_text, flip.tests.broken)
    evidence = flip.evidence(Side.NEW) if flip else None
    if evidence:
        yield _text(f"new verifier output: {source_text(evidence)}")
        yield from map(_text, evidence.lines)
    yield "</failure>"


def _why(task: TaskComparison) -> str:
    if task.category is Category.MISSING:
        return f"only in the {Side.OLD if task.old else Side.NEW} run"
    return "; ".join(f"{side} {told.masked}" for side in Side if (told := task.side(side)) and told.masked)


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("?", one_line(text, 5 * LABEL_LIMIT)))
