"""Junk in the records of other producers, and in tables: rows, or one line that says what is wrong."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers.rewards import number_of
from tests.producer_support import found_in
from tests.properties import PROPERTY
from tests.record_support import episode, judged, listed, result, trace, verdict, write_instance
from tests.support import compare, put

#: Each example writes a file and compares it with itself.
FEW = settings(PROPERTY, max_examples=25)

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(10**400), st.just("nan")
)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
CELLS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["1", "0.5", "True", "", "nan", "1e999"])


def judge(path: Path, *options: str) -> None:
    """A report, or one line of error and nothing else."""
    done = compare(path, path, *options)
    assert done.status in (0, 1)
    if done.status:
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
    else:
        assert "flipped                      0" in done.stdout


def mutated(make: Callable[[], dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A record in which some fields hold anything."""
    names = st.sampled_from(sorted(make()))
    return st.dictionaries(names, JUNK, max_size=3).map(lambda junk: {**make(), **junk})


RECORDS = {
    "verifiers": (lambda: result(0), "results.jsonl"),
    "episodes": (lambda: episode("t", trace(r=1.0)), "traces.jsonl"),
    "openhands": (lambda: judged("a"), "output.swebench_eval.jsonl"),
}


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
@FEW
def test_a_record_with_junk_in_it(kind: str, data: st.DataObject) -> None:
    make, name = RECORDS[kind]
    rows = data.draw(st.lists(mutated(make), min_size=1, max_size=3))
    form = "openhands" if kind == "openhands" else "verifiers"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        put(path, "".join(f"{json.dumps(row)}\n" for row in rows))
        judge(path, "--format", form)
        judge(path, "--format", form, "--skip-bad-lines")


@given(
    report=mutated(lambda: listed(submitted=["a", "b"], resolved=["a"], unresolved=["b"])),
    own=mutated(lambda: verdict("a", True)["a"]),
)
@FEW
def test_reports_with_junk_in_them(report: dict[str, Any], own: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "m.r.json"), json.dumps(report))
        write_instance(Path(folder, "logs/run_evaluation/r/m"), "a", {"a": own})
        judge(Path(folder), "--format", "swe-bench")


@given(rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=4), junk=st.text(max_size=10))
@FEW
def test_a_table_as_text_with_junk_in_it(rows: list[list[str]], junk: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        out = StringIO()
        csv.writer(out).writerows([["id", "score", "note"], *rows])
        put(path, out.getvalue() + junk)
        judge(path)
        judge(path, "--skip-bad-lines")


@given(rows=st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "score": JUNK}, optional={"x": JUNK}), max_size=4))
@FEW
def test_a_table_of_objects_with_junk_in_it(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {
            "t.json": json.dumps(rows),
            "t.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        }.items():
            put(Path(folder, name), text)
            judge(Path(folder, name), "--format", "table")
            judge(Path(folder, name), "--format", "table", "--reward", "score")


@given(scores=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.booleans(), min_size=1, max_size=5))
@FEW
def test_a_score_is_the_same_number_in_every_form(scores: list[float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [{"id": f"t{number}", "score": score} for number, score in enumerate(scores)]
        put(Path(folder, "t.json"), json.dumps(rows))
        put(Path(folder, "t.jsonl"), "".join(f"{json.dumps(row)}\n" for row in rows))
        put(Path(folder, "t.csv"), "id,score\n" + "".join(f"{row['id']},{row['score']}\n" for row in rows))
        expected = [(row["id"], number_of(row["score"])) for row in rows]
        for name in ("t.json", "t.jsonl", "t.csv"):
            assert found_in(Path(folder, name)) == expected
