"""How far the reading is: shown to somebody at a terminal who has waited for a second, and to nobody else."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nemo_gym.rollout_compare.app import progress
from nemo_gym.rollout_compare.app.progress import reading_progress
from nemo_gym.rollout_compare.files import signals
from nemo_gym.rollout_compare.producers import Run, Shard
from tests.support import alone, alone_command, rows_file, run, write_rows

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that is set by hand, in seconds."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of the usual kind, whatever the tests are run in."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


class Watched(NamedTuple):
    """The reading of two runs, told at a terminal, at times that are set by hand."""

    terminal: Terminal
    clock: Clock
    tell: Callable[[int, int], None]


@contextmanager
def watched(runs: Sequence[Run], terminal: Terminal | None = None) -> Iterator[Watched]:
    terminal, clock = terminal or Terminal(), Clock()
    with redirect_stderr(terminal), reading_progress(runs, clock=clock) as tell:
        assert tell
        yield Watched(terminal, clock, tell)


def run_of(folder: Path, *sizes: int) -> Run:
    """A run whose rollouts files have these sizes."""
    shards = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}.jsonl"
        path.write_bytes(b"\n" * size)
        shards.append(Shard(rows_file(path)))
    return Run("rollouts", shards, [])


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """An old run of 2000 bytes in two shards, a new one of 5000."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    return [run_of(tmp_path / "old", 1500, 500), run_of(tmp_path / "new", 5000)]


def drawn(stream: StringIO) -> list[str]:
    """The bars as they were drawn last."""
    return [line for line in ESCAPES.sub("", stream.getvalue()).replace("\r", "\n").split("\n") if line.strip()][-2:]


class TestWhere:
    @pytest.mark.parametrize("stream", [StringIO(), None], ids=["no terminal", "no standard error"])
    def test_nothing_is_told_where_nobody_watches(self, runs: Sequence[Run], stream: StringIO | None) -> None:
        with redirect_stderr(stream), reading_progress(runs) as tell:
            assert tell is None
        assert stream is None or stream.getvalue() == ""

    def test_nothing_is_told_to_somebody_who_wants_quiet(self, runs: Sequence[Run]) -> None:
        with redirect_stderr(Terminal()) as terminal, reading_progress(runs, quiet=True) as tell:
            assert tell is None
        assert terminal.getvalue() == ""


class TestWhen:
    def test_nothing_is_shown_within_the_first_second(self, runs: Sequence[Run]) -> None:
        with watched(runs) as (terminal, clock, tell):
            for clock.now in (50.0, 50.5, 50.99):
                tell(0, 100)
        assert terminal.getvalue() == ""

    def test_each_run_is_shown_after_a_second(self, runs: Sequence[Run]) -> None:
        with watched(runs) as (terminal, clock, tell):
            tell(0, 500)
            tell(1, 1000)
            clock.now = 51.0
            tell(0, 500)
            old, new = drawn(terminal)
        assert re.match(r"reading old .*\b1\.0/2\.0 kB\b", old)
        assert re.match(r"reading new .*\b1\.0/5\.0 kB\b", new)

    def test_rate_and_time_left_are_shown(self, runs: Sequence[Run]) -> None:
        with watched(runs) as (terminal, clock, tell):
            for clock.now in (51.0, 52.0, 53.0):
                tell(0, 100)
            old, _ = drawn(terminal)
        assert re.search(r"/s .*\d+:\d\d:\d\d", old)

    def test_it_is_drawn_at_most_ten_times_a_second(self, runs: Sequence[Run]) -> None:
        with watched(runs) as (terminal, clock, tell):
            clock.now = 51.0
            tell(1, 1)
            first = len(terminal.getvalue())
            clock.now = 51.05
            tell(1, 1000)
            assert len(terminal.getvalue()) == first
            clock.now = 51.15
            tell(1, 1000)
            assert len(terminal.getvalue()) > first
            assert "2.0/5.0 kB" in drawn(terminal)[1]

    @pytest.mark.parametrize("error", [None, KeyError()], ids=["finished", "failed"])
    def test_nothing_is_left_on_the_screen(self, runs: Sequence[Run], error: Exception | None) -> None:
        terminal = Terminal()
        with suppress(KeyError), watched(runs, terminal) as (_, clock, tell):
            clock.now = 52.0
            tell(0, 1)
            if error:
                raise error
        text = terminal.getvalue()
        after = text[text.rindex("reading new") :]
        assert after.count("\x1b[2K") == 2  # a line is erased for each bar
        assert "\x1b[?25h" in after  # the cursor is shown again

    def test_planned_rows_are_part_of_what_is_read(self, tmp_path: Path) -> None:
        main, planned = run_of(tmp_path, 1000, 3000).shards
        runs = [Run("rollouts", [Shard(main.main, planned=planned.main)], []), Run("rollouts", [], [])]
        with watched(runs) as (terminal, clock, tell):
            clock.now = 52.0
            tell(0, 1000)
            assert "1.0/4.0 kB" in drawn(terminal)[0]


