"""The report's lines on what else changed, what it cost, and where the agents parted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import Change, Cost, Parted, Truncated, compare_rollouts
from nemo_gym.rollout_compare.report.terminal.changes import (
    change_lines,
    change_text,
    cost_lines,
    parted_lines,
    settings_parts,
)
from nemo_gym.rollout_compare.schema import Carrier, CompareResult, Ratio, setting_text, summed_up

NOTHING = compare_rollouts([{"task_id": "a", "reward": 1}], [{"task_id": "a", "reward": 1}])


def change(
    field: str, old: Mapping[str, int], new: Mapping[str, int], *, tasks: int = 1, first: int | None = None
) -> Change:
    rows = max(sum(old.values()), sum(new.values()))
    return Change(field, old, new, len(old), len(new), tasks, rows, first_difference=first)


def tools(*names: str, version: int = 1) -> str:
    return setting_text("tools", [{"name": name, "version": version} for name in names]) or ""


LONG, OTHER = summed_up("x" * 812), summed_up("y" * 840)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (change("model", {"gpt-x": 40}, {"gpt-y": 40}), "model: gpt-x -> gpt-y"),
        (change("limit", {"4096": 40}, {"4096": 28, "none": 12}), "limit: 4096 -> none on 12 of 40 rows"),
        (change("limit", {"4096": 28, "none": 12}, {"4096": 40}), "limit: none on 12 of 40 rows -> 4096"),
        (change("model", {"a": 1, "b": 1}, {"c": 2}), "model: a on 1 of 2 rows, b on 1 of 2 rows -> c"),
        (
            change("model", {"a": 3, "b": 1}, {"a": 1, "b": 3}),
            "model: a on 3 of 4 rows, b on 1 of 4 rows -> a on 1 of 4 rows, b on 3 of 4 rows",
        ),
        (
            change("seed", {"1": 1, "2": 1, "3": 1, "4": 1}, {"1": 1, "2": 1, "3": 1, "5": 1}),
            "seed: differs (in 1 of 4 tasks)",
        ),
        (change("tools", {tools("bash"): 2}, {tools("bash", "browser"): 2}), "tools: + browser"),
        (change("tools", {tools("bash", "x"): 2}, {tools("bash", "y"): 2}), "tools: + y, - x"),
        (change("tools", {tools("bash"): 2}, {"none": 2}), "tools: - bash"),
        (change("tools", {tools("bash"): 2}, {tools("bash", version=2): 2}), "tools: same names, other definitions"),
        (
            change("tools", {"none": 2}, {tools(*"abcdefg"): 2}),
            "tools: + a, + b, + c, + d, + e and 2 more",
        ),
        (change("tools", {tools("a"): 2, "none": 1}, {"none": 3}), "tools: a on 2 of 3 rows -> none"),
        (change("system prompt", {LONG: 2}, {OTHER: 2}), "system prompt: differs (812 characters -> 840 characters)"),
        (
            change("system prompt", {LONG: 2}, {OTHER: 2}, first=1812),
            "system prompt: differs (first difference at character 1,812)",
        ),
        (
            change("system prompt", {LONG: 1, OTHER: 1}, {OTHER: 2}, first=1),
            "system prompt: differs (in 1 of 2 tasks; first difference at character 1)",
        ),
        (change("system prompt", {LONG: 1}, {"none": 1}), "system prompt: 812 characters -> none"),
        (
            change("x\x1b[31m\ny", {"a\x07": 1}, {"b" * 80: 1}),
            f"x\\ny: a\\x07 -> {'b' * 30}... (20 more characters) ...{'b' * 30}",
        ),
    ],
)  # fmt: skip
def test_a_change_in_a_line(one: Change, text: str) -> None:
    assert change_text(one) == text


def test_the_section_has_15_lines_at_most() -> None:
    def lines(count: int) -> list[str]:
        made = tuple(change(f"s{i}", {"1": 1}, {"2": 1}) for i in range(count))
        return list(change_lines(replace(NOTHING, changes=made)))

    assert lines(1) == ["", "## What else changed", "s0: 1 -> 2"]
    assert len(lines(15)) == 17
    assert lines(15)[-1] == "s14: 1 -> 2"
    assert len(lines(40)) == 17
    assert lines(40)[-2:] == ["s13: 1 -> 2", "... and 26 more settings"]


@pytest.mark.parametrize(
    ("compared", "lines"),
    [
        ((), []),
        (("model",), [("settings", "no difference in model")]),
        (tuple("abcdefg"), [("settings", "no difference in a, b, c, d, e and 2 more")]),
    ],
)
def test_without_a_difference_it_is_said_what_was_compared(
    compared: tuple[str, ...], lines: list[tuple[str, str]]
) -> None:
    assert list(settings_parts(replace(NOTHING, settings_compared=compared))) == lines
    assert list(change_lines(replace(NOTHING, settings_compared=compared))) == []
    changed = replace(NOTHING, settings_compared=compared, changes=(change("x", {"1": 1}, {"2": 1}),))
    assert list(settings_parts(changed)) == []


def costing(*costs: Cost, truncated: Truncated | None = None) -> CompareResult:
    return replace(NOTHING, costs=costs, truncated=truncated)


NO_RATIO = Ratio(5, reason="5 tasks with such a cost on both sides, it takes 6")


def test_costs() -> None:
    costs = (
        Cost("output-tokens", 200, 5210.4, 6148, Ratio(200, 1.18, 1.12, 1.25), Ratio(120, 1.05, 0.98, 1.13)),
        Cost("cached-tokens", 200, 0, 310, Ratio(150, 1200.0, 0.05, 1.5e5), NO_RATIO, Carrier("a\nb", 0.614)),
        Cost("seconds", 200, 1.26, 0.05, Ratio(200, 2.0, reason="no spread"), NO_RATIO),
        Cost("tool-calls", 200, 3, 3, Ratio(200, 1.0, reason="no spread"), NO_RATIO),
        Cost("dollars", 200, 1234.5, 0.012, Ratio(200, 0.5, 0.4, 0.6), Ratio(200, 0.5, 0.4, 0.6)),
        Cost("turns", 200, 0, 0, NO_RATIO, NO_RATIO),
    )
    assert list(cost_lines(costing(*costs))) == [
        "",
        "## Cost",
        "output tokens: 5,210 -> 6,148, 1.18 times (1.12 to 1.25, 200 tasks)",
        "    solved by both: 1.05 times (0.98 to 1.13, 120 tasks)",
        "cached tokens: 0 -> 310, 1.2e+03 times (0.05 to 1.5e+05, 150 of 200 tasks)",
        "    61% of the change is one task: a\\nb",
        "seconds: 1.3 -> 0.05, 2.00 times in each of 200 tasks",
        "tool calls: 3.0 -> 3.0, the same in each of 200 tasks",
        "dollars: $1,234.50 -> $0.012, 0.50 times (0.40 to 0.60, 200 tasks)",
    ]


def test_why_there_is_no_ratio_is_said_once_if_it_is_so_for_all() -> None:
    few = Cost("turns", 5, 1, 2, NO_RATIO, NO_RATIO)
    fewer = replace(few, measure="seconds", ratio=replace(NO_RATIO, reason="1 task"))
    assert list(cost_lines(costing(few)))[2:] == ["turns: 1.0 -> 2.0", f"no ratio: {NO_RATIO.reason}"]
    ratio = Cost("dollars", 6, 1, 2, Ratio(6, 2.0), NO_RATIO)
    assert list(cost_lines(costing(few, ratio)))[2:] == [
        f"turns: 1.0 -> 2.0, no ratio: {NO_RATIO.reason}",
        "dollars: $1.00 -> $2.00, 2.00 times in each of 6 tasks",
    ]
    assert list(cost_lines(costing(few, fewer)))[2:] == [
        f"turns: 1.0 -> 2.0, no ratio: {NO_RATIO.reason}",
        "seconds: 1.0 -> 2.0, no ratio: 1 task",
    ]


@pytest.mark.parametrize(
    ("truncated", "lines"),
    [
        (None, []),
        (Truncated(0, 40, 0, 40), []),
        (Truncated(2, 40, 1, 1), ["", "## Cost", "answers cut off by a limit: old 2 of 40 rows, new 1 of 1 row"]),
        (Truncated(0, 0, 3, 40), ["", "## Cost", "answers cut off by a limit: old not known, new 3 of 40 rows"]),
    ],
)
def test_answers_that_were_cut_off(truncated: Truncated | None, lines: list[str]) -> None:
    assert list(cost_lines(costing(truncated=truncated))) == lines


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            Parted(3, 'bash "pytest -q"', 'bash "ls tests"', 12, 15),
            ['    parted at step 3 of 12 and 15: old bash "pytest -q", new bash "ls tests"'],
        ),
        (Parted(2, 'bash "ls"', None, 2, 1), ['    parted at step 2 of 2 and 1: old bash "ls", new ended']),
        (Parted(None, None, None, 1, 1), ["    both agents did the same (1 step)"]),
        (
            Parted(1, f'"{"x" * 100}"', '"y"', 1, 1),
            ["    parted at step 1 of 1 and 1:", f'        old "{"x" * 63}..."', '        new "y"'],
        ),
    ],
)
def test_where_agents_parted(found: Parted, lines: list[str]) -> None:
    assert list(parted_lines(found)) == lines
    assert all(len(line) <= 80 for line in lines)
