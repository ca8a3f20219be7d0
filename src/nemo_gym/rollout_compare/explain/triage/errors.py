"""Which line of an output says what went wrong, and how much such a line tells.

A line is *telling* if it names the cause (an exception, a compiler's error, a command that is not there), *second-hand*
if it repeats the cause in a summary, and *vague* if it only says that something went wrong.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple


class Weight(IntEnum):
    """How much an error's line tells; the last line of the greatest weight speaks for its output."""

    VAGUE = 1
    SECOND_HAND = 2
    TELLING = 3


class ErrorLine(NamedTuple):
    """What a line says about the cause, still with its paths and numbers."""

    weight: Weight
    message: str


# No pattern here tries a text twice: repetitions are possessive (`*+`), or lazy up to a literal, or end the pattern.

_OUT_OF_MEMORY = re.compile(
    r"(?i:\bout of memory\b|\bcannot allocate memory\b|\boomkilled\b|\boom-kill)"
    r"|\bMemoryError\b|\bbad_alloc\b|\bOutOfMemoryError\b"
)
_TIMED_OUT = re.compile(r"Failed: Timeout|panic: test timed out|timeout: sending signal|Timeout(?: [(>]|: )")
_KILLED = re.compile(r"Killed(?:: 9)?$|(?:[^\s:]++: line \d++: ++)?+\d++ Killed\b")

# The place in the source, or the shell, that a message begins with.
_PLACES = (
    re.compile(r"(?:\S*/)?(?:ba|da|z|k|a)?sh: ++(?:line )?+(?:\d++: ++)?+"),
    re.compile(r"[^\s:]*\.sh: ++(?:line )?+\d++: ++"),
    re.compile(r"(?:[A-Za-z]:)?[^\s:()]++(?::\d++(?::\d++)?+:|\(\d++(?:,\d++)?+\):?) ++"),
)

_NO_COMMAND = (
    re.compile(r"command not found: (?P<name>\S++)$"),
    re.compile(r"make: (?P<name>[^\s:]++): (?:No such file or directory|Command not found)$"),
    re.compile(r'exec: "(?P<name>[^"]++)": executable file not found'),
    re.compile(r"\benv: ['\u2018](?P<name>[^'\u2019]++)['\u2019]: No such file or directory$"),
)

_EXCEPTION = re.compile(
    r"(?:Exception in thread (?:\"[^\"]*+\"|\S++) |Caused by: |Uncaught |Unhandled exception\. )?+"
    r"(?P<message>(?:[A-Za-z_$][\w$]*+\.)*+[A-Z]\w*?"
    r"(?:Error|Exception|Exit|Interrupt|Expired|Timeout|NotFound|Refused|Group)(?: \[\w++\])?+(?:: .*|:?$))"
)
# pytest ends each traceback with such a name behind a place; the message was said above it.
_BARE_EXCEPTION = re.compile(r"[\w.]++$")

_TELLING = (
    _EXCEPTION,
    re.compile(r"error(?: ?\[\w++\]| [A-Z]++\d++): .*"),
    re.compile(r"(?i:fatal|fatal error|error): (?P<message>.*)"),
    re.compile(r"panic: .*"),
    re.compile(r"note: test did not panic as expected"),
    re.compile(r"terminate called after throwing an instance of .*"),
    re.compile(r"==\d++==ERROR: (?P<message>.*)"),
)

# What only a file's ending or a few words in the middle of a line give away.
_GO_COMPILER = re.compile(r"[^\s:]*?\.go:\d++:\d++: (?P<message>.*)")
_IN_THE_MIDDLE = re.compile(r"undefined reference to .*|Assertion [`'\"].*")
_SYSTEM = (
    "Permission denied",
    "No such file or directory",
    "Is a directory",
    "Not a directory",
    "Connection refused",
    "Connection timed out",
    "Exec format error",
    "No space left on device",
    "Address already in use",
    "Read-only file system",
    "Too many open files",
    "Disk quota exceeded",
)

# They say which step went wrong, after its own error.
_WRAPPERS = (
    "could not compile",
    "aborting due to",
    "to rerun pass",
    "targets failed",
    "target failed",
    "ld returned",
    "linker command failed",
    "failed with exit code",
    "failed on line",
    "process completed with",
    "metadata-generation-failed",
)

_SUMMARY = re.compile(r"(?:FAILED|ERROR) \S.*? - (?P<message>.*)")
_GO_TEST_LOG = re.compile(r"\w++\.go:\d++: (?P<message>.*)")

