"""What is kept of a row's texts: bounded, whatever their length, and equal only where the texts are."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from nemo_gym.rollout_compare.engine import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run
from nemo_gym.rollout_compare.schema import attempt_part, identity_of, input_numbers, kept, summed_up
from nemo_gym.rollout_compare.schema.identity import MOST_CHARACTERS, utf8_pieces
from tests.support import compare, write_rows

#: The most characters that are kept of a text that is not kept whole: its ends, its length and a digest.
BOUND = 2_200


@pytest.mark.parametrize("text", ["", "a", "\ud800", "b" * MOST_CHARACTERS])
def test_a_text_of_usual_length_is_kept_whole(text: str) -> None:
    assert kept(text) is text


@pytest.mark.parametrize("text", ["a" * (MOST_CHARACTERS + 1), "\u00e9\U0001f469\ud800" * 1_000_000])
def test_a_very_long_one_by_its_ends_its_length_and_a_digest_of_the_whole(text: str) -> None:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    assert kept(text) == f"{text[:1000]}... ({len(text)} characters, {digest}) ...{text[-1000:]}"
    assert kept(text[:2000] + "x" + text[2001:]) != kept(text)
    assert kept(text[:2000] + text[2001:]) != kept(text)


@pytest.mark.parametrize("length", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_pieces_are_the_text_and_hashes_of_them_the_same(length: int) -> None:
    text = ("\u00e9a\U0001f469" * (length // 3 + 1))[:length]
    data = text.encode()
    assert b"".join(utf8_pieces(text)) == data
    assert max(map(len, utf8_pieces(text)), default=0) <= 4 << 20
    assert summed_up(text) == f"{length} characters #{xxh3_64_hexdigest(data)}"
    assert input_numbers([text])[0] == (xxh3_64_intdigest(data) if length else 0)


BIG = {
    "text": "word " * 100_000,
    "list": ["word"] * 100_000,
    "object": {f"k{i}": i for i in range(30_000)},
    "number": 10**4000,
}


@pytest.mark.parametrize("value", BIG.values(), ids=BIG)
@pytest.mark.parametrize(
    "made",
    [
        identity_of,
        attempt_part,
        lambda value: identity_of({"taskset": value, "task_id": "a"}),
        lambda value: identity_of({"taskset": "s", "task_id": value}),
    ],
)
def test_what_tells_tasks_and_attempts_apart_is_bounded(value: Any, made: Callable[[Any], Any]) -> None:
    found = made(value)
    texts = found if isinstance(found, tuple) else (str(found) if value != BIG["number"] else "",)
    assert max(map(len, texts)) <= max(BOUND, MOST_CHARACTERS)
    assert value == BIG["number"] or max(map(len, texts)) <= BOUND


FIELDS = [
    "failure_kind",
    "error",
    "verifier_error",
    "task_name",
    "uuid",
    "_ng_rollout_index",
    "agent_ref",
    "skills_ref",
    "response.model",
    "response.metadata.error_type",
    "responses_create_params.input",
    "responses_create_params.instructions",
    "responses_create_params.tools",
    "responses_create_params.unknown",
    "test_output",
    "unknown",
]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("sidecar", [False, True], ids=["row", "sidecar"])
def test_a_table_does_not_grow_with_the_size_of_any_field(field: str, sidecar: bool, tmp_path: Path) -> None:
    def row(index: int, size: int) -> dict[str, Any]:
        made: dict[str, Any] = {"_ng_task_index": index, "_ng_rollout_index": 0, "task_id": f"t{index}"}
        place = made
        *outer, last = field.split(".")
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = f"{index} " * size
        return made if sidecar else {**made, "reward": 1}

    def texts_in(size: int) -> int:
        folder = tmp_path / str(size)
        folder.mkdir()
        plain = [{"_ng_task_index": 99, "_ng_rollout_index": 0, "task_id": "t99", "reward": 1}]
        write_rows(folder / "run.jsonl", plain if sidecar else [row(i, size) for i in range(3)])
        if sidecar:
            write_rows(folder / "run_failures.jsonl", [row(i, size) for i in range(3)])
        with locate_run(str(folder)).opened() as run:
            [table] = run_tables([run], [Plan()])
        return len(msgpack(table))

    assert texts_in(400_000) - texts_in(1) <= 3 * 3 * BOUND  # three rows, each with three texts at most


def msgpack(table: object) -> bytes:
    """All that a table holds, as it would be sent to another process."""
    import pickle

    return pickle.dumps(table)


@pytest.mark.parametrize("key", ["task_id", "uuid", "verifier_metadata.deep.id"])
def test_a_very_long_record_of_a_failure_says_what_a_short_one_says(key: str, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"_ng_task_index": 1, "_ng_rollout_index": 0, "task_id": "a", "_ng_failure_class": "x", "error": {"why": 1}},
        {"_ng_task_index": 2, "_ng_rollout_index": 0, "verifier_metadata": {"id": "b", "deep": {"id": 5}}, "uuid": "u"},
        {"_ng_task_index": 2, "_ng_rollout_index": 1, "verifier_metadata": 5, "metadata": {"exception_info": "late"}},
        {"_ng_task_index": 3, "_ng_rollout_index": 0, "task_id": "c", "_ng_omitted_rollout": True},
        {"_ng_task_index": 4, "_ng_rollout_index": 0, "task_id": "d", "_ng_dispatch_drained": True},
        {"failure_kind": "own", "failure_reason": "why", "test_output": "said", "response": {"metadata": {"k": 1}}},
    ]
    row = {"task_id": "a", "uuid": "u", "verifier_metadata": {"deep": {"id": 5}}, "_ng_task_index": 9, "reward": 1}
    said: list[Any] = []
    for size in (1, 2_000_000):
        folder = tmp_path / str(size)
        folder.mkdir()
        write_rows(folder / "run.jsonl", [{**row, "_ng_rollout_index": 0}])
        write_rows(folder / "run_failures.jsonl", [{**record, "unknown": "y" * size} for record in records])
        done = compare(folder, folder, "--json-stdout", "--key", key)
        assert done.stderr == ""
        summary = json.loads(done.stdout)
        said.append((done.status, summary["tasks"], summary["counts"], len(summary["notes"])))
    assert said[0] == said[1]
    masked = [task for task in said[0][1] if task["category"] == "masked"]
    assert len(masked) >= 1
