"""A row to its verifier's output, bounded and safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.logs import LogRoots, LogUnavailable, read_found, read_log
from nemo_gym.rollout_compare.producers import MOST_OUTPUT_CHARACTERS, RowsAtHand, read_again
from nemo_gym.rollout_compare.schema import Evidence, Flip, Place, Row, Wanted
from nemo_gym.rollout_compare.schema import Output as Said
from nemo_gym.rollout_compare.text import one_line, states_left, without_escapes

LINE_LIMIT = 500

# What harnesses print when the tests are over, and how a shell under `set -x` shows what it is about to do.
_END_MARK = ">>>>> End Test Output"
# A difference of files has such lines, too.
_DIFF = ("-", "@@", " ")
_TRACE = re.compile(r"\++ ")
_LINES_READ = 256

Roots = Iterable[str | PathLike[str]]


class Output(NamedTuple):
    """A row's verifier output.

    Attributes:
        evidence: Where it is from, its last lines, or why there is none.
        text: As much of it as was read; None when there is none.
        cut: Whether that is not all of it.
        logs: The log's place as the row names it, None where it names none.
        tests: What became of single tests, where the row says it.
        reports: The reports of single tests that its reader found, as `schema.Output` has them.
    """

    evidence: Evidence
    text: str | None
    cut: bool
    logs: str | None
    tests: Mapping[str, str] | None = None
    reports: Mapping[str, str] = {}


def output_of(said: Said, roots: LogRoots, tail: int) -> Output:
    """The output that a row tells of, with its last `tail` lines made safe to print."""
    found = _output(said, roots, max(tail, _LINES_READ))
    lines = () if found.text is None else tuple(tail_lines(found.text, tail))
    return found._replace(evidence=replace(found.evidence, lines=lines), reports=said.reports)


def verifier_output(row: Row, roots: Roots) -> tuple[str | None, str]:
    """A row's verifier output and where it is from: a file, or `row field 'NAME'`.

    Of a file only the end is read. Without any output the text is None, and the second value says why.
    """
    place = Place(RowsAtHand([row]), 1, 0)
    ((_, record),) = read_again([place], Wanted(output=True))
    assert not isinstance(record, Exception)
    assert record.output is not None
    found = _output(record.output, log_roots(roots), _LINES_READ)
    return found.text, source_text(found.evidence)


def log_roots(roots: Roots) -> LogRoots:
    """The roots that a script names: folders of runs."""
    return LogRoots(tuple(Path(root) for root in roots))


def source_text(evidence: Evidence) -> str:
    """Where evidence is from or, without any, why there is none."""
    if evidence.source is None:
        return evidence.unavailable or ""
    return f"row field '{evidence.path}'" if evidence.source == "field" else str(evidence.path)


def _output(said: Said, roots: LogRoots, lines: int) -> Output:
    """The verifier's output: the log that the row names, one that its reader found, else its first field with text."""
    why = None
    if said.logs:
        try:
            log = read_log(said.logs, roots, lines)
            return Output(Evidence("file", log.path), log.text, not log.whole, said.logs, said.tests)
        except LogUnavailable as error:
            why = str(error)
    for path in said.files:
        try:
            log = read_found(path, roots, lines)
            return Output(Evidence("file", log.path), log.text, not log.whole, said.logs, said.tests)
        except LogUnavailable as error:
            why = why or str(error)
    for field, text in said.texts:
        cut = len(text) > MOST_OUTPUT_CHARACTERS
        end = text[-MOST_OUTPUT_CHARACTERS:]
        return Output(Evidence("field", field, unavailable=why), end, cut, said.logs, said.tests)
    return Output(Evidence(None, unavailable=why or nothing_said(said.fields)), None, False, said.logs, said.tests)


def any_output(flips: Iterable[Flip]) -> bool:
    """Whether any flip has verifier output, or names a place for it, on either side."""
    return not all(_is_silent(evidence) for flip in flips for evidence in (flip.old, flip.new))


def _is_silent(evidence: Evidence | None) -> bool:
    """Whether a row does not even say where its verifier's output might be."""
    return evidence is None or (evidence.source is None and (evidence.unavailable or "").startswith(_NOTHING_SAID))


_NOTHING_SAID = ("the row has neither ", "the row has no ")


def nothing_said(fields: Sequence[str]) -> str:
    """Why there is no output of a row that has none of the fields that may hold it."""
    if len(fields) < 2:
        return f"the row has no {fields[0]}" if fields else "its producer records none"
    first, *others, last = fields
    between = f"{', '.join(others)} or " if others else ""
    return f"the row has neither {first} nor {between}{last}"


def tail_lines(text: str, count: int) -> list[str]:
    """The last `count` lines as they are safe to print: what was overwritten is gone, long lines are cut."""
    if count <= 0 or not text:
        return []
    text = _of_the_run(text)
    count = min(count, len(text))
    lines = text.removesuffix("\n").rsplit("\n", count)[-count:]
    return [printable_line(line) for line in lines]


def _of_the_run(text: str) -> str:
    """The output up to where its harness says that the run ended, without what a shell traced after the last line.

    What a harness does afterwards tells nothing of the run. If nothing but traces comes before, all of it stays.
    """
    mark = text.rfind(_END_MARK)
    start = text.rfind("\n", 0, mark) + 1 if mark >= 0 else len(text)
    kept = _without_traces(text[:start])
    return kept if kept.strip() else _without_traces(text) or text


def _without_traces(text: str) -> str:
    end, traced = len(text.rstrip()), False
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end]
        if line.strip() and not _TRACE.match(line):
            return text[:end] if traced and not line.startswith(_DIFF) else text
        traced = traced or bool(line.strip())
        end = max(start - 1, 0)
    return ""


def printable_line(line: str) -> str:
    """A line of output as a terminal would leave it, without anything that a terminal would obey."""
    shown = "\r".join(states_left(without_escapes(line)))
    shown = "" if shown.isspace() else shown.expandtabs()
    if len(shown) > LINE_LIMIT:  # cut before the costly part; what matters may stand at either end
        half = LINE_LIMIT // 2
        shown = f"{shown[:half]} ... ({len(shown) - LINE_LIMIT} characters) ... {shown[-half:]}"
    return one_line(shown)
