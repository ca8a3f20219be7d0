"""Which line of an output says what went wrong, and how much such a line tells.

A line is a failing test's *own* message, or *telling* if it names the cause (an exception, a compiler's error, a
command that is not there), *second-hand* if it repeats the cause in a summary, and *vague* if it only says that
something went wrong.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from nemo_gym.rollout_compare.explain.triage.causes import exit_cause, known_cause
from nemo_gym.rollout_compare.explain.triage.marks import has_mark
from nemo_gym.rollout_compare.explain.triage.noise import REMEMBERED, is_cut, is_noise, is_step


class Weight(IntEnum):
    """How much an error's line tells; the first line of the greatest weight speaks for its output."""

    VAGUE = 1
    SECOND_HAND = 2
    TELLING = 3
    OWN = 4


class ErrorLine(NamedTuple):
    """What a line says about the cause, still with its paths and numbers."""

    weight: Weight
    message: str


# No pattern here tries a text twice: repetitions are possessive (`*+`), or lazy up to a literal, or end the pattern.

# The place in the source, the program or the shell that a message begins with.
_PLACES = (
    re.compile(r"(?:\S*/)?(?:ba|da|z|k|a)?sh: ++(?:line )?+(?:\d++: ++)?+"),
    re.compile(r"[^\s:]*\.sh: ++(?:line )?+\d++: ++"),
    re.compile(r"[^\s:]++: line \d++: ++"),
    re.compile(r"[^\s:]++:\d++:in [`'][^'`]*+': ++"),  # Ruby
    re.compile(r"(?:[A-Za-z]:)?[^\s:()]++:\[\d++,\d++\] ++"),  # Maven
    re.compile(r"(?:[A-Za-z]:)?[^\s:()]++(?::\d++(?::\d++)?+(?::| -)|\(\d++(?:,\d++)?+\):?) ++"),
)
# What a program puts before every error of its own.
_LEVELS = re.compile(
    r"(?:(?:\[ERROR\]|npm (?:error|ERR!)|\[cause\]:|E:|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d"
    r"|PHP (?:Warning|Notice|Fatal error|Parse error):|PHP|INTERNALERROR>|Error: test\w*+\([\w:]++\):)(?: ++|$))++"
)

_NO_COMMAND = (
    re.compile(r"command not found: (?P<name>\S++)$"),
    re.compile(r"make(?:\[\d++\])?: (?P<name>[^\s:*]++): (?:No such file or directory|Command not found|not found)$"),
    re.compile(r'exec: "(?P<name>[^"]++)": executable file not found'),
    re.compile(r"spawn(?:Sync)? (?P<name>[^\s/]++) ENOENT"),
    re.compile(
        r"(?:\benv|\bfailed to run command|\bcannot run command|exec:?|xargs): ?['\u2018]?"
        r"(?P<name>[^'\u2018\u2019\s/:]++)['\u2019]?: No such file or directory$"
    ),
    re.compile(r"failed to run command ['\u2018](?P<name>[^'\u2019]++)['\u2019]: No such file or directory$"),
    re.compile(r"No such file or directory: b?'(?P<name>[\w+-]++)'$"),  # an argument list in Python
    re.compile(r"No such file or directory - (?P<name>[\w+-]++)(?: \(Errno::ENOENT\))?$"),  # Ruby
    re.compile(r"^find: ['\u2018](?P<name>[\w+-]++)['\u2019]: No such file or directory$"),
)
_NOT_A_COMMAND = ("error: ", "open(")

_NAMES = r"(?:Error|Exception|Exit|Interrupt|Expired|Timeout|NotFound|Refused|Group|Failure|Warning|Fault|Panic)"
_EXCEPTION = re.compile(
    r"(?:Exception in thread (?:\"[^\"]*+\"|\S++) |Caused by: |Fatal error: ++|Uncaught |Unhandled exception\. )*+"
    r"(?P<message>(?:[A-Za-z_$][\w$]*+(?:\.|::)|<locals>\.)*+[A-Z]\w*?"
    rf"{_NAMES}(?: \[\w++\])?+(?:: .*|:?$))"
)
# What was thrown within it is told after it.
_EXCEPTION_GROUP = re.compile(r"(?:\w++\.)*+\w*?ExceptionGroup: .*\(\d++ sub-exceptions?\)$")
# pytest ends each traceback with such a name behind a place; the message was said above it.
_BARE_EXCEPTION = re.compile(r"[\w.]++$")

