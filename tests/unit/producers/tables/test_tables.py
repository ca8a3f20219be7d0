"""Tables: which column says what, and what a cell says."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.producers.records import Told
from nemo_gym.rollout_compare.producers.tables.columns import columns_of
from nemo_gym.rollout_compare.producers.tables.rows import TableReader
from nemo_gym.rollout_compare.schema import Step
from tests.producer_support import found_in, record_in, steps_in, table_of_run
from tests.record_support import put_json, write_csv
from tests.support import assert_refused, compare, put, write_rows

ROWS: list[dict[str, Any]] = [{"id": "add", "score": 1.0}, {"id": "mul", "score": 0.5}, {"id": "add", "score": None}]
FOUND = [("add", 1.0), ("mul", 0.5), ("add", "no score")]


def parquet(path: Path, rows: list[dict[str, Any]], row_group_size: int = 1 << 20) -> Path:
    pyarrow, module = import_module("pyarrow"), import_module("pyarrow.parquet")
    module.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=row_group_size)
    return path


def written(path: Path) -> Path:
    """The rows in the form that the file's name says."""
    form = path.suffix
    if form == ".jsonl":
        return write_rows(path, ROWS)
    if form == ".json":
        return put_json(path, ROWS)
    if form == ".parquet":
        return parquet(path, ROWS)
    cells = [["" if value is None else value for value in row.values()] for row in ROWS]
    return write_csv(path, ["id", "score"], *cells, delimiter="\t" if form == ".tsv" else ",")


@pytest.mark.parametrize("form", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
def test_a_table_says_the_same_in_every_form(form: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"scores{form}")
    assert found_in(path) == FOUND
    assert found_in(tmp_path) == FOUND
    assert (
        record_in(path, 1).row == ROWS[1] if form in (".json", ".jsonl", ".parquet") else {"id": "mul", "score": "0.5"}
    )


def test_a_row_group_is_a_piece(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", [{"id": f"t{i}", "score": float(i)} for i in range(5)], row_group_size=2)
    with locate_run(str(path)).opened() as run:
        assert run.shards[0].main.pieces(1) == [(0, 1), (1, 2), (2, 3)]
        assert run.shards[0].main.pieces(1 << 30) == [(0, 3)]
    assert found_in(path) == [(f"t{i}", float(i)) for i in range(5)]
    assert [record_in(path, row).values for row in (0, 4)] == [("t0",), ("t4",)]


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert_refused(compare(path, path), "Parquet needs pyarrow; pip install 'rollout-compare[parquet]'")


def test_parquet_that_is_broken(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet")
    put(path, path.read_bytes()[:-20])
    assert_refused(compare(path, path), "cannot read", "t.parquet: ")


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (["task_id", "id", "score"], ["task_id", "id"]),
        (["Task ID", "Score"], ["Task ID"]),
        (["example_id", "id", "score"], ["example_id", "id"]),
        (["score", "problemId", "run_id", "valid"], ["problemId"]),
        (["name", "score"], ["name"]),
    ],
)
def test_which_column_names_the_task(header: list[str], names: list[str]) -> None:
    columns = columns_of([], header)
    assert [*columns.ids, *columns.more_ids] == names


@pytest.mark.parametrize(
    ("row", "score"),
    [
        ({"id": 1, "reward": 1, "score": 2}, "reward"),
        ({"id": 1, "score": 1, "correct": True}, "score"),
        ({"id": 1, "is_correct": True, "seconds": 3}, "is_correct"),
        ({"id": 1, "scores": {"exact": 1.0}}, "scores.exact"),
        ({"id": 1, "scores": {"exact": 1.0, "close": 0.5}}, None),
        ({"id": 1, "feedback.helpful": 1.0, "execution_time": 3.0}, "feedback.helpful"),
        ({"id": 1, "correct": True, "accuracy": 1.0}, None),
        ({"id": 1, "wer": 0.5, "seed": 0, "model": "m"}, "wer"),
        ({"id": 1, "wer": 0.5, "cer": 0.25}, None),
        ({"id": 1, "wer": None}, None),
    ],
)
def test_which_column_is_the_reward(row: dict[str, Any], score: str | None) -> None:
    assert columns_of([row]).score == score


def test_a_column_that_is_not_called_like_a_score_is_named_in_a_note(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["id", "wer"], ["a", 0.5])
    assert "'wer' counts as the reward, being the only column with numbers" in compare(path, path).stdout
    write_csv(path, ["id", "score"], ["a", 0.5])
    assert "counts as the reward" not in compare(path, path).stdout


def test_of_several_scores_one_has_to_be_chosen(tmp_path: Path) -> None:
    rows = [{"id": "a", "correct": True, "accuracy": 0.5}, {"id": "b", "correct": False, "tags": ["x"]}]
    path = write_rows(tmp_path / "t.jsonl", rows)
    said = "several columns may be the reward; --reward NAME takes one of: correct (2 rows), accuracy (1 row)"
    assert_refused(compare(path, path), said)
    assert found_in(path, reward="correct") == [("a", 1.0), ("b", 0.0)]
    assert found_in(path, reward="accuracy") == [("a", 0.5), ("b", "no accuracy")]


def test_a_table_without_anything_like_a_score(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["id", "note", "x", "y"], ["a", "fine", 1, "True"])
    assert_refused(
        compare(path, path), "no column is called like a score", "--reward NAME takes one of: x (1 row), y (1 row)"
    )
    assert found_in(path, reward="y") == [("a", 1.0)]
    assert_refused(compare(path, path, "--reward", "z"), "no column is called 'z'; there are id, note, x, y")


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("1", 1.0),
        ("-2.5e1", -25.0),
        ("True", 1.0),
        ("false", 0.0),
        ("", "no score"),
        ("NaN", "no score"),
        ("None", "no score"),
        ("inf", "non-finite score (inf)"),
    ],
)
def test_what_a_cell_says(cell: str, found: Any, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["id", "score"], ["a", cell])
    assert found_in(path) == [("a", found)]


