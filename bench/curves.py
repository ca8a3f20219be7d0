"""Our time and memory against the size of the data."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from math import log
from pathlib import Path
from statistics import linear_regression, median
from typing import NamedTuple

from measure import Memory, memory_of, times_in_turn
from tables import Table, megabytes, seconds_text
from ways import OURS, drop_data, make_data, our_command, report_counts

#: Where a run takes at least so many times the start-up, time tells of the size.
_ABOVE_START_UP = 3


class Point(NamedTuple):
    """One size's figures; bytes and rows are those of both files."""

    size: int
    rows: int
    seconds: float
    memory: Memory


def exponent(points: Sequence[Point], start_up: float) -> float | None:
    """By which power of the size the time grows: least squares of the logarithms; None with fewer than two sizes."""
    fit = [point for point in points if point.seconds >= _ABOVE_START_UP * start_up]
    if len(fit) < 2:
        return None
    return linear_regression([log(point.size) for point in fit], [log(point.seconds) for point in fit]).slope


def bytes_a_row(point: Point, empty: Memory) -> float:
    """Memory of all processes beyond that for 5 tasks, for each row."""
    return (point.memory.together - empty.together) / point.rows


def print_curve(place: Path, shape: str, amounts: Sequence[str], start_up: float, options: Namespace) -> None:
    """A table of one shape's sizes, and the exponent."""
    empty = memory_of(our_command(make_data(place, "short", "5")))
    table = Table(["data", "bytes", "rows", "time", "rate", "largest process", "all processes", "bytes a row"])
    points = []
    for amount in amounts:
        data = make_data(place, shape, amount)
        command = our_command(data, options.jobs)
        counts = report_counts(command)
        seconds = median(times_in_turn({OURS: command}, options.runs)[OURS])
        rows = counts["old_rows"] + counts["new_rows"]
        point = Point(data.size, rows, seconds, memory_of(command))
        points.append(point)
        peaks = map(megabytes, point.memory)
        sizes = (
            f"{point.size / 1e6:,.0f} MB",
            f"{rows:,}",
            seconds_text(seconds),
            f"{point.size / seconds / 1e6:,.0f} MB/s",
        )
        table.print_row(data.title, *sizes, *peaks, f"{bytes_a_row(point, empty):.0f}")
        drop_data(data, options.data)
    power = exponent(points, start_up)
    fitted = "unknown: too few sizes" if power is None else f"size^{power:.3f}"
    print(f"\ntime grows as {fitted} (sizes that take at least {_ABOVE_START_UP} times the start-up)\n")
