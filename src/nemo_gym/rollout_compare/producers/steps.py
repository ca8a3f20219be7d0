"""Steps of a transcript, bounded and safe to print, whichever producer recorded them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from nemo_gym.rollout_compare.schema import Step
from nemo_gym.rollout_compare.text import several_lines

#: A transcript keeps so many steps, and of each text of a step so many characters, from both its ends.
MOST_STEPS = 1000
MOST_CHARACTERS = 20_000


def bounded(steps: Iterable[Step], *, tool_outputs: bool = True) -> tuple[Step, ...]:
    """The first steps, with their texts safe to print and cut in the middle where they are long.

    Args:
        steps: The steps as they were recorded.
        tool_outputs: Whether what a call gave is kept.
    """
    return tuple(_bounded(step, tool_outputs=tool_outputs) for step in islice(steps, MOST_STEPS))


def _bounded(step: Step, *, tool_outputs: bool) -> Step:
    return Step(
        step.role,
        _text(step.text),
        None if step.tool is None else _text(step.tool),
        None if step.arguments is None else _text(step.arguments),
        None if step.output is None or not tool_outputs else _text(step.output),
    )


def _text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]}... ({len(text) - 2 * half} more characters) ...{text[-half:]}"
    return several_lines(text)
