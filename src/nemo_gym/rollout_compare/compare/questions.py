"""What a comparison is asked, beyond which runs: by what its tasks are the same, and what of them is wanted."""

from __future__ import annotations

from msgspec import Struct

from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE


class Questions(Struct, frozen=True, kw_only=True):
    """What a comparison is asked.

    Attributes:
        tolerance: Rewards that differ by at most this are the same.
        lower_is_better: Whether of two rewards the lower one wins.
        count_measured: Whether a partly masked task with a measured attempt on both sides has the category that its
            measured rows have.
        margin: The difference that would matter, in units of reward; None where nobody asked.
        by: Fields whose values tell groups of tasks apart, as dotted paths.
        cluster: A field whose value tells which tasks are related, None where nobody asked.
    """

    tolerance: float = REWARD_TOLERANCE
    lower_is_better: bool = False
    count_measured: bool = False
    margin: float | None = None
    by: tuple[str, ...] = ()
    cluster: str | None = None


#: What is asked where nothing is said.
NOTHING_MORE = Questions()
