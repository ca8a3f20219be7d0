from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import reading
from nemo_gym.rollout_compare.command import run_compare
from nemo_gym.rollout_compare.inputs import Input
from nemo_gym.rollout_compare.lines import Piece
from nemo_gym.rollout_compare.reading import PieceTable, Plan, default_jobs, read_tables
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table import Table
from tests.support import alone, alone_command, facts, places, read_files, source_of, write_rows

#: Valid lines of all kinds, with what their rows say; blank lines between them.
LINES = [
    (b'{"task_id": "a", "reward": 1}', ["1.0", None, None, None, "a"]),
    (b"", None),
    (b'{"task_id": "b", "reward": 0.5, "mask_sample": true}\r', ["0.5", "mask_sample", None, None, "b"]),
    (b" \t\r", None),
    (b'{"task_id": "c", "reward": NaN}', ["nan", "non-finite reward (nan)", None, None, "c"]),
    (b'  {"task_id": "d", "reward": 2, "failure_kind": "k"}  ', ["2.0", None, None, "k", "d"]),
    (b'{"task_id": "\xe2\x80\xa8\xff", "reward": 0, "error": "e"}', ["0.0", None, "error: e", None, "\u2028\ufffd"]),
    (b'{"task_id": "lost", "reward": 9, "task_id": "f", "reward": 0}', ["0.0", None, None, None, "f"]),
]
SAID = [said for _, said in LINES if said]
NUMBERS = [number for number, (_, said) in enumerate(LINES, 1) if said]

GOOD = b'{"task_id": "a", "reward": 1}'


def file_of(path: Path, lines: Sequence[bytes], end: bytes = b"\n") -> Path:
    path.write_bytes(b"\n".join(lines) + end)
    return path


def outcome(paths: Sequence[str | Path], jobs: int, piece_bytes: int, key: str | None = None) -> Any:
    """The tables of files, or the error."""
    try:
        tables = read_files(*paths, key=key, jobs=jobs, piece_bytes=piece_bytes)
    except CompareInputError as error:
        return str(error)
    return [[facts(table), places(table)] for table in tables]


def expected_places(path: Path) -> list[list[str | int]]:
    offset = 0
    found: list[list[str | int]] = []
    for number, (line, said) in enumerate(LINES, 1):
        if said:
            found.append([f"{path}:{number}", offset])
        offset += len(line) + 1
    return found


