#!/usr/bin/env python3
"""Measure the largest process's memory against the largest row, whichever field of the row is large.

    memory_by_field.py                                     every field, rows of 64 MB
    memory_by_field.py --megabytes 16 --fields test_output reward

Each comparison reads two runs of a few rows, of which two are large; their tasks flip, so that they are read again.
What is told is the peak beyond that of the same comparison with small rows, as a multiple of the largest row. The aim
is 3.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from measure import peak_of
from tables import Table, megabytes

MEGABYTES = 64
AIM = 3.0
_LARGE_ROWS, _ROWS = 2, 4
_WRITTEN_AT_ONCE = 1 << 20

#: Fields of a row, by what they are for; of those that say the same one stands for all.
FIELDS = (
    "an_unknown_field",
    "reward",
    "mask_sample",
    "failure_kind",
    "error",
    "verifier_error",
    "task_id",
    "_ng_task_id.taskset",
    "uuid",
    "_ng_task_index",
    "_ng_rollout_index",
    "responses_create_params.input",
    "responses_create_params.instructions",
    "responses_create_params.metadata",
    "responses_create_params.tools",
    "responses_create_params.an_unknown_field",
    "response.output",
    "response.metadata",
    "response.metadata.error_type",
    "response.usage",
    "response.model",
    "agent_ref",
    "verifier_metadata",
    "verifier_logs_dir",
    "test_output",
    "container_stderr",
    "details",
    "tests_status",
    "model_patch",
)

#: Fields of the record of a failed attempt.
SIDECAR_FIELDS = (
    "an_unknown_field",
    "_ng_failure_class",
    "_ng_failure_message",
    "error",
    "task_id",
    "_ng_task_index",
    "responses_create_params.input",
    "response.output",
    "test_output",
)

_MESSAGE = b'{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}' % (b"word " * 100)


class Shape(NamedTuple):
    """What a large value is: how it begins, what is repeated, how it ends."""

    begin: bytes
    unit: bytes
    between: bytes
    end: bytes


SHAPES = {
    "text": Shape(b'"', rb"a line of some words\n", b"", b'"'),
    "messages": Shape(b"[", _MESSAGE, b",", b"]"),
    "numbers": Shape(b"[", b"1234567", b",", b"]"),
}


class Case(NamedTuple):
    """What is large: a field of a row or, of a sidecar's record."""

    field: str
    in_sidecar: bool


def value_of(shape: Shape, size: int) -> Iterator[bytes]:
    """A value of about so many bytes, in parts that are small."""
    unit = shape.unit + shape.between
    block = unit * max(_WRITTEN_AT_ONCE // len(unit), 1)
    yield shape.begin
    yield from repeat(block, max(size // len(block), 1))
    yield shape.unit + shape.end


def row_of(number: int, reward: int, case: Case, value: Iterator[bytes] | None) -> Iterator[bytes]:
    """A row, or a sidecar's record, with a large value in a field if there is one; of equal names the last counts."""
    yield b'{"_ng_task_index":%d,"_ng_rollout_index":%d,"task_id":"t%d",' % (number, case.in_sidecar, number)
    yield b'"_ng_failure_class":"lost"' if case.in_sidecar else b'"reward":%d' % reward
    if value:
        *outer, last = case.field.split(".")
        yield b"," + b"".join(b'"%s":{' % name.encode() for name in outer) + b'"%s":' % last.encode()
        yield from value
        yield b"}" * len(outer)
    yield b"}\n"


def write_run(folder: Path, reward: int, case: Case, shape: Shape, size: int) -> int:
    """Write a run; its largest row in bytes."""
    folder.mkdir()
    largest = 0
    for name in ("run.jsonl", "run_failures.jsonl") if case.in_sidecar else ("run.jsonl",):
        is_large = case.in_sidecar == name.endswith("_failures.jsonl")
        with (folder / name).open("wb") as file:
            for number in range(_ROWS):
                large = value_of(shape, size) if size and is_large and number < _LARGE_ROWS else None
                start = file.tell()
                of_row = case._replace(in_sidecar=case.in_sidecar and is_large)
                file.writelines(row_of(number, reward, of_row, large))
                largest = max(largest, file.tell() - start)
    return largest


def peak_and_row(case: Case, shape: Shape, size: int) -> tuple[int, int, int]:
    """The peak of a comparison, the largest row that it read, and its exit status."""
    with tempfile.TemporaryDirectory() as name:
        runs = [Path(name, side) for side in ("old", "new")]
        row = max(write_run(run, reward, case, shape, size) for reward, run in enumerate(runs))
        peak, status = peak_of([sys.executable, "-m", "nemo_gym.rollout_compare", *map(str, runs), "--quiet"])
    return peak, row, status


def print_memory_by_field(
    size: int = MEGABYTES << 20, fields: Sequence[str] | None = None, shapes: Sequence[str] = tuple(SHAPES)
) -> None:
    """A row of the table for each field, with a column for each shape of its value."""
    fields = every_field() if fields is None else fields
    table = Table(["field", *(f"{name}: peak, times the row" for name in shapes)])
    cases = [*(Case(field, False) for field in fields), *(Case(field, True) for field in fields)]
    known = {Case(field, False) for field in FIELDS} | {Case(field, True) for field in SIDECAR_FIELDS}
    nothing = {side: peak_and_row(Case("x", side), SHAPES["text"], 0)[0] for side in (False, True)}
    for case in cases:
        if case not in known:
            continue
        told = []
        for name in shapes:
            peak, row, status = peak_and_row(case, SHAPES[name], size)
            times = round((peak - nothing[case.in_sidecar]) / row, 1)
            told.append(f"{megabytes(peak)}, {times:.1f}{' (error)' if status else ''}{'' if times <= AIM else ' **'}")
        table.print_row(f"{'sidecar: ' if case.in_sidecar else ''}`{case.field}`", *told)


def every_field() -> list[str]:
    """The fields of rows, then those that only a sidecar's record has."""
    return list(dict.fromkeys([*FIELDS, *SIDECAR_FIELDS]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help=f"of a large value (default: {MEGABYTES})")
    parser.add_argument("--fields", nargs="+", choices=every_field(), metavar="FIELD")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    print_memory_by_field(options.megabytes << 20, options.fields, options.shapes)


if __name__ == "__main__":
    main()
