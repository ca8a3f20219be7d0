"""The page of twelve situations is what the program prints, and reads as a decision."""

from __future__ import annotations

from random import Random

import pytest

from nemo_gym.rollout_compare.compare.categories import compare_rollouts
from nemo_gym.rollout_compare.compare.gate import check_gate
from nemo_gym.rollout_compare.report.terminal.decision import decision_text
from nemo_gym.rollout_compare.report.terminal.difference import difference_lines
from nemo_gym.rollout_compare.schema import CompareResult
from tests.documents import text_of
from tests.situations import SITUATIONS, page

SEEN: dict[int, CompareResult] = {}


def result_of(number: int) -> CompareResult:
    situation = SITUATIONS[number - 1]
    if number not in SEEN:
        SEEN[number] = compare_rollouts(*situation.runs(Random(100 + number)), "task_id", situation.questions)
    return SEEN[number]


def test_the_page_is_what_is_printed() -> None:
    """`python -m tests.situations > docs/situations.md` writes it anew."""
    assert text_of("docs/situations.md").splitlines() == list(page())


@pytest.mark.parametrize("number", range(1, 13))
def test_a_section_has_at_most_12_lines_beside_its_table_of_groups(number: int) -> None:
    lines = list(difference_lines(result_of(number)))[1:]
    groups = [place for place, line in enumerate(lines) if line.startswith("by ")]
    assert len(lines[: groups[0]] if groups else lines) <= 12


@pytest.mark.parametrize(
    ("number", "decision"),
    [
        (1, "no significant change: "),
        (2, "worse: "),
        (3, "no significant change: "),
        (4, "worse: "),
        (5, "better: "),
        (6, "no significant change: "),
        (7, "better: "),
        (8, "no significant change: "),
        (9, "cannot tell: "),
        (10, "same within 3 points: "),
        (11, "same within 1 point: "),
        (12, "cannot tell: "),
    ],
)
def test_the_decision_is_the_right_one(number: int, decision: str) -> None:
    told = decision_text(result_of(number))
    assert told is not None
    assert told.startswith(decision)
    assert told.endswith("could overturn this") is (number == 5)


def test_the_dead_run_breaks_the_rules_against_regressions() -> None:
    assert any(rule.tripped for rule in check_gate(result_of(12), ["regression"]))