_VAGUE = re.compile(
    r"(?i)\b(?:error|failed|failure|fatal|exception|aborted|cannot|can't|could not|unable to|denied|refused|invalid"
    r"|unexpected|mismatch|incorrect|wrong|expected|differs?|missing|not found|not ok|timed out|exit (?:code|status))\b"
)
# "1 failed, 3 passed", "FAILED (errors=1)", "test result: FAILED.", "=== ERRORS ===": counts and headings
_COUNTS = re.compile(
    r"(?i:(?<!\d)\d++ (?:\w++ )?(?:failed|failures?|errors?|passed)\b|test result|no errors)"
    r"|[=_-]{3}|(?:FAILED|FAIL|ERROR)(?:: | \(|$)|--- |test .* \.\.\. "
)


def error_line(line: str) -> ErrorLine | None:
    """What one line, without blanks around it, says about the cause; None if it says nothing of the kind."""
    return next((found for rule in _RULES if (found := rule(line)) is not None), None)


def is_exception(message: str) -> bool:
    """Whether it begins with the name of an exception."""
    return _EXCEPTION.match(message) is not None


def telling(message: str) -> ErrorLine:
    """A message that is known to name the cause. What ran out, or who stopped it, each program words in its own way."""
    return ErrorLine(Weight.TELLING, _known_cause(message) or message)


def _known_cause(message: str) -> str | None:
    if _OUT_OF_MEMORY.search(message):
        return "CUDA out of memory" if "CUDA" in message else "out of memory"
    if _TIMED_OUT.match(message) or _run_timed_out(message):
        return "timed out"
    if _KILLED.match(message) or "signal: killed" in message:
        return "killed"
    lowered = message.lower()
    return "segmentation fault" if "segmentation fault" in lowered or "sigsegv" in lowered else None


def _run_timed_out(message: str) -> bool:
    """`Test timed out after 900 s`: whoever ran it gave up. An exception, or a connection, is a cause of its own."""
    before, found, _ = message.lower().partition("timed out")
    return bool(found) and ":" not in before and "connection" not in before


def _of_known_cause(line: str) -> ErrorLine | None:
    cause = _known_cause(line)
    return ErrorLine(Weight.TELLING, cause) if cause else None


def _missing_command(line: str) -> ErrorLine | None:
    """However a shell words it: `command not found: NAME`."""
    found = next((found for pattern in _NO_COMMAND if (found := pattern.search(line))), None)
    if found:
        name = found["name"]
    elif line.endswith(": command not found"):
        name = line.split(": ")[-2]
    elif line.endswith(": not found") and (rest := without_place(line)) != line:
        name = rest.removesuffix(": not found")
    else:
        return None
    return ErrorLine(Weight.TELLING, f"command not found: {name.rpartition('/')[2]}")


def _wrapper(line: str) -> ErrorLine | None:
    lowered = line.lower()
    return ErrorLine(Weight.VAGUE, line) if any(mark in lowered for mark in _WRAPPERS) else None


def _telling(line: str) -> ErrorLine | None:
    found = _GO_COMPILER.match(line) or _IN_THE_MIDDLE.search(line)
    message = without_place(line)
    found = found or next((found for pattern in _TELLING if (found := pattern.match(message))), None)
    if not found:
        return telling(message) if message.endswith(_SYSTEM) else None
    if message != line and _BARE_EXCEPTION.match(message):
        return ErrorLine(Weight.SECOND_HAND, message)
    return telling(found.groupdict().get("message") or found[0])


def _second_hand(line: str) -> ErrorLine | None:
    found = _SUMMARY.match(line) or _GO_TEST_LOG.match(line)
    return ErrorLine(Weight.SECOND_HAND, found["message"]) if found else None


def _vague(line: str) -> ErrorLine | None:
    return ErrorLine(Weight.VAGUE, line) if _VAGUE.search(line) and not _COUNTS.match(line) else None


# The first that applies. A summary comes before all that it may quote.
_RULES: tuple[Callable[[str], ErrorLine | None], ...] = (
    _second_hand,
    _of_known_cause,
    _missing_command,
    _wrapper,
    _telling,
    _vague,
)


def without_place(line: str) -> str:
    """The line without the shell or the place in the source that it begins with."""
    found = next((found for place in _PLACES if (found := place.match(line))), None)
    return line[found.end() :] if found else line
