"""A losing row to the end of its verifier's output, bounded and safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from nemo_gym.rollout_compare.decode import RowDecoder
from nemo_gym.rollout_compare.logs import LogUnavailable, read_log
from nemo_gym.rollout_compare.origins import read_again
from nemo_gym.rollout_compare.safe_text import one_line, without_escapes
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, CompareResult, Evidence, Row

LOGS_FIELD = "verifier_logs_dir"
OUTPUT_FIELDS = ("test_output", "verifier_stdout", "verifier_output")

LINE_LIMIT = 500
_LINES_READ = 256

_VERDICT = re.compile(r"fail|pass|error|assert|panic|exception", re.IGNORECASE)
_PROGRESS = re.compile(r"[\d\W_]+")

_DECODER = RowDecoder((LOGS_FIELD, *OUTPUT_FIELDS))

Roots = Iterable[str | PathLike[str]]


class _Output(NamedTuple):
    """A row's verifier output and where it is from; `text` is None when there is none."""

    evidence: Evidence
    text: str | None
    whole: bool = True


def with_evidence(result: CompareResult, roots: Roots, tail: int = DEFAULT_TAIL) -> CompareResult:
    """The result with the last `tail` lines of the losing side's verifier output for every flip.

    Args:
        result: A comparison.
        roots: The folders of the runs, in which relative log paths are looked for after the current folder.
        tail: How many lines; 0 for none.
    """
    if tail == 0:
        return result
    folders = [Path(root) for root in roots]
    flips = list(result.flips)
    for i, found in read_again([flip.losing_row for flip in flips], _DECODER):
        if isinstance(found, Exception):
            evidence = Evidence(None, unavailable=str(found))
        else:
            output = _output(found, folders, tail)
            evidence = replace(output.evidence, lines=tuple(tail_lines(output.text or "", tail)))
        flips[i] = replace(flips[i], evidence=evidence)
    return replace(result, flips=tuple(flips))


def verifier_output(row: Row, roots: Roots) -> tuple[str | None, str]:
    """A row's verifier output and where it is from: a file, or `row field 'NAME'`.

    Of a file only the end is read. Without any output the text is None, and the second value says why.
    """
    found = _output(_DECODER.pick(row), [Path(root) for root in roots], _LINES_READ)
    return found.text, source_text(found.evidence)


def source_text(evidence: Evidence) -> str:
    """Where evidence is from or, without any, why there is none."""
    if evidence.source is None:
        return evidence.unavailable or ""
    return f"row field '{evidence.path}'" if evidence.source == "field" else str(evidence.path)


def _output(values: Sequence[Any], roots: list[Path], lines: int) -> _Output:
    """The verifier's output: the log that the row names, else the first field of it that is not blank."""
    named, *texts = values
    why = None
    if isinstance(named, str) and named.strip():
        try:
            log = read_log(named, roots, lines)
            return _Output(Evidence("file", log.path), log.text, log.whole)
        except LogUnavailable as error:
            why = str(error)
    for field, text in zip(OUTPUT_FIELDS, texts, strict=True):
        if isinstance(text, str) and text.strip():
            return _Output(Evidence("field", field, unavailable=why), text)
    neither = f"the row has neither {LOGS_FIELD} nor {', '.join(OUTPUT_FIELDS[:-1])} or {OUTPUT_FIELDS[-1]}"
    return _Output(Evidence(None, unavailable=why or neither), None)


def tail_lines(text: str, count: int) -> list[str]:
    """The last `count` lines as they are safe to print: what was overwritten is gone, long lines are cut."""
    if count <= 0:
        return []
    lines = text.removesuffix("\n").rsplit("\n", count)[-count:]
    return [printable_line(line) for line in lines]


def printable_line(line: str) -> str:
    """A line of output as a terminal would leave it, without anything that a terminal would obey."""
    shown = "\r".join(_states_left(without_escapes(line))).expandtabs()
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
