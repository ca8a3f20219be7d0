from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import compare_rollouts
from nemo_gym.rollout_compare.producers.gym.fields import KEY_CANDIDATES
from nemo_gym.rollout_compare.schema import (
    DEFAULT_TAIL,
    REWARD_TOLERANCE,
    Category,
    CompareInputError,
    CompareResult,
    Mark,
    Mask,
    MaskKind,
    Note,
    NoteKind,
    Side,
    TaskComparison,
    TaskSide,
)


def _side(reward: float | None, **others: Any) -> TaskSide:
    return TaskSide(**{"rows": 1, "reward": reward, "reward_rows": int(reward is not None), **others})


GONE = _side(None, mask=Mask(MaskKind.NO_REWARD))
TASKS = (
    TaskComparison("a", Category.IDENTICAL, _side(1.0), _side(1.0)),
    TaskComparison("b", Category.FLIPPED, _side(1.0), _side(0.0), Side.OLD),
    TaskComparison("c", Category.FLIPPED, _side(0.25), _side(0.5), Side.NEW),
    TaskComparison("d", Category.FLIPPED, _side(-2.0), _side(-1.0), Side.NEW),
    TaskComparison("e", Category.FLIPPED_AGENT_ERROR, _side(0.0, mark=Mark("error", "x")), _side(1.0), Side.NEW),
    TaskComparison("f", Category.FLIPPED_AGENT_ERROR, _side(1.0), _side(0.0, mark=Mark("error", "x")), Side.OLD),
    TaskComparison("g", Category.MASKED, GONE, _side(1.0)),
    TaskComparison("h", Category.MASKED, _side(1.0), GONE),
    TaskComparison("i", Category.MASKED, _side(0.0), GONE),
    TaskComparison("j", Category.MASKED, GONE, GONE),
    TaskComparison("k", Category.MISSING, _side(1.0), None),
    TaskComparison("l", Category.MISSING, None, _side(1.0)),
    TaskComparison("m", Category.MISSING, None, GONE),
    TaskComparison("unknown#1", Category.MASKED, None, GONE),
)
RESULT = CompareResult(TASKS, "task_id", "task_id", 12, 13, 2, 5)


def test_the_key_candidates_stand_in_their_order() -> None:
    assert KEY_CANDIDATES == (
        "_ng_task_id",
        "task_name",
        "task_id",
        "verifier_metadata.task_id",
        "verifier_metadata.task_name",
        "verifier_metadata.instance_id",
        "verifier_metadata.id",
    )


def test_the_fixed_numbers() -> None:
    assert (REWARD_TOLERANCE, DEFAULT_TAIL) == (1e-9, 15)


def test_the_categories_are_the_texts_that_the_summary_shows() -> None:
    assert [str(category) for category in Category] == [
        "identical",
        "flipped",
        "flipped_agent_error",
        "masked",
        "missing",
    ]


def test_the_sides_are_each_others_other() -> None:
    assert [(str(side), str(side.other)) for side in Side] == [("old", "new"), ("new", "old")]


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (TaskSide(1, 1.0, 1), "1.0"),
        (TaskSide(1, 0.0, 1), "0.0"),
        (TaskSide(1, -0.0, 1), "0.0"),
        (TaskSide(1, 1 / 3, 1), "0.3333"),
        (TaskSide(1, 2 / 3, 1), "0.6667"),
        (TaskSide(1, -1.23456, 1), "-1.2346"),
        (TaskSide(1, 0.00004, 1), "0.0"),
        (TaskSide(1, -0.00004, 1), "0.0"),
        (TaskSide(1, 12345.0, 1), "12345.0"),
        (TaskSide(1, None, 0), "none"),
        (TaskSide(3, 1 / 3, 3), "0.3333 (mean of 3 rows)"),
        (TaskSide(2, 1.0, 2), "1.0 (mean of 2 rows)"),
        (TaskSide(3, 0.5, 2), "0.5 (mean of 2 of 3 rows)"),
        (TaskSide(3, 1.0, 1), "1.0 (mean of 1 of 3 rows)"),
        (TaskSide(3, None, 0), "none"),
    ],
)
def test_a_reward_is_shown_rounded_with_the_rows_that_it_is_the_mean_of(side: TaskSide, text: str) -> None:
    assert side.reward_text() == text


@pytest.mark.parametrize(("rows", "repeated"), [(1, False), (2, True), (9, True)])
def test_a_side_is_repeated_with_several_rows(rows: int, repeated: bool) -> None:
    assert TaskSide(rows, 1.0, rows).repeated is repeated


@pytest.mark.parametrize(("task", "loser"), [("b", "new"), ("c", "old"), ("f", "new"), ("a", None), ("m", None)])
def test_the_loser_of_a_flip_is_the_other_side(task: str, loser: str | None) -> None:
    (comparison,) = [one for one in TASKS if one.task == task]
    assert comparison.loser == loser


def test_a_comparison_gives_its_sides_by_name() -> None:
    old, new = _side(1.0), _side(0.0)
    task = TaskComparison("a", Category.FLIPPED, old, new)
    assert task.side(Side.OLD) is old
    assert task.side(Side.NEW) is new


def test_counts_are_by_category_and_by_side() -> None:
    assert RESULT.counts() == {
        "tasks": 14,
        "identical": 1,
        "flipped": 3,
        "flipped_old_win": 1,
        "flipped_new_win": 2,
        "flipped_agent_error": 2,
        "masked": 5,
        "masked_old": 2,
        "masked_new": 4,
        "missing": 3,
        "missing_old_only": 1,
        "missing_new_only": 2,
    }


def test_counts_of_nothing_are_zeros() -> None:
    counts = CompareResult((), "task_id", "task_id", 0, 0, 0, 0).counts()
    assert counts.keys() == RESULT.counts().keys()
    assert set(counts.values()) == {0}


@pytest.mark.parametrize(
    ("category", "tasks"),
    [
        ("identical", "a"),
        ("flipped", "bcd"),
        ("flipped_agent_error", "ef"),
        (Category.FLIPPED_AGENT_ERROR, "ef"),
        (Category.MISSING, "klm"),
    ],
)
def test_tasks_are_given_by_category_in_their_order(category: str, tasks: str) -> None:
    assert [task.task for task in RESULT.by_category(category)] == list(tasks)


@pytest.mark.parametrize(
    ("value", "name"), [(RESULT, "notes"), (TASKS[0], "category"), (GONE, "reward"), (Note(NoteKind.NO_ROWS), "kind")]
)
def test_a_finished_result_cannot_be_changed(value: object, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(value, name, getattr(value, name))


def test_an_input_error_is_a_value_error() -> None:
    assert issubclass(CompareInputError, ValueError)


def test_a_task_and_a_flip_are_shown_in_a_line() -> None:
    result = compare_rollouts(
        [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 1}], [{"task_id": "a", "reward": 0.5}]
    )
    (flip,) = result.flips
    assert repr(flip) == "Flip('a', winner=old, signature=None)"
    assert repr(replace(flip, signature="E", comparison=replace(flip.comparison, winner=None))) == (
        "Flip('a', winner=None, signature='E')"
    )
    assert [repr(task) for task in result.tasks] == [
        "TaskComparison('a', flipped, old=1.0, new=0.5)",
        "TaskComparison('b', missing, old=1.0, new=None)",
    ]
