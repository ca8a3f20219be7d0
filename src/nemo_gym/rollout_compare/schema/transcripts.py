"""What the agents did at a task that flipped: both transcripts, side by side."""

from __future__ import annotations

from msgspec import Struct

from nemo_gym.rollout_compare.schema.batch import Step


class Transcripts(Struct, frozen=True):
    """The transcripts of the rows that tell most about a flip.

    Attributes:
        old: The old agent's steps.
        new: The new agent's steps.
        rows: The steps side by side: positions of an old and of a new step, from 0; None where a side has none.
    """

    old: tuple[Step, ...]
    new: tuple[Step, ...]
    rows: tuple[tuple[int | None, int | None], ...]
