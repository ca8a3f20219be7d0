import json

import pytest

from bench.causes import pairs_of, precision_and_recall, signed
from nemo_gym.rollout_compare.explain.triage import signature
from tests.triage_support import sample


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_signatures_gather_real_failures_of_one_cause_and_part_others(half: str) -> None:
    outputs = signed(half)
    precision, recall = precision_and_recall(outputs)

    assert len(outputs) >= 300
    assert len({cause for cause, _ in outputs}) >= 60
    assert precision >= 0.95
    assert recall >= 0.8


def test_made_up_failures_are_gathered_as_well() -> None:
    failures = json.loads(sample("failures/corpus.json"))
    precision, recall = precision_and_recall(
        [(failure["cause"], signature("\n".join(failure["output"]))) for failure in failures]
    )

    assert len(failures) >= 60
    assert precision >= 0.95
    assert recall >= 0.9


def test_the_measures_themselves() -> None:
    assert pairs_of([1, 2, 4]) == 7
    assert precision_and_recall([("a", "x"), ("a", "x"), ("b", "x"), ("b", None)]) == (1 / 3, 1 / 2)
    assert precision_and_recall([("a", "x"), ("b", None)]) == (1, 1)
    assert precision_and_recall([]) == (1, 1)
