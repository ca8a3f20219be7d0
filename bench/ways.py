"""The ways that are measured, the data that they read, and the check that they say the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, NamedTuple

from measure import Command

HERE = Path(__file__).parent
OURS, PLAIN, DUCKDB, FLOOR = "gym dev compare", "plain reader", "DuckDB", "wc -l"

#: The names under which the numbers beside a category in the report are counted.
_BESIDE = {
    "flipped": {"old-win": "flipped_old_win", "new-win": "flipped_new_win"},
    "masked": {"old": "masked_old", "new": "masked_new"},
    "missing": {"old-only": "missing_old_only", "new-only": "missing_new_only"},
}

Counts = dict[str, int]


class Shape(NamedTuple):
    """A shape of rows: what `generate.py` calls it, and how many attempts a task has."""

    generator: str
    repeats: int
    title: str


SHAPES = {
    "transcripts": Shape("transcripts", 1, "transcripts"),
    "short": Shape("short", 1, "short rows"),
    "short8": Shape("short", 8, "short rows, 8 a task"),
}


class Data(NamedTuple):
    """A pair of rollouts files.

    Attributes:
        shape: The name of its shape.
        amount: How much a file holds, as it was asked for: `200MB`, or a number of rows.
        old: The old run.
        new: The new run.
    """

    shape: str
    amount: str
    old: Path
    new: Path

    @property
    def title(self) -> str:
        """What it is, for a table."""
        amount = self.amount if self.amount.endswith("B") else f"{int(self.amount):,}"
        return f"{SHAPES[self.shape].title}, 2 x {amount}"

    @property
    def size(self) -> int:
        """Bytes of both files."""
        return self.old.stat().st_size + self.new.stat().st_size


@contextmanager
def folder(kept: Path | None) -> Iterator[Path]:
    """Where data lies: the folder that is kept, or one that is removed in the end."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory(prefix="rollout-compare-bench-") as made:
            yield Path(made)


def make_data(place: Path, shape: str, amount: str) -> Data:
    """A pair of files in a folder, made by another process unless it is there: this one must stay small."""
    old, new = (place / f"{shape}-{amount}-{side}.jsonl" for side in ("old", "new"))
    if not (old.exists() and new.exists()):
        kind = SHAPES[shape]
        option = "--size" if amount.endswith("B") else "--rows"
        command = [sys.executable, str(HERE / "generate.py"), kind.generator, str(old), str(new), option, amount]
        _run([*command, "--repeats", str(kind.repeats)])
    return Data(shape, amount, old, new)


def drop_data(data: Data, kept: Path | None) -> None:
    """Remove files that are needed no more, unless they are to be kept."""
    if kept is None:
        data.old.unlink()
        data.new.unlink()


def our_command(data: Data, jobs: int | None = None) -> Command:
    """The command under test."""
    more = ["--jobs", str(jobs)] if jobs else []
    return [str(Path(sys.executable).parent / "gym"), "dev", "compare", str(data.old), str(data.new), *more]


def commands(data: Data, jobs: int | None = None) -> dict[str, Command]:
    """Each way's command, by its name."""
    inputs = [str(data.old), str(data.new)]
    return {
        OURS: our_command(data, jobs),
        PLAIN: [sys.executable, str(HERE / "plain_reader.py"), *inputs],
        DUCKDB: [sys.executable, str(HERE / "duckdb_join.py"), *inputs],
        FLOOR: ["wc", "-l", *inputs],
    }


def check_counts(ways: dict[str, Command]) -> Counts:
    """What all ways count. This reads the files into the system's cache, too.

    Raises:
        SystemExit: They do not count the same.
    """
    readers: dict[str, Callable[[Command], Counts]] = {OURS: report_counts, PLAIN: _printed, DUCKDB: _printed}
    found = {name: counts(ways[name]) for name, counts in readers.items()}
    for name, counts in found.items():
        other = {key for key in found[PLAIN].keys() | counts if found[PLAIN].get(key, 0) != counts.get(key, 0)}
        if other:
            lines = [f"  {key}: {counts.get(key, 0)}, {PLAIN} {found[PLAIN].get(key, 0)}" for key in sorted(other)]
            raise SystemExit("\n".join([f"error: {name} does not count what the {PLAIN} counts", *lines]))
    return found[PLAIN]


def _printed(command: Command) -> Counts:
    with tempfile.TemporaryFile() as output:
        _run(command, output)
        output.seek(0)
        counts: Counts = json.load(output)
        return counts


def report_counts(command: Command) -> Counts:
    """The counts at the head of our report."""
    with tempfile.TemporaryFile("w+") as report:
        _run(command, report)
        report.seek(0)
        return _counts_of_head(list(takewhile(lambda line: not line.startswith("##"), report)))


def _run(command: Command, output: IO[Any] | None = None) -> None:
    status = subprocess.run(command, check=False, stdout=output).returncode
    if status:
        raise SystemExit(f"error: status {status} of {' '.join(command)}")


def _counts_of_head(head: list[str]) -> Counts:
    counts = {"tasks": int(re.findall(r"(\d+) tasks?\b", head[0])[0])}
    for side, rows, masked in re.findall(r"(old|new) (\d+) rows?(?: incl\. (\d+) masked)?", head[0]):
        counts |= {f"{side}_rows": int(rows), f"{side}_masked_rows": int(masked or 0)}
    for line in head:
        found = re.match(r"(identical|flipped|flipped \(agent error\)|masked|missing) +(\d+)(.*)", line)
        if found:
            category, number, beside = found.groups()
            counts[re.sub(r"\W+", "_", category).strip("_")] = int(number)
            for name, more in re.findall(r"(\S+) (\d+)", beside):
                counts[_BESIDE[category][name]] = int(more)
    return counts
