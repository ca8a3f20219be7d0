"""`--max-line`: a longer line is one error with its number, is left out where asked, and is never collected whole."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.files import LineCount, LongLine, Piece, iter_blocks, line_at, open_input
from tests.support import assert_refused, compare

MOST = 3000
WHAT = "the line is longer than 3kB (--max-line)"


def line(task: str, size: int) -> bytes:
    """A row of so many bytes."""
    row = json.dumps({"task_id": task, "reward": 1, "x": ""}).encode()
    return row[:-2] + b"y" * (size - len(row)) + b'"}'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("old.jsonl", line("a", 100), line("c", 100))


def put(name: str, *lines: bytes, end: bytes = b"\n") -> None:
    data = b"\n".join(lines) + end
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.mark.parametrize("name", ["new.jsonl", "new.jsonl.gz"])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_line_may_be_as_long_as_that_and_no_longer(name: str, end: bytes, jobs: str) -> None:
    put(name, line("a", 100), b"", line("c", MOST), end=end)
    assert compare("old.jsonl", name, "--max-line", str(MOST), "--jobs", jobs).status == 0
    put(name, line("a", 100), b"", line("c", MOST + 1), end=end)
    done = compare("old.jsonl", name, "--max-line", str(MOST), "--jobs", jobs)
    assert_refused(done, f"error: {name}:3: {WHAT}\n")


@pytest.mark.parametrize("beside", ["new_failures.jsonl", "new_materialized_inputs.jsonl"])
def test_a_line_of_what_lies_beside_a_run_too(beside: str) -> None:
    put("new.jsonl", line("a", 100))
    put(beside, line("b", 100), line("c", MOST + 1))
    done = compare("old.jsonl", "new.jsonl", "--max-line", str(MOST))
    assert_refused(done, f"error: {beside}:2: {WHAT}\n")


@pytest.mark.parametrize("name", ["new.jsonl", "new.jsonl.gz"])
def test_it_is_left_out_where_bad_lines_are(name: str) -> None:
    put(name, line("a", 100), line("b", MOST + 1), line("b", 5 << 20), line("c", 100))
    done = compare("old.jsonl", name, "--max-line", str(MOST), "--skip-bad-lines")
    assert (done.status, done.stderr) == (0, "")
    assert f"{name}: 2 lines that are not rows were left out: line 2 ({WHAT}), line 3 ({WHAT})" in done.stdout
    assert "## Missing (0)" in done.stdout


@pytest.mark.parametrize("block", [1, 7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("piece", [50, 5000, 1 << 20])
def test_numbers_and_places_after_it_are_right_wherever_blocks_and_pieces_end(block: int, piece: int) -> None:
    lines = [line("a", 100), line("b", 40_000), b"", line("c", 33_000), line("d", 90), line("e", 35_000)]
    put("long.jsonl", *lines)
    data = Path("long.jsonl").read_bytes()
    found: list[tuple[int, int]] = []
    with open_input(Path("long.jsonl")) as source:
        before = 0
        for start in range(0, len(data), piece):
            count = LineCount()
            part = Piece(source, start, start + piece if start + piece < len(data) else None)
            for one in iter_blocks(part, count, block, max_line=34_000):
                for number, offset, held in zip(one.numbers, one.offsets, one.lines, strict=True):
                    found.append((before + number, offset))
                    whole = data[offset:].split(b"\n")[0]
                    assert bytes(held) == (b"" if len(whole) > 34_000 else whole)
                    assert isinstance(held, LongLine) == (len(whole) > 34_000)
            before += count.lines
    starts = [sum(len(one) + 1 for one in lines[:i]) for i in range(len(lines))]
    assert found == [(i + 1, starts[i]) for i in range(len(lines)) if lines[i]]


@pytest.mark.parametrize(("most", "times"), [(1 << 20, 0.3), (1 << 30, 1.4)])
def test_of_a_long_line_there_is_one_copy_at_most(most: int, times: float) -> None:
    size = 24 << 20
    put("long.jsonl", line("a", size), line("b", size))
    with open_input(Path("long.jsonl")) as source:
        tracemalloc.start()
        for block in iter_blocks(Piece(source), max_line=most):
            assert len(block.lines) == 1
            del block
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak <= times * size


@pytest.mark.parametrize("value", ["0", "-1", "x", "1e3", ""])
def test_what_is_no_size_is_wrong_usage(value: str) -> None:
    done = compare("old.jsonl", "old.jsonl", f"--max-line={value}")
    assert done.status == 2
    assert done.stderr.startswith(f"error: argument --max-line: '{value}' is not ")


@pytest.mark.parametrize("size", [100, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_read_again_is_the_whole_line(size: int, end: bytes) -> None:
    put("long.jsonl", line("a", size), line("b", size), end=end)
    with Path("long.jsonl").open("rb") as file:
        assert bytes(line_at(file)) == line("a", size) + b"\n"
        assert bytes(line_at(file)) == line("b", size) + end
        assert bytes(line_at(file)) == b""