@pytest.mark.parametrize(
    ("name", "text"), [("t.csv", "id,score\na,1\nb,high\nc,1\n"), ("t.tsv", "id\tscore\na\t1\nb\thigh\nc\t1\n")]
)
def test_a_score_that_is_text_in_one_row(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    put(path, text)
    assert_refused(compare(path, path), f"{name}:3: score 'high' is not a number (task b)")
    assert found_in(path, skip_bad_lines=True) == [("a", 1.0), ("c", 1.0)]


@pytest.mark.parametrize("value", ["1.0", [1], {"a": 1}])
def test_a_score_in_json_has_a_type(value: Any, tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 1}, {"id": "b", "score": value}]
    path = put_json(tmp_path / "t.json", rows)
    assert_refused(compare(path, path), "t.json: row 2: score ", "is not a number (task b)")
    lines = write_rows(tmp_path / "t.jsonl", rows)
    assert_refused(compare(lines, lines), "t.jsonl:2: score ", "is not a number (task b)")
    if isinstance(value, str):
        assert found_in(path, reward="score") == [("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,score,score\na,1,1\n", "two columns are called 'score'; rename one of them"),
        ("id,score\na\n", "t.csv:2: a row of 1 cells under a header of 2"),
        ("id,score\na,1,\n", "t.csv:2: a row of 3 cells under a header of 2"),
        ('id,score\n"a\nb",x\n', "t.csv:2: score 'x' is not a number"),
        ("\n\n", "the table has no header"),
    ],
)
def test_a_table_that_is_not_one(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    put(path, text)
    assert_refused(compare(path, path, "--format", "table"), said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"id": 1, "score": 1}, 2]', "row 2: expected a JSON object"),
        ('[{"id": 1, "score": 1}', "t.json: invalid JSON"),
        ('{\n"id": 1, "score": 1}', "the JSON document is not a list of rows"),
    ],
)
def test_a_json_list_that_is_not_one(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    put(path, text)
    assert_refused(compare(path, path, "--format", "table"), said)


def test_a_list_may_stand_in_an_object(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    put(path, json.dumps({"run": "x", "results": ROWS}, indent=1))
    with locate_run(str(path), "table").opened() as run:
        assert [one for _, one in run.shards[0].main.rows(None)] == ROWS  # type: ignore[attr-defined]


def test_cells_in_quotes_go_on_over_lines(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["id", "prompt", "score"], ["a", "x\ny,z", 1], ["b", 'say "x"', 0])
    assert found_in(path) == [("a", 1.0), ("b", 0.0)]
    assert record_in(path, 0).task_input == "=x\ny,z"
    assert table_of_run(path).place(1).where.endswith("t.csv:4")


def test_semicolons_a_byte_order_mark_and_an_index_without_a_name(tmp_path: Path) -> None:
    put(tmp_path / "t.csv", b"\xef\xbb\xbf;id;score\n0;a;1\n\n1;b;0\n")
    assert found_in(tmp_path) == [("a", 1.0), ("b", 0.0)]


def test_an_error_masks_only_where_there_is_no_score(tmp_path: Path) -> None:
    header = ["id", "score", "error", "mask_sample"]
    path = write_csv(
        tmp_path / "t.csv", header, ["a", 1, "", ""], ["b", "", "x", ""], ["c", 0, "x", ""], ["d", 0, "", "True"]
    )
    assert found_in(path) == [("a", 1.0), ("b", "error: x"), ("c", 0.0), ("d", "mask_sample")]
    table = table_of_run(path)
    assert str(table.agent_error[2]) == "error: x"


def test_numbers_of_tasks_are_the_same_in_every_form(tmp_path: Path) -> None:
    old = put_json(tmp_path / "old.json", [{"id": 1, "score": 1}, {"id": 2.0, "score": 1}])
    new = write_csv(tmp_path / "new.csv", ["id", "score"], [1, 1], [2, 0])
    assert "flipped                      1   old-win 1, new-win 0" in compare(old, new).stdout


def test_columns_with_dots_in_their_names(tmp_path: Path) -> None:
    rows = [{"example_id": "u1", "id": "r1", "inputs.question": "q", "inputs.hint": "h", "feedback.right": 1.0}]
    path = write_rows(tmp_path / "t.jsonl", rows)
    assert found_in(path) == [("u1", 1.0)]
    assert found_in(path, reward="feedback.right") == [("u1", 1.0)]
    assert record_in(path).task_input == record_in(put_json(tmp_path / "t.json", rows)).task_input
    write_rows(path, [{**rows[0], "feedback.right": "x"}])
    assert_refused(compare(path, path), "t.jsonl:1: feedback.right 'x' is not a number (task u1)")


def test_the_parts_of_one_table(tmp_path: Path) -> None:
    for number in range(2):
        write_csv(tmp_path / f"train-0000{number}-of-00002.csv", ["id", "score"], [f"t{number}", number])
    assert found_in(tmp_path) == [("t0", 0.0), ("t1", 1.0)]
    write_csv(tmp_path / "other.csv", ["id", "score"], ["x", 1])
    assert_refused(
        compare(tmp_path, tmp_path), "it holds 3 tables; name one of them: other.csv, train-00000-of-00002.csv"
    )


def test_patterns_folders_and_standard_input(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", ["id", "score"], ["x", 1])
    with locate_run(f"{tmp_path}/*.csv", "table").opened() as run:
        assert len(run.shards) == 1
    assert_refused(compare(f"{tmp_path}/*.tsv", tmp_path, "--old-format", "table"), "no table matches")
    put(tmp_path / "empty" / "x.txt", "x")
    assert_refused(compare(tmp_path / "empty", tmp_path, "--old-format", "table"), "it is a folder without a table")
    assert [str(path) for path in locate_run("-", "table").files()] == ["standard input"]


def test_a_table_beside_rollouts_does_not_count(tmp_path: Path) -> None:
    write_rows(tmp_path / "rollouts.jsonl", [{"task_id": "t", "reward": 1.0}])
    write_csv(tmp_path / "summary.csv", ["id", "score"], ["x", 0])
    assert found_in(tmp_path) == [("t", 1.0)]


def test_a_table_against_rollouts(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "rollouts.jsonl", [{"task_id": f"t{i}", "reward": 1.0} for i in range(3)])
    new = write_csv(tmp_path / "t.csv", ["Task ID", "passed"], ["t0", "True"], ["t1", "False"], ["t3", "True"])
    told = compare(old, new).stdout
    assert "join key: old=task_id, new=Task ID" in told
    assert "flipped                      1   old-win 1, new-win 0" in told
    assert "missing                      2   old-only 1, new-only 1" in told


def test_a_table_read_again(tmp_path: Path) -> None:
    row = {"id": "a", "score": 0, "prompt": "q", "output": "answer", "explanation": "wrong", "seed": 3}
    path = write_rows(tmp_path / "t.jsonl", [row])
    record = record_in(path)
    assert record.output is not None
    assert record.output.texts == (("explanation", "wrong"),)
    assert record.transcript == (Step("user", "q"), Step("assistant", "answer"))
    write_rows(path, [{**row, "output": [{"role": "assistant", "content": "x"}], "prompt": {"a": 1}}])
    assert steps_in(path) == (Step("user", '{"a":1}'), Step("assistant", "x"))
    write_rows(path, [{"id": "a", "score": 1}])
    assert record_in(path).transcript is None


def test_a_table_that_changed_or_shrank(tmp_path: Path) -> None:
    from nemo_gym.rollout_compare.schema import Wanted

    path = write_csv(tmp_path / "t.csv", ["id", "score"], ["a", 1], ["b", 1])
    table = table_of_run(path)
    source = table.place(1).source
    write_csv(path, ["id", "score"], ["a", 1])
    for grown in (False, True):
        (record,) = source.again([table.place(1)], Wanted(output=True), grown=grown)
        assert "has changed or gone" in str(record)


def test_what_a_row_was_made_with_and_what_it_cost() -> None:
    row = {"id": "a", "score": 1, "model": "m", "prompt_tokens": "7", "latency": "x", "cost": -1, "attempt": 2.0}
    reader = TableReader(columns_of([row]), typed=True)
    attempt = reader.attempt(Told(tuple(row.get(path) for path in reader.paths), {"id": "a"}, None, None, 1, 0))
    assert attempt.settings == {"model": "m"}
    assert attempt.measures == {"input-tokens": 7.0}
    assert attempt.attempt == 2
    assert reader.fields("x").said
    assert TableReader(columns_of([{"score": 1}]), typed=True).fields(None).usual == ("id",)


def test_a_table_is_a_run_even_where_no_score_can_be_read(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["id", "score"], ["a", ""], ["b", ""])
    assert found_in(path) == [("a", "no score"), ("b", "no score")]
    assert table_of_run(path).place(0).source.path == path


def test_a_line_end_where_none_may_be(tmp_path: Path) -> None:
    put(tmp_path / "t.csv", "id,score\na,1\nx\ry,1\nb,0\n")
    assert_refused(compare(tmp_path, tmp_path), "t.csv:3: invalid CSV (new-line character seen in unquoted field")
    assert found_in(tmp_path, skip_bad_lines=True) == [("a", 1.0), ("b", 0.0)]
    put(tmp_path / "t.csv", "id\rscore\na,1\n")
    assert_refused(compare(tmp_path, tmp_path), "t.csv: invalid CSV")


def test_parquet_whose_pages_are_broken(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet")
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    put(path, bytes(data))
    assert_refused(compare(path, path), "cannot read ", "t.parquet: ")


def test_of_columns_without_a_score_the_prompt_is_none_of_the_candidates(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "t.jsonl", [{"id": "a", "input": {"x": 1}, "y": {"z": 2, "w": "text"}, "v": 3, "u": "w", "t": 4}]
    )
    choice = "--reward NAME takes one of: t (1 row), v (1 row), y.z (1 row)\n"
    assert_refused(compare(path, path, "--format", "table"), choice)


def test_what_is_not_a_row_does_not_count_among_the_scores_to_choose_from(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"id": "a", "correct": true, "accuracy": 0.5}, 7, {"id": "b", "correct": false}]')
    assert_refused(compare(path, path), "--reward NAME takes one of: correct (2 rows), accuracy (1 row)")
