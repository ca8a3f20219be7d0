"""How a program ends: all is written, all is done that was registered for the end, and the status is right."""

from __future__ import annotations

import atexit
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nemo_gym.rollout_compare import __main__ as programs
from nemo_gym.rollout_compare.app import ending
from tests.support import write_rows


class Ended(Exception):
    pass


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What happens at the end, in order; the process goes on."""
    done: list[object] = []

    def end(status: int) -> None:
        done.append(status)
        raise Ended

    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: done.append("registered"))
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(ending, "is_watched", lambda: False)  # the tests may be, by a measure of coverage
    return done


def test_what_is_registered_is_done_and_output_flushed_before_the_end(
    ends: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream(io.StringIO):
        def flush(self) -> None:
            ends.append("flushed")

    monkeypatch.setattr(sys, "stdout", Stream())
    monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(Ended):
        ending.leave(3)
    assert ends == ["registered", "flushed", 3]


def test_output_that_cannot_be_written_is_left_to_the_interpreter(
    ends: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError

    monkeypatch.setattr(sys, "stdout", Full())
    assert (ending.leave(3), ends) == (3, ["registered"])


def test_a_command_of_nemo_gym_ends_as_it_does_without_us(ends: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nemo_gym.cli.main", sys)
    assert (ending.leave(3), ends) == (3, [])


def test_who_watches_a_program_may_write_what_was_seen(ends: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "is_watched", lambda: True)
    assert (ending.leave(3), ends) == (3, [])


def test_a_profile_of_a_program_is_printed(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run", [{"task_id": "a", "reward": 1}])
    command = [sys.executable, "-m", "cProfile", "-m", "nemo_gym.rollout_compare", str(path), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "function calls" in done.stdout


@pytest.mark.parametrize("watcher", ["getprofile", "gettrace"])
def test_a_profiler_or_a_debugger_watches(watcher: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("getprofile", "gettrace"):
        monkeypatch.setattr(sys, name, lambda: None)
    monkeypatch.setattr(sys, "monitoring", None, raising=False)
    assert not ending.is_watched()
    monkeypatch.setattr(sys, watcher, lambda: print)
    assert ending.is_watched()


def test_a_tool_that_asks_to_be_told_of_events_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Monitoring:
        @staticmethod
        def get_tool(number: int) -> str | None:
            return "coverage" if number == 1 else None

    for name in ("getprofile", "gettrace"):
        monkeypatch.setattr(sys, name, lambda: None)
    monkeypatch.setattr(sys, "monitoring", Monitoring, raising=False)
    assert ending.is_watched()


def test_threads_are_waited_for_by_the_interpreter(ends: list[object]) -> None:
    go = threading.Event()
    thread = threading.Thread(target=go.wait)
    thread.start()
    try:
        assert (ending.leave(0), ends) == (0, [])
    finally:
        go.set()
        thread.join()


@pytest.mark.parametrize(("program", "main"), [("gym", "gym_main"), ("compare", "compare_main")])
def test_an_installed_program_ends_the_process_with_its_status(
    monkeypatch: pytest.MonkeyPatch, program: str, main: str
) -> None:
    monkeypatch.setattr(programs, main, lambda: 3)
    monkeypatch.setattr(ending, "leave", lambda status: 10 * status)
    assert getattr(programs, program)() == 30


@pytest.mark.parametrize(("rules", "status"), [([], 0), (["--fail-on", "flipped"], 3)])
def test_a_started_program_writes_all_and_gives_its_status(tmp_path: Path, rules: list[str], status: int) -> None:
    pair = [
        str(write_rows(tmp_path / name, [{"task_id": f"t{i}", "reward": reward} for i in range(300)]))
        for name, reward in (("old", 1), ("new", 0))
    ]
    start = "import atexit, runpy, sys; atexit.register(sys.stderr.write, 'the end'); "
    start += "runpy.run_module('nemo_gym.rollout_compare', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", start, *pair, *rules], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stdout.count("old wins") == 300
    assert done.stderr.endswith("the end")
