from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.command import run_compare
from nemo_gym.rollout_compare.engine import reading, workers
from nemo_gym.rollout_compare.engine.pieces import PieceTable, read_piece
from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.engine.workers import default_jobs
from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.files.lines import Piece
from nemo_gym.rollout_compare.producers import Plan, Readable
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table.table import Table
from tests.support import alone, alone_command, read_files, source_of, write_rows


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

    def test_one_whose_error_cannot_be_sent_ends_and_the_asker_is_told(self, path: Path) -> None:
        error, children = alone(with_an_error_that_cannot_be_sent, path)
        assert error == "CompareInputError a reading process was ended from outside; --jobs 1 reads in one process"
        assert children == 0

    def test_one_that_has_ended_cannot_be_asked(self) -> None:
        here, there = multiprocessing.Pipe()
        there.close()
        with here, pytest.raises(CompareInputError, match=r"^a reading process was ended .*--jobs 1 "):
            workers._ask(here, 0)

    def test_an_interrupt_ends_all_within_a_second(self, path: Path) -> None:
        took, status, stdout, stderr = end_of(path, signal.SIGINT, everyone=True)
        assert took < 1
        assert (status, stdout) == (0, '"interrupted"\n')
        assert stderr == ""

    def test_an_interrupt_of_the_program_alone_ends_all_within_a_second(self, path: Path) -> None:
        took, status, stdout, _ = end_of(path, signal.SIGINT, everyone=False)
        assert took < 1
        assert (status, stdout) == (0, '"interrupted"\n')

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
    def test_a_signal_that_the_program_ignores_ends_none(self, path: Path, name: str) -> None:
        assert alone(reading_that_ignores, path, name) == 50

    def test_none_outlives_a_program_that_is_killed(self, path: Path) -> None:
        took, status, _, _ = end_of(path, signal.SIGKILL, everyone=False, nap=0.5)
        assert status == -signal.SIGKILL
        assert took < 10

    def test_one_reads_what_it_is_asked_for_until_nobody_asks(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        handlers = []
        monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
        ignored = {signal.SIGHUP: signal.SIG_IGN}
        monkeypatch.setattr(signal, "getsignal", lambda number: ignored.get(number, signal.SIG_DFL))
        here, there = multiprocessing.Pipe()
        other, end_of_other = multiprocessing.Pipe()
        source = source_of(path)
        gone = Input(path, path.with_name("gone"), 1, b"", source.version)
        pieces = [Piece(source, 0, 1), Piece(gone), Piece(source, 1, None)]
        asked = [(RowsFile(piece.source, ROLLOUTS), piece, Plan()) for piece in pieces]

        def ask() -> list[Any]:
            answers = []
            for number in range(len(asked)):
                here.send(number)
                while (said := here.recv()).kind is workers._Kind.PROGRESS:
                    pass
                answers.append((said.place, said.value))
            here.close()
            return answers

        answers: list[Any] = []
        asker = threading.Thread(target=lambda: answers.extend(ask()))
        asker.start()
        workers._work(lambda item, on_bytes: read_piece(*item, on_bytes), asked, there, [other])
        asker.join()
        assert handlers == [(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)]
        assert other.closed
        assert [number for number, _ in answers] == [0, 1, 2]
        assert [len(answer.table) for _, answer in answers if isinstance(answer, PieceTable)] == [1, 49]
        assert str(answers[1][1]) == f"cannot read {path}: No such file or directory"
        end_of_other.close()
        there.close()


@pytest.mark.parametrize("what", ["number", "exception", "none", "progress"])
def test_a_result_may_be_anything(what: str) -> None:
    assert alone(results_that_look_like_messages, what) == [[0, 2, 4], [[0, 10], [1, 11], [2, 12]]]


def results_that_look_like_messages(what: str) -> list[Any]:
    """The numbers of the results, however they are handed over, and what was told of the work."""
    told: list[list[int]] = []
    wrap: dict[str, Callable[[int], Any]] = {
        "number": lambda number: number,
        "exception": ValueError,
        "none": lambda number: (None, number),
        "progress": lambda number: (workers._Kind.PROGRESS, number),
    }

    def work(item: int, tell: Callable[[int], None]) -> Any:
        tell(10 + item)
        return wrap[what](2 * item)

    found = list(workers.map_by_processes(work, range(3), 2, lambda place, more: told.append([place, more])))
    if what == "number":
        return [found, sorted(told)]
    return [[one.args[0] if what == "exception" else one[1] for one in found], sorted(told)]


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


def reading_that_ignores(path: str, name: str) -> int:
    """How many rows processes read that get a signal which the program ignores."""
    number = getattr(signal, name)
    signal.signal(number, signal.SIG_IGN)
    read_piece: Callable[..., PieceTable] = vars(reading)["read_piece"]

    def signalled(*args: Any) -> PieceTable:
        os.kill(os.getpid(), number)
        return read_piece(*args)

    vars(reading)["read_piece"] = signalled
    [table] = read_files(path, jobs=2, piece_bytes=100)
    return len(table)


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
    read_piece: Callable[..., PieceTable] = vars(reading)["read_piece"]
    wait = connection.wait

    def killed_while_reading(source: Readable, piece: Piece, *others: Any) -> PieceTable:
        if piece.start >= 500:
            os.kill(os.getpid(), signal.SIGKILL)
        return read_piece(source, piece, *others)

    def killed_soon(*work: Any) -> PieceTable:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return read_piece(*work)

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
    def fail(*work: Any) -> PieceTable:
        raise MemoryError

    vars(reading)["read_piece"] = fail
    return error_and_children(name)


def with_an_error_that_cannot_be_sent(name: str) -> list[Any]:
    class OfThisFunction(Exception):
        """No other process can find its class."""

    def fail(*work: Any) -> PieceTable:
        raise OfThisFunction

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
    from nemo_gym.rollout_compare import RolloutCompareConfig
    from nemo_gym.rollout_compare.engine import runs as run

    kill_readers(when)

    def read_by_two(sources: Any, *_: Any) -> list[Table]:
        return read_tables(sources, 2, piece_bytes=100)

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
    def read_slowly(*work: Any) -> PieceTable:
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
    def source(self, size: int) -> Readable:
        return RowsFile(Input(Path("a"), Path("a"), size, b"", (0, 0, 0, 0)), ROLLOUTS)

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
        half = workers.WORTH_PROCESSES // 2
        assert [default_jobs([self.source(half)]), default_jobs([self.source(half), self.source(half)])] == [1, 5]

    @pytest.mark.parametrize(("processors", "jobs"), [(6, 6), (None, 1)])
    def test_a_system_that_does_not_say_where_it_may_run(
        self, monkeypatch: pytest.MonkeyPatch, processors: int | None, jobs: int
    ) -> None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
        assert default_jobs([self.source(1 << 40)]) == jobs
