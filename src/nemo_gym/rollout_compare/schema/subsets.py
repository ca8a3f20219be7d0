"""The words for figures of groups of tasks."""

from __future__ import annotations

from msgspec import Struct

from nemo_gym.rollout_compare.schema.verdicts import Why


class Subset(Struct, frozen=True):
    """The tasks of one group.

    Attributes:
        name: What they have in common; None for the small groups together.
        n: How many were measured on both sides.
        old: Mean reward of the old side.
        new: Mean reward of the new side.
        delta: New minus old.
        ci_low: Lower end of the 95% interval of delta.
        ci_high: Its upper end.
        p_value: Two-sided p, adjusted for the number of groups (Holm); None where no task of the group changed.
    """

    name: str | None
    n: int
    old: float
    new: float
    delta: float
    ci_low: float | None
    ci_high: float | None
    p_value: float | None


class Subsets(Struct, frozen=True):
    """The comparison, group by group.

    Attributes:
        field: The field whose values tell the groups apart.
        groups: The groups, largest first, the small ones together at the end.
        p_value: Cochran's Q: were delta the same in every group, how often would the groups differ at least so much?
            None with a single group, or where every task changed by the same amount.
        why_null: Why p_value is None, where it is.
    """

    field: str
    groups: tuple[Subset, ...]
    p_value: float | None
    why_null: Why | None = None


class Clustered(Struct, frozen=True):
    """The comparison with related tasks kept together.

    Attributes:
        field: The field whose values tell which tasks are related.
        groups: How many groups there are.
        ci_low: Lower end of the cluster-robust 95% interval of delta; None under six groups.
        ci_high: Its upper end.
        p_value: Two-sided p with the signs of whole groups flipped; None under six groups.
    """

    field: str
    groups: int
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
