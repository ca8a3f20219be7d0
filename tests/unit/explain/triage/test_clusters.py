from itertools import permutations

from nemo_gym.rollout_compare.explain.triage import SignedFlip, clusters, other_reasons
from nemo_gym.rollout_compare.schema import Cluster, OtherReasons, Side

FLIPS = [
    SignedFlip("t3", Side.OLD, "out of memory"),
    SignedFlip("t1", Side.OLD, "out of memory"),
    SignedFlip("t2", Side.NEW, "out of memory"),
    SignedFlip("t4", Side.OLD, "KeyError: 'a'"),
    SignedFlip("t5", Side.OLD, None),
    SignedFlip("t0", Side.NEW, "KeyError: 'a'"),
]


def test_flips_of_one_signature_are_one_cluster_whatever_their_order() -> None:
    for flips in permutations(FLIPS):
        assert clusters(flips) == (
            Cluster("out of memory", 2, 1, ("t1", "t2", "t3")),
            Cluster("KeyError: 'a'", 1, 1, ("t0", "t4")),
        )


def test_no_flips_are_no_clusters() -> None:
    assert clusters([]) == ()


def test_tasks_that_fail_for_another_reason_are_gathered_by_both_reasons() -> None:
    failures = [("t2", "a", "b"), ("t1", "a", "b"), ("t3", "b", "a"), ("t4", "c", "a")]

    for some in permutations(failures):
        assert other_reasons(some) == (
            OtherReasons("a", "b", ("t1", "t2")),
            OtherReasons("b", "a", ("t3",)),
            OtherReasons("c", "a", ("t4",)),
        )
    assert other_reasons([]) == ()
