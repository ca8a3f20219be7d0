"""Whatever a file of another producer holds, reading it ends in rows or in one line that says what is wrong."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run, read_again
from nemo_gym.rollout_compare.schema import CompareInputError, Record, Wanted
from tests.producer_support import doc, event, head, result, sample
from tests.properties import PROPERTY

#: Each example writes a file and reads it.
FEW = settings(PROPERTY, max_examples=50)

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)

SAMPLE, DOC, RESULT = sample(), doc(1), result()
EVENTS = [event("a", "sampling", prompt="q", sampled="x"), event("a", "match", correct=True, expected="y")]


def changed(row: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A row some of whose values are anything."""
    return st.dictionaries(st.sampled_from(sorted(row)), VALUES, max_size=3).map(lambda other: {**row, **other})


def archive(samples: list[Any]) -> bytes:
    """A log whose summaries are these."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as zipped:
        zipped.writestr("header.json", json.dumps(head()))
        zipped.writestr("summaries.json", json.dumps(samples))
    return data.getvalue()


def lines(rows: list[Any]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def document(key: str, more: dict[str, Any]) -> Any:
    return lambda rows: json.dumps({**more, key: rows}).encode()


FORMS = {
    "inspect archive": ("inspect", "log.eval", SAMPLE, archive),
    "inspect document": ("inspect", "log.json", SAMPLE, document("samples", head())),
    "lm-eval lines": ("lm-eval", "samples_sums.jsonl", DOC, lines),
    "lm-eval list": ("lm-eval", "samples_sums.json", DOC, lambda rows: json.dumps(rows).encode()),
    "promptfoo lines": ("promptfoo", "results.jsonl", RESULT, lines),
    "promptfoo document": ("promptfoo", "results.json", RESULT, document("results", {"evalId": "e"})),
    "openai-evals": ("openai-evals", "log.jsonl", EVENTS[1], lines),
}


def read(name: str, format_name: str, data: bytes, **plan: Any) -> None:
    """Read a file and all of its rows again; only one kind of error may come of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        said, table = None, None
        try:
            with locate_run(str(path), format=format_name).opened() as run:
                (table,) = run_tables([run], [Plan(**plan)], 1)
        except CompareInputError as error:
            said = str(error)
        if table is None:
            assert said
            assert "\n" not in said
            assert str(path) in said
            return
        wanted = Wanted(tuple(table.keys), task_input=True, output=True, row=True, transcript=True)
        for row, record in read_again([table.place(row) for row in range(len(table))], wanted):
            assert isinstance(record, Record), record
            assert record.input_number == table.inputs[row]


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(data=st.data(), reward=st.none() | st.sampled_from(["match", "acc", "score", "x.y"]), skip=st.booleans())
def test_rows_with_anything_in_them(form: str, data: st.DataObject, reward: str | None, *, skip: bool) -> None:
    format_name, name, row, made_of = FORMS[form]
    rows = data.draw(st.lists(changed(row) | VALUES, max_size=4))
    read(name, format_name, made_of(rows), reward=reward, skip_bad_lines=skip)


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(data=st.data())
def test_bytes_that_were_cut_off_or_changed(form: str, data: st.DataObject) -> None:
    format_name, name, row, made_of = FORMS[form]
    whole = bytearray(made_of([row, row]))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    read(name, format_name, bytes(whole[: data.draw(st.integers(0, len(whole)))]))
