from __future__ import annotations

import re
from typing import Any

import pytest

from nemo_gym.rollout_compare.report.terminal.text import report_lines
from nemo_gym.rollout_compare.schema import (
    Category,
    CompareResult,
    Evidence,
    Flip,
    Mark,
    Mask,
    MaskKind,
    Note,
    NoteKind,
    Side,
    TaskComparison,
    TaskRows,
    TaskSide,
)
from tests.support import NOWHERE


def _side(reward: float | None, **others: Any) -> TaskSide:
    return TaskSide(**{"rows": 1, "reward": reward, "reward_rows": int(reward is not None), **others})


def _flip(task: str, old: TaskSide, new: TaskSide, evidence: Evidence | None = None) -> Flip:
    doubtful = old.mark or new.mark
    category = Category.FLIPPED_AGENT_ERROR if doubtful else Category.FLIPPED
    assert old.reward is not None
    assert new.reward is not None
    winner = Side.OLD if old.reward > new.reward else Side.NEW
    comparison = TaskComparison(task, category, old, new, winner)
    said = {winner.other: evidence}
    return Flip(comparison, TaskRows(comparison, NOWHERE, NOWHERE), said.get(Side.OLD), said.get(Side.NEW))


def _result(*tasks: TaskComparison | Flip, **others: Any) -> CompareResult:
    values: dict[str, Any] = {
        "tasks": [one.comparison if isinstance(one, Flip) else one for one in tasks],
        "flips": tuple(one for one in tasks if isinstance(one, Flip)),
        "old_key": "task_id",
        "new_key": "task_id",
        "old_rows": sum(one.comparison.old is not None if isinstance(one, Flip) else bool(one.old) for one in tasks),
        "new_rows": sum(one.comparison.new is not None if isinstance(one, Flip) else bool(one.new) for one in tasks),
        "old_masked_rows": 0,
        "new_masked_rows": 0,
        **others,
    }
    return CompareResult(**values)


def _lines(*tasks: TaskComparison | Flip, **others: Any) -> list[str]:
    return list(report_lines(_result(*tasks, **others)))


def _section(title: str, *tasks: TaskComparison | Flip, **others: Any) -> list[str]:
    """The lines of a section, up to the next one."""
    lines = _lines(*tasks, **others)
    (start,) = [i for i, line in enumerate(lines) if line.startswith(f"## {title} (")]
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines) + 1)
    return lines[start : end - 1]


MASKED_SIDE = _side(None, mask=Mask(MaskKind.MASK_SAMPLE, "agent_timeout"))
EVERY_KIND = (
    _flip(
        "fix-add",
        _side(0.0),
        _side(1.0, mark=Mark("terminus2_error_type", "TimeoutError")),
        Evidence("field", "test_output", ("E assert 3 == 4", "1 failed")),
    ),
    TaskComparison("echo", Category.IDENTICAL, _side(1.0), _side(1.0)),
    TaskComparison("extra-task", Category.MISSING, None, _side(0.0)),
    TaskComparison("slow-task", Category.MASKED, _side(1.0), MASKED_SIDE),
    _flip(
        "sort-list",
        _side(1.0),
        TaskSide(3, 1 / 3, 3),
        Evidence("file", "runs/new/logs/7/test-stdout.txt", ("FAILED test_order", "1 failed, 4 passed")),
    ),
)


def test_the_report_has_the_documented_shape() -> None:
    lines = _lines(
        *EVERY_KIND,
        old_key="task_name",
        new_key="_ng_task_id",
        old_prefix_stripped="bench/",
        old_rows=4,
        new_rows=7,
        new_masked_rows=1,
        notes=(Note(NoteKind.SEVERAL_ROWS, Side.NEW, ("sort-list",), fewest=3, most=3),),
    )
    doubt = next(line for line in lines if line.startswith("flipped (agent error)"))
    assert lines == [
        "gym dev compare: 5 tasks (old 4 rows, new 7 rows incl. 1 masked)",
        "join key: old=task_name (prefix 'bench/' stripped), new=_ng_task_id",
        "note: the new run has several rows a task (1 task x 3 attempts), compared by their mean reward",
        "",
        "category                 count",
        "identical                    1",
        "flipped                      1   old-win 1, new-win 0",
        doubt,
        "masked                       1   old 0, new 1",
        "missing                      1   old-only 0, new-only 1",
        "",
        "## Flips (1)",
        "### sort-list: old=1.0 new=0.3333 (mean of 3 rows) -> old wins",
        "    new verifier output (last 2 lines of runs/new/logs/7/test-stdout.txt):",
        "    | FAILED test_order",
        "    | 1 failed, 4 passed",
        "",
        "## Flips with agent errors (1)",
        "### fix-add: old=0.0 new=1.0 -> new wins",
        "    new agent error: terminus2_error_type=TimeoutError",
        "    old verifier output (last 2 lines of row field 'test_output'):",
        "    | E assert 3 == 4",
        "    | 1 failed",
        "",
        "## Masked (1)",
        "- slow-task: old=1.0 new=none; new mask_sample (failure_kind=agent_timeout)",
        "",
        "## Missing (1)",
        "- extra-task: only on new side (reward 0.0)",
    ]
    assert re.fullmatch(r"flipped \(agent error\) {8}1   \S.*\S", doubt)


