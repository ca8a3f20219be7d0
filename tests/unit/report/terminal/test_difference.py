"""Whether the difference is real, in the words of a colleague."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.compare.statistics import paired_statistics
from nemo_gym.rollout_compare.report.terminal.difference import difference_lines, p_text, repeats_text
from nemo_gym.rollout_compare.report.terminal.text import report_lines
from nemo_gym.rollout_compare.schema import CompareResult, Repeats, SignificanceTest, Statistics, Unmeasured, Verdict

Pairs = Sequence[tuple[float | None, float | None]]
Measured = list[tuple[float, float]]


def solved(*, old: int = 0, new: int = 0, both: int = 0, neither: int = 0) -> Measured:
    return [(1.0, 0.0)] * old + [(0.0, 1.0)] * new + [(1.0, 1.0)] * both + [(0.0, 0.0)] * neither


def rows(rewards: list[float | None]) -> list[dict[str, Any]]:
    return [{"task_id": f"{n:04}", "reward": reward} for n, reward in enumerate(rewards)]


def result_of(pairs: Pairs) -> CompareResult:
    return compare_rollouts(rows([old for old, _ in pairs]), rows([new for _, new in pairs]), "task_id")


def said(pairs: Pairs) -> list[str]:
    return list(difference_lines(result_of(pairs)))


def shown(statistics: Statistics | None) -> list[str]:
    return list(difference_lines(replace(result_of([(1.0, 1.0)]), statistics=statistics)))


def test_it_reads_like_a_colleagues_sentence() -> None:
    """240 tasks, 31 lost, 41 won: by hand, error = sqrt((72 - 240 (10/240)^2) / 239 / 240) = 0.03530;
    t(0.975; 239) = 1.970, z(0.975) + z(0.8) = 2.802; twice the binomial tail of 31 in 72 is 0.289."""
    assert said(solved(old=31, new=41, both=100, neither=68)) == [
        "",
        "## Difference",
        "new - old = +0.042 (95% interval -0.028 to +0.111, 240 tasks); 31 tasks lost, 41 won",
        "exact McNemar p = 0.29: no significant change; 240 tasks could show a difference of 0.099",
    ]


def test_a_loss_and_what_the_unmeasured_tasks_could_have_made_of_it() -> None:
    """9 lost, 1 won of 20: p = 2 (1 + 10) / 2^10 = 0.0215. Two tasks more were masked on the new side (old 1 and 0):
    worst (-8 - 1 + 0) / 22, best (-8 + 0 + 1) / 22."""
    lines = said([*solved(old=9, new=1, both=5, neither=5), (1.0, None), (0.0, None)])
    assert lines[2].startswith("new - old = -0.400 (95% interval -0.68")
    assert lines[2].endswith(", 20 tasks); 9 tasks lost, 1 won")
    assert lines[3].startswith("exact McNemar p = 0.021: worse; 20 tasks could show a difference of 0.3")
    assert lines[4:] == ["had the 2 masked or missing tasks gone against new: -0.409; for new: -0.318"]


def test_one_is_told_as_one() -> None:
    lines = said([*solved(old=1), (1.0, None)])
    assert lines[2:] == [
        "new - old = -1.000 (no interval, 1 task); 1 task lost, 0 won",
        "cannot tell: one task cannot tell a difference from noise: it takes 6 changed tasks or more",
        "had the masked or missing task gone against new: -1.000; for new: -0.500",
    ]


def test_partial_rewards_name_their_test() -> None:
    """Eight gains of one size to none: p = 2 / 2^8."""
    lines = said([(0.0, 0.5)] * 8 + [(0.25, 0.25)] * 2)
    assert lines[2].startswith("new - old = +0.400 (95% interval +0.2")
    assert lines[3].startswith("sign-flip permutation p = 0.0078: better; 10 tasks could show a difference of 0.")


def test_nothing_to_compare() -> None:
    assert said([(1.0, None), (None, None)])[2:] == [
        "new - old: nothing to compare",
        "cannot tell: no task was measured on both sides: run the masked and missing tasks again",
        "had the 2 masked or missing tasks gone against new: -1.000; for new: +0.500",
    ]
    assert shown(paired_statistics([], []))[2:] == [
        "new - old: nothing to compare",
        "cannot tell: no task was measured on both sides: run the masked and missing tasks again",
    ]


def test_no_changed_task() -> None:
    assert said(solved(both=3))[2:] == [
        "new - old = +0.000 (no interval, 3 tasks); 0 tasks lost, 0 won",
        (
            "cannot tell: none of the 3 tasks changed, so there is no difference to judge and no spread for an "
            "interval: it takes 6 changed tasks or more to show one"
        ),
    ]


def test_too_few_changed_tasks() -> None:
    lines = said(solved(old=2, new=1, both=5))
    assert lines[3] == (
        "cannot tell (exact McNemar p = 1): with 3 tasks changed, p cannot be below 0.25: "
        "it takes 6 changed tasks or more"
    )


def test_no_spread() -> None:
    assert said(solved(new=7))[2:] == [
        "new - old = +1.000 (no interval, 7 tasks); 0 tasks lost, 7 won",
        "exact McNemar p = 0.016: better",
    ]


def test_rewards_beyond_all_measure() -> None:
    assert said([(1e200, 0.0), (0.0, 1e200), (0.0, 1.0)])[2:] == [
        "3 tasks measured on both sides; 1 task lost, 2 won",
        "cannot tell: a reward is beyond 1e+140, too large to compute with: look at what the verifier reported",
    ]


def test_rewards_outside_0_to_1_have_no_bounds() -> None:
    lines = said([*[(2.0, 0.0)] * 4, *[(0.0, 3.0)] * 6, (1.0, None)])
    assert len(lines) == 4
    assert "masked or missing" not in "".join(lines)


def test_agent_errors_are_among_the_wins_and_that_is_said() -> None:
    old, new = rows([1.0, 1.0, 0.0]), rows([0.0, 1.0, 1.0])
    for row, words in ((old[0], "; 1 task lost, 1 won (agent errors included)"), (old[1], "; 1 task lost, 1 won")):
        lines = list(difference_lines(compare_rollouts([r | ({"error": "x"} if r is row else {}) for r in old], new)))
        assert lines[2].endswith(words)


def test_where_nobody_asked_there_is_no_section() -> None:
    assert shown(None) == []


@pytest.mark.parametrize(
    ("changes", "line", "text"),
    [
        ({"ci_low": None}, 2, "new - old = +0.042 (no interval, 240 tasks); 31 tasks lost, 41 won"),
        ({"ci_high": None}, 2, "new - old = +0.042 (no interval, 240 tasks); 31 tasks lost, 41 won"),
        ({"detectable": None}, 3, "exact McNemar p = 0.29: no significant change"),
        ({"verdict": Verdict.CANNOT_TELL, "reason": "because"}, 3, "cannot tell (exact McNemar p = 0.29): because"),
        ({"verdict": Verdict.CANNOT_TELL, "reason": "because", "p_value": None}, 3, "cannot tell: because"),
        ({"delta": None}, 2, "240 tasks measured on both sides; 31 tasks lost, 41 won"),
        ({"delta": None, "n": 1}, 2, "1 task measured on both sides; 31 tasks lost, 41 won"),
        ({"delta": None, "n": 0}, 2, "new - old: nothing to compare"),
        (
            {"old_wins": 1, "new_wins": 1},
            2,
            "new - old = +0.042 (95% interval -0.028 to +0.111, 240 tasks); 1 task lost, 1 won",
        ),
    ],
)
def test_a_figure_that_is_not_known_is_left_out(changes: dict[str, Any], line: int, text: str) -> None:
    pairs = solved(old=31, new=41, both=100, neither=68)
    statistics = paired_statistics([old for old, _ in pairs], [new for _, new in pairs])
    assert statistics.test is SignificanceTest.MCNEMAR
    assert shown(replace(statistics, **changes))[line] == text
    assert len(shown(replace(statistics, unmeasured=None))) == len(shown(statistics)) == 4
    assert len(shown(replace(statistics, unmeasured=Unmeasured(1, 0.0, 0.0)))) == 5
    assert shown(replace(statistics, verdict=Verdict.BETTER))[3].startswith("exact McNemar p = 0.29: better; ")


@pytest.mark.parametrize(
    ("p_value", "text"),
    [(1.0, "p = 1"), (0.5, "p = 0.5"), (0.0214, "p = 0.021"), (1 / 131_072, "p = 7.6e-06"), (0.0, "p < 1e-300")],
)
def test_a_p_value_has_two_digits(p_value: float, text: str) -> None:
    assert p_text(p_value) == text


def test_differences_that_three_decimals_cannot_show_are_shown_otherwise() -> None:
    """By hand: 1.5e-5 +- t(0.975; 1) x 0.5e-5, and 2.802 sd / sqrt(7) with sd = 1e-5 / sqrt(7)."""
    assert said([(0.0, 1e-5), (0.0, 2e-5)])[2].startswith("new - old = +1.50e-05 (95% interval -4.85e-05 to +7.85e-05")
    assert said([(0.0, 1e-5)] * 6 + [(0.0, 2e-5)])[3].endswith("; 7 tasks could show a difference of 4.00e-06")
    assert said([(0.0, 0.0), (3e7, 0.0)])[2].startswith("new - old = -1.50e+07 (95% interval -2.06e+08 to +1.76e+08")


# Repeats


def attempts(**tasks: str) -> list[dict[str, Any]]:
    return [{"task_id": task, "reward": int(mark)} for task, marks in tasks.items() for mark in marks]


def test_flips_within_noise_and_flaky_sides_are_counted() -> None:
    """3/4 to 1/4: p = 34/70; 4/4 to 0/4: p = 2/70; one row on a side has no such p."""
    result = compare_rollouts(
        attempts(noisy="1110", real="1111", single="1", steady="11"),
        attempts(noisy="0001", real="0000", single="00", steady="11"),
    )
    assert list(difference_lines(result))[-2:] == [
        "1 flip within the noise of repeated attempts",
        "flaky (attempts at one task disagree): old 1 task, new 1 task",
    ]
    assert [flip.repeats and repeats_text(flip.repeats) for flip in result.flips] == [
        "attempts solved: 3/4 -> 1/4 (Fisher's exact p = 0.49: within noise)",
        "attempts solved: 4/4 -> 0/4 (Fisher's exact p = 0.029)",
        None,
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({"a": "10", "b": "10"}, {"a": "11", "b": "1"}, "old 2 tasks, new 0 tasks"),
        ({"a": "1", "b": "1"}, {"a": "11", "b": "10"}, "old 0 tasks, new 1 task"),
        ({"a": "1"}, {"a": "1", "b": "10"}, "old 0 tasks, new 1 task"),
        ({"a": "1", "b": "01"}, {"a": "1"}, "old 1 task, new 0 tasks"),
    ],
)
def test_flaky_sides_are_counted_wherever_they_are(old: dict[str, str], new: dict[str, str], line: str) -> None:
    lines = list(difference_lines(compare_rollouts(attempts(**old), attempts(**new))))
    assert lines[-1] == f"flaky (attempts at one task disagree): {line}"


def test_without_repeats_nothing_is_said_of_them() -> None:
    lines = "\n".join(said(solved(old=3, new=4)))
    assert "flaky" not in lines
    assert "noise of" not in lines


def test_the_lines_of_repeats() -> None:
    assert repeats_text(Repeats(3, 4, 1, 4, 34 / 70, True)) == (
        "attempts solved: 3/4 -> 1/4 (Fisher's exact p = 0.49: within noise)"
    )
    assert repeats_text(Repeats(9, 9, 0, 9, 0.0000411, False)) == (
        "attempts solved: 9/9 -> 0/9 (Fisher's exact p = 4.1e-05)"
    )


def test_the_section_stands_between_the_counts_and_the_flips() -> None:
    headings = [line for line in report_lines(result_of(solved(old=1))) if line.startswith(("missing ", "## "))]
    assert headings[1:3] == ["## Difference", "## Flips (1)"]
    assert headings[0].startswith("missing ")
