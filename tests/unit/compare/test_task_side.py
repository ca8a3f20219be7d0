"""What a run's rows say of a task together: one value a side, whichever way the rows were read."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import fmean
from typing import Any

import pytest

from nemo_gym.rollout_compare.compare import task_side as sides
from nemo_gym.rollout_compare.compare.task_side import side_of, sides_of, summarize_side
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.joined import join
from nemo_gym.rollout_compare.schema import CompareInputError, Mask, MaskKind, Measured, Side, TaskSide


def rows(*rewards: Any, **others: Any) -> list[dict[str, Any]]:
    return [{"task_id": "t", "reward": reward, **others} for reward in rewards]


def test_one_row() -> None:
    assert summarize_side(rows(0.25)) == TaskSide(1, 0.25, 1)
    assert summarize_side(rows(1)) == TaskSide(1, 1.0, 1, solved=1)
    assert summarize_side(rows(0)) == TaskSide(1, 0.0, 1, solved=0)


def test_several_rows_are_their_mean_and_the_attempts_that_solved_it() -> None:
    assert summarize_side(rows(1, 0, 1, 1)) == TaskSide(4, 0.75, 4, solved=3, flaky=True)
    assert summarize_side(rows(1, 1)) == TaskSide(2, 1.0, 2, solved=2)
    assert summarize_side(rows(0.5, 1)) == TaskSide(2, 0.75, 2, flaky=True)
    assert summarize_side(rows(0.5, 0.5 + 1e-9)).flaky is False


def test_the_mean_is_correctly_rounded() -> None:
    rewards = [0.1] * 10 + [1e16, -1e16, 1e-3]
    assert summarize_side(rows(*rewards)).reward == fmean(rewards)
    assert sum(rewards) / len(rewards) != fmean(rewards)
    assert summarize_side(rows(1.7e308, 1.7e308)).reward == 1.7e308
    assert summarize_side(rows(1.7e308, 1.7e308, -1.7e308)).reward == float(Fraction(1.7e308) / 3)


@pytest.mark.parametrize("zeros", [[-0.0], [-0.0, -0.0], [-0.0, 0.0]])
def test_of_the_two_zeros_it_is_the_positive_one(zeros: list[float]) -> None:
    (through_a_join,) = sides_of_tasks(rows(*zeros))
    assert through_a_join is not None
    for side in (summarize_side(rows(*zeros)), through_a_join):
        assert side.reward is not None
        assert math.copysign(1, side.reward) == 1


def test_masked_rows_count_in_the_mean_and_the_first_reason_is_told() -> None:
    masked = [
        *rows(1, failure_kind="late"),
        *rows(0, mask_sample=True, failure_kind="agent_timeout"),
        *rows(None),
        *rows(math.nan),
    ]
    assert summarize_side(masked) == TaskSide(
        rows=4,
        reward=0.5,
        reward_rows=2,
        mask=Mask(MaskKind.MASK_SAMPLE, "agent_timeout"),
        masked_rows=3,
        failure_kind="late",
        measured_part=Measured(1, 1.0, 1),
    )
    assert summarize_side(rows(None)) == TaskSide(1, None, 0, mask=Mask(MaskKind.NO_REWARD), masked_rows=1)
    assert summarize_side(rows(None, None)).masked == "2/2 rows masked: no reward"


@pytest.mark.parametrize(
    ("measured", "masked", "flaky"),
    [((1, 1), (0,), False), ((1,), (0, 0), False), ((), (0, 1), False), ((1, 0), (0,), True), ((0, 0.5), (), True)],
)
def test_a_side_is_flaky_by_its_measured_rows_alone(
    measured: tuple[float, ...], masked: tuple[float, ...], flaky: bool
) -> None:
    task = [*rows(*measured), *rows(*masked, mask_sample=True)]
    (through_a_join,) = sides_of_tasks(task)
    assert through_a_join is not None
    assert (summarize_side(task).flaky, through_a_join.flaky) == (flaky, flaky)


def test_the_attempts_are_counted_only_where_every_row_has_a_reward_of_0_or_1() -> None:
    assert summarize_side([*rows(1, 0), *rows(1, mask_sample=True)]).solved == 2
    assert summarize_side([*rows(1, 0), *rows(None)]).solved is None
    assert summarize_side(rows(1, 0.999)).solved is None


def test_the_first_agent_error_and_the_first_failure_kind_of_unmasked_rows() -> None:
    told = summarize_side(
        [
            *rows(1),
            *rows(0, mask_sample=True, failure_kind="of a masked row", error="first"),
            *rows(0, failure_kind="second", error="later"),
        ]
    )
    assert (told.agent_error, told.failure_kind) == ("error: first", "second")


def test_no_row_is_no_side() -> None:
    with pytest.raises(CompareInputError, match="at least one row"):
        summarize_side([])
    assert side_of(table_of(rows(1)), []) is None


def sides_of_tasks(*tasks: list[dict[str, Any]]) -> list[TaskSide | None]:
    """The old side's values of tasks in this order, by way of a join with a new side that has all of them."""
    old = [{**row, "task_id": f"{number:02}"} for number, task in enumerate(tasks) for row in task]
    new = [{"task_id": f"{number:02}", "reward": 0} for number in range(len(tasks))]
    tables = {Side.OLD: table_of(old, "task_id"), Side.NEW: table_of(new, "task_id")}
    return list(sides_of(tables[Side.OLD], join(tables).rows[Side.OLD]))


EVERY_KIND = [
    rows(1),
    rows(0),
    [],
    rows(0.5),
    rows(1),
    rows(1, 0, 0),
    rows(0.25, 0.5),
    rows(1, error="oops"),
    rows(1, failure_kind="kind"),
    rows(None),
    [*rows(1), *rows(0, mask_sample=True)],
]


@pytest.mark.parametrize("known", [1, 2, 1000])
def test_the_sides_of_all_tasks_are_those_of_each_alone(known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "_MOST_KNOWN", known)
    expected = [summarize_side(task) if task else None for task in EVERY_KIND]
    assert sides_of_tasks(*EVERY_KIND) == expected
    plain = [task for task in EVERY_KIND if not any(row["reward"] is None or len(row) > 2 for row in task)]
    assert len(plain) > 5
    assert sides_of_tasks(*plain) == [summarize_side(task) if task else None for task in plain]


def test_equal_plain_sides_are_one_value() -> None:
    first, second, other, both, same = sides_of_tasks(rows(1), rows(1), rows(0), rows(0, 1), rows(0, 1))
    assert first is second
    assert both is same
    assert other is not first


def test_what_is_measured_is_kept_beside_what_is_masked() -> None:
    side = summarize_side([*rows(1, 0, 1), *rows(0, mask_sample=True)])
    assert side.masked == "1/4 rows masked: mask_sample"
    assert side.reward == 0.5
    assert side.measured == Measured(3, 2 / 3, 2)
    assert summarize_side([*rows(0.5, 1), *rows(None)]).measured == Measured(2, 0.75, None)


def test_a_side_that_is_wholly_measured_or_masked_has_no_part() -> None:
    whole = summarize_side(rows(1, 0))
    assert whole.measured is whole
    assert summarize_side(rows(1, mask_sample=True)).measured is None
    assert summarize_side(rows(1, 0, mask_sample=True)).measured is None
