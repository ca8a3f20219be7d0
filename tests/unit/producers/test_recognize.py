"""Which producer a run is of, told at a glance."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers import PRODUCERS
from nemo_gym.rollout_compare.producers.contract import Producer
from nemo_gym.rollout_compare.producers.glimpse import HEAD_BYTES, Glimpse, own_keys
from nemo_gym.rollout_compare.producers.recognize import producer_of
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.producers_support import evaluator_row, harbor_killed, harbor_trial, put_json, terminal_bench_result
from tests.properties import PROPERTY
from tests.support import assert_refused, compare, put, write_rows

ROW = {"responses_create_params": {"input": "x"}, "reward": 1.0}
RESULT = terminal_bench_result("one", True)


def found(path: Path, name: str | None = None) -> str:
    return producer_of(str(path), PRODUCERS, name).producer.name


@pytest.mark.parametrize(
    ("name", "content", "producer"),
    [
        ("rollouts.jsonl", ROW, "rollouts"),
        ("rollouts.jsonl", {"_ng_task_index": 0, "reward": 1}, "rollouts"),
        ("anything.jsonl", {"id": "a", "reward": 1}, "rollouts"),
        ("result.json", {"id": "x", "task_name": "a", "trial_name": "a__b"}, "harbor"),
        ("result.json", {"n_total_trials": 1, "stats": {}}, "harbor"),
        ("results.json", RESULT, "terminal-bench"),
        ("results.json", {"id": "x", "results": [RESULT]}, "terminal-bench"),
        ("results.json", [RESULT], "terminal-bench"),
        ("results.jsonl", evaluator_row(0, 1.0), "nemo-evaluator"),
    ],
)
def test_a_file_is_known_by_its_first_keys(tmp_path: Path, name: str, content: Any, producer: str) -> None:
    put_json(tmp_path / name, content)
    assert found(tmp_path / name) == producer


def test_folders_are_known_by_what_is_in_them(tmp_path: Path) -> None:
    harbor_trial(tmp_path / "harbor", "one")
    harbor_killed(tmp_path / "killed", "one__aaaaaaa", "tasks/one")
    put_json(tmp_path / "tb/one/one.1-of-1.run/results.json", RESULT)
    put(tmp_path / "tb-begun/tb.lock", "")
    put(tmp_path / "tb-begun/run_metadata.json", "{}")
    put_json(tmp_path / "tb-file/x_results.json", {"results": [RESULT]})
    put_json(tmp_path / "nel/nel_run.json", {})
    put_json(tmp_path / "bench/math/results.jsonl", evaluator_row(0, 1.0))
    put_json(tmp_path / "gym/rollouts.jsonl", ROW)
    names = ["harbor", "killed", "tb", "tb-begun", "tb-file", "nel", "bench", "gym"]
    known = ["harbor", "harbor", *["terminal-bench"] * 3, *["nemo-evaluator"] * 2, "rollouts"]
    assert [found(tmp_path / name) for name in names] == known


def test_an_only_folder_is_looked_into(tmp_path: Path) -> None:
    harbor_trial(tmp_path / "a/b/c/job", "one", rewards={"reward": 1.0})
    recognized = producer_of(str(tmp_path / "a"), PRODUCERS)
    assert recognized.producer.name == "harbor"
    assert recognized.named == str(tmp_path / "a/b/c")
    harbor_trial(tmp_path / "deep/1/2/3/4/5/6/job", "one")
    with pytest.raises(CompareInputError, match="without what shows another format"):
        found(tmp_path / "deep")


def test_of_two_folders_none_is_chosen(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put_json(tmp_path / name / "math/results.jsonl", evaluator_row(0, 1.0))
    with pytest.raises(CompareInputError, match=r"harbor \(.*\), terminal-bench \(.*\), nemo-evaluator \(.*\)"):
        found(tmp_path)


def test_a_folder_of_rollouts_beside_other_files_is_one_of_rollouts(tmp_path: Path) -> None:
    put_json(tmp_path / "rollouts.jsonl", ROW)
    put_json(tmp_path / "rollouts_aggregate_metrics.json", [{"agent_metrics": {}}])
    assert found(tmp_path) == "rollouts"


def test_shards_that_are_called_like_trials_are_rollouts(tmp_path: Path) -> None:
    for shard in (1, 2):
        put_json(tmp_path / f"run.{shard}-of-2.jsonl", ROW)
    assert found(tmp_path) == "rollouts"


def test_rollouts_that_nothing_shows_are_taken_by_their_name(tmp_path: Path) -> None:
    put(tmp_path / "rollouts.jsonl.gz", gzip.compress(b'{"id": "a", "reward": 1.0}\n'))
    assert found(tmp_path) == "rollouts"


def test_compressed_files_are_looked_into(tmp_path: Path) -> None:
    put(tmp_path / "results.jsonl.gz", gzip.compress(json.dumps(evaluator_row(0, 1.0)).encode()))
    assert found(tmp_path / "results.jsonl.gz") == "nemo-evaluator"


def test_the_user_s_word_counts(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one")
    assert found(tmp_path, "rollouts") == "rollouts"
    put_json(tmp_path / "rollouts.jsonl", ROW)
    assert found(tmp_path / "rollouts.jsonl", "harbor") == "harbor"
    with pytest.raises(CompareInputError, match="no format 'harbour'; known are harbor, terminal-bench, "):
        found(tmp_path, "harbour")


@pytest.mark.parametrize("named", ["-", "nowhere", "nul\0byte", "shard-*.jsonl", "x" * 5000])
def test_what_cannot_be_looked_at_is_left_to_the_reader_of_rollouts(named: str) -> None:
    assert producer_of(named, PRODUCERS).producer.name == "rollouts"
    assert producer_of(named, PRODUCERS).named == named


def test_pipes_are_not_looked_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert Glimpse(tmp_path / "pipe").keys == frozenset()
    assert found(tmp_path / "pipe") == "rollouts"


def yes(place: Glimpse) -> bool:
    return place.path.exists()


def no(place: Glimpse) -> bool:
    return not yes(place)


def test_the_first_of_several_producers_is_taken(tmp_path: Path) -> None:
    put(tmp_path / "x", "")
    locate = PRODUCERS["rollouts"].locate
    one, two, three = (Producer(name, locate, seen=yes if name != "two" else no) for name in ("one", "two", "three"))
    recognized = producer_of(str(tmp_path / "x"), {"one": one, "two": two, "three": three})
    assert recognized.producer is one


def test_nothing_is_seen_of_a_producer_that_nothing_shows(tmp_path: Path) -> None:
    producer = Producer("x", PRODUCERS["rollouts"].locate)
    assert not producer.seen(Glimpse(tmp_path))
    assert not producer.looks_like("x.jsonl")


def test_a_glimpse_of_a_file_or_of_nothing(tmp_path: Path) -> None:
    put(tmp_path / "list.json", '\ufeff [{"a": {"b": 1}}, {"c": 1}]')
    place = Glimpse(tmp_path / "list.json")
    assert place.is_list
    assert set(place.keys) == {"a"}
    assert place.names == ()
    nothing = Glimpse(tmp_path / "nothing")
    assert (nothing.is_folder, nothing.head, nothing.keys, nothing.names) == (False, b"", frozenset(), ())
    put(tmp_path / "broken.gz", b"\x1f\x8bbroken")
    assert Glimpse(tmp_path / "broken.gz").head == b""


def test_keys_beyond_the_first_bytes_are_seen_where_the_object_goes_on(tmp_path: Path) -> None:
    row = {"prompt": "x" * HEAD_BYTES, "problem_idx": 0, "repeat": 0, "reward": 1}
    path = write_rows(tmp_path / "results.jsonl", [row])
    assert found(path) == "nemo-evaluator"
    put(tmp_path / "text.txt", "x" * 2 * HEAD_BYTES)
    assert Glimpse(tmp_path / "text.txt").keys == frozenset()


def test_an_unknown_folder_is_one_error(tmp_path: Path) -> None:
    put(tmp_path / "old/note.txt", "")
    done = compare(tmp_path / "old", tmp_path / "old")
    assert_refused(
        done, f"cannot read {tmp_path / 'old'}: it is a folder without a rollouts file (*.jsonl) and without"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@PROPERTY
@given(st.dictionaries(st.text("abc\n\u2028é", max_size=5), VALUES, max_size=5), st.data())
def test_the_own_keys_are_those_of_the_object_as_far_as_it_goes(row: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
    plain = {key for key in row if key.isalpha()}
    keys, ended = own_keys(text)
    assert ended
    assert {key for key in keys if key.isalpha()} == plain
    cut = data.draw(st.integers(0, len(text) - 1))
    keys, ended = own_keys(text[:cut])
    assert not ended
    assert {key for key in keys if key.isalpha()} <= plain
