"""What a row says against its own result: that it does not count, or that it is doubtful."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from nemo_gym.rollout_compare.text import mark_text, mask_text


class MaskKind(StrEnum):
    """Why a row does not count."""

    MASK_SAMPLE = "mask_sample"
    NO_REWARD = "no reward"
    NON_FINITE = "non-finite reward"
    NO_RESULT = "no result"
    ERROR = "error"
    SAID = "said"


class Mask(Struct, frozen=True, gc=False):
    """Why a row does not count.

    Attributes:
        kind: The reason.
        detail: What the row says of it: MASK_SAMPLE its failure kind, NON_FINITE the reward, ERROR the producer's
            error, SAID the producer's own words for the reason; None where it says nothing.
    """

    kind: MaskKind
    detail: str | None = None

    def __str__(self) -> str:
        """The reason in words."""
        return mask_text(self.kind, self.detail)


class Mark(Struct, frozen=True, gc=False):
    """Why a measured result is doubtful: a field by which the producer says so, and its value as text.

    Attributes:
        field: The field's name.
        value: Its value; of `error` the last line.
    """

    field: str
    value: str

    def __str__(self) -> str:
        """The mark in words."""
        return mark_text(self.field, self.value)
