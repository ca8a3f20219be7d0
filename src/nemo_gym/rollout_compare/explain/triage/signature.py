"""The signature of a failure: the error that made it fail, made anonymous. See `docs/signatures.md`."""

import re
from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.explain.triage.blocks import Reader
from nemo_gym.rollout_compare.explain.triage.causes import FETCHING, KILLED, MISSING, TIMED_OUT
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine, Weight
from nemo_gym.rollout_compare.explain.triage.js_json import failure_messages
from nemo_gym.rollout_compare.explain.triage.messages import shown
from nemo_gym.rollout_compare.text import PlainText, json_object

#: The error is looked for in so many lines at the end, and a line's error in so many characters at its start.
LINE_LIMIT = 5_000
WIDTH_LIMIT = 500

_NAMES_MEMORY = re.compile(r"(?i)memory|alloc|oom")

#: More errors of an output are not kept.
MOST_ERRORS = 300


def signature(text: str | None, winner: str | None = None) -> str | None:
    """What the error that made an output fail says, on one line, with all that varies made anonymous.

    Args:
        text: The losing output, or as much of its end as was read; None if there is none.
        winner: The winning side's output: an error that stands there too is not the cause.

    Returns:
        None if there is no output, or nothing known is in it.
    """
    return cause_of(errors_of(text), errors_of(winner))


def errors_of(text: str | PlainText | None) -> tuple[ErrorLine, ...]:
    """The errors of an output in their order, each once; of very many the first and the last."""
    if not text:
        return ()
    plain = PlainText(text) if isinstance(text, str) else text
    found = dict.fromkeys(error for error in _errors(plain) if error.message)
    errors = tuple(found)
    return errors if len(errors) <= MOST_ERRORS else errors[: MOST_ERRORS // 2] + errors[-MOST_ERRORS // 2 :]


def cause_of(errors: Sequence[ErrorLine], winner: Sequence[ErrorLine] = ()) -> str | None:
    """The signature, by the errors of the losing output and those of the winning one."""
    harmless = set(map(_key, winner))
    errors = [found for found in errors if _key(found) not in harmless]
    best = _best(errors)
    said = shown(best.message.partition("\n")[0]) if best else None
    if best and said in KILLED and not _NAMES_MEMORY.search(best.message):
        causes = (shown(found.message) for found in errors if found.weight >= Weight.TELLING)
        return TIMED_OUT if TIMED_OUT in causes else said
    if best and said and said.startswith(MISSING):
        before = errors[: errors.index(best)]
        fetching = (shown(found.message) for found in before if found.weight >= Weight.TELLING)
        return next((cause for cause in fetching if cause and cause.startswith(FETCHING)), said)
    return said


def _best(errors: Sequence[ErrorLine]) -> ErrorLine | None:
    """The first of the greatest weight; of vague ones the last, which is the nearest to the verdict."""
    if not errors:
        return None
    weight = max(found.weight for found in errors)
    best = [found for found in errors if found.weight == weight]
    return best[-1] if weight is Weight.VAGUE else best[0]


def _key(found: ErrorLine) -> str:
    """By what an error is known again: a failed test's message by its values as well, for they may be the point."""
    return found.message if found.weight is Weight.OWN else shown(found.message) or found.message


def _errors(plain: PlainText) -> Iterator[ErrorLine]:
    messages = failure_messages(plain.text)
    if messages:
        return (ErrorLine(Weight.OWN, message[:WIDTH_LIMIT]) for message in messages)
    said = plain.lines[-LINE_LIMIT:]
    return Reader([line[:WIDTH_LIMIT] for line in _told_by_events(said)]).errors()


def _told_by_events(said: list[str]) -> Iterator[str]:
    """The events of `go test -json` hold the lines; other lines are what they are."""
    for line in said:
        event = json_object(line) if line.startswith("{") and '"Action"' in line else None
        output = event.get("Output") if event else line
        if isinstance(output, str) and output.strip():
            yield output.rstrip()
