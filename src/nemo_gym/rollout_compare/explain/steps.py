"""What the agents did at tasks that flipped: both transcripts, step by step, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.transcripts import aligned
from nemo_gym.rollout_compare.producers import read_again
from nemo_gym.rollout_compare.schema import CompareResult, Flip, Step, Transcripts, Wanted

_FLIPS_A_BATCH = 50


def with_steps(result: CompareResult, flips: Sequence[Flip], limit: int) -> CompareResult:
    """The result with the transcripts of flips, in the order given, of about so many characters at most.

    Args:
        result: A comparison.
        flips: Its flips, those that matter most first.
        limit: How many characters the transcripts have together.
    """
    if not result.rows_at_hand:
        return result
    found: dict[str, Transcripts] = {}
    for start in range(0, len(flips), _FLIPS_A_BATCH):
        for flip, both in _read(flips[start : start + _FLIPS_A_BATCH]):
            limit -= sum(map(_size, (*both.old, *both.new)))
            if limit < 0:
                return replace(result, transcripts=found)
            found[flip.task] = both
    return replace(result, transcripts=found)


def _read(flips: Sequence[Flip]) -> Iterator[tuple[Flip, Transcripts]]:
    """The flips of which both sides tell what the agent did, with that."""
    places = [place for flip in flips for place in (flip.rows.old, flip.rows.new)]
    steps: list[tuple[Step, ...] | None] = [None] * len(places)
    for number, record in read_again(places, Wanted(transcript=True)):
        if not isinstance(record, Exception) and record.transcript:
            steps[number] = record.transcript
    for number, flip in enumerate(flips):
        old, new = steps[2 * number : 2 * number + 2]
        if old and new:
            yield flip, Transcripts(old, new, tuple(side_by_side(old, new)))


def _size(step: Step) -> int:
    return sum(len(text) for text in (step.text, step.tool, step.arguments, step.output) if text)


def side_by_side(old: Sequence[Step], new: Sequence[Step]) -> Iterator[tuple[int | None, int | None]]:
    """The steps in rows as `aligned` has them, but those between equal ones beside each other."""
    olds: list[int | None] = []
    news: list[int | None] = []
    for before, after in aligned(old, new):
        if before is not None and after is not None:
            yield from zip_longest(olds, news)
            olds, news = [], []
            yield before, after
        elif before is not None:
            olds.append(before)
        else:
            news.append(after)
    yield from zip_longest(olds, news)
