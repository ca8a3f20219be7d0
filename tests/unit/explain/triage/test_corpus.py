import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from nemo_gym.rollout_compare.explain.triage import signature
from tests.triage_support import sample


def purity(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """Of pairs (group, kind): the share of those whose kind is the commonest in their group."""
    groups: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for group, kind in pairs:
        groups[group][kind] += 1
    return sum(max(kinds.values()) for kinds in groups.values()) / sum(kinds.total() for kinds in groups.values())


def test_signatures_gather_what_has_one_cause_and_part_what_has_not() -> None:
    failures = json.loads(sample("failures/corpus.json"))
    causes = [failure["cause"] for failure in failures]
    signatures = [signature("\n".join(failure["output"])) for failure in failures]

    pure = purity(zip(signatures, causes, strict=True))
    complete = purity(zip(causes, signatures, strict=True))
    print(f"{len(failures)} failures of {len(set(causes))} causes, {len(set(signatures))} signatures:", end=" ")  # noqa: T201 - asked for
    print(f"purity {pure:.3f}, completeness {complete:.3f}")  # noqa: T201 - asked for

    assert len(failures) >= 60
    assert len(set(causes)) == 12
    assert None not in signatures
    assert pure >= 0.95
    assert complete >= 0.95


def test_the_measures_themselves() -> None:
    assert purity([(1, "a"), (1, "a"), (1, "b"), (2, "b")]) == 0.75
    assert purity([("a", 1), ("a", 1), ("b", 1), ("b", 2)]) == 0.75
    assert purity([(1, "a"), (2, "b")]) == 1