_TELLING = (
    _EXCEPTION,
    re.compile(r"error(?: ?\[\w++\]| [A-Z]++\d++): .*"),
    re.compile(r"(?i:fatal|fatal error|error|exception|failure): ++(?P<message>\S.*)"),
    re.compile(r"FAIL(?:ED)?: (?P<message>\S++ .*)"),
    re.compile(r"panic: .*"),
    re.compile(r"Fatal Python error: (?P<message>.*)"),
    re.compile(r"note: test did not panic as expected"),
    re.compile(r"terminate called after throwing an instance of .*"),
    re.compile(r"==\d++==ERROR: (?P<message>.*)"),
    re.compile(r"(?:malloc|free|realloc|munmap_chunk)\w*\(\): .*|\*\*\* stack smashing detected.*"),
    re.compile(r"Makefile\S*:\d++: \*\*\* .*|make(?:\[\d++\])?: \*\*\* (?P<message>[^\[].*?)\.? ++Stop\.?$"),
    re.compile(r"\*\*\* (?P<message>[^\[].*?)\.? ++Stop\.?$"),
    re.compile(r"(?:[x\u00d7] )?No solution found when .*"),
    re.compile(r"Missing script: .*|Could not read package\.json.*"),
    re.compile(r"The requested URL returned error.*|curl: \(\d++\) .*"),
    re.compile(r"Error response from daemon: (?P<message>.*)"),
    re.compile(r"Cannot connect to the Docker daemon.*"),
    re.compile(r"[`'].*' is not a (?:git|docker|npm) command.*"),
    re.compile(r"syntax error\b.*|unterminated .*"),
    re.compile(r"[^\s:]++: unbound variable$"),
    re.compile(r"(?:Undefined|undefined) (?:method|local variable|variable|subroutine|symbol|reference)\b.*"),
    re.compile(r"Can't locate \S++ in @INC.*|Undefined subroutine .*"),
    re.compile(r"Failed asserting that .*"),
)
# What a program says about a signal, an address or a host needs no word such as "error".
_IN_THE_MIDDLE = re.compile(r"undefined reference to .*|Assertion [`'\"].*|cannot find -l.*")
# What only a file's ending gives away.
_GO_COMPILER = re.compile(r"[^\s:]*?\.go:\d++:\d++: (?P<message>.*)")

_COMPILER = re.compile(r"(?:[A-Za-z]:)?[^\s:]+\.(?:java|kt|scala|groovy):\[\d++,\d++\] (?P<message>.*)")  # Maven
_RUBY = re.compile(r"[^\s:]++:\d++:in [`'][^`']*+': (?P<message>.* \([A-Z][\w:]*+\)$)")

_OF_GRADLE = re.compile(r"(?:[\w$]++\.)++(?P<message>\w+(?:Error|Exception|Failure)) at \w++\.\w++:\d++$")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) \S.*? - (?P<message>.*)")
_GO_TEST_LOG = re.compile(r"\w++\.go:\d++: (?P<message>.*)")
_SUMMARY_OF_MAVEN = re.compile(r"\w++\.\w++:\d++ (?P<message>\S.*)")

_VAGUE = re.compile(
    r"(?i)\b(?:error|failed|failure|fatal|exception|aborted|cannot|can't|could not|unable to|denied|refused|invalid"
    r"|unexpected|mismatch|incorrect|wrong|expected|differs?|missing|not found|not ok|timed out|exit (?:code|status))\b"
)
# Of JSON nothing but its form is left once its values are taken out.
_JSON = ('{"', '[{"')
# Perl says so of what a program died of, and of what it was warned of.
_PERL = re.compile(r"[^#\s].* at \S+ line \d+\.$")


@lru_cache(maxsize=REMEMBERED)
def error_line(line: str) -> ErrorLine | None:
    """What one line, without blanks around it, says about the cause; None if it says nothing of the kind."""
    step = _step(line)
    if step:
        return step
    if _EXCEPTION_GROUP.match(line):
        return ErrorLine(Weight.SECOND_HAND, line)
    level = _LEVELS.match(line)
    line = line[level.end() :] if level else line
    if (not level and not _may_tell(line)) or is_noise(line):
        return None
    found = next((found for rule in _RULES if (found := rule(line)) is not None), None)
    if level and (found is None or found.weight is Weight.VAGUE) and len(line.split()) >= _WORDS:
        return telling(line)
    return found


