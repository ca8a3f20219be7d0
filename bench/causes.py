"""How well signatures gather what has one cause: precision and recall of pairs over real failing outputs.

A pair of outputs is *gathered* if both have the same signature. Precision: of the gathered pairs, the share that has
one cause. Recall: of the pairs that have one cause, the share that is gathered. Outputs without a signature are in no
gathered pair.

    python bench/causes.py [--list]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from nemo_gym.rollout_compare.explain.triage import signature

SAMPLES = Path(__file__).parent.parent / "tests" / "samples" / "causes"

Signed = tuple[str, str | None]


def signed(half: str) -> list[Signed]:
    """The cause and the signature of each output of a half, `seen` or `unseen`."""
    lines = (SAMPLES / f"{half}.jsonl").read_text("utf-8").splitlines()
    return [(case["cause"], signature(case["output"])) for case in map(json.loads, lines)]


def pairs_of(groups: Iterable[int]) -> int:
    """How many pairs there are within groups of these sizes."""
    return sum(size * (size - 1) // 2 for size in groups)


def precision_and_recall(outputs: Sequence[Signed]) -> tuple[float, float]:
    """Of pairs, by their causes and signatures."""
    known = [(cause, said) for cause, said in outputs if said is not None]
    both = pairs_of(Counter(known).values())
    gathered = pairs_of(Counter(said for _, said in known).values())
    alike = pairs_of(Counter(cause for cause, _ in outputs).values())
    return both / gathered if gathered else 1.0, both / alike if alike else 1.0


def main() -> None:
    """Print the figures of both halves, and of the seen one what was made of each cause."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the signatures of each cause of the seen half")
    wanted = parser.parse_args()
    for half in ("seen", "unseen"):
        outputs = signed(half)
        precision, recall = precision_and_recall(outputs)
        silent = sum(said is None for _, said in outputs)
        causes = len({cause for cause, _ in outputs})
        print(
            f"{half:<6} {len(outputs)} outputs, {causes} causes: "
            f"precision {precision:.3f}, recall {recall:.3f}, {silent} without a signature"
        )
    if wanted.list:
        _list(signed("seen"))


def _list(outputs: Sequence[Signed]) -> None:
    by_cause: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for cause, said in outputs:
        by_cause[cause][said] += 1
    for cause, said_of in sorted(by_cause.items()):
        print(cause)
        for said, count in said_of.most_common():
            print(f"    {count:3} {said}")


if __name__ == "__main__":
    main()
