from itertools import permutations

from nemo_gym.rollout_compare.explain.triage import Cluster, SignedFlip, clusters
from nemo_gym.rollout_compare.schema import Side

FLIPS = [
    SignedFlip("t3", Side.OLD, "out of memory"),
    SignedFlip("t1", Side.OLD, "out of memory"),
    SignedFlip("t2", Side.NEW, "out of memory"),
    SignedFlip("t4", Side.OLD, "KeyError: 'a'"),
    SignedFlip("t5", Side.OLD, None),
    SignedFlip("t0", Side.NEW, "KeyError: 'a'"),
]


def test_flips_of_one_signature_and_one_winner_are_one_cluster_whatever_their_order() -> None:
    for flips in permutations(FLIPS):
        assert clusters(flips) == (
            Cluster("out of memory", Side.OLD, ("t1", "t3")),
            Cluster("KeyError: 'a'", Side.NEW, ("t0",)),
            Cluster("KeyError: 'a'", Side.OLD, ("t4",)),
            Cluster("out of memory", Side.NEW, ("t2",)),
        )


def test_no_flips_are_no_clusters() -> None:
    assert clusters([]) == ()