class TestSignals:
    """What a signal's handler does while the bars are shown, before it ends the process."""

    @pytest.fixture
    def undone(self, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
        """What is to be undone at the end."""
        found: list[Callable[[], object]] = []
        monkeypatch.setattr(signals, "_undone", found)
        return found

    @pytest.fixture
    def written(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bytes]]:
        """What is written past all streams."""
        found: list[tuple[int, bytes]] = []
        monkeypatch.setattr(os, "write", lambda descriptor, data: found.append((descriptor, data)))
        return found

    def test_bars_that_are_whole_are_taken_away_and_the_cursor_is_shown(
        self, runs: Sequence[Run], undone: list[Callable[[], object]], written: list[tuple[int, bytes]]
    ) -> None:
        with watched(runs) as (terminal, clock, tell):
            clock.now = 52.0
            tell(0, 1)
            assert not terminal.getvalue().endswith("\x1b[?25h")
            (undo,) = undone
            before = len(terminal.getvalue())
            undo()
            done = terminal.getvalue()[before:]
            assert done[done.rindex("reading new") :].count("\x1b[2K") == 2  # a line is erased for each bar
            assert "\x1b[?25h" in done
        assert undone == []
        assert written == []

    def test_while_they_are_drawn_only_the_cursor_is_shown(
        self,
        runs: Sequence[Run],
        undone: list[Callable[[], object]],
        written: list[tuple[int, bytes]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        from rich.progress import Progress  # other tests see whether the program imports it

        with watched(runs) as (terminal, clock, tell):
            clock.now = 51.0
            tell(0, 1)
            monkeypatch.setattr(Progress, "refresh", lambda _: undone[0]())
            before = terminal.getvalue()
            clock.now = 52.0
            tell(0, 1)
            assert terminal.getvalue() == before
            assert written == [(2, b"\r\x1b[K\x1b[?25h")]
            monkeypatch.undo()

    def test_bars_that_were_never_shown_are_not_taken_away(
        self, runs: Sequence[Run], undone: list[Callable[[], object]], written: list[tuple[int, bytes]]
    ) -> None:
        with watched(runs) as (terminal, _, tell):
            tell(0, 1)
            undone[0]()
            assert (terminal.getvalue(), written) == ("", [])


def modules_loaded(*words: str) -> list[str]:
    """Which modules that show progress a comparison in a process of its own has loaded."""
    done = run("dev", "compare", *words)
    assert (done.status, done.stderr) == (0, "")
    return [name for name in sys.modules if name.split(".")[0] == "rich"]


def show_at_once() -> None:
    vars(progress)["_SHOWN_AFTER_S"] = 0.0


def compare_at_once(*words: str) -> dict[str, Any]:
    """A comparison whose progress is shown at once, and whether that takes `rich`."""
    from nemo_gym.rollout_compare.app.cli import main

    show_at_once()
    out = StringIO()
    status = main(["dev", "compare", *words], out)
    return {"status": status, "report": out.getvalue(), "rich": "rich" in sys.modules}


def compare_at_leisure(*words: str) -> dict[str, Any]:
    """The same as users have it: within a second nothing is shown."""
    from nemo_gym.rollout_compare.app.cli import main

    out = StringIO()
    status = main(["dev", "compare", *words], out)
    return {"status": status, "report": out.getvalue(), "rich": "rich" in sys.modules}


def at_a_terminal(command: Iterable[str]) -> tuple[Any, str]:
    """What a command prints, as JSON, and what it writes to the terminal that its standard error is."""
    here, there = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(list(command), stdout=subprocess.PIPE, stderr=there, text=True, env=env) as process:
        os.close(there)
        shown = b""
        try:
            while data := os.read(here, 1 << 16):
                shown += data
        except OSError:  # on Linux, when the other end is closed
            pass
        os.close(here)
        out, _ = process.communicate(timeout=60)
    return json.loads(out.splitlines()[-1]), shown.decode("utf-8")


class TestCommand:
    @pytest.fixture
    def pair(self, tmp_path: Path) -> list[str]:
        old = write_rows(tmp_path / "old.jsonl", [{"task_id": "a", "reward": 1}])
        return [str(old), str(write_rows(tmp_path / "new.jsonl", [{"task_id": "a", "reward": 1}]))]

    def test_in_a_pipe_nothing_is_shown_and_nothing_loaded_for_it(self, pair: list[str]) -> None:
        assert alone(modules_loaded, *pair) == []

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_at_a_terminal_it_is_shown_and_does_not_touch_the_report(self, pair: list[str], jobs: str) -> None:
        quick, nothing = at_a_terminal(alone_command(compare_at_leisure, *pair, "--jobs", jobs))
        assert nothing == ""
        assert quick["rich"] is False
        slow, shown = at_a_terminal(alone_command(compare_at_once, *pair, "--jobs", jobs))
        assert "reading old" in shown
        assert "reading new" in shown
        assert slow == {**quick, "rich": True}
        assert slow["status"] == 0
        assert slow["report"].startswith("gym dev compare: 1 task ")

    def test_quiet_means_nothing_at_a_terminal_either(self, pair: list[str]) -> None:
        said, shown = at_a_terminal(alone_command(compare_at_once, *pair, "--quiet"))
        assert (said["status"], said["rich"], shown) == (0, False, "")

    def test_in_a_pipe_nothing_is_shown_however_long_it_takes(self, pair: list[str]) -> None:
        command = alone_command(compare_at_once, *pair)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout.splitlines()[-1])["rich"] is False
