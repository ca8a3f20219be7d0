"""Runs whose files are compressed: the same comparison, and what it shows of them is read once, forward."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pytest

from nemo_gym.rollout_compare import load_rollouts
from nemo_gym.rollout_compare.files.inputs import Input, reading
from nemo_gym.rollout_compare.producers import json_lines
from tests.compressing import KINDS, write_compressed
from tests.support import assert_refused, compare, wherever, write_rows

EVERY_KIND = pytest.mark.parametrize("ending", KINDS)

OLD: list[dict[str, Any]] = [{"task_id": name, "reward": 1} for name in ("a", "b", "c")]
NEW: list[dict[str, Any]] = [
    {"task_id": "a", "reward": 0, "test_output": "a failed"},
    {"task_id": "b", "reward": 1, "_ng_task_index": 1, "_ng_rollout_index": 0},
]
FAILURES: list[dict[str, Any]] = [
    {"task_id": "c", "failure_kind": "crash"},
    {"task_id": "b", "_ng_task_index": 1, "_ng_rollout_index": 0},
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@EVERY_KIND
def test_the_comparison_is_that_of_the_content(ending: str) -> None:
    plain = [write_rows(Path("old.jsonl"), OLD), write_rows(Path("new.jsonl"), NEW)]
    write_rows(Path("new_failures.jsonl"), FAILURES)
    expected = compare(*plain)
    assert (expected.status, expected.stderr) == (0, "")
    assert "    | a failed\n" in expected.stdout
    assert "- c: old=1.0 new=none; new mask_sample (failure_kind=crash)\n" in expected.stdout
    rows = load_rollouts("new.jsonl")
    for path in Path().iterdir():
        path.unlink()
    write_compressed(Path(f"old.jsonl{ending}"), OLD)
    write_compressed(Path(f"new.jsonl{ending}"), NEW)
    write_compressed(Path(f"new_failures.jsonl{ending}"), FAILURES)
    assert wherever(compare(f"old.jsonl{ending}", f"new.jsonl{ending}")) == wherever(expected)
    assert load_rollouts(f"new.jsonl{ending}") == rows


@EVERY_KIND
def test_what_is_compressed_is_told_by_its_content(ending: str) -> None:
    packed = write_compressed(Path(f"packed{ending}"), OLD).rename("old.jsonl")
    plain = write_rows(Path(f"new.jsonl{ending}"), OLD)
    done = compare(packed, plain)
    assert done.stdout.startswith("gym dev compare: 3 tasks (old 3 rows, new 3 rows)\n")


@EVERY_KIND
def test_the_files_beside_may_be_compressed_otherwise(ending: str) -> None:
    old = write_rows(Path("old.jsonl"), OLD)
    for other in KINDS:
        write_compressed(Path(f"new.jsonl{other}"), NEW[:1])
        sidecar = write_compressed(Path(f"new_failures.jsonl{ending}"), [{"task_id": "c", "failure_kind": "crash"}])
        done = compare(old, f"new.jsonl{other}")
        assert "new mask_sample (failure_kind=crash)" in done.stdout
        sidecar.unlink()


@EVERY_KIND
@pytest.mark.parametrize("name", ["new.jsonl", "new_failures.jsonl", "new_materialized_inputs.jsonl"])
@pytest.mark.parametrize("options", [[], ["--skip-bad-lines"]], ids=["", "skip"])
def test_a_file_that_is_cut_off_or_broken_cannot_be_read(ending: str, name: str, options: list[str]) -> None:
    old = write_rows(Path("old.jsonl"), OLD)
    if name != "new.jsonl":
        write_compressed(Path(f"new.jsonl{ending}"), NEW)
    path = write_compressed(Path(f"{name}{ending}"), ({"task_id": f"t{i}", "reward": 1} for i in range(5000)))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-3], whole[:50] + bytes(50) + whole[100:]):
        path.write_bytes(content)
        done = compare(old, f"new.jsonl{ending}", *options)
        assert_refused(done, f"error: cannot read {path}: ")
        assert len(done.stderr) > len(f"error: cannot read {path}: x\n")


@EVERY_KIND
def test_a_bad_line_is_named_by_its_number_in_the_content(ending: str) -> None:
    old = write_rows(Path("old.jsonl"), OLD)
    path = Path(f"new.jsonl{ending}")
    path.write_bytes(KINDS[ending](b'\n{"task_id": "a", "reward": 1}\n{"task_id": "b", "rew'))
    assert_refused(compare(old, path), f"error: {path}:3: invalid JSON (", "the last line is cut off")


class Opened(NamedTuple):
    """What was done to an input while it was open: where its content was read from, how far the file was read."""

    path: Path
    seeks: list[int]
    stored: list[int]


class Watched:
    """An open input that keeps a list of the places that are looked for."""

    def __init__(self, file: BinaryIO, seeks: list[int]) -> None:
        self.file, self.seeks = file, seeks

    def seek(self, offset: int) -> int:
        self.seeks.append(offset)
        return self.file.seek(offset)

    def readline(self, size: int = -1) -> bytes:
        return self.file.readline(size)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Opened]:
    """The inputs that were opened to read rows again."""
    found: list[Opened] = []

    @contextmanager
    def watched(source: Input) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        with reading(source) as (file, stored):
            one = Opened(source.path, [], [])
            found.append(one)
            yield cast("BinaryIO", Watched(file, one.seeks)), stored
            one.stored.append(stored.tell())

    monkeypatch.setattr(json_lines, "reading", watched)
    return found


@pytest.mark.slow
@EVERY_KIND
def test_the_rows_that_are_shown_are_read_once_forward_and_no_further_than_the_last(
    ending: str, opened: list[Opened]
) -> None:
    chaos = random.Random(1)  # what cannot be compressed
    tasks = [f"t{number:02}" for number in range(40)]
    chaos.shuffle(tasks)
    lost = tasks[2:12]
    old = write_rows(Path("old.jsonl"), [{"task_id": name, "reward": 1} for name in tasks])
    rows = [
        {
            "task_id": name,
            "reward": int(name not in lost),
            "junk": chaos.randbytes(25_000).hex(),
            "test_output": f"said of {name}",
        }
        for name in tasks
    ]
    new = write_compressed(Path(f"new.jsonl{ending}"), rows)
    done = compare(old, new)
    assert [line for line in done.stdout.splitlines() if "said of" in line] == [
        f"    | said of {name}" for name in sorted(lost)
    ]
    [one] = opened
    assert one.path == new
    assert len(one.seeks) == 10
    assert one.seeks == sorted(one.seeks)
    assert one.stored[0] < new.stat().st_size * 0.75


def test_runs_that_did_not_flip_are_not_read_again(opened: list[Opened]) -> None:
    new = write_compressed(Path("new.jsonl.gz"), OLD)
    assert compare(write_rows(Path("old.jsonl"), OLD), new).status == 0
    assert opened == []
