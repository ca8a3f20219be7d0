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
from ways import OURS, Data, drop_data, make_data, our_command, report_counts

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


def measured(data: Data, options: Namespace) -> Point:
    """The figures of one pair of files. The report is read first, which brings them into the system's cache."""
    command = our_command(data, options.jobs)
    counts = report_counts(command)
    seconds = median(times_in_turn({OURS: command}, options.runs)[OURS])
    return Point(data.size, counts["old_rows"] + counts["new_rows"], seconds, memory_of(command))


def print_curve(place: Path, shape: str, amounts: Sequence[str], start_up: float, options: Namespace) -> None:
    """A table of one shape's sizes, and how time and memory grow."""
    empty = memory_of(our_command(make_data(place, "short", "5")))
    table = Table(["data", "bytes", "rows", "time", "rate", "largest process", "all processes", "bytes a row"])
    points = []
    for amount in amounts:
        data = make_data(place, shape, amount)
        point = measured(data, options)
        drop_data(data, options.data)
        points.append(point)
        sizes = (megabytes(point.size), f"{point.rows:,}")
        speed = (seconds_text(point.seconds), f"{megabytes(point.size / point.seconds)}/s")
        table.print_row(data.title, *sizes, *speed, *map(megabytes, point.memory), f"{bytes_a_row(point, empty):,.0f}")
    print_growth(points, start_up)


def print_growth(points: Sequence[Point], start_up: float) -> None:
    """How time grows with bytes, and memory with rows."""
    power = exponent(points, start_up)
    fitted = "cannot be told: too few sizes are" if power is None else f"grows as size^{power:.3f}, fitted where it is"
    print(f"\ntime {fitted} at least {_ABOVE_START_UP} times the start-up")
    if len(points) > 1:
        slope = linear_regression([point.rows for point in points], [point.memory.together for point in points]).slope
        print(f"memory of all processes grows by {slope:,.0f} bytes a row (least squares)")
    print()
