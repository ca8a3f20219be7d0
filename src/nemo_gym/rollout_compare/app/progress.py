"""How far the reading has come, for somebody who watches a terminal and has waited for a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.files import undone_at_end
from nemo_gym.rollout_compare.producers import Run
from nemo_gym.rollout_compare.schema import Side

if TYPE_CHECKING:
    from rich.progress import Progress

_SHOWN_AFTER_S = 1.0
_SHOWN_EVERY_S = 0.1
_CLEAR = "\r\x1b[K"


@contextmanager
def stage_names(*, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[str], None]]:
    """Something to tell what is done after reading: its name stands where the bars stood until the report comes.

    As with the bars nothing is shown within the first second, and nothing is left on the screen.
    """
    stream, begun, shown = sys.stderr, clock(), []
    if quiet or stream is None or not stream.isatty():
        yield lambda _: None
        return

    def tell(name: str) -> None:
        if clock() - begun >= _SHOWN_AFTER_S:
            shown.append(name)
            stream.write(f"{_CLEAR}{name}")
            stream.flush()

    try:
        yield tell
    finally:
        if shown:
            stream.write(_CLEAR)
            stream.flush()


@contextmanager
def reading_progress(
    runs: Sequence[Run], *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int, int], None] | None]:
    """Something to tell how many more bytes of which run were read, None where nobody would see it.

    Per run: bytes done, rate, time left. Nothing is shown within the first second, and nothing is left on the screen.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    read = [[file for shard in run.shards for file in (shard.main, shard.planned) if file] for run in runs]
    bars = _Bars([sum(file.size for file in files) for files in read], clock)
    try:
        yield bars.advance
    finally:
        bars.close()


class _Bars:
    """One bar a run, drawn when there is something new to show: no thread is started."""

    def __init__(self, sizes: Sequence[int], clock: Callable[[], float]) -> None:
        self._sizes = sizes
        self._clock = clock
        self._done = [0] * len(sizes)
        self._next = clock() + _SHOWN_AFTER_S
        self._shown: Progress | None = None
        self._drawing = False
        self._forget = undone_at_end(self._leave)

    def advance(self, run: int, more: int) -> None:
        self._done[run] += more
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _SHOWN_EVERY_S
        self._drawing = True
        if self._shown is None:
            self._shown = _bars(self._sizes)
            self._shown.start()
        for task, done, size in zip(self._shown.task_ids, self._done, self._sizes, strict=True):
            self._shown.update(task, completed=min(done, size))  # where pieces meet some bytes are read twice
        self._shown.refresh()
        self._drawing = False

    def close(self) -> None:
        if self._shown:
            self._shown.stop()
        self._forget()

    def _leave(self) -> None:
        """Give the terminal back; half-drawn bars cannot be taken away, but the cursor is shown."""
        if self._shown and self._drawing and self._shown.console.is_terminal:
            os.write(2, b"\r\x1b[K\x1b[?25h")
        elif self._shown:
            self._shown.stop()


def _bars(sizes: Sequence[int]) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, auto_refresh=False)
    for side, size in zip(Side, sizes, strict=True):
        bars.add_task(f"reading {side}", total=size)
    return bars
