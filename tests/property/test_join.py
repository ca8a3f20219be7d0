"""Which rows are one task does not depend on the order of rows or sides, and two different ids are never one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.joined import Join, join
from nemo_gym.rollout_compare.schema import Side
from tests.properties import PROPERTY


class Id(NamedTuple):
    """A task's id as a row carries it."""

    prefix: str
    taskset: str | None
    task: str

    def value(self) -> Any:
        text = self.prefix + self.task
        return text if self.taskset is None else {"taskset": self.taskset, "task_id": text}


Rows = list[dict[str, Any]]

TASKS = st.sampled_from(["a", "b", "c", "d"])
TASKSETS = st.none() | st.sampled_from(["S", "T", "U"])
PREFIXES = st.sampled_from(["", "", "p/", "q/", "p/q/"])
#: Sides whose ids all have one prefix, or each its own.
SIDES = PREFIXES.flatmap(
    lambda prefix: st.lists(st.builds(Id, st.just(prefix), TASKSETS, TASKS), min_size=1, max_size=7)
) | st.lists(st.builds(Id, PREFIXES, TASKSETS, TASKS), min_size=1, max_size=7)


def rows_of(ids: Sequence[Id], name: str = "task_id") -> Rows:
    return [{name: one.value(), "reward": 1, "number": number} for number, one in enumerate(ids)]


def joined(old: Rows, new: Rows) -> Join:
    return join({Side.OLD: table_of(old), Side.NEW: table_of(new)})


def tasks_of(made: Join, old: Rows, new: Rows) -> dict[str, tuple[list[int], list[int]]]:
    """For each label the numbers of the old and the new rows."""
    rows = {Side.OLD: old, Side.NEW: new}
    assert made.tasks == sorted(made.tasks)
    return {
        label: (
            [rows[Side.OLD][row]["number"] for row in made.rows[Side.OLD].of(place)],
            [rows[Side.NEW][row]["number"] for row in made.rows[Side.NEW].of(place)],
        )
        for place, label in enumerate(made.tasks)
    }


@PROPERTY
@given(SIDES, SIDES)
def test_swapping_the_sides_swaps_the_rows(old_ids: list[Id], new_ids: list[Id]) -> None:
    old, new = rows_of(old_ids), rows_of(new_ids, "task_name")
    one, other = joined(old, new), joined(new, old)
    swapped = {label: pair[::-1] for label, pair in tasks_of(other, new, old).items()}
    assert tasks_of(one, old, new) == swapped
    assert one.prefixes[Side.OLD] == other.prefixes[Side.NEW]
    assert one.prefixes[Side.NEW] == other.prefixes[Side.OLD]
    assert one.keyed_by_taskset == other.keyed_by_taskset
    assert sorted(note.tasks for note in one.notes) == sorted(note.tasks for note in other.notes)


@PROPERTY
@given(SIDES, SIDES, st.randoms(use_true_random=False))
def test_shuffling_rows_changes_nothing_but_their_order(old_ids: list[Id], new_ids: list[Id], shuffler: Any) -> None:
    old, new = rows_of(old_ids), rows_of(new_ids)
    made = joined(old, new)
    tasks = tasks_of(made, old, new)
    shuffled = shuffler.sample(old, len(old)), shuffler.sample(new, len(new))
    again = joined(*shuffled)
    assert {label: [*map(sorted, pair)] for label, pair in tasks_of(again, *shuffled).items()} == {
        label: [*map(sorted, pair)] for label, pair in tasks.items()
    }
    assert (again.prefixes, again.keyed_by_taskset, again.notes) == (made.prefixes, made.keyed_by_taskset, made.notes)


@PROPERTY
@given(SIDES, SIDES)
def test_every_row_is_of_one_task_and_keeps_its_place_in_it(old_ids: list[Id], new_ids: list[Id]) -> None:
    old, new = rows_of(old_ids), rows_of(new_ids)
    tasks = tasks_of(joined(old, new), old, new)
    for place, ids in enumerate((old_ids, new_ids)):
        assert sorted(row for pair in tasks.values() for row in pair[place]) == list(range(len(ids)))
        assert all(pair[place] == sorted(pair[place]) for pair in tasks.values())
    assert all(any(pair) for pair in tasks.values())


@PROPERTY
@given(SIDES, SIDES)
def test_two_different_ids_are_never_one_task(old_ids: list[Id], new_ids: list[Id]) -> None:
    old, new = rows_of(old_ids), rows_of(new_ids)
    made = joined(old, new)
    tasksets = {
        Side.OLD: {one.taskset for one in old_ids if one.taskset},
        Side.NEW: {one.taskset for one in new_ids if one.taskset},
    }
    assert not all(made.prefixes.values())
    for old_rows, new_rows in tasks_of(made, old, new).values():
        members = [(Side.OLD, old_ids[row]) for row in old_rows] + [(Side.NEW, new_ids[row]) for row in new_rows]
        texts = set()
        for side, one in members:
            prefix = made.prefixes[side]
            labels = [one.prefix + one.task, f"{one.taskset}/{one.prefix}{one.task}"]
            assert prefix is None or any(label.startswith(prefix) for label in labels)
            texts.add((one.prefix + one.task).removeprefix(prefix or ""))
        assert len(texts) == 1
        # Within a side that names several tasksets, one task is of one of them.
        for side in Side:
            if len(tasksets[side]) > 1:
                assert len({one.taskset for of, one in members if of is side and one.taskset}) <= 1
        if made.keyed_by_taskset:
            assert len({one.taskset for _, one in members}) == 1


@PROPERTY
@given(SIDES)
def test_a_run_joins_itself_whole(ids: list[Id]) -> None:
    rows = rows_of(ids)
    assert all(old == new for old, new in tasks_of(joined(rows, rows), rows, rows).values())
