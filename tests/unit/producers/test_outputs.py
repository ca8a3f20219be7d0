"""What a row says its verifier said, by whichever decoder it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.engine import run_tables
from nemo_gym.rollout_compare.producers import Plan, RowsAtHand, locate_run, outputs, read_again
from nemo_gym.rollout_compare.schema import Place, Record, Wanted
from tests.support import write_rows


@pytest.mark.parametrize("value", ["text", "", " ", None, 5, True, [], {}, ["x"], {"a": 1}, "\ud800"])
def test_what_the_verifier_said_is_the_same_whichever_decoder_reads_it(value: object, tmp_path: Path) -> None:
    row = {"task_id": "a", "reward": 1, "test_output": value, "details": value}
    path = write_rows(tmp_path / "run.jsonl", [row])
    with locate_run(str(path)).opened() as run:
        (table,) = run_tables([run], [Plan()], 1)
        ((_, record),) = read_again([table.place(0)], Wanted(output=True))
    ((_, plain),) = read_again([Place(RowsAtHand([row]), 1, 0)], Wanted(output=True))
    assert isinstance(record, Record)
    assert isinstance(plain, Record)
    assert record.output is not None
    assert plain.output is not None
    assert record.output.texts == plain.output.texts
    assert bool(table.has_output[0]) is (value is not None)


def test_of_a_large_object_no_more_than_its_end_is_shown_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "MOST_OUTPUT_CHARACTERS", 10)
    path = tmp_path / "run.jsonl"
    numbers = json.dumps(list(range(100, 200)), separators=(",", ":"))
    path.write_text(f'{{"task_id":"a","reward":1,"details":{numbers}}}\n')
    with locate_run(str(path)).opened() as run:
        (table,) = run_tables([run], [Plan()], 1)
        ((_, record),) = read_again([table.place(0)], Wanted(output=True))
    assert isinstance(record, Record)
    assert record.output is not None
    assert record.output.texts == (("details", numbers[-41:]),)


def test_a_field_of_output_may_hold_the_key(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", [{"details": {"id": "a"}, "reward": 1, "test_output": "b"}])
    for key, named in (("details.id", "a"), ("test_output", "b")):
        with locate_run(str(path)).opened() as run:
            (table,) = run_tables([run], [Plan(key=key)], 1)
        assert table.keys[key][0] == named
