"""The signature of a failure: the last error of its output, made anonymous. See `docs/signatures.md`."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from nemo_gym.rollout_compare.explain.triage.anonymous import anonymous
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine, error_line, is_exception, telling
from nemo_gym.rollout_compare.text.plain import json_object, lines, plain, safe_name

#: The signature of an output that says nothing at all.
NO_OUTPUT = "no output"

#: The last error is looked for in so many lines at the end, and a line's error in so many characters at its start.
LINE_LIMIT = 5_000
WIDTH_LIMIT = 500

#: A signature is read in a list, so it has an end.
SIGNATURE_LIMIT = 160

_PYTEST_ERROR = re.compile(r"E {3,}")
_PYTEST_CAPTURED = re.compile(r"-{3,}+ Captured ")
_PYTEST_SECTION = re.compile(r"={3,}|_{3,}|(?:_ ){3,}")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):")
_RUST_PANIC = re.compile(r"thread '[^']*+' (?:\(\d++\) )?+panicked at ")
_PANIC_INLINE = re.compile(r"'(?P<message>.*)', [^\s:]++:\d++:\d++$")


def signature(text: str | None) -> str | None:
    """What the output's last error says, on one line, with paths, numbers, ids, times and addresses made anonymous.

    Args:
        text: The output, or as much of its end as was read. None counts as an output without text.

    Returns:
        `NO_OUTPUT` for a blank output; None for one in which nothing looks like an error.
    """
    said = [line[:WIDTH_LIMIT] for line in lines(plain(text or ""))[-LINE_LIMIT:]]
    if not said:
        return NO_OUTPUT
    best: ErrorLine | None = None
    for found in _errors(_without_captured(_told_by_events(said))):
        if best is None or found.weight >= best.weight:
            best = found
    return _shown(best.message) if best else None


def _shown(message: str) -> str | None:
    text = anonymous(safe_name(message))
    if len(text) <= SIGNATURE_LIMIT:
        return text or None
    cut = text[:SIGNATURE_LIMIT]
    return (cut.rpartition(" ")[0] or cut) + " \N{HORIZONTAL ELLIPSIS}"


def _told_by_events(said: list[str]) -> Iterator[str]:
    """The events of `go test -json` hold the lines; other lines are what they are."""
    for line in said:
        event = json_object(line) if line.startswith("{") and '"Action"' in line else None
        output = event.get("Output") if event else line
        if isinstance(output, str) and output.strip():
            yield output.rstrip()


def _without_captured(said: Iterable[str]) -> Iterator[str]:
    """Without what pytest shows of a failed test's own output: it comes after the error and may hold anything."""
    captured = False
    for line in said:
        captured = bool(_PYTEST_CAPTURED.match(line)) or (captured and not _PYTEST_SECTION.match(line))
        if not captured:
            yield line


def _errors(said: Iterable[str]) -> Iterator[ErrorLine]:
    """All errors in the order of the output."""
    for by_pytest, group in groupby(said, key=lambda line: bool(_PYTEST_ERROR.match(line))):
        if by_pytest:
            yield _pytest_error([line[1:].strip() for line in group])
        else:
            yield from _errors_elsewhere(group)


def _pytest_error(block: list[str]) -> ErrorLine:
    """Lines that pytest marks with `E`: the message comes first, unless it is the source that could not be read."""
    return telling(next((line for line in block if is_exception(line)), block[0]))


def _errors_elsewhere(said: Iterator[str]) -> Iterator[ErrorLine]:
    in_traceback = False
    for line in said:
        if _TRACEBACK.match(line):
            in_traceback = True
        elif in_traceback:
            # All of a traceback is indented but its last line, whatever the exception's name is.
            in_traceback = line[0].isspace()
            if not in_traceback:
                yield telling(line.strip())
        elif panic := _RUST_PANIC.match(line):
            yield telling(_panic_message(line[panic.end() :], said))
        elif found := error_line(line.strip(" \t|")):
            yield found


def _panic_message(rest: str, following: Iterator[str]) -> str:
    """Since Rust 1.73 the message is on a line of its own, before that it stood in quotes."""
    inline = _PANIC_INLINE.match(rest)
    return inline["message"] if inline else next(following, rest).strip()
