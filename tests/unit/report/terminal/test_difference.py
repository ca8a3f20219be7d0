"""Whether the difference is real, in the words of a colleague."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.report.terminal.decision import change_text, number_text, p_text, size_text, value_text
from nemo_gym.rollout_compare.report.terminal.difference import difference_lines, repeats_text
from nemo_gym.rollout_compare.report.terminal.text import report_lines
from nemo_gym.rollout_compare.schema import (
    CarriedBy,
    Clustered,
    CompareResult,
    Conclusion,
    Margin,
    Statistics,
    Subset,
    Subsets,
    ToDecide,
    Unmeasured,
    Verdict,
    WithoutAgentErrors,
)

Pairs = Sequence[tuple[float | None, float | None]]
Measured = list[tuple[float | None, float | None]]


def solved(*, old: int = 0, new: int = 0, both: int = 0, neither: int = 0) -> Measured:
    return [*[(1.0, 0.0)] * old, *[(0.0, 1.0)] * new, *[(1.0, 1.0)] * both, *[(0.0, 0.0)] * neither]


def rows(rewards: Sequence[float | None]) -> list[dict[str, Any]]:
    return [{"task_id": f"{n:04}", "reward": reward} for n, reward in enumerate(rewards)]


def result_of(pairs: Pairs) -> CompareResult:
    return compare_rollouts(rows([old for old, _ in pairs]), rows([new for _, new in pairs]), "task_id")


def said(pairs: Pairs) -> list[str]:
    assert list(difference_lines(result_of(pairs)))[:2] == ["", "## Difference"]
    return list(difference_lines(result_of(pairs)))[2:]


def shown(**changes: Any) -> list[str]:
    """The lines for the figures of 10 lost and 8 won of 100, changed."""
    result = result_of(solved(old=10, new=8, both=82))
    assert result.statistics
    return list(difference_lines(replace(result, statistics=replace(result.statistics, **changes))))[2:]


def test_no_significant_change_comes_with_what_could_have_been_found() -> None:
    """240 tasks, 31 lost, 41 won: error = sqrt((72 - 240 (10/240)^2) / 239 / 240) = 0.03530, 2.802 of it 9.9 points;
    (2.802 / 0.04167)^2 times the variance 0.2995 = 1,354.1 tasks; mid-p of 31 in 72 is 0.242, half of it 12%."""
    assert said(solved(old=31, new=41, both=100, neither=68)) == [
        "no significant change: 54.6% -> 58.8% (+4.2 points, p = 0.24); 31 lost, 41 won",
        "the true change is between -2.8 and +11.2 points (95%, 240 tasks)",
        "a true change of 9.9 points would be found 4 times in 5",
        "to find 4.2 points in 4 of 5 comparisons takes 5.6 times the tasks (1,355)",
        "chance that new is better: 88%",
        "one attempt a task: run the old side twice to see how many flips are normal",
    ]


def test_a_loss_and_what_the_unmeasured_tasks_could_have_made_of_it() -> None:
    """9 lost, 1 won of 20: mid-p = (2 (1 + 10) - 10) / 2^10 = 0.0117. Two tasks more were masked on the new side (old
    1 and 0): worst (-8 - 1 + 0) / 22, best (-8 + 0 + 1) / 22, failed as the worst."""
    lines = said([*solved(old=9, new=1, both=5, neither=5), (1.0, None), (0.0, None)])
    assert lines[0] == "worse: 70% -> 30% (-40 points, p = 0.012); 9 lost, 1 won, 2 masked"
    assert lines[2:] == [
        "had the 2 unmeasured tasks gone against new: -40.9 points; for new: -31.8; had they failed: -40.9"
    ]


def test_unmeasured_tasks_that_could_overturn_the_verdict_are_in_the_decision() -> None:
    lines = said([*solved(old=9, new=1, both=10), *[(0.0, None)] * 9])
    assert lines[0].endswith("; 9 lost, 1 won, 9 masked; but the 9 unmeasured tasks could overturn this")


def test_nothing_changed_is_said_with_how_sure_that_is() -> None:
    """1.96^2 / (500 + 1.96^2) = 0.76 points."""
    within = "the true change is within 0.8 points (95%)"
    assert said(solved(both=350, neither=150)) == [
        f"no significant change: 70% -> 70%; no task of 500 changed; {within}; 0 lost, 0 won"
    ]
    assert said([(5.0, 5.0)] * 80) == ["no significant change: 5.000 -> 5.000; no task of 80 changed; 0 lost, 0 won"]


def test_what_cannot_be_told_comes_with_what_it_would_take() -> None:
    lines = said(solved(old=2, new=1, both=5))
    assert lines[:2] == [
        "cannot tell: 87.5% -> 75% (-12.5 points, p = 0.62); 2 lost, 1 won",
        "only 3 of 8 tasks changed: it takes 5 changed tasks, or 73 of which none changes",
    ]
    assert said(solved(both=1))[0].startswith("cannot tell: 100% -> 100%; the one task did not change; the true change")


def test_nothing_to_compare() -> None:
    assert said([(1.0, None), (None, None)]) == [
        "cannot tell: nothing to compare; 0 lost, 0 won, 2 masked",
        "no task was measured on both sides: run the masked and missing tasks again",
        "had the 2 unmeasured tasks gone against new: -100 points; for new: +50; had they failed: -50",
    ]


@pytest.mark.parametrize(("errors", "told"), [(1, " (1 with an agent error)"), (2, " (2 with agent errors)"), (0, "")])
def test_flips_in_doubt_are_told_beside_those_that_they_are_counted_with(errors: int, told: str) -> None:
    old, new = rows([1.0] * 8 + [0.0] * 2), rows([0.0] * 8 + [1.0] * 2)
    for row in new[7 : 7 + errors]:
        row["error"] = "x"
    [_, _, decision, *_] = difference_lines(compare_rollouts([*old, {"task_id": "gone", "reward": 1}], new))
    assert decision.endswith(f"; 8 lost, 2 won{told}, 1 missing")


def test_missing_tasks_are_counted() -> None:
    old, new = rows([1.0, 0.0, 1.0]), rows([1.0, 0.0])
    [_, _, decision, *_] = difference_lines(compare_rollouts(old, new))
    assert decision.endswith("; 0 lost, 0 won, 1 missing")


def test_rewards_beyond_all_measure() -> None:
    assert said([(1e200, 0.0), (0.0, 1e200), (0.0, 1.0)]) == [
        "cannot tell: 3 tasks without figures; 1 lost, 2 won",
        "a reward is beyond 1e+140, too large to compute with: look at what the verifier reported",
    ]


def test_rewards_outside_0_to_1_are_told_in_their_own_units() -> None:
    lines = said([*[(2.0, 0.0)] * 4, *[(0.0, 3.0)] * 6, (1.0, None)])
    assert lines[0].startswith("no significant change: 0.800 -> 1.800 (+1.000, p = 0.")
    assert lines[-1] == "the 1 unmeasured task could change this without limit: rewards are not all from 0 to 1"


def test_one_great_loss_among_small_gains() -> None:
    lines = said([*[(0.5, 0.52)] * 40, (0.0, -900.0)])
    assert "wins alone say: better" in lines
    assert "one task carries it: without 0040 the change is +0.020 (verdict: better)" in lines


def test_tasks_that_were_left_out_for_being_hard_are_told() -> None:
    lines = said([*solved(both=40, neither=10), *[(0.0, None)] * 6])
    assert lines[-1].startswith("the 6 tasks that new did not measure are harder: old has 0% against 80% on the others")
    easier = said([*solved(neither=20, both=5), *[(None, 1.0)] * 5])
    assert easier[-1].startswith("the 5 tasks that old did not measure are easier: new has 100% against 20%")


def test_flips_with_agent_errors_are_left_out_for_once_where_that_changes_the_verdict() -> None:
    """Six lost: mid-p 1/64. Two of them with an agent error: four lost of 34, mid-p 1/16."""
    old, new = rows([1.0] * 36), rows([0.0] * 6 + [1.0] * 30)
    for row in new[:2]:
        row["error"] = "x"
    lines = list(difference_lines(compare_rollouts(old, new)))
    assert "without the flips that have agent errors: cannot tell (-11.8 points, p = 0.062)" in lines
    assert not any(line.startswith("without") for line in said(solved(old=6, both=30)))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"borderline": True}, "borderline: interval and p disagree on whether there is a difference"),
        ({"wins_say": Verdict.WORSE}, "wins alone say: worse"),
        (
            {"carried_by": CarriedBy("a\nb", 0.05, Verdict.BETTER)},
            "one task carries it: without a\\nb the change is +5 points (verdict: better)",
        ),
        (
            {"carried_by": CarriedBy("t", 0.0, Verdict.SAME), "margin": Margin(0.02, -0.1, 0.1, Conclusion.NOT_SHOWN)},
            "one task carries it: without t the change is +0 points (verdict: same within 2 points)",
        ),
        (
            {"without_agent_errors": WithoutAgentErrors(0, None, None, Verdict.CANNOT_TELL)},
            "without the flips that have agent errors: cannot tell",
        ),
        (
            {"to_decide": ToDecide(0.02, 400, 12, True)},
            "to find 2 points in 4 of 5 comparisons takes 4 times the tasks (400), or 12 attempts a task",
        ),
        (
            {"to_decide": ToDecide(0.02, 2_500, None, False)},
            "to find 2 points in 4 of 5 comparisons takes 25 times the tasks (2,500); no number of attempts will do",
        ),
        (
            {"unmeasured": Unmeasured(2)},
            "the 2 unmeasured tasks could change this without limit: rewards are not all from 0 to 1",
        ),
        (
            {"margin": Margin(0.02, -0.041, 0.01, Conclusion.NOT_SHOWN)},
            "it could be as low as -4.1 points (95%, one-sided), so it is not shown not to be worse either",
        ),
        (
            {"margin": Margin(0.02, None, None, Conclusion.NOT_SHOWN)},
            "there is no interval to hold the margin against",
        ),
        (
            {"clustered": Clustered("text", 12, -0.1, 0.02, 0.2)},
            "with tasks of one text kept together (12 groups): -10 to +2 points, p = 0.2",
        ),
        (
            {"clustered": Clustered("text", 4, None, None, None)},
            "with tasks of one text kept together (4 groups): it takes 6 to tell",
        ),
    ],
)
def test_a_line_that_is_said_only_where_it_means_something(changes: dict[str, Any], line: str) -> None:
    assert line in shown(**changes)
    assert line not in shown()


@pytest.mark.parametrize("need", [ToDecide(0.001, 200_000, None, None), ToDecide(0.3, 90, None, None)])
def test_what_nobody_would_do_is_not_proposed(need: ToDecide) -> None:
    assert not any("takes" in line for line in shown(to_decide=need))


@pytest.mark.parametrize(
    ("verdict", "conclusion", "words"),
    [
        (Verdict.SAME, Conclusion.SAME, "same within 5 points: 92% -> 90%"),
        (Verdict.NOT_WORSE, Conclusion.NOT_WORSE, "not worse by 5 points: 92% -> 90%"),
        (Verdict.WORSE, Conclusion.NOT_SHOWN, "worse: 92% -> 90%"),
        (
            Verdict.NO_SIGNIFICANT_CHANGE,
            Conclusion.NOT_SHOWN,
            "not shown to be the same within 5 points: 92% -> 90%",
        ),
    ],
)
def test_a_margin_is_in_the_decision(verdict: Verdict, conclusion: Conclusion, words: str) -> None:
    lines = shown(verdict=verdict, margin=Margin(0.05, -0.04, 0.04, conclusion))
    assert lines[0].startswith(words)


def test_a_margin_that_is_not_shown_beside_a_loss_is_told_below_it() -> None:
    lines = shown(verdict=Verdict.WORSE, margin=Margin(0.05, -0.08, -0.01, Conclusion.NOT_SHOWN))
    assert lines[1] == "not shown to be the same within 5 points: it could be as low as -8 points (95%, one-sided)"


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_would_decide_is_told_only_where_nothing_is_decided(verdict: Verdict) -> None:
    need = ToDecide(0.02, 400, None, None)
    lines = shown(verdict=verdict, margin=Margin(0.02, -0.08, -0.03, Conclusion.NOT_SHOWN), to_decide=need)
    told = any(line.startswith("to find 2 points in ") for line in lines)
    assert told is (verdict not in {Verdict.WORSE, Verdict.BETTER})


def test_groups_are_a_table() -> None:
    groups = (
        Subset("easy", 60, 0.9, 0.8, -0.1, -0.2, 0.01, 0.04),
        Subset("a very long name of a group of tasks", 30, 0.5, 0.5, 0.0, -0.1, 0.1, None),
        Subset("", 6, 0.5, 0.5, 0.0, None, None, None),
        Subset(None, 10, 0.5, 0.75, 0.25, None, None, None),
    )
    lines = shown(subsets=(Subsets("kind", groups, 0.003),))[-6:]
    assert lines == [
        "by kind: not the same everywhere (p = 0.003)",
        "                                 tasks  old  new  change  95% interval",
        "  easy                              60  90%  80%     -10  -20 to +1     p = 0.04",
        "  a very long n...roup of tasks     30  50%  50%      +0  -10 to +10",
        "  ''                                 6  50%  50%      +0",
        "  others                            10  50%  75%     +25",
    ]
    assert shown(subsets=(Subsets("kind", groups, 0.3),))[-6] == "by kind"
    assert shown(subsets=(Subsets("kind", groups, None),))[-6] == "by kind"


def group(name: str | None, n: int = 6, p_value: float | None = None) -> Subset:
    return Subset(name, n, 0.5, 0.25, -0.25, -0.375, 0.25, p_value)


def test_of_very_many_groups_the_largest_are_shown_and_the_others_counted() -> None:
    groups = [group(f"g{i:02}", 100 - i, 0.04 if i in (3, 30, 31) else None) for i in range(57)]
    lines = shown(subsets=(Subsets("kind", (*groups, group(None)), None),))[-24:]
    lines.pop(1)
    assert lines[0] == "by kind"
    assert [line.split()[0] for line in lines[1:21]] == [f"g{i:02}" for i in range(20)]
    assert lines[21:] == [
        "  ... and 37 more groups, 2 of them with p < 0.05",
        "  others      6  50%  25%     -25  -37.5 to +25",
    ]
    assert shown(subsets=(Subsets("kind", tuple(groups[:20]), None),))[-1].startswith("  g19 ")
    assert shown(subsets=(Subsets("kind", tuple(groups[:21]), None),))[-1] == "  ... and 1 more group"


@pytest.mark.parametrize("pass_fail", [True, False])
def test_the_table_fits_80_columns_whatever_groups_are_called(pass_fail: bool) -> None:
    names = ["a" * 200, "x" * 40 + "tail", "short", "\x1b[31m\n" + "b" * 90]
    groups = tuple(group(name, 123_456, 1.2e-5) for name in names)
    lines = shown(subsets=(Subsets("kind", groups, None),), pass_fail=pass_fail)[-5:]
    assert {len(line) for line in lines[1:]} == {80}
    (tail,) = [line for line in lines if "tail " in line]
    assert tail.startswith("  xxx")
    assert "x...x" in tail


def test_where_nobody_asked_there_is_no_section() -> None:
    assert list(difference_lines(replace(result_of([(1.0, 1.0)]), statistics=None))) == []


def points(pass_fail: bool) -> Statistics:
    return Statistics(n=1, verdict=Verdict.CANNOT_TELL, old_wins=0, new_wins=0, pass_fail=pass_fail)


@pytest.mark.parametrize(
    ("p_value", "text"),
    [(1.0, "p = 1"), (0.0214, "p = 0.021"), (1e-5, "p = 1e-05"), (1 / 131_072, "p < 1e-5"), (0.0, "p < 1e-5")],
)
def test_a_p_value_has_two_digits(p_value: float, text: str) -> None:
    assert p_text(p_value) == text


def test_numbers_are_short_and_show_what_they_are() -> None:
    assert [value_text(points(True), value) for value in (0.0, 0.3, 0.3333, 1.0)] == ["0%", "30%", "33.3%", "100%"]
    assert value_text(points(False), 0.69649) == "0.696"
    assert change_text(points(True), -0.05) == "-5 points"
    assert change_text(points(True), 0.0004, unit=False) == "+0.04"
    assert change_text(points(False), -0.05) == "-0.050"
    assert [size_text(points(True), size) for size in (0.01, 0.02, 0.0762)] == ["1 point", "2 points", "7.6 points"]
    assert size_text(points(False), 0.02) == "0.020"
    assert [number_text(value) for value in (-0.0, 1.5e-5, -1.5e7)] == ["0.000", "1.50e-05", "-1.50e+07"]
    assert number_text(1.5e-5, sign=True) == "+1.50e-05"


# Repeats


def attempts(**tasks: str) -> list[dict[str, Any]]:
    return [{"task_id": task, "reward": int(mark)} for task, marks in tasks.items() for mark in marks]


def test_several_attempts_are_told_as_flips_by_chance_and_as_one_number() -> None:
    """Of 3/4 -> 1/4 4 of 8 were solved: 1 - 36/70 to flip, 2/70 beyond noise; the same of 4/4 -> 0/4; both 0.97 and
    0.057. Both together: P(X <= 1), once with half of P(X = 1), (1 + 32 / 2) 2 / 4900. pass@4: all three by one attempt
    or more, then two; pass^4: two, then one."""
    result = compare_rollouts(
        attempts(noisy="1110", real="1111", steady="1111"), attempts(noisy="0001", real="0000", steady="1111")
    )
    lines = list(difference_lines(result))
    assert "on these 3 tasks: -50 points, p = 0.0069" in lines
    assert "2 flips, about 0.97 expected of equal systems; 1 beyond noise, about 0.057 expected" in lines
    assert lines[-3].startswith("pass@4 (at least one of 4 attempts solved): 100% -> 66.7% (-33.3, -100 to +100")
    assert lines[-2].startswith("pass^4 (all of 4 attempts solved): 66.7% -> 33.3% (-33.3, ")
    assert lines[-1] == "flaky (attempts at one task disagree): old 1 task, new 1 task"
    assert [flip.repeats and repeats_text(flip.repeats) for flip in result.flips] == [
        "attempts solved: 3/4 -> 1/4 (Fisher's exact p = 0.49: within noise)",
        "attempts solved: 4/4 -> 0/4 (Fisher's exact p = 0.029)",
    ]


def test_attempts_that_are_too_few_to_tell_are_not_called_noise() -> None:
    result = compare_rollouts(attempts(a="111", b="111"), attempts(a="000", b="110"))
    assert any(line.endswith("; a task's attempts are too few to tell which") for line in difference_lines(result))
    [flip, _] = result.flips
    assert flip.repeats
    assert repeats_text(flip.repeats).endswith("3/3 -> 0/3 (Fisher's exact p = 0.1: too few attempts to tell)")


@pytest.mark.parametrize(("old", "new", "verdict"), [("111", "000", "worse"), ("000", "111", "better")])
def test_flips_that_decide_are_not_told_as_noise(old: str, new: str, verdict: str) -> None:
    """Six tasks of 3/3 -> 0/3: mid-p 1/64. Three of six attempts solved never split evenly, so six flips are expected;
    that all go one way is not."""
    tasks = "abcdef"
    result = compare_rollouts(attempts(**dict.fromkeys(tasks, old)), attempts(**dict.fromkeys(tasks, new)))
    lines = list(difference_lines(result))
    assert lines[2].startswith(f"{verdict}: ")
    assert f"6 flips, about 6 expected of equal systems; what makes it {verdict} is their direction" in lines


def test_the_direction_stands_beside_flips_beyond_noise_too() -> None:
    """4/4 -> 0/4 six times: 2 of 70 splits are beyond noise, six times that is 0.17; 1 - 36/70 flip."""
    tasks = "abcdef"
    result = compare_rollouts(attempts(**dict.fromkeys(tasks, "1111")), attempts(**dict.fromkeys(tasks, "0000")))
    flips = "6 flips, about 2.9 expected of equal systems; 6 beyond noise, about 0.17 expected"
    assert f"{flips}; what makes it worse is their direction" in list(difference_lines(result))


ONE_ATTEMPT = "one attempt a task: run the old side twice to see how many flips are normal"


def test_one_attempt_a_task_cannot_tell_flips_from_noise() -> None:
    assert said(solved(old=10, new=8, both=82)).count(ONE_ATTEMPT) == 1
    assert ONE_ATTEMPT in said([*[(2.0, 0.0)] * 4, *[(0.0, 3.0)] * 6, (1.0, None)])
    for significant_or_without_flips in (solved(old=9, new=1, both=5), solved(both=500), solved(old=1, both=3)):
        assert ONE_ATTEMPT not in said(significant_or_without_flips)
    result = result_of(solved(old=10, new=8, both=82))
    again = compare_rollouts([*rows([1.0] * 50), *rows([0.0])], rows([0.0] * 3 + [1.0] * 47))
    assert again.flips
    assert again.statistics
    assert ONE_ATTEMPT not in list(difference_lines(replace(again, statistics=result.statistics)))


def test_no_spread_in_pass_at_leaves_its_interval_out() -> None:
    result = compare_rollouts(attempts(a="10", b="10"), attempts(a="10", b="10"))
    lines = list(difference_lines(result))
    assert "pass@2 (at least one of 2 attempts solved): 100% -> 100% (+0 points)" in lines


def test_a_partly_masked_task_counts_by_its_measured_attempts() -> None:
    old = [*attempts(a="1110", b="1111"), {"task_id": "a", "reward": 1, "mask_sample": True}]
    lines = list(difference_lines(compare_rollouts(old, attempts(a="0001", b="1111"))))
    assert lines[2].startswith("cannot tell: 87.5% -> 62.5% (-25 points, p = 0.5); 1 lost, 0 won")
    assert "masked" not in lines[2]
    assert "1 partly masked task counts by its measured attempts" in lines


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
    assert "expected" not in lines


def test_the_decision_is_the_last_line_too() -> None:
    lines = list(report_lines(result_of(solved(old=1))))
    assert lines[-1] == lines[lines.index("## Difference") + 1]
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[:2] == ["## Difference", "## Flips (1)"]
