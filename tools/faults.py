#!/usr/bin/env python3
"""Compare two runs in bad surroundings, and count how it ends and what is left behind.

    faults.py               some minutes
    faults.py --times 5     a quick one
    faults.py --only signal

Each fault is tried several times at random moments. A comparison must end in its report (status 0), in one error line
(status 1), or quietly by the signal that it got; nothing may be left in the folder for temporary files, beside the
outputs, or among the processes. Anything else is printed, and the status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "nemo_gym.rollout_compare"]

#: The command where no more than so many processes can be started, as the system would say it; its limit is the user's,
#: and root has none.
FEW_PROCESSES = """
import os, sys
left = int(sys.argv.pop(1))
def fork(really=os.fork):
    global left
    if left == 0:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    left -= 1
    return really()
os.fork = fork
from nemo_gym.rollout_compare.__main__ import module_main
sys.exit(module_main())
"""
ROWS, ROW_BYTES = 3000, 12_000
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Trial(NamedTuple):
    """A comparison in bad surroundings.

    Attributes:
        words: The command's arguments.
        limit: What is done in the new process before the command.
        during: What is done while it runs.
        stdin: What it reads, None for nothing.
        stdout: Where its report goes, None to be looked at.
        ends: The statuses that it may end in.
        command: What is started.
    """

    words: list[str]
    limit: Callable[[], object] = bool
    during: Callable[[subprocess.Popen[bytes]], object] = lambda _: None
    stdin: Path | None = None
    stdout: Path | None = None
    ends: tuple[int, ...] = (0, 1)
    command: tuple[str, ...] = tuple(COMMAND)


class Ended(NamedTuple):
    """How a trial ended, and what is wrong with that."""

    status: int
    wrong: str


def write_runs(folder: Path) -> tuple[Path, Path]:
    """Two runs that several processes read, with outputs that are quoted."""
    made = []
    for side in ("old", "new"):
        made.append(folder / f"{side}.jsonl")
        with made[-1].open("w", encoding="utf-8") as file:
            for i in range(ROWS):
                reward = (i * (3 if side == "old" else 5)) % 7 < 4
                said = f"E   ValueError: {i % 9}\n"
                row = {"task_id": f"t{i}", "reward": int(reward), "test_output": said, "x": "y" * ROW_BYTES}
                file.write(json.dumps(row) + "\n")
    return made[0], made[1]


def limited(kind: int, value: int) -> Callable[[], None]:
    """Have no more of something than so much."""
    return lambda: resource.setrlimit(kind, (value, value))


def signalled(number: int, times: int, chance: random.Random) -> Callable[[subprocess.Popen[bytes]], None]:
    """Send a signal to all processes at a random moment, several times in a row."""

    def send(program: subprocess.Popen[bytes]) -> None:
        time.sleep(0.08 + chance.random() * chance.choice([0.1, 1, 3]))
        for _ in range(times):
            if program.poll() is None:
                os.killpg(program.pid, number)
                time.sleep(chance.choice([0, 0.0005, 0.002, 0.01]))

    return send


def kill_a_worker(program: subprocess.Popen[bytes]) -> None:
    """Kill the first process that reads for the program."""
    end = time.monotonic() + 5
    while program.poll() is None and time.monotonic() < end:
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        found = children.read_text("utf-8").split() if children.exists() else []
        if found:
            try:
                os.kill(int(found[0]), signal.SIGKILL)
            except ProcessLookupError:
                continue
            return
        time.sleep(0.001)


def changed(path: Path, how: str, chance: random.Random) -> Callable[[subprocess.Popen[bytes]], None]:
    """Change a file while it is read."""

    def change(_program: subprocess.Popen[bytes]) -> None:
        time.sleep(chance.random())
        if how == "removed":
            path.unlink()
        elif how == "cut":
            os.truncate(path, path.stat().st_size // 3)
        elif how == "grown":
            with path.open("a", encoding="utf-8") as file:
                file.write('{"task_id": "late", "reward": 1}\n')
        else:
            path.write_bytes(b"junk\n")

    return change


def trials(folder: Path, chance: random.Random) -> Iterator[tuple[str, Trial]]:
    """One trial of each fault, by its name."""
    old, new = (str(folder / f"{side}.jsonl") for side in ("old", "new"))
    pair, summary = [old, new], ["--json", str(folder / "out" / "summary.json")]
    jobs = ["--jobs", chance.choice("13")]
    yield "the disk is full", Trial([*pair, *summary], limited(resource.RLIMIT_FSIZE, chance.choice([0, 4096, 65536])))
    yield "full, standard input", Trial(["-", new], limited(resource.RLIMIT_FSIZE, 1 << 20), stdin=Path(old), ends=(1,))
    yield "standard output is full", Trial(pair, stdout=Path("/dev/full"), ends=(1,))
    yield "standard output is closed", Trial(pair, lambda: os.close(1), ends=(1,))
    yield "standard error is closed", Trial([*pair, *jobs], lambda: os.close(2))
    yield "few descriptors", Trial([*pair, "--jobs", "8"], limited(resource.RLIMIT_NOFILE, chance.randrange(4, 40)))
    few = (sys.executable, "-c", FEW_PROCESSES, str(chance.randrange(4)))
    yield "few processes", Trial([*pair, "--jobs", "8"], ends=(0,), command=few)
    yield "little memory", Trial([*pair, *jobs], limited(resource.RLIMIT_AS, chance.randrange(16, 96) << 20))
    yield "a worker is killed", Trial([*pair, "--jobs", "3"], during=kill_a_worker)
    for how in ("removed", "cut", "grown", "replaced"):
        yield f"a file is {how}", Trial([*pair, *jobs], during=changed(Path(new), how, chance))
    for number in SIGNALS:
        send = signalled(number, chance.choice([1, 2, 10]), chance)
        name = signal.Signals(number).name
        yield f"signal {name}", Trial([*pair, *jobs, *summary], during=send, ends=(0, 128 + number))
        piped = Trial(["-", new, *jobs], during=send, stdin=Path(old), ends=(0, 128 + number))
        yield f"signal {name}, standard input", piped


def run_trial(trial: Trial, temporary: Path, outputs: Path) -> Ended:
    """Run it; what is wrong with how it ended."""
    stdin = trial.stdin.open("rb") if trial.stdin else subprocess.DEVNULL
    stdout = trial.stdout.open("wb") if trial.stdout else subprocess.PIPE
    program = subprocess.Popen(
        [*trial.command, *trial.words],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
        preexec_fn=lambda: prepared(trial),  # noqa: PLW1509  # there are no threads here
    )
    trial.during(program)
    report, said = program.communicate(timeout=120)
    wrong = faults_of(trial, program, report or b"", said, [temporary, outputs])
    return Ended(shown_status(program.returncode), "; ".join(wrong))


def prepared(trial: Trial) -> None:
    """Give the new process its surroundings; signals that are ignored here, as by `nohup`, are not ignored there."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    trial.limit()


