"""A producer of JSON rows is one file of data: the one that CONTRIBUTING.md shows is tried here as it stands there."""

from __future__ import annotations

import math
import pickle
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.producers import Plan, Producer, read_again
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.producers.row_producer import Became, row_producer
from nemo_gym.rollout_compare.producers.verdicts import error_text, own_reward
from nemo_gym.rollout_compare.schema import CompareInputError, Mark, Mask, MaskKind, Output, Wanted
from nemo_gym.rollout_compare.table.table import Table
from tests.support import write_rows

ROOT = Path(__file__).parents[3]


@pytest.fixture
def acme() -> Producer:
    """The producer that the document makes."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(textwrap.dedent(code), "acme.py", "exec"), names)  # noqa: S102  # the document's own code
    producer = names["ACME"]
    assert isinstance(producer, Producer)
    return producer


def row(case: str, score: object, **more: object) -> dict[str, object]:
    return {"acme_version": 2, "case": case, "score": score, **more}


def table(producer: Producer, path: Path, plan: Plan = Plan()) -> Table:  # noqa: B008  # it is frozen
    with producer.locate(str(path)).opened() as run:
        assert run.reader == producer.name
        (found,) = read_tables([(0, run.shards[0].main, plan)], 1)
    return found


def test_its_rows_say_what_became_of_them(acme: Producer, tmp_path: Path) -> None:
    rows = [
        row("a", 1.0),
        row("b", 0.5, crash="Traceback\nOSError: disk"),
        row("c", 0, timed_out=True),
        row("d", None),
    ]
    found = table(acme, write_rows(tmp_path / "run.jsonl", rows))
    assert [None if math.isnan(reward) else reward for reward in found.reward] == [1.0, 0.5, 0.0, None]
    masks = [found.masked.values[number] for number in found.masked.ids]
    assert masks == [None, Mask(MaskKind.SAID, "crash: OSError: disk"), None, Mask(MaskKind.SAID, "no reward")]
    marks = [found.agent_error.values[number] for number in found.agent_error.ids]
    assert marks == [None, None, Mark("timed_out", "true"), None]


def test_it_is_known_by_the_keys_of_its_rows(acme: Producer, tmp_path: Path) -> None:
    own = write_rows(tmp_path / "own.jsonl", [row("a", 1)])
    other = write_rows(tmp_path / "other.jsonl", [{"case": "a", "score": 1}])
    assert acme.seen(Glimpse(own))
    assert not acme.seen(Glimpse(other))
    assert not acme.seen(Glimpse(tmp_path))
    assert acme.locate(str(tmp_path)).files() == [own]
    assert acme.signs == "lines with case and acme_version"


def test_a_score_that_is_text_is_an_error_with_its_place_and_task(acme: Producer, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", [row("a", 1), row("b", "high")])
    with pytest.raises(CompareInputError, match=r"run.jsonl:2: score 'high' is not a number \(task b\)"):
        table(acme, path)
    assert list(table(acme, path, Plan(skip_bad_lines=True)).reward) == [1.0]


def test_a_score_that_is_true_counts_where_the_user_chose_it_and_is_an_error_else(
    acme: Producer, tmp_path: Path
) -> None:
    path = write_rows(tmp_path / "run.jsonl", [row("a", True), row("b", False)])
    with pytest.raises(CompareInputError, match=r"run.jsonl:1: score True is not a number \(task a\)"):
        table(acme, path)
    assert list(table(acme, path, Plan(reward="score")).reward) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("value", "reward", "masked"),
    [
        (2, 2.0, None),
        (0.5, 0.5, None),
        (None, None, "no reward"),
        (math.nan, None, "non-finite reward (nan)"),
        (math.inf, None, "non-finite reward (inf)"),
    ],
)
def test_an_own_reward_is_a_number_or_masked(value: object, reward: float | None, masked: str | None) -> None:
    assert own_reward(value, "score") == (reward, masked)


@pytest.mark.parametrize("value", ["1", True, False, [1], {"a": 1}, 10**400])
def test_any_other_own_reward_is_an_error_that_names_its_field(value: object) -> None:
    with pytest.raises(CompareInputError, match=r"^score .+ is not a number"):
        own_reward(value, "score")


def test_an_error_is_told_by_the_first_of_its_names_that_has_a_value() -> None:
    error = {"message": "", "type": "Boom\nOSError: disk"}
    assert error_text(error, "message", "type") == "OSError: disk"
    assert error_text("a\n" + "x" * 500) == "x" * 120


def test_a_row_without_any_of_the_ids_is_called_unknown(acme: Producer, tmp_path: Path) -> None:
    with acme.locate(str(write_rows(tmp_path / "run.jsonl", [row("a", 1)]))).opened() as run:
        source = run.shards[0].main
        assert isinstance(source, RowsFile)
        assert source.label({"sample": {"uid": 7}}, None) == "7"
        assert source.label({"name": "n", "case": "a"}, "name") == "n"
        assert source.label({}, "name") == "unknown"
        assert source.fields("name").said


def test_what_was_said_is_read_again(acme: Producer, tmp_path: Path) -> None:
    rows = [row("a", 0, sample={"question": "Why?"}, grader={"log": "FAILED t::x"})]
    path = write_rows(tmp_path / "run.jsonl", rows)
    found = table(acme, path)
    place = found.place(0)
    ((_, record),) = read_again([place], Wanted(("case",), task_input=True, output=True))
    assert not isinstance(record, Exception)
    assert record.values == ("a",)
    assert record.task_input == "=Why?"
    assert record.output == Output(None, (("grader.log", "FAILED t::x"),), ("grader.said", "grader.log"))


def test_sources_are_equal_wherever_they_are(tmp_path: Path) -> None:
    def made() -> object:
        one = row_producer("bare", known_by=("n",), ids=("n",), results=("s",), became=Became)
        with one.locate(str(path)).opened() as run:
            source = run.shards[0].main
            assert isinstance(source, RowsFile)
            return source.format

    path = write_rows(tmp_path / "run.jsonl", [{"n": "a", "s": 1.0}])
    assert made() == made() == pickle.loads(pickle.dumps(made()))  # noqa: S301  # made here


def test_rows_may_say_nothing_but_ids_and_results(tmp_path: Path) -> None:
    bare = row_producer("bare", known_by=("n", "s"), ids=("n",), results=("s",), became=Became)
    path = write_rows(tmp_path / "run.jsonl", [{"n": "a", "s": 1.0}, {"n": "b", "s": None}, {"n": "c", "s": 1e999}])
    path.write_text(path.read_text("utf-8").replace("Infinity", "1e999"), "utf-8")
    found = table(bare, path)
    masks = [found.masked.values[number] for number in found.masked.ids]
    assert masks == [None, Mask(MaskKind.NO_REWARD), Mask(MaskKind.NON_FINITE, "inf")]
    assert not any(found.has_output)
    ((_, record),) = read_again([found.place(0)], Wanted(("n",), task_input=True, output=True))
    assert not isinstance(record, Exception)
    assert record.task_input is None
    assert record.output == Output(None, (), ())
