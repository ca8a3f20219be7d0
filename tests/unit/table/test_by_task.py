from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.table.by_task import rows_by_task
from tests.properties import PROPERTY


def test_each_task_has_its_rows_in_their_order() -> None:
    gathered = rows_by_task(array("I", [2, 0, 2, 4, 0, 4]), 4)
    assert [list(gathered.of(task)) for task in range(4)] == [[1, 4], [], [0, 2], []]
    assert list(gathered.spans()) == [(0, 2), (2, 2), (2, 4), (4, 4)]
    assert list(gathered.present()) == [1, 0, 1, 0]
    assert list(gathered.anonymous()) == [3, 5]


def test_there_may_be_no_rows_and_no_tasks() -> None:
    assert [list(part) for part in rows_by_task(array("I"), 0).spans()] == []
    assert list(rows_by_task(array("I", [0, 0]), 0).anonymous()) == [0, 1]
    assert list(rows_by_task(array("I"), 2).present()) == [0, 0]


@PROPERTY
@given(st.integers(0, 5).flatmap(lambda tasks: st.tuples(st.just(tasks), st.lists(st.integers(0, tasks)))))
def test_no_row_is_lost_and_none_stands_twice(drawn: tuple[int, list[int]]) -> None:
    tasks, of_rows = drawn
    gathered = rows_by_task(array("I", of_rows), tasks)
    found = [list(gathered.of(task)) for task in range(tasks)] + [list(gathered.anonymous())]
    assert found == [[row for row, task in enumerate(of_rows) if task == number] for number in range(tasks + 1)]