class TestRows:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return file_of(tmp_path / "a.jsonl", [line for line, _ in LINES])

    def test_rows_become_columns_with_their_places(self, path: Path) -> None:
        [[said, where]] = outcome([path], 1, 1 << 20)
        assert [[*row[:-1], row[-1]["task_id"]] for row in said["rows"]] == SAID
        assert where == expected_places(path)

    def test_pieces_of_any_size_make_the_same_tables(self, path: Path) -> None:
        other = file_of(path.with_name("b.jsonl"), [GOOD, b"", GOOD], end=b"")
        whole = outcome([path, other], 1, 1 << 20)
        assert whole[1][1] == [[f"{other}:1", 0], [f"{other}:3", len(GOOD) + 2]]
        for piece_bytes in range(1, path.stat().st_size + 2):
            assert outcome([path, other], 1, piece_bytes) == whole, piece_bytes

    def test_any_number_of_processes_makes_the_same_tables(self, path: Path) -> None:
        other = file_of(path.with_name("b.jsonl"), [GOOD, b"", GOOD], end=b"")
        assert alone(by_processes, path, other) == [outcome([path, other], 1, 1 << 20)]

    def test_a_field_is_the_key_of_all_files(self, path: Path) -> None:
        file_of(path, [b'{"id": {"n": 1}, "task_id": "a"}', b'{"id": {"n": 2}}'])
        for piece_bytes in range(1, 60):
            [[said, _]] = outcome([path], 1, piece_bytes, "id.n")
            assert [row[-1] for row in said["rows"]] == [{"id.n": "1"}, {"id.n": "2"}]

    @pytest.mark.parametrize("content", [b"", b"\n\n", b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
    def test_a_file_without_rows_is_an_empty_table(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        for piece_bytes in range(1, 6):
            [[said, where]] = outcome([path], 1, piece_bytes)
            assert (said["rows"], where) == ([], [])

    def test_no_files_are_no_tables(self) -> None:
        assert read_files() == []

    def test_a_byte_order_mark_is_no_part_of_the_first_row(self, path: Path) -> None:
        path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD)
        for piece_bytes in range(1, 70):
            [[said, where]] = outcome([path], 1, piece_bytes)
            assert len(said["rows"]) == 2
            assert where == [[f"{path}:1", 3], [f"{path}:2", 3 + len(GOOD) + 1]]


def by_processes(*paths: str) -> list[Any]:
    """Every different outcome of several numbers of processes and sizes of pieces."""
    outcomes: list[Any] = []
    for jobs in (2, 3):
        for piece_bytes in (3, 29, 30, 31, 100, 1 << 20):
            got = outcome(paths, jobs, piece_bytes)
            if got not in outcomes:
                outcomes.append(got)
    return outcomes


class TestFaults:
    CUT_OFF = "the last line is cut off; the run may still be writing, or was killed"

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            (b'{"task_id": "b", "reward": 1', r"invalid JSON \(.+\)"),
            (b"{'task_id': 'b'}", r"invalid JSON \(.+\)"),
            (b'{"task_id": "b", "reward": tru}', r"invalid JSON \(.+\)"),
            (b'{"task_id": "b"}{"task_id": "c"}', r"invalid JSON \(.+\)"),
            (b'{"task_id": "b\rc"}', r"invalid JSON \(.+\)"),
            (b"\xa0", r"invalid JSON \(.+\)"),
            (b"\xef\xbb\xbf" + GOOD, r"invalid JSON \(.+\)"),
            (b'{"task_id": ' + b"[" * 100_000, r"invalid JSON \(.+\)"),
            (b'{"junk": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", r"invalid JSON \(.+\)"),
            (b"[1]", "expected a JSON object per line"),
            (b"null", "expected a JSON object per line"),
            (b'"text"', "expected a JSON object per line"),
            (b"NaN", "expected a JSON object per line"),
            (b'{"task_id": "b", "reward": true}', r"reward True is not a number \(task b\)"),
            (b'{"task_name": "n", "task_id": "b", "reward": "1.0"}', r"reward '1\.0' is not a number \(task n\)"),
            (b'{"verifier_metadata": {"id": 3}, "reward": [1]}', r"reward \[1\] is not a number \(task 3\)"),
            (b'{"reward": {"value": 1}}', r"reward \{'value': 1\} is not a number \(task unknown\)"),
            (b'{"task_id": null, "reward": ""}', r"reward '' is not a number \(task unknown\)"),
            (b'{"task_id": "b", "reward": 1%s}' % (b"0" * 400), r"reward 10+.* is not a number \(task b\)"),
            (b'{"task_id": "b", "reward": -1%s}' % (b"0" * 5000), r"reward .* is not a number \(task b\)"),
            (b'{"task_id": "b", "reward": 1, "mask_sample": 2}', r"mask_sample 2 is not true or false \(task b\)"),
        ],
    )
    def test_a_line_that_is_no_row_is_named_by_its_file_and_number(
        self, tmp_path: Path, line: bytes, error: str
    ) -> None:
        path = file_of(tmp_path / "a.jsonl", [b"", GOOD, b" ", line, GOOD, b'{"reward": "later"}'])
        for piece_bytes in (1, 3, 40, 1 << 20) if len(line) < 1000 else (1 << 16, 1 << 20):
            assert re.fullmatch(f"{re.escape(str(path))}:4: {error}", outcome([path], 1, piece_bytes))

    def test_the_key_that_was_given_names_the_task_of_a_broken_row(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [b'{"task_id": "a", "id": 5, "reward": false}'])
        assert outcome([path], 1, 99, "id") == f"{path}:1: reward False is not a number (task 5)"
        assert outcome([path], 1, 99, "no") == f"{path}:1: reward False is not a number (task a)"

    @pytest.mark.parametrize("piece_bytes", [1, 7, 1 << 20])
    def test_a_last_line_that_is_cut_off_is_said_to_be(self, tmp_path: Path, piece_bytes: int) -> None:
        cut = b'{"task_id": "b", "rew'
        path = file_of(tmp_path / "a.jsonl", [GOOD, cut], end=b"")
        assert outcome([path], 1, piece_bytes).startswith(f"{path}:2: invalid JSON (")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [GOOD, cut])
        assert outcome([path], 1, piece_bytes).startswith(f"{path}:2: invalid JSON (")
        assert "cut off" not in outcome([path], 1, piece_bytes)
        file_of(path, [cut, GOOD], end=b"")
        assert "cut off" not in outcome([path], 1, piece_bytes)
        file_of(path, [b"\xef\xbb\xbf" + cut], end=b"")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [b"\xef\xbb\xbf" + GOOD, cut], end=b"")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [GOOD, b'{"reward": "x"}'], end=b"")
        assert outcome([path], 1, piece_bytes) == f"{path}:2: reward 'x' is not a number (task unknown)"

    def test_a_whole_last_line_without_an_end_is_a_row(self, tmp_path: Path) -> None:
        [[said, _]] = outcome([file_of(tmp_path / "a.jsonl", [GOOD, GOOD], end=b"")], 1, 10)
        assert len(said["rows"]) == 2

    def test_the_first_fault_of_the_first_file_is_the_error(self, tmp_path: Path) -> None:
        one = file_of(tmp_path / "1.jsonl", [*[GOOD] * 6, b"[]", b"{", GOOD])
        two = file_of(tmp_path / "2.jsonl", [b"junk"])
        good = file_of(tmp_path / "3.jsonl", [GOOD] * 9)
        first = f"{one}:7: expected a JSON object per line"
        for piece_bytes in (1, 10, 29, 30, 31, 120, 1 << 20):
            assert outcome([one, two], 1, piece_bytes) == first
            assert outcome([good, two, one], 1, piece_bytes).startswith(f"{two}:1: invalid JSON (")
        assert alone(by_processes, good, one, two) == [first]

    def test_a_file_that_cannot_be_read_any_more_is_an_error(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [GOOD])
        assert alone(without_the_file, path) == [f"cannot read {path}: No such file or directory"] * 2

    def test_no_nesting_is_an_error_for_some_numbers_of_processes_alone(self, tmp_path: Path) -> None:
        for tail in ('"reward": 1', '"reward": 1, "error": {nest}', '"reward": "x"'):
            shape = f'{{"task_id": "a", "junk": {{nest}}, {tail}}}'
            assert alone(nesting_outcomes, tmp_path / "a.jsonl", shape) == []

    @pytest.mark.parametrize("tail", ['"reward": "x"', '"mask_sample": 5', '"reward": 1'])
    def test_every_error_names_file_and_line_however_deep_the_row_is_nested(self, tmp_path: Path, tail: str) -> None:
        path = tmp_path / "a.jsonl"
        shape = f'{{"task_id": "a", "junk": {{nest}}, {tail}}}'
        for depth in near_the_limit(path, shape):
            nested(path, shape, depth)
            got = outcome([path], 1, 1 << 20)
            assert isinstance(got, list) or got.startswith(f"{path}:1: "), depth


