"""Whether a verdict hangs on a few tasks."""

from collections.abc import Sequence
from typing import Any

import pytest

from nemo_gym.rollout_compare.compare.carried import carried_by, without_agent_errors
from nemo_gym.rollout_compare.compare.decisions import margin_of
from nemo_gym.rollout_compare.compare.paired import basics_of
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.schema import CarriedBy, Verdict, WithoutAgentErrors


def near(figure: float) -> Any:
    return pytest.approx(figure, rel=1e-9)


def carried(old: Sequence[float], new: Sequence[float], margin: float | None = None) -> CarriedBy | None:
    figures = basics_of(old, new)
    return carried_by(figures, old, new, [f"t{i}" for i in range(len(old))], margin_of(figures, margin), 1e-9)


def test_a_task_that_turns_the_sign_is_named() -> None:
    assert carried([0.5] * 10, [0.6] * 9 + [-90.0]) == CarriedBy("t9", near(0.1), Verdict.BETTER)


def test_a_task_that_turns_the_verdict_is_named() -> None:
    """Five gains: p = 1/32; without the largest four: no p below 1/16."""
    old, new = [0.0] * 30, [0.9, 0.5, 0.4, 0.3, 0.2] + [0.0] * 25
    found = carried(old, new)
    assert found is not None
    assert found.task == "t0"
    assert found.delta_without == pytest.approx(1.4 / 29)
    assert found.verdict_without is Verdict.CANNOT_TELL


def test_a_task_that_turns_the_sign_is_named_though_nothing_can_be_told() -> None:
    """Three or two tasks changed: it takes five. The largest one of them is more than the others together."""
    assert carried([0.0, 0.5, 0.5, 1.0], [0.9, 0.3, 0.3, 1.0]) == CarriedBy("t0", near(-0.4 / 3), Verdict.CANNOT_TELL)
    assert carried([0.0, 0.5, 1.0], [0.9, 0.3, 1.0]) == CarriedBy("t0", near(-0.1), Verdict.CANNOT_TELL)
    assert carried([0.0, 0.5, 1.0], [0.9, 0.8, 1.0]) is None


def test_that_one_task_alone_changed_is_told_elsewhere() -> None:
    found = paired_statistics(MeasuredTasks(old=[0.0, 0.5, 1.0], new=[0.9, 0.5, 1.0], labels="abc"))
    assert found.carried_by is None
    assert found.why_null["carried_by"] == "one task alone changed"
    assert found.reason is not None
    assert found.reason.startswith("only 1 of 3 tasks changed: ")


def test_a_task_without_which_something_could_be_told_is_named() -> None:
    """Four changed tasks of 100; without the loss of 20 the interval of the others is within 5 points of 0."""
    old, new = [0.5] * 100, [-19.5, 0.51, 0.52, 0.53] + [0.5] * 96
    found = carried(old, new)
    assert found is not None
    assert (found.task, found.verdict_without) == ("t0", Verdict.NO_SIGNIFICANT_CHANGE)


def test_a_result_that_many_tasks_share_hangs_on_none() -> None:
    assert carried([0.5] * 20, [0.6] * 19 + [0.7]) is None
    assert carried([0.0] * 30, [0.5] * 5 + [0.0] * 25) is None
    assert carried([1.0] * 5 + [0.0] * 20, [0.0] * 25) is None
    assert carried([0.5, 0.5], [0.9, 0.1]) is None
    assert carried([0.5] * 5, [0.5] * 5) is None


def test_what_moves_next_to_nothing_is_not_asked() -> None:
    old = [0.5] * 60_000
    new = [0.5 + 0.1 * (-1) ** i for i in range(59_999)] + [0.62]
    assert carried(old, new) is None


def test_a_margin_can_hang_on_a_task() -> None:
    old, new = [0.5] * 60, [0.5 + 0.01 * (-1) ** i for i in range(59)] + [0.0]
    assert carried(old, new) is not None or carried(old, new, 0.01) is not None


def test_the_figures_without_agent_errors() -> None:
    """Six losses, p = 1/64; without two of them four are left: p = 1/16."""
    old, new = [1.0] * 36, [0.0] * 6 + [1.0] * 30
    assert without_agent_errors(old, new, (), None, 1e-9) is None
    found = without_agent_errors(old, new, [0, 5], None, 1e-9)
    assert found == WithoutAgentErrors(34, near(-4 / 34), 1 / 16, Verdict.CANNOT_TELL)
    assert without_agent_errors([1.0], [0.0], [0], None, 1e-9) == WithoutAgentErrors(0, None, None, Verdict.CANNOT_TELL)
    margin = margin_of(basics_of(old, new), 0.9)
    assert without_agent_errors(old, new, [0], margin, 1e-9) == WithoutAgentErrors(
        35, near(-5 / 35), 1 / 32, Verdict.SAME
    )
