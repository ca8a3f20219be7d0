"""The sections on flips: what they have in common, then one by one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.report.terminal.flips import cluster_lines, flip_lines, other_reason_lines
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines
from nemo_gym.rollout_compare.schema import (
    Category,
    Cluster,
    CompareResult,
    Evidence,
    Flip,
    Mark,
    Mask,
    MaskKind,
    OtherReasons,
    Repeats,
    Side,
    TaskComparison,
    TaskRows,
    TaskSide,
    TestChanges,
)
from tests.support import NOWHERE, controls

LOST = Evidence("field", "test_output", ("1 failed",))
WON = Evidence("file", "old/logs/t/test-stdout.txt", ("all", "passed"))


def a_side(reward: float, **others: Any) -> TaskSide:
    return TaskSide(**{"rows": 1, "reward": reward, "reward_rows": 1, **others})


def a_flip(task: str = "t", old: TaskSide | None = None, new: TaskSide | None = None, **others: Any) -> Flip:
    old, new = old or a_side(1.0), new or a_side(0.0)
    assert old.reward is not None
    assert new.reward is not None
    doubtful = old.agent_error or new.agent_error
    category = Category.FLIPPED_AGENT_ERROR if doubtful else Category.FLIPPED
    winner = Side.OLD if old.reward > new.reward else Side.NEW
    comparison = TaskComparison(task, category, old, new, winner)
    return Flip(comparison, TaskRows(comparison, NOWHERE, NOWHERE), **others)


def lines(*flips: Flip, **options: Any) -> list[str]:
    """What is said of the flips, without the heading of their section."""
    told = list(flip_lines("Flips", flips, **options))
    assert told[:2] == ["", f"## Flips ({len(flips)})"]
    return told[2:]


HEAD = "### t: old=1.0 new=0.0 -> old wins"


def test_a_flip_shows_the_losing_sides_output() -> None:
    assert lines(a_flip()) == [HEAD]
    flip = Flip(a_flip().comparison, a_flip().rows, old=WON, new=LOST)
    assert lines(flip) == [HEAD, "    new verifier output (last 1 line of row field 'test_output'):", "    | 1 failed"]


def test_with_both_sides_the_winning_sides_stands_under_it() -> None:
    flip = Flip(a_flip().comparison, a_flip().rows, old=WON, new=LOST)
    assert lines(flip, sides=2) == [
        *lines(flip),
        "    old verifier output (last 2 lines of old/logs/t/test-stdout.txt):",
        "    | all",
        "    | passed",
    ]
    turned = a_flip(old=a_side(0.0), new=a_side(1.0))
    turned = Flip(turned.comparison, turned.rows, old=LOST, new=WON)
    assert [line.split(" (")[0] for line in lines(turned, sides=2) if "output" in line] == [
        "    old verifier output",
        "    new verifier output",
    ]


def test_where_nobody_looked_nothing_is_said_of_output() -> None:
    assert lines(a_flip(), sides=2) == [HEAD]


def test_with_no_side_nothing_is_said_of_output() -> None:
    flip = Flip(a_flip().comparison, a_flip().rows, old=WON, new=Evidence(None, unavailable="not found: a"))
    assert lines(flip, sides=0) == [HEAD]


@pytest.mark.parametrize(
    ("shown", "sides"),
    [
        (Shown(), 1),
        (Shown(both_sides=True), 2),
        (Shown(output=False), 0),
        (Shown(both_sides=True, output=False), 0),
    ],
)
def test_of_so_many_sides_the_output_is_shown(shown: Shown, sides: int) -> None:
    flip = Flip(a_flip().comparison, a_flip().rows, old=WON, new=LOST)
    assert shown.sides() == sides
    told = [line for line in report_lines(result_of(flip), shown) if "verifier output" in line]
    assert [line.split()[0] for line in told] == ["new", "old"][:sides]


def test_without_output_the_reason_is_one_line() -> None:
    flip = Flip(a_flip().comparison, a_flip().rows, new=Evidence(None, unavailable="not found: a\nb"))
    assert lines(flip) == [HEAD, "    new verifier output unavailable: not found: a\\nb"]


def test_a_log_that_was_passed_over_is_told_though_no_line_is_shown() -> None:
    evidence = Evidence("field", "test_output", ("said",), unavailable="not found: logs/t")
    flip = Flip(a_flip().comparison, a_flip().rows, new=evidence)
    assert lines(flip) == [
        HEAD,
        "    new verifier log passed over: not found: logs/t",
        "    new verifier output (last 1 line of row field 'test_output'):",
        "    | said",
    ]
    silent = Flip(flip.comparison, flip.rows, new=Evidence("field", "test_output", (), unavailable="not found: logs/t"))
    assert lines(silent) == [HEAD, "    new verifier log passed over: not found: logs/t"]


def test_blank_lines_of_output_end_at_their_mark() -> None:
    flip = Flip(a_flip().comparison, a_flip().rows, new=Evidence("field", "test_output", ("", "x  ")))
    assert lines(flip)[-2:] == ["    |", "    | x"]


def test_the_order_of_what_a_flip_shows() -> None:
    flip = Flip(
        a_flip(
            old=a_side(0.75, rows=4, reward_rows=4, mark=Mark("error", "a"), failure_kind="k"),
            new=a_side(0.25, rows=4, reward_rows=3, mark=Mark("E", "b"), failure_kind="l"),
        ).comparison,
        a_flip().rows,
        new=LOST,
        tests=TestChanges(("x", "y"), ("z",)),
        repeats=Repeats(3, 4, 1, 4, 34 / 70, True),
    )
    assert lines(flip) == [
        "### t: old=0.75 (mean of 4 rows) new=0.25 (mean of 3 of 4 rows) -> old wins",
        "    attempts solved: 3/4 -> 1/4 (Fisher's exact p = 0.49: within noise)",
        "    old agent error: error: a",
        "    old scored with failure_kind=k (not masked)",
        "    new agent error: E=b",
        "    new scored with failure_kind=l (not masked)",
        "    broken tests (2): x, y",
        "    fixed tests (1): z",
        "    new verifier output (last 1 line of row field 'test_output'):",
        "    | 1 failed",
    ]


def test_rewards_that_are_equal_when_rounded_are_shown_in_full() -> None:
    assert lines(a_flip(old=a_side(0.50001), new=a_side(0.5))) == [
        "### t: old=0.5 new=0.5 -> old wins",
        "    rewards in full: old=0.50001 new=0.5",
    ]


# Tests


@pytest.mark.parametrize(("number", "more"), [(1, ""), (10, ""), (11, " and 1 more"), (300, " and 290 more")])
def test_at_most_ten_tests_are_named(number: int, more: str) -> None:
    names = tuple(f"n{i:03}" for i in range(number))
    flip = Flip(a_flip().comparison, a_flip().rows, tests=TestChanges(fixed=names))
    assert lines(flip)[1:] == [f"    fixed tests ({number}): {', '.join(names[:10])}{more}"]


@pytest.mark.parametrize("tests", [None, TestChanges()])
def test_no_changed_test_is_no_line(tests: TestChanges | None) -> None:
    assert lines(Flip(a_flip().comparison, a_flip().rows, tests=tests)) == [HEAD]


# So many, and no more


def test_the_first_flips_and_how_many_more_there_are() -> None:
    flips = [a_flip(f"t{number}") for number in range(4)]
    heads = [f"### t{number}: old=1.0 new=0.0 -> old wins" for number in range(4)]
    assert lines(*flips, most=2) == [*heads[:2], "... and 2 more flips"]
    assert lines(*flips, most=0) == ["... and 4 more flips"]
    assert lines(*flips, most=4) == lines(*flips, most=9) == lines(*flips) == heads


# Clusters


def test_signatures_that_several_flips_have_in_common() -> None:
    clusters = [
        Cluster("ModuleNotFoundError: No module named 'numpy'", 12, 0, tuple(f"t{n:02}" for n in range(12))),
        Cluster("timed out", 0, 2, ("a", "b")),
        Cluster("alone", 1, 0, ("c",)),
    ]
    assert list(cluster_lines(clusters)) == [
        "",
        "## Flips with the same cause (2)",
        "12 lost, 0 won: ModuleNotFoundError: No module named 'numpy'",
        "    t00, t01, t02, t03, t04, t05, t06, t07, t08, t09 and 2 more",
        "0 lost, 2 won: timed out",
        "    a, b",
    ]


def test_a_cluster_that_one_side_lost_comes_before_a_larger_one_of_both() -> None:
    """12 - 4 = 8 and 9 - 1 = 8 tie and the larger one counts; 6 - 0 = 6; 3 - 3 = 0."""
    clusters = [
        Cluster("timed out", 12, 4, tuple(f"t{n}" for n in range(16))),
        Cluster("Both: as many", 5, 5, tuple(f"b{n}" for n in range(10))),
        Cluster("KeyError: 'a'", 1, 9, tuple(f"k{n}" for n in range(10))),
        Cluster("HTTP 502", 9, 0, tuple(f"h{n}" for n in range(9))),
        Cluster("Both: fewer", 1, 1, ("x", "y")),
        Cluster("Both: equally few", 1, 1, ("v", "w")),
    ]
    assert [line for line in cluster_lines(clusters) if " lost, " in line] == [
        "9 lost, 0 won: HTTP 502",
        "12 lost, 4 won: timed out",
        "1 lost, 9 won: KeyError: 'a'",
        "5 lost, 5 won: Both: as many",
        "1 lost, 1 won: Both: equally few",
        "1 lost, 1 won: Both: fewer",
    ]


def test_errors_of_one_form_are_not_said_to_have_one_cause() -> None:
    assert list(cluster_lines([Cluster("assert <n> == <n>", 1, 1, ("a", "b"))]))[2] == (
        "1 lost, 1 won, same form of error: assert <n> == <n>"
    )
    [_, form] = lines(replace(a_flip(), signature="assert <n> == <n>"))
    assert form == "    form of error: assert <n> == <n>"
    [_, cause] = lines(replace(a_flip(), signature="timed out"))
    assert cause == "    cause: timed out"


@pytest.mark.parametrize("clusters", [[], [Cluster("alone", 1, 0, ("c",))]])
def test_flips_that_have_nothing_in_common_have_no_such_section(clusters: list[Cluster]) -> None:
    assert list(cluster_lines(clusters)) == []


# Failing on both sides


def test_tasks_that_fail_for_another_reason_are_told_by_ten_pairs_of_reasons() -> None:
    groups = [OtherReasons(f"Old{n}", f"New{n}", (f"a{n}", f"b{n}")) for n in range(12)]
    told = [[f"2 tasks: New{n}", f"    before: Old{n}", f"    a{n}, b{n}"] for n in range(12)]
    ten = [line for group in told[:10] for line in group]
    title = "## Failing on both sides for another reason"
    assert list(other_reason_lines([])) == []
    assert list(other_reason_lines(groups[:10])) == ["", f"{title} (20)", *ten]
    assert list(other_reason_lines(groups[:11])) == [
        "", f"{title} (22)", *ten, "... and 2 more tasks with 1 other pair of reasons",
    ]  # fmt: skip
    assert list(other_reason_lines(groups)) == [
        "", f"{title} (24)", *ten, "... and 4 more tasks with 2 other pairs of reasons",
    ]  # fmt: skip


# The whole report


def result_of(*tasks: Flip | TaskComparison, **others: Any) -> CompareResult:
    flips = tuple(task for task in tasks if isinstance(task, Flip))
    comparisons = [task.comparison if isinstance(task, Flip) else task for task in tasks]
    return CompareResult(comparisons, "task_id", "task_id", 1, 1, 0, 0, flips=flips, **others)


EVERY_KIND = result_of(
    TaskComparison("i", Category.IDENTICAL, a_side(0.5), a_side(0.5)),
    a_flip("f"),
    a_flip("d", new=a_side(0.0, mark=Mark("error", "oops"))),
    TaskComparison("m", Category.MASKED, a_side(1.0), a_side(0.0, mask=Mask(MaskKind.MASK_SAMPLE))),
    TaskComparison("x", Category.MISSING, a_side(1.0), None),
    clusters=(Cluster("same", 2, 0, ("d", "f")),),
)
SECTIONS = {
    Category.IDENTICAL: ["## Identical (1)"],
    Category.FLIPPED: ["## Flips with the same cause (1)", "## Flips (1)"],
    Category.FLIPPED_AGENT_ERROR: ["## Flips with agent errors (1)"],
    Category.MASKED: ["## Masked (1)"],
    Category.MISSING: ["## Missing (1)"],
}


def sections(shown: Shown | None) -> list[str]:
    return [line for line in report_lines(EVERY_KIND, shown) if line.startswith("## ")]


def test_all_sections_but_the_identical_tasks_are_shown_clusters_before_flips() -> None:
    assert (
        sections(None)
        == sections(Shown())
        == [
            heading
            for category, headings in SECTIONS.items()
            if category is not Category.IDENTICAL
            for heading in headings
        ]
    )


@pytest.mark.parametrize("category", Category)
def test_only_one_section(category: Category) -> None:
    assert sections(Shown((category,))) == sections(Shown((category.value,))) == SECTIONS[category]


def test_only_several_sections_whatever_their_order() -> None:
    shown = Shown((Category.MISSING, Category.IDENTICAL))
    assert sections(shown) == ["## Identical (1)", "## Missing (1)"]
    assert "- i: 0.5" in list(report_lines(EVERY_KIND, shown))


def test_counts_are_those_of_the_whole_whatever_is_shown() -> None:
    counts = list(report_lines(EVERY_KIND))[:9]
    assert list(report_lines(EVERY_KIND, Shown((Category.MISSING,), 0)))[:9] == counts
    assert counts[5].startswith("flipped                      1 ")


def test_an_empty_section_that_was_asked_for_is_shown_empty() -> None:
    result = result_of(TaskComparison("i", Category.IDENTICAL, a_side(0.5), a_side(0.5)))
    for shown, headings in (
        (Shown((Category.FLIPPED,)), ["## Flips (0)"]),
        (Shown((Category.MASKED,)), ["## Masked (0)"]),
        (Shown(), ["## Flips (0)", "## Masked (0)", "## Missing (0)"]),
    ):
        assert [line for line in report_lines(result, shown) if line.startswith("## ")] == headings


def test_each_kind_of_flips_has_so_many() -> None:
    result = result_of(
        *(a_flip(f"f{n}") for n in range(3)), *(a_flip(f"d{n}", a_side(1.0, mark=Mark("error", "e"))) for n in range(2))
    )
    told = list(report_lines(result, Shown(max_flips=1)))
    assert [line for line in told if line.startswith("...")] == [
        "... and 2 more flips",
        "... and 1 more flip",
    ]
    assert "## Flips (3)" in told
    assert "## Flips with agent errors (2)" in told


def test_no_text_from_inputs_forges_a_line_or_reaches_a_terminal() -> None:
    bad = "a\n## Masked (9)\x1b[31m\r\x07\u2028"
    flip = Flip(
        a_flip(bad, a_side(1.0, mark=Mark(bad, bad), failure_kind=bad)).comparison,
        a_flip().rows,
        new=Evidence("file", bad, ("safe",), bad),
        old=Evidence(None, unavailable=bad),
        tests=TestChanges((bad,), (bad,)),
    )
    told = [*lines(flip, sides=2), *cluster_lines([Cluster(bad, 2, 0, (bad, bad))])]
    assert controls("".join(told)) == set()
    assert not any("\n" in line or "\u2028" in line for line in told)
    assert [line for line in told if line.startswith("##") and not line.startswith("### a\\n")] == [
        "## Flips with the same cause (1)"
    ]


def test_what_is_long_is_cut_and_an_empty_label_is_made_visible() -> None:
    long = "x" * 5000
    flip = Flip(
        a_flip(long).comparison, a_flip().rows, new=Evidence(None, unavailable=long), tests=TestChanges((long, ""))
    )
    told = [*lines(flip), *cluster_lines([Cluster(long, 2, 0, (long, ""))])]
    assert max(map(len, told)) < 500
    assert told[1].endswith(", ''")
    assert told[-1].endswith(", ''")


def attempts(**tasks: str) -> list[dict[str, Any]]:
    return [{"task_id": task, "reward": int(mark)} for task, marks in tasks.items() for mark in marks]


def test_flips_beyond_noise_come_first_then_the_largest_changes_then_labels() -> None:
    """4/4 to 0/4 and to 0/8 are beyond noise; 3/4 to 1/4 is noise; of one attempt nobody knows."""
    old = attempts(noise="1110", a="1111", single="1", b="1111", small="1111")
    new = attempts(noise="0001", a="0000", single="0", b="0000", small="1110")
    result = compare_rollouts(old, new)

    def named(**shown: Any) -> list[str]:
        lines = report_lines(result, Shown(categories=("flipped",), **shown))
        return [line.split(":")[0].removeprefix("### ") for line in lines if line.startswith("### ")]

    assert named() == ["a", "b", "single", "noise", "small"]
    assert named(sort="label") == ["a", "b", "noise", "single", "small"]
    assert named(hide_noise=True) == ["a", "b", "single"]
    lines = list(report_lines(result, Shown(categories=("flipped",), hide_noise=True, max_flips=2)))
    assert "## Flips (5)" in lines
    assert lines[-4:-2] == ["... and 1 more flip", "2 flips within the noise of repeated attempts not shown"]
