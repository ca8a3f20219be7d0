"""From tasks to columns."""

from nemo_gym.rollout_compare.compare.attempts import Case
from nemo_gym.rollout_compare.compare.measured import measured_tasks
from nemo_gym.rollout_compare.schema import Category, Mask, MaskKind, Measured, Side, TaskComparison, TaskSide


def side(reward: float | None, *, masked: bool = False, rows: int = 1, part: Measured | None = None) -> TaskSide:
    solved = round(reward * rows) if reward is not None and not masked and (reward * rows).is_integer() else None
    mask = Mask(MaskKind.MASK_SAMPLE) if masked else None
    return TaskSide(rows, reward, int(reward is not None), mask, solved=solved, measured_part=part)


TASKS = (
    TaskComparison("flip", Category.FLIPPED, side(1.0), side(0.0), Side.OLD),
    TaskComparison("doubtful", Category.FLIPPED_AGENT_ERROR, side(0.0), side(1.0), Side.NEW),
    TaskComparison("same", Category.IDENTICAL, side(0.75, rows=4), side(0.75, rows=4)),
    TaskComparison("masked", Category.MASKED, side(1.0), side(0.0, masked=True)),
    TaskComparison("both masked", Category.MASKED, side(None, masked=True), side(0.5, masked=True)),
    TaskComparison("partly", Category.MASKED, side(0.5, masked=True, part=Measured(2, 0.5, 1)), side(1.0)),
    TaskComparison("old only", Category.MISSING, side(0.25), None),
    TaskComparison("new only", Category.MISSING, None, side(0.75)),
    TaskComparison("masked and missing", Category.MISSING, None, side(0.75, masked=True)),
)


def test_tasks_with_a_measured_attempt_on_both_sides_are_measured() -> None:
    tasks = measured_tasks(TASKS)
    assert tasks.labels == ["flip", "doubtful", "same", "partly"]
    assert (tasks.old, tasks.new) == ([1.0, 0.0, 0.75, 0.5], [0.0, 1.0, 0.75, 1.0])
    assert tasks.unmeasured == [(1.0, None), (None, None), (0.25, None), (None, 0.75), (None, None)]
    assert tasks.doubtful == [1]
    assert tasks.cases == {Case(1, 1, 0, 1): 1, Case(0, 1, 1, 1): 1, Case(3, 4, 3, 4): 1, Case(1, 2, 1, 1): 1}


def test_one_partial_reward_and_there_are_no_counts() -> None:
    partial = TaskComparison("partial", Category.FLIPPED, side(0.5), side(0.0), Side.OLD)
    assert measured_tasks([*TASKS, partial]).cases is None
    assert measured_tasks([]).cases is None
    assert measured_tasks(TASKS[3:5]).cases is None


def test_values_of_fields_are_those_of_the_measured_tasks() -> None:
    values = [str(place) for place in range(len(TASKS))]
    tasks = measured_tasks(TASKS, {"kind": values}, ("text", values))
    assert tasks.groups == {"kind": ["0", "1", "2", "5"]}
    assert tasks.cluster == ("text", ["0", "1", "2", "5"])
