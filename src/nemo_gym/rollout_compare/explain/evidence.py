"""A row to its verifier's output, bounded and safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.logs import LogRoots, LogUnavailable, read_log
from nemo_gym.rollout_compare.producers.again import read_again
from nemo_gym.rollout_compare.producers.gym import RowsAtHand
from nemo_gym.rollout_compare.schema import Evidence, Place, Row, Wanted
from nemo_gym.rollout_compare.schema import Output as Said
from nemo_gym.rollout_compare.text.terminal import one_line, without_escapes

LINE_LIMIT = 500
_LINES_READ = 256

#: Of a field no more than its end is read, as of a file: a text of short lines takes thirty times its size.
_FIELD_CHARACTERS = 2 << 20

_VERDICT = re.compile(r"fail|pass|error|assert|panic|exception", re.IGNORECASE)
_PROGRESS = re.compile(r"[\d\W_]+")

Roots = Iterable[str | PathLike[str]]


class Output(NamedTuple):
    """A row's verifier output.

    Attributes:
        evidence: Where it is from, its last lines, or why there is none.
        text: As much of it as was read; None when there is none.
        cut: Whether that is not all of it.
        logs: The log's place as the row names it, None where it names none.
    """

    evidence: Evidence
    text: str | None
    cut: bool
    logs: str | None


def output_of(said: Said, roots: LogRoots, tail: int) -> Output:
    """The output that a row tells of, with its last `tail` lines made safe to print."""
    found = _output(said, roots, max(tail, _LINES_READ))
    lines = () if found.text is None else tuple(tail_lines(found.text, tail))
    return found._replace(evidence=replace(found.evidence, lines=lines))


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
    """The verifier's output: the log that the row names, else the first field of it that is not blank."""
    why = None
    if said.logs:
        try:
            log = read_log(said.logs, roots, lines)
            return Output(Evidence("file", log.path), log.text, not log.whole, said.logs)
        except LogUnavailable as error:
            why = str(error)
    for field, text in said.texts:
        cut = len(text) > _FIELD_CHARACTERS
        return Output(Evidence("field", field, unavailable=why), text[-_FIELD_CHARACTERS:], cut, said.logs)
    return Output(Evidence(None, unavailable=why or nothing_said(said.fields)), None, False, said.logs)


def nothing_said(fields: Sequence[str]) -> str:
    """Why there is no output of a row that has none of the fields that may hold it."""
    first, *others = fields
    return f"the row has neither {first} nor {', '.join(others[:-1])} or {others[-1]}"


def tail_lines(text: str, count: int) -> list[str]:
    """The last `count` lines as they are safe to print: what was overwritten is gone, long lines are cut."""
    if count <= 0 or not text:
        return []
    count = min(count, len(text))
    lines = text.removesuffix("\n").rsplit("\n", count)[-count:]
    return [printable_line(line) for line in lines]


def printable_line(line: str) -> str:
    """A line of output as a terminal would leave it, without anything that a terminal would obey."""
    shown = without_escapes(line)
    if "\r" in shown:
        shown = "\r".join(_states_left(shown))
    shown = "" if shown.isspace() else shown.expandtabs()
    if len(shown) > LINE_LIMIT:  # cut before the costly part; what matters may stand at either end
        half = LINE_LIMIT // 2
        shown = f"{shown[:half]} ... ({len(shown) - LINE_LIMIT} characters) ... {shown[-half:]}"
    return one_line(shown)


def _states_left(line: str) -> Sequence[str]:
    """The last state of a line that carriage returns overwrote, and before it every state that holds a verdict.

    A progress bar leaves its last state only, but no output can overwrite a verdict to hide it.
    """
    *before, last = [state for state in line.split("\r") if state.strip()] or [""]
    left: list[str] = []
    shape = _PROGRESS.sub("", last)
    for state in reversed(before):
        if _VERDICT.search(state) and _PROGRESS.sub("", state) != shape:
            left.append(state)
            shape = _PROGRESS.sub("", state)
    return [*reversed(left), last]
