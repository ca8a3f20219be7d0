#!/usr/bin/env python3
"""Measure `gym dev compare` against the usual way, DuckDB and `wc -l`, on made-up data.

    run.py                                      the table
    run.py --shapes transcripts --sizes 20MB    a quick one
    run.py --part 0                             without the runs of other producers
    run.py --curves                             time and memory against size
    run.py --by-field                           memory against the largest row, whichever field is large

Sizes and rows are those of one file; every comparison reads two. The ways are first made to say the same, then run in
turn. Run it on a quiet machine with room for the data in memory: what is measured is never the disk.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import logs
import many_trials
from curves import print_curve
from measure import median_ratio, memory_of, time_of, times_in_turn
from memory_by_field import print_memory_by_field
from tables import Table, megabytes, seconds_text
from ways import FLOOR, OURS, SHAPES, Data, check_counts, commands, drop_data, folder, make_data, our_command

TABLE_SIZES, TABLE_ROWS = ["200MB"], ["200000"]
CURVE_SIZES = ["10MB", "30MB", "100MB", "300MB", "1GB", "2GB", "4GB"]
CURVE_ROWS = ["10000", "30000", "100000", "300000", "1000000", "2000000", "4000000"]

_STARTS_A_ROUND = 3


def size(text: str) -> str:
    """A size as `generate.py` takes it."""
    if not re.fullmatch(r"[0-9.]+[kMG]B", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 200MB")
    return text


def number(text: str) -> str:
    """A number of rows."""
    return str(int(text))


def parse_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options' values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", action="store_true", help="time and memory against size, of our command alone")
    parser.add_argument("--by-field", action="store_true", help="memory against the largest row, field by field")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE")
    parser.add_argument("--sizes", nargs="+", type=size, metavar="SIZE", help="sizes of transcripts: 200MB")
    parser.add_argument("--rows", nargs="+", type=number, metavar="N", help="numbers of short rows")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each command (default: 5)")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes of our command (default: its own choice)")
    parser.add_argument(
        "--part",
        type=float,
        default=1,
        metavar="X",
        help="how much of the runs of other producers, 0 for none (default: 1)",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep data here, and use what is here")
    options = parser.parse_args(argv)
    options.sizes = options.sizes or (CURVE_SIZES if options.curves else TABLE_SIZES)
    options.rows = options.rows or (CURVE_ROWS if options.curves else TABLE_ROWS)
    return options


def amounts(options: argparse.Namespace, shape: str) -> list[str]:
    """How much data of a shape is wanted."""
    wanted: list[str] = options.sizes if SHAPES[shape].generator == "transcripts" else options.rows
    return wanted


def print_machine(options: argparse.Namespace) -> None:
    """Where and how the figures are made."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    python = f"Python {platform.python_version()}"
    print(
        f"{cores} cores, {platform.machine()}, {python}; load {load:.1f} at the start; medians of {options.runs} runs\n"
    )


def print_start_up(place: Path, options: argparse.Namespace) -> float:
    """Our time for 5 tasks against a bare interpreter; gives it in seconds."""
    data = make_data(place, "short", "5")
    bare = [sys.executable, "-c", "pass"]
    time_of(our_command(data))  # compiles what is not compiled yet
    seconds = times_in_turn({"bare": bare, OURS: our_command(data)}, _STARTS_A_ROUND * options.runs)
    ratio = median_ratio(seconds["bare"], seconds[OURS])
    ours = median(seconds[OURS])
    print(
        f"start-up: 5 tasks {ours * 1000:.0f} ms, `python -c pass` {median(seconds['bare']) * 1000:.0f} ms: "
        f"{ratio:.1f} bare interpreter starts\n"
    )
    return ours


def print_rows(table: Table, data: Data, options: argparse.Namespace) -> None:
    """One row of the table for each way."""
    ways = commands(data, options.jobs)
    counts = check_counts(ways)
    seconds = times_in_turn(ways, options.runs)
    for name, command in ways.items():
        memory = memory_of(command)
        peaks = ("-", "-") if name == FLOOR else map(megabytes, memory)
        title = f"{data.title} ({megabytes(data.size)}, {counts['tasks']:,} tasks)" if name == OURS else ""
        ratio = median_ratio(seconds[OURS], seconds[name])
        spread = f"{seconds_text(min(seconds[name]))} to {seconds_text(max(seconds[name]))}"
        table.print_row(title, name, seconds_text(median(seconds[name])), spread, f"{ratio:.2f}", *peaks)


def print_table(place: Path, options: argparse.Namespace) -> None:
    """All ways on all data."""
    table = Table(["data", "way", "time", "from ... to", "time / ours", "largest process", "all processes"])
    for shape in options.shapes:
        for amount in amounts(options, shape):
            data = make_data(place, shape, amount)
            print_rows(table, data, options)
            drop_data(data, options.data)


def print_producers(part: float) -> None:
    """Runs of other producers: 5,000 trials, 50,000 samples in a log, 1 GB of samples; or a part of that."""
    if part > 0:
        print()
        many_trials.main(["--trials", f"{5_000 * part:.0f}"])
        print()
        logs.main(["--samples", f"{50_000 * part:.0f}", "--size", f"{max(1_000 * part, 1):.0f}"])


def main(argv: Sequence[str] | None = None) -> None:
    """Print what was asked for."""
    options = parse_options(argv)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as where it is installed: modules are compiled once
    if options.by_field:
        print_memory_by_field()
        return
    with folder(options.data) as place:
        print_machine(options)
        start_up = print_start_up(place, options)
        if not options.curves:
            print_table(place, options)
            print_producers(options.part)
            return
        for shape in options.shapes:
            print_curve(place, shape, amounts(options, shape), start_up, options)


if __name__ == "__main__":
    main()