def test_a_comparison_without_anything_to_tell_has_empty_sections_and_no_doubtful_flips() -> None:
    lines = _lines(TaskComparison("a", Category.IDENTICAL, _side(1.0), _side(1.0)))
    assert lines == [
        "gym dev compare: 1 task (old 1 row, new 1 row)",
        "join key: old=task_id, new=task_id",
        "",
        "category                 count",
        "identical                    1",
        "flipped                      0   old-win 0, new-win 0",
        "flipped (agent error)        0",
        "masked                       0   old 0, new 0",
        "missing                      0   old-only 0, new-only 0",
        "",
        "## Flips (0)",
        "",
        "## Masked (0)",
        "",
        "## Missing (0)",
    ]


def test_the_same_result_gives_the_same_lines() -> None:
    assert _lines(*EVERY_KIND) == _lines(*EVERY_KIND)


@pytest.mark.parametrize(
    ("masked", "text"),
    [((0, 0), "(old 3 rows, new 1 row)"), ((2, 1), "(old 3 rows incl. 2 masked, new 1 row incl. 1 masked)")],
)
def test_the_first_line_counts_rows_and_those_masked(masked: tuple[int, int], text: str) -> None:
    lines = _lines(old_rows=3, new_rows=1, old_masked_rows=masked[0], new_masked_rows=masked[1])
    assert lines[0] == f"gym dev compare: 0 tasks {text}"


def test_a_prefix_is_named_on_the_side_that_lost_it() -> None:
    lines = _lines(new_prefix_stripped="org/bench/")
    assert lines[1] == "join key: old=task_id, new=task_id (prefix 'org/bench/' stripped)"


class TestNotes:
    @pytest.mark.parametrize(
        ("count", "named", "more"), [(1, 1, None), (10, 10, None), (11, 10, "1 more"), (250, 10, "240 more")]
    )
    def test_a_note_names_at_most_ten_tasks_and_then_how_many_more(
        self, count: int, named: int, more: str | None
    ) -> None:
        tasks = tuple(f"t{i:03}" for i in range(count))
        (note,) = [
            line for line in _lines(notes=(Note(NoteKind.OTHER_INPUT, tasks=tasks),)) if line.startswith("note: ")
        ]
        assert re.findall(r"t\d{3}", note) == list(tasks[:named])
        assert re.findall(r"\d+ more", note) == ([more] if more else [])

    def test_notes_stand_between_the_key_and_the_table_in_their_order(self) -> None:
        assert _lines(notes=(Note(NoteKind.NO_ROWS, Side.NEW), Note(NoteKind.NO_ROWS, Side.OLD)))[1:5] == [
            "join key: old=task_id, new=task_id",
            "note: the new run has no rows",
            "note: the old run has no rows",
            "",
        ]

    def test_a_task_in_a_note_cannot_forge_a_line(self) -> None:
        lines = _lines(notes=(Note(NoteKind.FIRST_TASKS, Side.OLD, ("a\nnote: forged",), field="ids\nnote: forged"),))
        assert [line for line in lines if line.startswith("note: ")] == [
            r"note: first old tasks by ids\nnote: forged: a\nnote: forged"
        ]