class TestLeavingOut:
    """`skip`: lines that are not rows are left out, counted, and the first ones named."""

    LINES = (b"{", GOOD, b"", b'{"reward": "x"}', b"[]", GOOD, GOOD, b"5", b"6", b"7")

    def test_good_lines_are_rows_and_the_others_are_counted_and_named(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.LINES)
        for piece_bytes in (1, 7, 30, 1 << 20):
            [table] = read_files(path, piece_bytes=piece_bytes, skip=True)
            assert places(table) == [[f"{path}:{line}", offset] for line, offset in ((2, 2), (6, 52), (7, 82))]
            assert [row[0] for row in facts(table)["rows"]] == ["1.0"] * 3
            [left_out] = table.left_out
            assert (left_out.path, left_out.lines, len(left_out.first)) == (path, 6, 5)
            for text, line in zip(left_out.first, (1, 4, 5, 8, 9), strict=True):
                assert re.search(rf"\bline {line}\b", text)
            assert "invalid JSON (" in left_out.first[0]
            assert "reward 'x' is not a number (task unknown)" in left_out.first[1]
            assert "expected a JSON object per line" in left_out.first[2]

    def test_any_number_of_processes_leaves_out_the_same(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.LINES)
        [table] = read_files(path, skip=True)
        [left_out] = table.left_out
        expected = [facts(table), places(table), left_out.lines, list(left_out.first)]
        assert alone(left_out_by_processes, path) == [expected] * 4

    def test_a_file_of_good_lines_leaves_nothing_out(self, tmp_path: Path) -> None:
        [table] = read_files(file_of(tmp_path / "a.jsonl", [GOOD]), skip=True)
        assert (len(table), table.left_out) == (1, [])

    def test_a_file_without_any_good_line_is_an_error(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [b"", b"{", b"5"])
        with pytest.raises(CompareInputError, match=f"^{path}: .*line 2 "):
            read_files(path, skip=True)

    def test_a_file_that_cannot_be_read_is_an_error_all_the_same(self, tmp_path: Path) -> None:
        with pytest.raises(CompareInputError, match=r"^cannot read .*: Is a directory$"):
            read_files(tmp_path, skip=True)


