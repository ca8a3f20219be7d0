from itertools import permutations

from nemo_gym.rollout_compare.triage import Cluster, SignedFlip, clusters

FLIPS = [
    SignedFlip("t3", "old", "out of memory"),
    SignedFlip("t1", "old", "out of memory"),
    SignedFlip("t2", "new", "out of memory"),
    SignedFlip("t4", "old", "KeyError: 'a'"),
    SignedFlip("t5", "old", None),
    SignedFlip("t0", "new", "KeyError: 'a'"),
]


def test_flips_of_one_signature_and_one_winner_are_one_cluster_whatever_their_order() -> None:
    for flips in permutations(FLIPS):
        assert clusters(flips) == (
            Cluster("out of memory", "old", ("t1", "t3")),
            Cluster("KeyError: 'a'", "new", ("t0",)),
            Cluster("KeyError: 'a'", "old", ("t4",)),
            Cluster("out of memory", "new", ("t2",)),
        )


def test_no_flips_are_no_clusters() -> None:
    assert clusters([]) == ()