class TestFlips:
    @pytest.mark.parametrize(
        ("old", "new", "text"),
        [
            (_side(1.0), _side(0.0), "old=1.0 new=0.0 -> old wins"),
            (_side(0.0), _side(1.0), "old=0.0 new=1.0 -> new wins"),
            (_side(-1.0), _side(-0.5), "old=-1.0 new=-0.5 -> new wins"),
            (_side(2 / 3), _side(1 / 3), "old=0.6667 new=0.3333 -> old wins"),
            (
                TaskSide(2, 0.5, 2),
                TaskSide(3, 0.25, 2),
                "old=0.5 (mean of 2 rows) new=0.25 (mean of 2 of 3 rows) -> old wins",
            ),
        ],
    )
    def test_a_flip_shows_both_rewards_and_the_winner(self, old: TaskSide, new: TaskSide, text: str) -> None:
        assert _section("Flips", _flip("a", old, new)) == ["## Flips (1)", f"### a: {text}"]

    def test_rewards_are_rounded_to_four_places_even_where_they_then_look_the_same(self) -> None:
        flip = _flip("a", _side(0.500012), _side(0.500013))
        assert _section("Flips", flip)[1] == "### a: old=0.5 new=0.5 -> new wins"

    def test_each_side_shows_its_agent_error_and_its_failure_kind(self) -> None:
        old = _side(0.0, mark=Mark("error", "gone"), failure_kind="tests")
        new = _side(1.0, mark=Mark("x_error_type", "Late"), failure_kind="limit")
        assert _section("Flips with agent errors", _flip("a", old, new))[2:] == [
            "    old agent error: error: gone",
            "    old scored with failure_kind=tests (not masked)",
            "    new agent error: x_error_type=Late",
            "    new scored with failure_kind=limit (not masked)",
        ]

    def test_a_failure_kind_alone_leaves_a_certain_flip(self) -> None:
        section = _section("Flips", _flip("a", _side(1.0), _side(0.0, failure_kind="tests")))
        assert section[2:] == ["    new scored with failure_kind=tests (not masked)"]

    def test_flips_keep_their_order_in_either_section(self) -> None:
        error = {"mark": Mark("error", "x")}
        tasks = [
            _flip("a", _side(1.0), _side(0.0, **error)),
            _flip("b", _side(1.0), _side(0.0)),
            _flip("c", _side(1.0, **error), _side(0.0)),
            _flip("d", _side(0.0), _side(1.0)),
        ]
        heads = [line.split(":")[0] for line in _lines(*tasks) if line.startswith("##")]
        assert heads == [
            *["## Flips (2)", "### b", "### d"],
            *["## Flips with agent errors (2)", "### a", "### c"],
            *["## Masked (0)", "## Missing (0)"],
        ]

    @pytest.mark.parametrize(("old", "new", "loser"), [(1.0, 0.0, "new"), (0.0, 1.0, "old")])
    def test_unavailable_output_of_the_loser_is_one_line(self, old: float, new: float, loser: str) -> None:
        flip = _flip("a", _side(old), _side(new), Evidence(None, unavailable="no logs/1"))
        assert _section("Flips", flip)[2:] == [f"    {loser} verifier output unavailable: no logs/1"]

    def test_one_line_of_output_is_called_a_line(self) -> None:
        flip = _flip("a", _side(1.0), _side(0.0), Evidence("field", "test_output", ("1 failed",)))
        assert _section("Flips", flip)[2:] == [
            "    new verifier output (last 1 line of row field 'test_output'):",
            "    | 1 failed",
        ]

    def test_blank_lines_of_output_keep_their_place(self) -> None:
        flip = _flip("a", _side(1.0), _side(0.0), Evidence("field", "test_output", ("one", "", "  two")))
        assert _section("Flips", flip)[3:] == ["    | one", "    |", "    |   two"]

    def test_a_log_that_could_not_be_read_is_told_beside_the_field_that_was(self) -> None:
        evidence = Evidence("field", "test_output", ("1 failed",), "cannot read logs/1: Permission denied")
        assert _section("Flips", _flip("a", _side(1.0), _side(0.0), evidence))[2:] == [
            "    new verifier log passed over: cannot read logs/1: Permission denied",
            "    new verifier output (last 1 line of row field 'test_output'):",
            "    | 1 failed",
        ]


class TestMasked:
    @pytest.mark.parametrize(
        ("old", "new", "text"),
        [
            (_side(1.0), MASKED_SIDE, "old=1.0 new=none; new mask_sample (failure_kind=agent_timeout)"),
            (_side(0.5, mask=Mask(MaskKind.MASK_SAMPLE)), _side(0.0), "old=0.5 new=0.0; old mask_sample"),
            (
                _side(None, mask=Mask(MaskKind.NO_REWARD)),
                _side(None, mask=Mask(MaskKind.NON_FINITE, "nan")),
                "old=none new=none; old no reward; new non-finite reward (nan)",
            ),
            (
                TaskSide(3, 0.5, 2, mask=Mask(MaskKind.NO_REWARD), masked_rows=1),
                _side(1.0),
                "old=0.5 (mean of 2 of 3 rows) new=1.0; old 1/3 rows masked: no reward",
            ),
        ],
    )
    def test_a_masked_task_shows_both_rewards_and_why(self, old: TaskSide, new: TaskSide, text: str) -> None:
        task = TaskComparison("a", Category.MASKED, old, new)
        assert _section("Masked", task) == ["## Masked (1)", f"- a: {text}"]

    def test_an_anonymous_failure_shows_its_side(self) -> None:
        task = TaskComparison("unknown#1", Category.MASKED, None, MASKED_SIDE)
        line = _section("Masked", task)[1]
        assert line == "- unknown#1: new=none; new mask_sample (failure_kind=agent_timeout)"