def left_out_by_processes(path: str) -> list[Any]:
    outcomes = []
    for piece_bytes in (1, 7, 30, 64):
        [table] = read_files(path, jobs=2, piece_bytes=piece_bytes, skip=True)
        [left_out] = table.left_out
        outcomes.append([facts(table), places(table), left_out.lines, left_out.first])
    return outcomes


def without_the_file(path: str) -> list[str]:
    source = source_of(Path(path))
    Path(path).unlink()
    errors = []
    for jobs in (1, 2):
        with pytest.raises(CompareInputError) as caught:
            read_tables([(0, source)], Plan(), jobs, piece_bytes=10)
        errors.append(str(caught.value))
    return errors


def nested(path: Path, shape: str, depth: int) -> None:
    lists = "[" * depth + "]" * depth
    path.write_text(shape.replace("{nest}", lists) + "\n" + '{"task_id": "b"}\n' * 9, "utf-8")


def near_the_limit(path: Path, shape: str) -> range:
    """Depths of nesting around the deepest that can be read."""
    low, high = 1, 200_000
    while high - low > 1:
        middle = (low + high) // 2
        nested(path, shape, middle)
        got = outcome([path], 1, 1 << 20)
        if isinstance(got, str) and "nested" in got:
            high = middle
        else:
            low = middle
    return range(max(1, low - 15), high + 15)


def nesting_outcomes(name: str, shape: str) -> list[Any]:
    """The depths of nesting at which several processes say something else than one."""
    path = Path(name)
    differing = []
    for depth in near_the_limit(path, shape):
        nested(path, shape, depth)
        size = path.stat().st_size
        one, two = outcome([path], 1, size - 99), outcome([path], 2, size - 99)
        if one != two:
            differing.append([depth, str(one)[:200], str(two)[:200]])
    return differing


