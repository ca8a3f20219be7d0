"""Inputs that are no ordinary files, or change under the reader's hands."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import Done, assert_refused, compare, wherever, write_rows

ROW = '{"task_id": "t", "reward": 1}\n'
LOST = '{"task_id": "t", "reward": 0, "test_output": "said"}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.jsonl").write_text(ROW, "utf-8")
    Path("new.jsonl").write_text(LOST, "utf-8")


@contextmanager
def piped(name: str, text: str, before: Callable[[], object] = bool) -> Iterator[None]:
    """A pipe that delivers a text; `before` happens once somebody has begun to read it."""
    Path(name).unlink(missing_ok=True)
    os.mkfifo(name)

    def deliver() -> None:
        with Path(name).open("w", encoding="utf-8") as pipe:
            before()
            pipe.write(text)

    writer = threading.Thread(target=deliver, daemon=True)
    writer.start()
    yield
    writer.join(10)
    assert not writer.is_alive(), "nobody has read the pipe"


def ends_well(done: Done) -> Done:
    if done.status == 0:
        assert done.stderr == ""
    else:
        assert_refused(done)
    return done


# What is no file


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_folder(side: str) -> None:
    Path(f"{side}.jsonl").unlink()
    Path(f"{side}.jsonl").mkdir()
    assert_refused(compare("old.jsonl", "new.jsonl"), f"cannot read {side}.jsonl: ")


@pytest.mark.parametrize("name", ["", ".", "..", "/"])
def test_a_path_without_a_name(name: str) -> None:
    done = compare("old.jsonl", name)
    if name:
        assert_refused(done, f"cannot read {name}: ")
    else:
        assert done.status in (1, 2)
        assert done.stderr.startswith("error: ")


def test_a_missing_file() -> None:
    assert_refused(compare("old.jsonl", "gone.jsonl"), "cannot read gone.jsonl: No such file or directory")


def test_a_file_of_no_folder() -> None:
    assert_refused(compare("old.jsonl/x.jsonl", "new.jsonl"), "cannot read old.jsonl/x.jsonl: Not a directory")


def test_a_link_to_nothing() -> None:
    Path("astray.jsonl").symlink_to("gone.jsonl")
    assert_refused(compare("astray.jsonl", "new.jsonl"), "cannot read astray.jsonl: No such file or directory")


def test_a_loop_of_links() -> None:
    Path("loop.jsonl").symlink_to("loop.jsonl")
    assert_refused(compare("old.jsonl", "loop.jsonl"), "cannot read loop.jsonl: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read() -> None:
    Path("new.jsonl").chmod(0)
    assert_refused(compare("old.jsonl", "new.jsonl"), "cannot read new.jsonl: Permission denied")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc here")
def test_a_file_whose_reading_fails() -> None:
    """It can be opened, but nothing can be read from its beginning."""
    assert_refused(compare("old.jsonl", "/proc/self/mem"), f"cannot read /proc/self/mem: {os.strerror(errno.EIO)}")


@pytest.mark.parametrize("kind", ["folder", "link to nothing", "nonsense"])
def test_a_sidecar_that_cannot_be_read(kind: str) -> None:
    sidecar = Path("new_failures.jsonl")
    if kind == "folder":
        sidecar.mkdir()
    elif kind == "link to nothing":
        sidecar.symlink_to("gone")
    else:
        sidecar.write_text(f"{ROW}[]\n", "utf-8")
    where = (
        "new_failures.jsonl:2: expected a JSON object per line" if kind == "nonsense" else "cannot read new_failures"
    )
    assert_refused(compare("old.jsonl", "new.jsonl"), where)


def test_empty_files() -> None:
    Path("empty.jsonl").touch()
    assert_refused(compare("empty.jsonl", "empty.jsonl"))
    done = compare("old.jsonl", "empty.jsonl")
    assert done.status == 0
    assert "join key: old=task_id, new=task_id\n" in done.stdout
    assert "- t: only on old side (reward 1.0)\n" in done.stdout


# Pipes


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_pipe_is_read_like_a_file(side: str) -> None:
    expected = compare("old.jsonl", "new.jsonl")
    assert "    | said\n" in expected.stdout
    with piped(f"{side}.jsonl", ROW if side == "old" else LOST):
        assert wherever(compare("old.jsonl", "new.jsonl")) == wherever(expected)


def test_an_error_in_a_pipe_has_its_line() -> None:
    with piped("new.jsonl", f"{ROW}\n[]\n"):
        assert_refused(compare("old.jsonl", "new.jsonl"), "new.jsonl:3: expected a JSON object per line")


def test_a_pipe_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))
    for text in (ROW, "nonsense\n"):
        with piped("new.jsonl", text):
            ends_well(compare("old.jsonl", "new.jsonl"))
    assert list(spool.iterdir()) == []


# Files that change while they are read: the other side is a pipe, and the change is made once it is being read


def remove() -> None:
    Path("new.jsonl").unlink()


def grow() -> None:
    with Path("new.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"task_id": "later", "reward": 1}\n{"task_id": "half')


def shrink() -> None:
    os.truncate("new.jsonl", 0)


def replace() -> None:
    Path("another").write_text('{"task_id": "t", "reward": 1, "test_output": "forged"}\n', "utf-8")
    Path("another").replace("new.jsonl")


@pytest.mark.parametrize("change", [remove, grow, shrink, replace])
@pytest.mark.parametrize("first", ["old", "new"])
def test_a_file_that_changes_while_the_other_side_is_read(first: str, change: Callable[[], None]) -> None:
    with piped("pipe", ROW, before=change):
        paths = ("pipe", "new.jsonl") if first == "old" else ("new.jsonl", "pipe")
        done = ends_well(compare(*paths))
    if done.status == 1:
        assert "new.jsonl" in done.stderr


def test_a_last_line_that_is_cut_off_says_what_it_may_mean() -> None:
    grow()
    assert_refused(compare("old.jsonl", "new.jsonl"), "new.jsonl:3: invalid JSON (", "still be writing", "killed")


def test_a_last_line_that_is_whole_but_for_its_end_is_a_row() -> None:
    Path("new.jsonl").write_text(ROW.rstrip("\n"), "utf-8")
    assert compare("old.jsonl", "new.jsonl").status == 0


def test_an_invalid_line_with_its_end_is_not_called_cut_off() -> None:
    Path("new.jsonl").write_text('{"task_id": "half\n', "utf-8")
    done = compare("old.jsonl", "new.jsonl")
    assert_refused(done, "new.jsonl:1: invalid JSON (")
    assert "killed" not in done.stderr


# One file for both sides, and files larger than what is read at a time


def test_both_sides_may_be_one_file() -> None:
    assert "identical                    1\n" in compare("old.jsonl", "old.jsonl").stdout


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", "\n", "\n" * 1023, "\ufeff", "\ufeff" + "\n" * 1022])
def test_rows_of_a_large_file_are_each_read_once(start: str) -> None:
    """Lines of 1 KiB, whose borders fall on, just before and just after every power of two."""
    count, lost = 34_000, range(500, 34_000, 1000)
    with Path("new.jsonl").open("w", encoding="utf-8") as file:
        file.write(start)
        for n in range(count):
            row = f'{{"task_id": "{n:0>6}", "reward": {int(n not in lost)}, "test_output": "row {n:0>6}", "pad": "'
            file.write(f'{row}{"x" * (1021 - len(row))}"}}\n')
    write_rows(Path("old.jsonl"), [{"task_id": f"{n:0>6}", "reward": 1} for n in range(count)])
    report = compare("old.jsonl", "new.jsonl").stdout.splitlines()
    assert report[0] == f"gym dev compare: {count} tasks (old {count} rows, new {count} rows)"
    assert [line for line in report if line.startswith("### ")] == [
        f"### {n:0>6}: old=1.0 new=0.0 -> old wins" for n in lost
    ]
    assert [line for line in report if line.startswith("    | ")] == [f"    | row {n:0>6}" for n in lost]


@pytest.mark.slow
def test_an_error_deep_in_a_large_file_has_its_line() -> None:
    with Path("new.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            f'\n{{"task_id": "{n}", "reward": 1, "pad": "{"x" * 997}"}}\n' if n != 39_000 else "\n[]\n"
            for n in range(40_000)
        )
        file.write("nonsense")
    done = compare("old.jsonl", "new.jsonl")
    assert_refused(done, f"error: new.jsonl:{39_000 * 2 + 2}: expected a JSON object per line\n")