class TestMissing:
    @pytest.mark.parametrize(
        ("old", "new", "text"),
        [
            (_side(1.0), None, "only on old side (reward 1.0)"),
            (None, _side(0.0), "only on new side (reward 0.0)"),
            (None, TaskSide(2, 1 / 3, 2), "only on new side (reward 0.3333 (mean of 2 rows))"),
        ],
    )
    def test_a_missing_task_shows_the_side_that_has_it(
        self, old: TaskSide | None, new: TaskSide | None, text: str
    ) -> None:
        task = TaskComparison("a", Category.MISSING, old, new)
        assert _section("Missing", task) == ["## Missing (1)", f"- a: {text}"]

    def test_a_missing_task_without_a_reward_says_so(self) -> None:
        task = TaskComparison("a", Category.MISSING, _side(None, mask=Mask(MaskKind.NO_REWARD)), None)
        assert _section("Missing", task)[1].startswith("- a: only on old side (reward none")


FORGERIES = [
    "x\n## Flips (99)",
    "x\r\n- y: only on old side (reward 1.0)",
    "\x1b[2Jx",
    "x\u2028## Masked (7)",
    "\x9b31mx",
    "x\x85## y",
]


@pytest.mark.parametrize("text", FORGERIES)
@pytest.mark.parametrize(
    "place", ["task", "agent_error", "failure_kind", "masked", "path", "unavailable", "key", "prefix"]
)
def test_no_text_from_an_input_reaches_a_line_raw(place: str, text: str) -> None:
    def at(name: str) -> str:
        return text if place == name else "plain"

    old = _side(0.0, mark=Mark("error", at("agent_error")), failure_kind=at("failure_kind"))
    tasks: list[TaskComparison | Flip] = [
        _flip(at("task"), old, _side(1.0), Evidence("field", at("path"), ("1 failed",))),
        _flip(at("task"), _side(1.0), _side(0.0), Evidence("file", at("path"), ("1 failed",), at("unavailable"))),
        _flip(at("task"), _side(1.0), _side(0.0), Evidence(None, unavailable=at("unavailable"))),
        TaskComparison(
            at("task"),
            Category.MASKED,
            _side(1.0, mask=Mask(MaskKind.MASK_SAMPLE, at("masked"))),
            _side(None, mask=Mask(MaskKind.MASK_SAMPLE, at("masked"))),
        ),
        TaskComparison(at("task"), Category.MISSING, _side(1.0, mask=Mask(MaskKind.MASK_SAMPLE, at("masked"))), None),
    ]
    lines = _lines(*tasks, old_key=at("key"), new_prefix_stripped=at("prefix"))
    assert all(line.isprintable() for line in lines)
    plain = list(report_lines(_plainly(_result(*tasks))))
    assert len(lines) == len(plain)
    assert [line for line in lines if line.startswith("## ")] == [line for line in plain if line.startswith("## ")]


def _plainly(result: CompareResult) -> CompareResult:
    """The same shape of result without hostile text: what the number of lines must be."""
    flips = [
        _flip("t", _side(0.0, mark=Mark("error", "e"), failure_kind="k"), _side(1.0), Evidence("field", "p", ("x",))),
        _flip("t", _side(1.0), _side(0.0), Evidence("file", "p", ("x",), "u")),
        _flip("t", _side(1.0), _side(0.0), Evidence(None, unavailable="u")),
    ]
    return _result(*flips, *(task for task in result.tasks if task.category in (Category.MASKED, Category.MISSING)))


def test_an_empty_label_can_be_seen() -> None:
    line = _section("Missing", TaskComparison("", Category.MISSING, _side(1.0), None))[1]
    assert not line.startswith("- :")
    assert line.endswith(": only on old side (reward 1.0)")


def test_a_label_of_ten_thousand_characters_does_not_flood_the_report() -> None:
    line = _section("Missing", TaskComparison("x" * 10_000, Category.MISSING, _side(1.0), None))[1]
    assert line.startswith("- xxxxxxxx")
    assert len(line) < 400


def test_every_task_is_listed_however_many_there_are() -> None:
    tasks = [TaskComparison(f"t{i:04}", Category.MISSING, _side(1.0), None) for i in range(2000)]
    section = _section("Missing", *tasks)
    assert section[0] == "## Missing (2000)"
    assert section[1:] == [f"- t{i:04}: only on old side (reward 1.0)" for i in range(2000)]
