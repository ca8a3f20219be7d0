from __future__ import annotations

import pickle
from typing import Any

import pytest

from nemo_gym.rollout_compare.schema import attempt_parts, identities_of
from nemo_gym.rollout_compare.table.columns import Column, HalfColumn, KeyColumn


class TestColumn:
    def test_each_row_has_its_value_and_equal_values_are_kept_once(self) -> None:
        column: Column[str] = Column()
        column.append_all(["x", None, "y"])
        column.append_all(["y", "x", "z", "z"])
        assert [column[i] for i in range(7)] == ["x", None, "y", "y", "x", "z", "z"]
        assert sorted(map(str, column.values)) == ["None", "x", "y", "z"]

    def test_it_says_something_once_a_row_has_a_value(self) -> None:
        column: Column[str] = Column()
        assert not column.says_anything()
        column.append_all([None, None])
        assert not column.says_anything()
        column.append_all([None, "x"])
        assert column.says_anything()

    def test_an_empty_text_is_a_value(self) -> None:
        column: Column[str] = Column()
        column.append_all(["", None])
        assert column.says_anything()
        assert [column[0], column[1]] == ["", None]

    @pytest.mark.parametrize("other", [[], [None], ["x", None, "new", "y"], ["z", "z"]])
    def test_the_rows_of_another_column_follow_its_own(self, other: list[str | None]) -> None:
        own = ["y", None, "x"]
        column: Column[str] = Column()
        column.append_all(own)
        more: Column[str] = Column()
        more.append_all(other)
        column.extend(pickle.loads(pickle.dumps(more)))  # noqa: S301  # made in this line
        column.append_all(["new", "y"])
        expected = [*own, *other, "new", "y"]
        assert [column[i] for i in range(len(expected))] == expected
        assert len(column.ids) == len(expected)
        assert len(column.values) == len(set(column.values))

    def test_it_grows_again_after_it_gave_back_what_growing_takes(self) -> None:
        column: Column[str] = Column()
        column.append_all(["x", None])
        column.rest()
        column.append_all(["y", "x"])
        more: Column[str] = Column()
        more.append_all(["y", "z"])
        more.rest()
        column.rest()
        column.extend(more)
        assert [column[i] for i in range(6)] == ["x", None, "y", "x", "y", "z"]
        assert column.values == [None, "x", "y", "z"]

    def test_a_value_has_one_place(self) -> None:
        column: Column[str] = Column()
        places = column.places(["x", None, "y", "x"])
        assert places == [places[0], 0, places[2], places[0]]
        assert [column.values[place] for place in places] == ["x", None, "y", "x"]
        assert column.places(["y"]) == [places[2]]


class TestIdentities:
    def test_texts_are_taken_as_they_are(self) -> None:
        values = ("a", None, "")
        assert list(identities_of(values)) == list(values)
        assert list(attempt_parts(values)) == list(values)

    def test_others_name_what_they_say(self) -> None:
        assert identities_of(["a", None, 7, {"taskset": "S", "id": "x"}]) == ["a", None, "7", ("S", "x")]

    def test_0_and_0_point_0_are_one_half(self) -> None:
        assert list(map(repr, attempt_parts([0, 0.0, -0.0, 2.0, 0.5, "0", True, None]))) == (
            ["0", "0", "0", "2", "'0.5'", "'0'", "'true'", "None"]
        )
        assert attempt_parts([1, "1", None]) == [1, "1", None]


class TestHalfColumn:
    VALUES = (0, 7, None, "7", "x", -1, 1.5, {"b": 1, "a": [2]}, True, 2**63, "x", 2**63 - 1)
    KEPT = (0, 7, None, "7", "x", -1, "1.5", '{"a":[2],"b":1}', "true", 2**63, "x", 2**63 - 1)

    def column(self, *values: Any) -> HalfColumn:
        column = HalfColumn()
        for value in values:
            column.append_all(attempt_parts([value]))
        return column

    def test_each_row_has_its_value_told_apart_by_type(self) -> None:
        column = self.column(*self.VALUES)
        kept = [column.value(code) for code in column.codes]
        assert [(type(value), value) for value in kept] == [(type(value), value) for value in self.KEPT]
        assert len(set(column.codes)) == len(set(column.codes) - {-1}) + 1 == len(set(map(repr, self.KEPT)))
        assert column.codes[2] == -1

    @pytest.mark.parametrize("own", [(), (3, 4), (None, "x")])
    @pytest.mark.parametrize("other", [(), (4, 5), (None, None), ("y", "x", 4, -1)])
    def test_the_rows_of_another_column_follow_its_own(self, own: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        column = self.column(*own)
        column.extend(pickle.loads(pickle.dumps(self.column(*other))))  # noqa: S301  # made in this line
        assert [column.value(code) for code in column.codes] == [*own, *other]
        assert len(set(column.codes)) == len({*own, *other})


class TestKeyColumn:
    def column(self, *values: Any) -> KeyColumn:
        column = KeyColumn()
        for i, value in enumerate(values):
            column.append_keys(identities_of([value]), i, [True])
        return column

    def test_it_keeps_the_first_row_without_the_field(self) -> None:
        column = self.column("a", "b", None, "c", None)
        assert column.first_missing == 2

    def test_a_row_without_a_say_may_lack_it(self) -> None:
        column = KeyColumn()
        column.append_keys(["a", None, "b"], 0, [True, False, True])
        assert column.first_missing is None
        assert [column[i] for i in range(3)] == ["a", None, "b"]
        column.append_keys([None, None], 3, [False, True])
        assert column.first_missing == 4

    def test_once_it_cannot_be_the_key_it_keeps_nothing(self) -> None:
        column = self.column("a", None, "b")
        column.append_keys(["c", None, "d"], 3, [True] * 3)
        assert column.first_missing == 1
        assert (len(column.ids), column.values) == (0, [None])

    @pytest.mark.parametrize(
        ("own", "other", "first_missing"),
        [
            ("ab", "c", None),
            ("ab", "c-", 3),
            ("a-b", "c", 1),
            ("a-b", "-", 1),
            ("", "-", 0),
            ("-", "", 0),
        ],
    )
    def test_pieces_are_put_together(self, own: str, other: str, first_missing: int | None) -> None:
        column, more = (self.column(*(None if char == "-" else char for char in text)) for text in (own, other))
        column.extend_keys(more, len(own))
        assert column.first_missing == first_missing
        if first_missing is None:
            assert [column[i] for i in range(3)] == list(own + other)

    def test_a_value_is_kept_as_the_task_that_it_names(self) -> None:
        column = self.column(1, "1", 1.5, True, "true", {"taskset": "S", "task_id": 1}, {"id": "x"}, [1, {"b": 2}])
        assert [column[i] for i in range(8)] == ["1", "1", "1.5", "true", "true", ("S", "1"), "x", '[1,{"b":2}]']
