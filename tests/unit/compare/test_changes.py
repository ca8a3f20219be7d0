"""What else changed: the settings in which the rows of two runs differ, task by task."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare import Change, Setting, compare_rollouts
from nemo_gym.rollout_compare.compare.changes import MOST_VALUES
from nemo_gym.rollout_compare.schema import summed_up
from tests.properties import PROPERTY


def rows(*values: Any, field: str = "temperature", **more: Any) -> list[dict[str, Any]]:
    """A row of a task of its own for each value."""
    return [
        {"task_id": f"t{i}", "reward": 1, "responses_create_params": {"input": "x", field: value, **more}}
        for i, value in enumerate(values)
    ]


def attempts(**tasks: list[Any]) -> list[dict[str, Any]]:
    return [{**one, "task_id": task} for task, values in tasks.items() for one in rows(*values)]


def changes(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    found = compare_rollouts(old, new).changes
    return [(one.field, dict(one.old), dict(one.new), one.tasks, one.total) for one in found]


def test_another_value() -> None:
    assert changes(rows(1.0, 1.0), rows(0.6, 0.6)) == [("temperature", {"1.0": 2}, {"0.6": 2}, 2, 2)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rows(1.0), rows(1)),
        (rows(0.5, 0.7), rows(0.5, 0.7)),
        (rows(0.5), rows(0.5, 0.7)),  # a task that only one run has
        (attempts(a=[1, 1]), attempts(a=[1])),
        (attempts(a=[1, 2]), attempts(a=[2, 1, 2])),
        (rows("none", field="tool_choice"), rows("none", field="tool_choice")),
        (rows({"a": 1, "b": [2]}, field="text"), rows({"b": [2], "a": 1}, field="text")),
    ],
)
def test_no_change(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    assert changes(old, new) == []


def test_a_value_that_some_rows_lack() -> None:
    found = changes(
        rows(4096, 4096, field="max_output_tokens", top_p=1), rows(4096, None, field="max_output_tokens", top_p=1)
    )
    assert found == [("max_output_tokens", {"4096": 2}, {"4096": 1, "none": 1}, 1, 2)]


def test_a_text_none_is_not_the_absence_of_a_value() -> None:
    found = changes(rows("none", field="tool_choice", top_p=1), rows(None, field="tool_choice", top_p=1))
    assert found == [("tool_choice", {'"none"': 1}, {"none": 1}, 1, 1)]


def test_attempts_of_one_task_are_compared_as_a_set() -> None:
    found = changes(attempts(a=[1, 1, 2], b=[3]), attempts(a=[1, 1], b=[3]))
    assert found == [("temperature", {"1": 2, "2": 1, "3": 1}, {"1": 2, "3": 1}, 1, 2)]


def test_of_a_row_without_settings_nothing_is_known() -> None:
    bare = {"task_id": "t1", "reward": None, "error": "no answer"}
    assert changes(rows(1, 1), [*rows(1), bare]) == []


def test_a_row_without_a_model_does_not_change_the_model() -> None:
    old, new = rows(1, 1), rows(1, 1)
    for row in (*old, new[0]):
        row["response"] = {"model": "m"}
    assert changes(old, new) == []
    new[0]["response"] = {"model": "n"}
    assert changes(old, new) == [("model", {"m": 2}, {"n": 1}, 1, 1)]


def test_runs_that_name_no_limit_in_common_are_compared_in_what_both_tell() -> None:
    """As of two producers: that one of them does not record a limit is no news."""
    old, new = rows(1), rows(1, field="top_p")
    for row, model in ((old[0], "m"), (new[0], "n")):
        row["response"] = {"model": model}
    assert changes(old, new) == [("model", {"m": 1}, {"n": 1}, 1, 1)]


def test_a_run_of_which_nothing_is_known_is_not_compared() -> None:
    result = compare_rollouts(rows(1), [{"task_id": "t0", "reward": 1}])
    assert (result.settings_compared, result.changes) == ((), ())


def test_what_was_compared_is_said_and_what_matters_most_stands_first() -> None:
    old, new = rows(1, top_p=1, zeta=1, seed=3), rows(2, top_p=2, zeta=2, seed=3)
    result = compare_rollouts(old, new)
    assert result.settings_compared == ("temperature", "top_p", "other parameters", "seed")
    assert [change.field for change in result.changes] == ["temperature", "top_p", "other parameters"]


def test_only_the_most_common_values_are_counted() -> None:
    (change,) = compare_rollouts(rows(*range(50)), rows(*range(1, 51))).changes
    assert isinstance(change, Change)
    assert (change.old_values, change.new_values, change.tasks) == (50, 50, 50)
    assert len(change.old) == len(change.new) == MOST_VALUES


def test_a_long_text_is_told_by_its_length_and_may_be_read_again() -> None:
    old, new = "Be brief. " * 20, "Be brief. " * 20 + "Thanks."
    (change,) = compare_rollouts(rows(old, field="instructions"), rows(new, field="instructions")).changes
    assert change.field == "system prompt"
    assert (dict(change.old), dict(change.new)) == ({summed_up(old): 1}, {summed_up(new): 1})
    assert change.rows is not None
    assert [place.where for place in change.rows] == ["row 1", "row 1"]


VALUES = st.sampled_from([None, 1, 1.0, 2, "x"])
RUNS = st.dictionaries(st.sampled_from("abc"), st.lists(VALUES, min_size=1, max_size=3), min_size=1)


@PROPERTY
@given(RUNS, RUNS)
def test_a_setting_differs_where_sets_of_values_do(old: dict[str, list[Any]], new: dict[str, list[Any]]) -> None:
    """By another way: every row also has a limit, so every row tells, and no value is a value too."""

    def rows_of(run: dict[str, list[Any]]) -> list[dict[str, Any]]:
        made = attempts(**run)
        for row in made:
            row["responses_create_params"]["top_p"] = 1
        return made

    both = old.keys() & new.keys()
    names = {value for run in (old, new) for values in run.values() for value in values if value is not None}
    differ = sum(set(old[task]) != set(new[task]) for task in both)
    found = {change.field: change for change in compare_rollouts(rows_of(old), rows_of(new), "task_id").changes}
    assert found.keys() == ({"temperature"} if differ and names else set())
    if found:
        change = found["temperature"]
        assert (change.tasks, change.total) == (differ, len(both))
        for counts, run in ((change.old, old), (change.new, new)):
            told = Counter("none" if one is None else str(one) for task in both for one in run[task])
            assert dict(counts) == told


def flipped(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, list[tuple[str, str, str]]]:
    """Of each flip, where every task of the old run is solved and none of the new, the settings that differ."""
    result = compare_rollouts([{**row, "reward": 1} for row in old], [{**row, "reward": 0} for row in new])
    return {flip.task: [(one.field, one.old, one.new) for one in flip.settings] for flip in result.flips}


def test_a_flip_has_the_settings_that_differ_in_it() -> None:
    old, new = rows(1.0, 1.0, 0.5), rows(0.6, 1, 0.5)
    assert flipped(old, new) == {"t0": [("temperature", "1.0", "0.6")], "t1": [], "t2": []}


def test_of_a_flip_s_settings_what_matters_most_stands_first() -> None:
    old = rows(1.0, seed=1, tool_choice="auto", model="a")
    new = rows(0.6, seed=2, tool_choice="required", model="b")
    for side, name in ((old, "a"), (new, "b")):
        side[0]["response"] = {"model": name}
    told = flipped(old, new)["t0"]
    assert [field for field, _, _ in told] == ["model", "tool_choice", "temperature", "seed"]


def test_a_limit_that_a_row_of_others_lacks_is_none_and_of_a_row_without_any_nothing_is_known() -> None:
    old = rows(4096, 4096, 4096, field="max_output_tokens", top_p=1)
    new = rows(4096, None, None, field="max_output_tokens", top_p=1)
    del new[2]["responses_create_params"]["top_p"]
    assert flipped(old, new) == {"t0": [], "t1": [("max_output_tokens", "4096", "none")], "t2": []}


def test_a_model_that_a_row_does_not_name_is_not_another() -> None:
    old, new = rows(1, 1), rows(1, 1)
    for row, model in zip((*old, *new), ("a", "a", "b", None), strict=True):
        row["response"] = {"model": model} if model else {}
    assert flipped(old, new) == {"t0": [("model", "a", "b")], "t1": []}


def test_of_several_attempts_those_that_are_shown_are_held_against_each_other() -> None:
    """The losing side's worst attempt, here the second, and the winning side's best, here the second too."""
    result = compare_rollouts(
        [{**row, "reward": reward} for row, reward in zip(attempts(a=[0.1, 0.2]), (0, 1), strict=True)],
        [{**row, "reward": reward} for row, reward in zip(attempts(a=[0.3, 0.4]), (0.2, 0), strict=True)],
    )
    assert [flip.settings for flip in result.flips] == [(Setting("temperature", "0.2", "0.4"),)]


@PROPERTY
@given(st.lists(st.tuples(*[st.sampled_from([None, 0.5, 1, 1.0])] * 2), min_size=1))
def test_as_many_flips_tell_of_a_setting_as_tasks_differ_in_it(values: list[tuple[float | None, float | None]]) -> None:
    """Where every task is one row a side, and all of them flip."""
    old, new = (rows(*(pair[side] for pair in values), top_p=1) for side in (0, 1))
    result = compare_rollouts([{**row, "reward": 1} for row in old], [{**row, "reward": 0} for row in new])
    told = sum(one.field == "temperature" for flip in result.flips for one in flip.settings)
    assert told == sum(change.tasks for change in result.changes if change.field == "temperature")
    distinct = {id(one) for flip in result.flips for one in flip.settings}
    assert len(distinct) == len({one for flip in result.flips for one in flip.settings}), "each is kept once"
