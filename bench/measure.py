"""One command as a process of its own: how long it takes and how much memory it needs, as Linux tells it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import IO, NamedTuple

_SAMPLED_EVERY_S = 0.005
_PROPORTIONAL = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)

Command = Sequence[str]


class Memory(NamedTuple):
    """Peaks in bytes.

    Attributes:
        largest: Of the process that needed most, as the system recorded it; never below what this program itself needs.
        together: Of all processes together, what they share counted once; sampled.
    """

    largest: int
    together: int


def time_of(command: Command) -> float:
    """Seconds from start to end."""
    start = time.perf_counter()
    with _started(command) as process:
        _finish(command, process, os.wait4(process.pid, 0)[1])
        return time.perf_counter() - start


def memory_of(command: Command) -> Memory:
    """How much memory a command needs. Looking on costs time, so this is not a run that is timed."""
    together = 0
    with _started(command) as process:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            together = max(together, sum(map(_proportional_size, _tree(process.pid))))
            time.sleep(_SAMPLED_EVERY_S)
        _finish(command, process, status)
    largest = usage.ru_maxrss * 1024
    return Memory(largest, max(largest, together))


def peak_of(command: Command) -> tuple[int, int]:
    """The peak of a command's largest process in bytes, and the exit status: the command may fail."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024, process.returncode


def times_in_turn(commands: Mapping[str, Command], rounds: int) -> dict[str, list[float]]:
    """Seconds of each command in each round; a round runs every command once."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seconds[name].append(time_of(command))
    return seconds


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How many times as long theirs took: the median over the rounds."""
    return median(their / our for our, their in zip(ours, theirs, strict=True))


@contextmanager
def _started(command: Command) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes nowhere; its errors are shown if it fails. It is ended if we are interrupted."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            _show(errors, process.returncode)


def _finish(command: Command, process: subprocess.Popen[bytes], status: int) -> None:
    """Tell the process's object how it ended: `wait4` was not its own."""
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"error: status {process.returncode} of {' '.join(command)}")


def _show(errors: IO[bytes], status: int) -> None:
    if status:
        errors.seek(0)
        sys.stderr.write(errors.read().decode("utf-8", "replace"))


def _tree(pid: int) -> Iterator[int]:
    """A process and all that it started, as far as they still run."""
    yield pid
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _tree(int(child))


def _proportional_size(pid: int) -> int:
    """Resident bytes of a process, of those that it shares with others its share; 0 if it has ended."""
    with suppress(OSError):
        found = _PROPORTIONAL.search(Path(f"/proc/{pid}/smaps_rollup").read_bytes())
        return int(found[1]) * 1024 if found else 0
    return 0
