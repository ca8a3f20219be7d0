"""Flips that have one signature and one winner: read one, know them all."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from nemo_gym.rollout_compare.schema import Cluster, Side


class SignedFlip(NamedTuple):
    """A flip as far as clusters go; the signature is None where the output shows no error."""

    task: str
    winner: Side
    signature: str | None


def clusters(flips: Iterable[SignedFlip]) -> tuple[Cluster, ...]:
    """The flips gathered by signature and winner, largest first, then by signature and winner.

    The order of the flips makes no difference. Flips without a signature have nothing known in common: they are in no
    cluster.
    """
    tasks: defaultdict[tuple[str, Side], list[str]] = defaultdict(list)
    for flip in flips:
        if flip.signature is not None:
            tasks[flip.signature, flip.winner].append(flip.task)
    gathered = (Cluster(signature, winner, tuple(sorted(names))) for (signature, winner), names in tasks.items())
    return tuple(sorted(gathered, key=lambda cluster: (-len(cluster.tasks), cluster.signature, cluster.winner)))