def _may_tell(line: str) -> bool:
    """Whether any rule may find something in a line. Exit codes and Maven's summaries need no word."""
    return has_mark(line) or exit_cause(line) is not None or _SUMMARY_OF_MAVEN.match(line) is not None


#: A line that its program marks as an error says something if it has so many words.
_WORDS = 3


def is_exception(message: str) -> bool:
    """Whether it begins with the name of an exception."""
    return _EXCEPTION.match(message) is not None


def telling(message: str) -> ErrorLine:
    """A message that is known to name the cause."""
    return ErrorLine(Weight.TELLING, message)


def _known(line: str) -> ErrorLine | None:
    """What the system or a runtime says, however it is worded; a sentence about it is no error."""
    cause = known_cause(line)
    return ErrorLine(Weight.TELLING, line) if cause and not line.startswith("#") else None


def _exit_code(line: str) -> ErrorLine | None:
    cause = exit_cause(line)
    return ErrorLine(Weight.SECOND_HAND, cause) if cause else None


def missing_command(line: str) -> str | None:
    """The command that a shell, or whatever started it, did not find."""
    found = next((found for pattern in _NO_COMMAND if (found := pattern.search(line))), None)
    if found:
        name = found["name"]
    elif line.endswith(": command not found"):
        name = line.split(": ")[-2]
    elif line.endswith(": not found") and (rest := without_place(line)) != line:
        name = rest.removesuffix(": not found")
    else:
        return None
    return name.rpartition("/")[2] if " " not in name else None


def _missing_command(line: str) -> ErrorLine | None:
    """However a shell words it: `command not found: NAME`."""
    name = missing_command(line)
    return ErrorLine(Weight.TELLING, f"command not found: {name}") if name else None


def _step(line: str) -> ErrorLine | None:
    """A step that failed says nothing but its exit code."""
    if not is_step(line):
        return None
    cause = exit_cause(line) or known_cause(line)
    return ErrorLine(Weight.SECOND_HAND, cause) if cause else ErrorLine(Weight.VAGUE, "")


def _telling(line: str) -> ErrorLine | None:
    found = _GO_COMPILER.match(line) or _COMPILER.match(line) or _RUBY.match(line) or _IN_THE_MIDDLE.search(line)
    message = without_place(line)
    found = found or next((found for pattern in _TELLING if (found := pattern.match(message))), None)
    if not found:
        return None
    if message != line and _BARE_EXCEPTION.match(message):
        return ErrorLine(Weight.SECOND_HAND, message)
    said = found.groupdict().get("message") or found[0]
    return None if is_cut(said) and is_noise(said) else telling(said)


def _second_hand(line: str) -> ErrorLine | None:
    found = _OF_GRADLE.match(line) or _SUMMARY.match(line) or _GO_TEST_LOG.match(line) or _SUMMARY_OF_MAVEN.match(line)
    if not found:
        return None
    message = uncut(found["message"])
    return ErrorLine(Weight.SECOND_HAND, message) if message else ErrorLine(Weight.VAGUE, "")


def uncut(message: str) -> str:
    """The message, of one that was cut to somebody's width only an exception's whole name; "" if it has none."""
    if not is_cut(message):
        return message
    name, colon, _ = message.partition(": ")
    if colon and _EXCEPTION.match(name):
        return name
    return "AssertionError" if message.startswith("Assertion") else ""


def _vague(line: str) -> ErrorLine | None:
    says = _VAGUE.search(line) or _PERL.match(line)
    return ErrorLine(Weight.VAGUE, line) if says and not is_cut(line) and not line.startswith(_JSON) else None


# The first that applies. A summary comes before all that it may quote.
_RULES: tuple[Callable[[str], ErrorLine | None], ...] = (
    _second_hand,
    _missing_command,
    _known,
    _exit_code,
    _telling,
    _vague,
)


def without_place(line: str) -> str:
    """The line without the shell or the place in the source that it begins with."""
    found = next((found for place in _PLACES if (found := place.match(line))), None)
    return line[found.end() :] if found else line