class TestProcesses:
    """How processes are started and ended; each test in a process of its own, which has no threads."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return write_rows(tmp_path / "a.jsonl", ({"task_id": f"t{i}", "reward": 1} for i in range(50)))

    def test_as_many_as_asked_for_are_started_but_no_more_than_there_are_pieces(self, path: Path) -> None:
        size = str(path.stat().st_size // 2 + 1)
        assert alone(forks_for, path, "1,100", "3,100", f"9,{size}", "9,100000") == [0, 3, 2, 0]

    def test_none_is_started_from_a_program_with_threads(self, path: Path) -> None:
        assert alone(forks_beside_a_thread, path) == 0

    def test_none_is_left_in_the_end(self, path: Path) -> None:
        assert alone(children_left, path) == {"after": 0, "error": True, "after_error": 0}

    @pytest.mark.parametrize("when", ["at_once", "while_reading", "between_pieces"])
    def test_one_that_is_killed_is_an_error(self, path: Path, when: str) -> None:
        error, children = alone(with_a_killed_reader, path, when)
        assert error.startswith("CompareInputError a reading process ")
        assert "--jobs 1" in error
        assert children == 0

    @pytest.mark.parametrize("when", ["at_once", "while_reading", "between_pieces"])
    def test_a_comparison_whose_reader_is_killed_ends_in_status_1(self, path: Path, when: str) -> None:
        command = alone_command(compare_with_a_killed_reader, path, when)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
        assert done.stderr.startswith("error: a reading process ")
        assert done.stderr.count("\n") == 1

    def test_an_error_of_the_program_in_one_is_an_error_of_the_reading(self, path: Path) -> None:
        error, children = alone(with_a_failing_reader, path)
        assert error
        assert children == 0

    def test_an_interrupt_ends_all_within_a_second(self, path: Path) -> None:
        took, status, stdout, stderr = end_of(path, signal.SIGINT, everyone=True)
        assert took < 1
        assert (status, stdout) == (0, '"interrupted"\n')
        assert stderr == ""

    def test_an_interrupt_of_the_program_alone_ends_all_within_a_second(self, path: Path) -> None:
        took, status, stdout, _ = end_of(path, signal.SIGINT, everyone=False)
        assert took < 1
        assert (status, stdout) == (0, '"interrupted"\n')

    def test_none_outlives_a_program_that_is_killed(self, path: Path) -> None:
        took, status, _, _ = end_of(path, signal.SIGKILL, everyone=False, nap=0.5)
        assert status == -signal.SIGKILL
        assert took < 10

    def test_one_reads_what_it_is_asked_for_until_nobody_asks(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        handlers = []
        monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
        here, there = multiprocessing.Pipe()
        other, end_of_other = multiprocessing.Pipe()
        source = source_of(path)
        gone = Input(path, path.with_name("gone"), 1, b"", source.version)
        asked = [Piece(source, 0, 1), Piece(gone), Piece(source, 1, None)]

        def ask() -> list[Any]:
            answers = []
            for number, piece in enumerate(asked):
                here.send((number, piece))
                while isinstance((answer := here.recv())[1], int):
                    pass  # how far it has got
                answers.append(answer)
            here.close()
            return answers

        answers: list[Any] = []
        asker = threading.Thread(target=lambda: answers.extend(ask()))
        asker.start()
        reading._work(there, [other], Plan())
        asker.join()
        assert handlers == [(signal.SIGINT, signal.SIG_DFL)]
        assert other.closed
        assert [number for number, _ in answers] == [0, 1, 2]
        assert [len(answer.table) for _, answer in answers if isinstance(answer, PieceTable)] == [1, 49]
        assert str(answers[1][1]) == f"cannot read {path}: No such file or directory"
        end_of_other.close()
        there.close()


def forks() -> list[int]:
    """A list that grows by one for each process that is started from now on."""
    started: list[int] = []
    os.register_at_fork(before=lambda: started.append(1))
    return started


def forks_for(name: str, *cases: str) -> list[int]:
    """How many processes are started for each number of jobs and size of pieces."""
    started = forks()
    counts = []
    for case in cases:
        jobs, piece_bytes = map(int, case.split(","))
        [table] = read_files(name, jobs=jobs, piece_bytes=piece_bytes)
        assert len(table) == 50
        counts.append(len(started))
        started.clear()
    return counts


def forks_beside_a_thread(name: str) -> int:
    started = forks()
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    [table] = read_files(name, jobs=4, piece_bytes=100)
    done.set()
    thread.join()
    assert len(table) == 50
    return len(started)


def children() -> int:
    """How many processes this one has started that are not over and done with."""
    count = len(multiprocessing.active_children())
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                return count
        except ChildProcessError:
            return count
        count += 1


def children_left(name: str) -> dict[str, int | bool]:
    read_files(name, jobs=3, piece_bytes=100)
    after = children()
    with Path(name).open("a") as file:
        file.write("junk\n")
    failed = False
    try:
        read_files(name, jobs=3, piece_bytes=100)
    except CompareInputError:
        failed = True
    return {"after": after, "error": failed, "after_error": children()}


def kill_readers(when: str) -> None:
    """See to it that reading processes are killed."""
    read_piece = reading.read_piece
    wait = connection.wait

    def killed_while_reading(piece: Piece, *others: Any) -> PieceTable:
        if piece.start >= 500:
            os.kill(os.getpid(), signal.SIGKILL)
        return read_piece(piece, *others)

    def killed_soon(piece: Piece, *others: Any) -> PieceTable:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return read_piece(piece, *others)

    def wait_later(*args: Any) -> Any:
        time.sleep(0.3)
        return wait(*args)

    if when == "at_once":
        os.register_at_fork(after_in_child=lambda: os._exit(1), after_in_parent=lambda: time.sleep(0.2))
    elif when == "while_reading":
        vars(reading)["read_piece"] = killed_while_reading
    else:
        vars(reading)["read_piece"] = killed_soon
        vars(connection)["wait"] = wait_later


def with_a_killed_reader(name: str, when: str) -> list[Any]:
    kill_readers(when)
    return error_and_children(name)


def with_a_failing_reader(name: str) -> list[Any]:
    def fail(piece: Piece, *others: Any) -> PieceTable:
        raise MemoryError

    vars(reading)["read_piece"] = fail
    return error_and_children(name)


def error_and_children(name: str) -> list[Any]:
    try:
        read_files(name, jobs=2, piece_bytes=100)
    except Exception as error:  # noqa: BLE001  # the test says which it must be
        text = f"{type(error).__name__} {error}"
    else:
        text = ""
    return [text, children()]


def compare_with_a_killed_reader(name: str, when: str) -> int:
    from nemo_gym.rollout_compare import RolloutCompareConfig, run

    kill_readers(when)

    def read_by_two(sources: Any, plan: Plan, *_: Any) -> list[Table]:
        return read_tables(sources, plan, 2, piece_bytes=100)

    vars(run)["read_tables"] = read_by_two
    return run_compare(RolloutCompareConfig(old_rollouts=name, new_rollouts=name))


def end_of(path: Path, number: int, *, everyone: bool, nap: float = 60) -> tuple[float, int, str, str]:
    """Send a signal to a program whose processes read for long; how long all took to end, and how they did.

    The streams of the program end when the last process that holds them does.
    """
    started = path.with_name("started")
    command = alone_command(read_for_long, path, started, str(nap))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        for _ in until(10):
            if started.exists() and len(started.read_text("utf-8")) == 2:
                break
        else:
            raise AssertionError("no processes were started")
        before = time.monotonic()
        (os.killpg if everyone else os.kill)(program.pid, number)
        stdout, stderr = program.communicate(timeout=30)
        return time.monotonic() - before, program.returncode, stdout, stderr


def until(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)


def read_for_long(name: str, started: str, nap: str) -> str:
    def read_slowly(piece: Piece, *others: Any) -> PieceTable:
        with Path(started).open("a") as file:
            file.write("x")
        time.sleep(float(nap))
        raise CompareInputError("woke up")

    vars(reading)["read_piece"] = read_slowly
    try:
        read_files(name, jobs=2, piece_bytes=1000)
    except KeyboardInterrupt:
        return "interrupted"
    return "not interrupted"


class TestDefaultJobs:
    def source(self, size: int) -> Input:
        return Input(Path("a"), Path("a"), size, b"", (0, 0, 0, 0))

    def test_small_files_are_read_by_one_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(5)), raising=False)
        assert default_jobs([]) == 1
        assert default_jobs([self.source(0), self.source(1 << 20)]) == 1

    def test_large_ones_by_as_many_as_there_are_processors_to_run_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(5)), raising=False)
        assert default_jobs([self.source(1 << 40)]) == 5
        assert default_jobs([self.source(1 << 30), self.source(1 << 30)]) == 5

    def test_the_files_count_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(5)), raising=False)
        half = reading.WORTH_PROCESSES // 2
        assert [default_jobs([self.source(half)]), default_jobs([self.source(half), self.source(half)])] == [1, 5]

    @pytest.mark.parametrize(("processors", "jobs"), [(6, 6), (None, 1)])
    def test_a_system_that_does_not_say_where_it_may_run(
        self, monkeypatch: pytest.MonkeyPatch, processors: int | None, jobs: int
    ) -> None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
        assert default_jobs([self.source(1 << 40)]) == jobs
