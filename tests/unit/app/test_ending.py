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
