"""Flips that have one signature: read one, know them all."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nemo_gym.rollout_compare.schema import Cluster, OtherReasons, Side


class SignedFlip(NamedTuple):
    """A flip as far as clusters go; the signature is None where the output shows no error."""

    task: str
    winner: Side
    signature: str | None


def clusters(flips: Iterable[SignedFlip]) -> tuple[Cluster, ...]:
    """The flips gathered by signature, largest first, then by signature.

    The order of the flips makes no difference. Flips without a signature have nothing known in common: they are in no
    cluster.
    """
    gathered: defaultdict[str, list[SignedFlip]] = defaultdict(list)
    for flip in flips:
        if flip.signature is not None:
            gathered[flip.signature].append(flip)
    found = (_cluster(signature, some) for signature, some in gathered.items())
    return tuple(sorted(found, key=lambda cluster: (-len(cluster.tasks), cluster.signature)))


def _cluster(signature: str, flips: Sequence[SignedFlip]) -> Cluster:
    old_wins = sum(flip.winner is Side.OLD for flip in flips)
    return Cluster(signature, old_wins, len(flips) - old_wins, tuple(sorted(flip.task for flip in flips)))


def other_reasons(failures: Iterable[tuple[str, str, str]]) -> tuple[OtherReasons, ...]:
    """Tasks with the signatures of both sides, gathered by these, largest first, then by signatures."""
    gathered: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for task, old, new in failures:
        gathered[old, new].append(task)
    found = (OtherReasons(old, new, tuple(sorted(tasks))) for (old, new), tasks in gathered.items())
    return tuple(sorted(found, key=lambda group: (-len(group.tasks), group.new_signature, group.old_signature)))