def shown_status(code: int) -> int:
    """The status as a shell shows it: a program that a signal ended before it had a handler, by its number too."""
    return 128 - code if code < 0 else code


def faults_of(
    trial: Trial, program: subprocess.Popen[bytes], report: bytes, said: bytes, folders: list[Path]
) -> Iterator[str]:
    """What is wrong with how a trial ended."""
    status = shown_status(program.returncode)
    if status not in trial.ends and status != 128 + signal.SIGKILL:
        yield f"status {status}"
    lines = said.decode("utf-8", "replace").splitlines()
    quiet = status in (0, 129, 130, 143)
    if (quiet and lines) or (status == 1 and (len(lines) > 1 or not all(line.startswith("error: ") for line in lines))):
        yield f"standard error: {lines[-3:]}"
    if status == 1 and report:
        yield "a report beside an error"
    left = [path.name for folder in folders for path in folder.iterdir() if path.name != "summary.json"]
    if left:
        yield f"left behind: {left}"
    if in_group(program.pid):
        yield "left behind: processes"


def in_group(group: int) -> bool:
    """Whether a process of a group is still there after a moment."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.01)
    return True


def main() -> int:
    """Try all faults; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=40, help="how often each fault is tried (default: 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="faults with this in their name")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    ended: dict[str, Counter[int]] = {}
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder, temporary, outputs = Path(name), Path(name, "tmp"), Path(name, "out")
        folder.chmod(0o755)
        for made in (temporary, outputs):
            made.mkdir()
            made.chmod(0o777)
        write_runs(folder)
        for _ in range(options.times):
            for fault, trial in trials(folder, chance):
                if options.only not in fault:
                    continue
                result = run_trial(trial, temporary, outputs)
                ended.setdefault(fault, Counter())[result.status] += 1
                if result.wrong:
                    wrong[fault] += 1
                    print(f"{fault}: {result.wrong}", flush=True)
                if fault.startswith("a file is"):
                    write_runs(folder)
                for path in (*temporary.iterdir(), *outputs.iterdir()):
                    path.unlink()
    for fault, statuses in ended.items():
        told = ", ".join(f"{times} x {status}" for status, times in sorted(statuses.items()))
        print(f"| {fault} | {statuses.total()} | {told} | {wrong[fault]} |")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
