"""What the summary's other keys say in words or not at all, as facts: with them a summary is a whole result again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from nemo_gym.rollout_compare.schema import (
    CompareResult,
    Count,
    Mark,
    Mask,
    Measured,
    Note,
    Side,
    Step,
    TaskSide,
)


class SideFacts(Struct, frozen=True):
    """What a side of a task says beyond `tasks`. A side that is not listed has one row, unmasked, without a mark.

    Attributes:
        task: The task's position in `tasks`, from 0.
        side: The side.
        reward_rows: How many of its rows have a finite reward.
        mask: Why its first masked row does not count; null without one.
        mark: Its first agent error; null without one.
        solved: How many rows have the reward 1, where every row's is 0 or 1; else null.
        flaky: Whether its measured rows disagree.
        masked_rows: How many rows are masked.
        measured_part: The measured rows where others are masked; null where all or none are masked.
    """

    task: Count
    side: Side
    reward_rows: Count
    mask: Mask | None
    mark: Mark | None
    solved: Count | None
    flaky: bool
    masked_rows: Count
    measured_part: Measured | None


class GroupFacts(Struct, frozen=True):
    """What a field says of each task, by which tasks are grouped or related.

    Attributes:
        field: The field.
        values: Its values.
        tasks: For each of `tasks` its value's position in `values`, from 0.
    """

    field: str
    values: list[str]
    tasks: list[Count]


class Facts(Struct, frozen=True):
    """What the other keys say in words or not at all, for programs.

    Attributes:
        old_rows: How many rows the old run has.
        new_rows: How many rows the new run has.
        old_masked_rows: How many of the old run's rows are masked.
        new_masked_rows: How many of the new run's rows are masked.
        anonymous: How many failures that name no task stand at the end of `tasks`.
        notes: The notes as kinds with their numbers and names.
        sides: The sides of which there is more to say than `tasks` does.
        groups: The fields by which tasks are grouped or related.
    """

    old_rows: Count
    new_rows: Count
    old_masked_rows: Count
    new_masked_rows: Count
    anonymous: Count
    notes: list[Note]
    sides: list[SideFacts]
    groups: list[GroupFacts]


class TranscriptSummary(Struct, frozen=True):
    """What the agents did at a task that flipped.

    Attributes:
        task: The label.
        old: The old agent's steps.
        new: The new agent's steps.
        rows: The steps side by side: positions of an old and of a new step, from 0; null where a side has none.
    """

    task: str
    old: list[Step]
    new: list[Step]
    rows: list[tuple[int | None, int | None]]


def facts_of(result: CompareResult) -> Facts:
    """The facts of a result."""
    return Facts(
        result.old_rows,
        result.new_rows,
        result.old_masked_rows,
        result.new_masked_rows,
        result.anonymous,
        list(result.notes),
        list(_sides(result)),
        [group_facts(field, values) for field, values in result.groups.items()],
    )


def group_facts(field: str, values: Sequence[str]) -> GroupFacts:
    """A field's values, each once, and which of them each task has."""
    places: dict[str, int] = {}
    tasks = [places.setdefault(value, len(places)) for value in values]
    return GroupFacts(field, list(places), tasks)


def _sides(result: CompareResult) -> Iterator[SideFacts]:
    for number, task in enumerate(result.tasks):
        for side in Side:
            told = task.side(side)
            if told is not None and told != plain_side(told.reward, told.rows, told.failure_kind):
                yield SideFacts(
                    number,
                    side,
                    told.reward_rows,
                    told.mask,
                    told.mark,
                    told.solved,
                    told.flaky,
                    told.masked_rows,
                    told.measured_part,
                )


def plain_side(reward: float | None, rows: int, failure_kind: str | None) -> TaskSide:
    """A side of one unmasked row: what a side is that has no facts."""
    solved = int(reward) if reward in (0.0, 1.0) else None
    return TaskSide(rows, reward, reward_rows=1, failure_kind=failure_kind, solved=solved)


def side_of(reward: float | None, rows: int, failure_kind: str | None, facts: SideFacts | None) -> TaskSide:
    """A side as it was before it was written down."""
    if facts is None:
        return plain_side(reward, rows, failure_kind)
    return TaskSide(
        rows,
        reward,
        facts.reward_rows,
        facts.mask,
        facts.mark,
        failure_kind,
        facts.solved,
        facts.flaky,
        facts.masked_rows,
        facts.measured_part,
    )
