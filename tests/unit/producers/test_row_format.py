"""A producer of JSON rows is data: the names of its fields, and what their values say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.producers import Plan, read_again
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.producers.row_format import Results, RowFormat
from nemo_gym.rollout_compare.schema import (
    CompareInputError,
    Fields,
    Mark,
    Mask,
    MaskKind,
    Output,
    Row,
    Wanted,
    input_numbers,
    task_input,
)
from tests.support import facts, source_of, write_rows


def results_of(columns: Sequence[Sequence[Any]]) -> Results:
    scores, crashes = columns
    if "broken" in scores:
        raise CompareInputError("the score is broken")
    rewards = [math.nan if score is None else float(score) for score in scores]
    masked = [Mask(MaskKind.SAID, "no score") if score is None else None for score in scores]
    marks = [None if crash is None else Mark("crash", crash) for crash in crashes]
    return rewards, masked, marks, [None] * len(scores)


def label(row: Row, key: str | None) -> str:
    return str(row.get(key or "name"))


#: A made-up producer, whose fields share no name with NeMo Gym's.
OTHER = RowFormat(
    name="other",
    results=("score", "crash"),
    results_of=results_of,
    fields_for=lambda key: Fields((key,) if key else ("name", "sample.id")),
    label=label,
    attempt=("sample.index", "epoch"),
    input="sample.question",
    input_numbers=input_numbers,
    input_text=task_input,
    logs="log",
    outputs=("said", "sample.note"),
)
ROWS: list[dict[str, Any]] = [
    {"score": 1, "name": "a", "epoch": 0, "sample": {"index": 5, "question": "why?", "id": 1}},
    {"score": None, "name": "b", "crash": "E", "said": " ", "sample": {"note": "it broke"}, "log": "x.log"},
]


def file_of(folder: Path, rows: Sequence[dict[str, Any]] = ROWS) -> RowsFile:
    return RowsFile(source_of(write_rows(folder / "other.jsonl", rows)), OTHER)


class TestReading:
    def test_rows_are_read_by_the_producers_names(self, tmp_path: Path) -> None:
        [table] = read_tables([(0, file_of(tmp_path), Plan())], 1)
        assert facts(table)["rows"] == [
            ["1.0", None, None, None, {"name": "a"}],
            ["nan", "no score", "crash=E", None, {"name": "b"}],
        ]
        assert facts(table)["keys"] == {"name": None, "sample.id": 1}
        assert facts(table)["attempts"] == ["(5, 0)"]
        assert list(table.inputs) == [input_numbers(["why?"])[0], 0]
        assert list(table.has_output) == [0, 1]

    def test_a_value_that_breaks_a_rule_is_named_by_line_and_task(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, [*ROWS, {"score": "broken", "name": "c", "id": "key"}])
        for key, task in ((None, "c"), ("id", "key")):
            with pytest.raises(CompareInputError) as caught:
                read_tables([(0, source, Plan(key))], 1)
            assert str(caught.value) == f"{source.path}:3: the score is broken (task {task})"

    def test_of_planned_rows_no_result_is_asked(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, [{"name": "a", "score": "broken"}])
        [table] = read_tables([(0, source, Plan(planned=True))], 1)
        assert facts(table)["rows"] == [["nan", "no score", None, None, {"name": "a"}]]

    def test_a_file_whose_rows_none_has_a_reward_raises_no_doubt_where_nobody_can_tell(self, tmp_path: Path) -> None:
        assert file_of(tmp_path).doubt() is None


class TestAgain:
    def test_what_is_wanted_of_a_row_is_told_and_nothing_else(self, tmp_path: Path) -> None:
        [table] = read_tables([(0, file_of(tmp_path), Plan())], 1)
        everything = Wanted(fields=("score", "sample.id"), task_input=True, output=True, row=True)
        wanted = [everything, Wanted(fields=("score",)), Wanted(task_input=True), Wanted(output=True), Wanted()]
        told = [[record for _, record in read_again([table.place(0), table.place(1)], one)] for one in wanted]
        fields = ("log", "said", "sample.note")
        for (first, second), one in zip(told, wanted, strict=True):
            assert not isinstance(first, Exception)
            assert not isinstance(second, Exception)
            assert first.values == {2: (1, 1), 1: (1,), 0: ()}[len(one.fields)]
            assert second.values == (None,) * len(one.fields)
            assert first.task_input == ("=why?" if one.task_input else None)
            assert first.input_number == (input_numbers(["why?"])[0] if one.task_input else 0)
            assert (second.task_input, second.input_number) == (None, 0)
            assert first.output == (Output(None, (), fields) if one.output else None)
            assert second.output == (Output("x.log", (("sample.note", "it broke"),), fields) if one.output else None)
            assert second.row == (ROWS[1] if one.row else None)

    def test_where_no_field_holds_an_answer_there_is_none(self, tmp_path: Path) -> None:
        [table] = read_tables([(0, file_of(tmp_path), Plan())], 1)
        ((_, record),) = read_again([table.place(1)], Wanted(fields=("name",), output=True, answer=True))
        assert not isinstance(record, Exception)
        assert (record.answer, record.values) == (None, ("b",))
        assert record.output == Output("x.log", (("sample.note", "it broke"),), ("log", "said", "sample.note"))

    @pytest.mark.parametrize("logs", [" ", "", 5, None, ["x.log"]])
    def test_a_log_that_is_no_text_is_none(self, logs: Any) -> None:
        record = OTHER.record([logs, 5, "\n"], Wanted(output=True), None)
        assert record.output == Output(None, (), ("log", "said", "sample.note"))


class TestBatch:
    def columns(self, fields: Sequence[str], *rows: dict[str, Any]) -> list[list[Any]]:
        beside: list[Any] = [None] * len(rows)
        return [*([row.get(path) for row in rows] for path in (*ROLLOUTS.paths, *fields)), beside]

    def test_a_failed_attempt_has_a_say_if_a_usual_field_names_its_task(self) -> None:
        columns = self.columns(("task_id", "uuid"), {"task_id": "a"}, {"uuid": "u"}, {})
        batch = ROLLOUTS.batch(columns, ("task_id", "uuid"), failed=True)
        assert batch.has_a_say == [True, False, False]
        assert ROLLOUTS.batch(columns, ("task_id", "uuid")).has_a_say is None

    def test_with_a_key_it_has_one_if_that_names_it(self) -> None:
        columns = self.columns(("uuid",), {"uuid": "u"}, {})
        assert ROLLOUTS.batch(columns, ("uuid",), failed=True).has_a_say == [True, False]

    def test_the_names_are_dotted_paths(self) -> None:
        assert OTHER.paths == (
            "score",
            "crash",
            "sample.index",
            "epoch",
            "sample.question",
            "log",
            "said",
            "sample.note",
        )
        assert OTHER.output_fields == ("log", "said", "sample.note")


@pytest.mark.parametrize(
    ("outputs", "logs", "asked", "row", "said"),
    [
        (("report.text", "report"), None, None, {"report": {"text": "boom"}}, ("boom", None, None)),
        (("result",), "result.log", None, {"result": {"log": "/x"}}, (None, "/x", None)),
        (("log",), "log", None, {"log": "/x"}, ("/x", "/x", None)),
        (("result",), None, "result.q", {"result": {"q": "hello"}}, (None, None, "=hello")),
    ],
)
def test_a_field_that_lies_in_an_output_is_read_all_the_same(
    tmp_path: Path,
    outputs: tuple[str, ...],
    logs: str | None,
    asked: str | None,
    row: Row,
    said: tuple[str | None, ...],
) -> None:
    form = structs.replace(OTHER, outputs=outputs, logs=logs, input=asked)
    path = write_rows(tmp_path / "rows.jsonl", [{"name": "a", "score": 1, **row}])
    [table] = read_tables([(0, RowsFile(source_of(path), form), Plan())], 1)
    ((_, record),) = read_again([table.place(0)], Wanted(output=True, task_input=True))
    assert not isinstance(record, Exception)
    assert record.output is not None
    assert (next((text for _, text in record.output.texts), None), record.output.logs, record.task_input) == said
