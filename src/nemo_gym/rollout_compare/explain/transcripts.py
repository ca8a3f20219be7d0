"""Where the agents parted: the first thing that they did differently, by their transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from nemo_gym.rollout_compare.producers import RowsAtHand, read_again, together
from nemo_gym.rollout_compare.schema import (
    Change,
    CompareResult,
    Flip,
    Parted,
    Place,
    Record,
    Row,
    Step,
    Wanted,
    text_of,
)
from nemo_gym.rollout_compare.text import one_line

#: Of so many flips it is looked up where the agents parted: transcripts are long.
MOST_PARTED = 100

_FLIPS_AT_A_TIME = 25
_SHOWN_CHARACTERS = 200
_SHOWN_BEFORE = 20
_ASSISTANT = "assistant"


class Act(NamedTuple):
    """What an agent did in a step: it called a tool, or said something.

    Attributes:
        tool: The tool, None where it said something.
        said: What it was called with, or what was said, white space collapsed.
    """

    tool: str | None
    said: str


def transcript_of(row: Row) -> tuple[Step, ...] | None:
    """What the agent did in a rollout, bounded and safe to print; None where the row does not tell."""
    ((_, record),) = read_again([Place(RowsAtHand([row]), 1, 0)], Wanted(transcript=True))
    return record.transcript if isinstance(record, Record) else None


def parted(old: Sequence[Step], new: Sequence[Step]) -> Parted:
    """The first difference in what two agents did.

    Their acts are the tools that they called, each with what it was called with, and last their answer; where neither
    called a tool, everything that they said. White space does not matter.
    """
    tools = any(step.tool is not None for step in (*old, *new))
    before, after = (_acts(steps, tools=tools) for steps in (old, new))
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            first, second = _shown(one, other)
            return Parted(place + 1, first, second, len(before), len(after))
    equal = min(len(before), len(after))
    if len(before) == len(after):
        return Parted(None, None, None, equal, equal)
    more = [_line(acts[equal], 0) if len(acts) > equal else None for acts in (before, after)]
    return Parted(equal + 1, more[0], more[1], len(before), len(after))


def aligned(old: Sequence[Step], new: Sequence[Step]) -> list[tuple[int | None, int | None]]:
    """The steps of both sides in rows: in each the places of two equal steps, or that of a step of one side.

    Steps are equal if they are the same act or, beside acts, of one role with the same text.
    """
    from difflib import SequenceMatcher

    before, after = ([_key(step) for step in steps] for steps in (old, new))
    rows: list[tuple[int | None, int | None]] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            rows.extend(zip(range(a, b), range(c, d), strict=True))
        else:
            rows.extend((place, None) for place in range(a, b))
            rows.extend((None, place) for place in range(c, d))
    return rows


def with_transcripts(result: CompareResult) -> CompareResult:
    """The result with all that whole rows are read again for, but for verifier output."""
    return with_parted(with_first_differences(result))


def with_parted(result: CompareResult) -> CompareResult:
    """The result with where the agents parted, for its first 100 flips of which both transcripts are there."""
    told = [flip for flip in result.flips if flip.rows.old.has_transcript and flip.rows.new.has_transcript]
    found = dict(_parted(list(islice(told, MOST_PARTED))))
    if not found:
        return result
    flips = (replace(flip, parted=found.get(flip.comparison.task)) for flip in result.flips)
    return replace(result, flips=tuple(flips))


def _parted(flips: Sequence[Flip]) -> Iterator[tuple[str, Parted]]:
    pairs = [(flip.rows.old, flip.rows.new) for flip in flips]
    for group in together(pairs, _FLIPS_AT_A_TIME):
        places = [place for i in group for place in pairs[i]]
        steps: dict[int, tuple[Step, ...]] = {}
        for place, record in read_again(places, Wanted(transcript=True, tool_outputs=False)):
            if isinstance(record, Record) and record.transcript:
                steps[place] = record.transcript
        for number, i in enumerate(group):
            old, new = steps.get(2 * number), steps.get(2 * number + 1)
            found = parted(old, new) if old and new else None
            if found and (found.old_steps or found.new_steps):
                yield flips[i].comparison.task, found


def with_first_differences(result: CompareResult) -> CompareResult:
    """The result with the place of the first difference of each long text that changed, as far as it can be read."""
    return replace(result, changes=tuple(_located(change) for change in result.changes)) if result.changes else result


def _located(change: Change) -> Change:
    if change.rows is None:
        return change
    texts: dict[int, str] = {}
    for side, record in read_again(change.rows, Wanted(settings=(change.field,))):
        if isinstance(record, Record) and change.field in record.settings:
            texts[side] = record.settings[change.field]
    return replace(change, first_difference=_first_difference(texts[0], texts[1]) + 1) if len(texts) == 2 else change


def _acts(steps: Sequence[Step], *, tools: bool) -> list[Act]:
    """The calls and then the answer; all that was said where there are no calls."""
    own = [step for step in steps if step.role == _ASSISTANT]
    said = [step for step in own if step.tool is None and step.text.strip()]
    if not tools:
        return list(map(_act, said))
    calls = [step for step in own if step.tool is not None]
    return list(map(_act, [*calls, *said[-1:]]))


def _act(step: Step) -> Act:
    return Act(step.tool, " ".join((step.text if step.tool is None else _arguments(step.arguments or "")).split()))


def _key(step: Step) -> tuple[str, str | None, str]:
    return (step.role, *_act(step))


def _arguments(text: str) -> str:
    """What a tool was called with: of an object with one text that text, of another its fields by name."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(held, dict):
        return text
    if len(held) == 1:
        (value,) = held.values()
        if isinstance(value, str):
            return value
    return ", ".join(f"{name}={text_of(value)}" for name, value in sorted(held.items()))


def _first_difference(old: str, new: str) -> int:
    """The place of the first character that differs; the end of the shorter one if it is how the other begins."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shown(one: Act, other: Act) -> tuple[str, str]:
    """Both acts in a line, long ones from shortly before what differs."""
    same = one.tool == other.tool
    start = max(0, _first_difference(one.said, other.said) - _SHOWN_BEFORE) if same else 0
    return _line(one, start), _line(other, start)


def _line(act: Act, start: int) -> str:
    end = start + _SHOWN_CHARACTERS
    before, after = "..." * (start > 0), "..." * (len(act.said) > end)
    said = f'"{before}{act.said[start:end]}{after}"'
    return one_line(f"{act.tool} {said}" if act.tool is not None else said)
