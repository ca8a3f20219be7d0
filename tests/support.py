"""What several test files need: made-up runs, command lines, tables.

Programs that tests start import this file too, so what takes long to import is imported where it is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from nemo_gym.rollout_compare import summary_schema
from nemo_gym.rollout_compare.app.cli import main
from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.files.inputs import Input, open_input
from nemo_gym.rollout_compare.files.lines import Block
from nemo_gym.rollout_compare.join.joined import Join, join
from nemo_gym.rollout_compare.producers import Plan, read_again
from nemo_gym.rollout_compare.producers.gym.fields import key_fields
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile, rows_decoder
from nemo_gym.rollout_compare.schema import Attempt, Batch, Place, Record, Row, Side, Wanted
from nemo_gym.rollout_compare.table.columns import Column
from nemo_gym.rollout_compare.table.table import Table


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON Lines; the path again."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


class Done(NamedTuple):
    """What a command line ended in."""

    status: int
    stdout: str
    stderr: str


def run(*words: str | Path, prog: str = "gym") -> Done:
    """Run a command line in this process."""
    out, err = StringIO(), StringIO()
    status = main([str(word) for word in words], out, err, prog=prog)
    return Done(status, out.getvalue(), err.getvalue())


def compare(*words: str | Path) -> Done:
    """Run `gym dev compare` in this process."""
    return run("dev", "compare", *words)


def assert_refused(done: Done, *pieces: str) -> None:
    """Status 1: one error line with these pieces in it, and nothing on standard output."""
    assert done.status == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    for piece in pieces:
        assert piece in done.stderr


#: When every file of a story or a document was last changed, as far as the command can see: 2026-11-02 14:10 UTC.
CHANGED = 1_793_628_600


def set_times(folder: Path) -> None:
    """Give every file in a folder one time of its last change: what is printed of it is always the same."""
    for path in folder.rglob("*"):
        os.utime(path, (CHANGED, CHANGED))


def put(path: str | Path, content: str | bytes) -> None:
    """Write a file, and the folders that it lies in."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def controls(text: str) -> set[str]:
    """The control characters in a text, line ends aside: what a terminal would obey."""
    return {char for char in text if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)}


@dataclass(frozen=True)
class Nowhere:
    """A source that a renderer has no business to read."""

    path: Path = Path("nowhere")
    from_start: bool = False
    output_fields: tuple[str, ...] = ()

    def where(self, line: int) -> str:
        return f"{self.path}:{line}"

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        raise AssertionError("a renderer reads no rows")


#: Where a row is that no renderer reads.
NOWHERE = Place(Nowhere(), 1, 0)


def source_of(path: Path) -> Input:
    """A regular file as an input."""
    with open_input(path) as source:
        return source


def numbered(block: Block) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a block: (number, byte offset, line without its end)."""
    return zip(block.numbers, block.offsets, map(bytes, block.lines), strict=True)


def rows_file(path: Path) -> RowsFile:
    """A regular file as a file of rollouts."""
    return RowsFile(source_of(path), ROLLOUTS)


def row_at(place: Place) -> Row:
    """The row at a place, read again."""
    ((_, record),) = read_again([place], Wanted(row=True))
    if isinstance(record, Exception):
        raise record
    assert record.row is not None
    return record.row


def batch_of(rows: Sequence[Mapping[str, Any]], key: str | None = None, fields: Sequence[str] | None = None) -> Batch:
    """Rows as one batch; every field that may be the key is asked for unless others are given."""
    paths = tuple(key_fields(key).all() if fields is None else fields)
    decoder = rows_decoder(ROLLOUTS, paths)
    columns = list(zip(*map(decoder.pick, rows), strict=True)) if rows else decoder.columns([])
    return ROLLOUTS.batch(columns, paths, lines=range(1, len(rows) + 1), offsets=range(len(rows)))


def attempts_of(table: Table) -> set[Attempt]:
    """The attempts that a table's rows are of."""
    return {attempt for attempt in table.attempts_of(range(len(table))) if attempt}


def read_files(
    *paths: str | Path, key: str | None = None, jobs: int = 1, piece_bytes: int = 1 << 20, skip: bool = False
) -> list[Table]:
    """The tables of rollouts files; with `skip`, lines that are not rows are left out."""
    plan = Plan(key, skip)
    sources = [(number, rows_file(Path(path)), plan) for number, path in enumerate(paths)]
    return read_tables(sources, jobs, piece_bytes=piece_bytes)


def facts(table: Table) -> dict[str, Any]:
    """What a table says, places aside: its rows, and which field names their tasks."""
    columns: Sequence[Column[Any]] = (table.masked, table.agent_error, table.failure_kind)
    named = {path: column for path, column in table.keys.items() if column.first_missing is None}
    kept: list[list[Any]] = [list(column.values) for column in (*columns, *named.values())]
    assert all(len(set(values)) == len(values) for values in kept), "each value is kept once"
    return {
        "masked": table.masked_rows,
        "rows": [
            [
                repr(table.reward[i]),
                *(said and str(said) for said in (column[i] for column in columns)),
                {path: named[path][i] for path in named},
            ]
            for i in range(len(table))
        ],
        "keys": {path: column.first_missing for path, column in table.keys.items()},
        "anonymous": list(table.anonymous),
        "attempts": sorted(map(repr, attempts_of(table))),
    }


def places(table: Table) -> list[list[str | int]]:
    """For each row of a table that was read from files: `PATH:LINE` and the byte offset."""
    origins = [table.place(row) for row in range(len(table))]
    return [[origin.where, origin.offset] for origin in origins]


def alone(function: Callable[..., object], *words: str | Path) -> Any:
    """What a function of a test file returns in a process of its own, which has no threads and may start processes."""
    done = subprocess.run(alone_command(function, *words), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def alone_command(function: Callable[..., object], *words: str | Path) -> list[str]:
    """The command of a process that calls a function of a test file and prints what it returns, as JSON."""
    code = f"from {function.__module__} import {function.__name__} as call; print(json.dumps(call(*sys.argv[2:])))"
    root = str(Path(__file__).parent.parent)
    start = f"import json, sys; sys.path.insert(0, sys.argv[1]); {code}"
    return [sys.executable, "-c", start, root, *map(str, words)]


def attempt(
    asked: Any = None,
    index: int | str | None = None,
    rollout: int | str | None = None,
    at: Mapping[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A row: what the system was asked, which attempt it is, more values by their dotted paths, and plain fields."""
    row: dict[str, Any] = {"reward": 1, **fields}
    more = {"responses_create_params.input": asked, "_ng_task_index": index, "_ng_rollout_index": rollout, **(at or {})}
    for path, value in more.items():
        if value is not None:
            *outer, last = path.split(".")
            inner = row
            for name in outer:
                inner = inner.setdefault(name, {})
            inner[last] = value
    return row


def join_rows(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], old_key: str | None = None, *, new_key: str = ""
) -> Join:
    """The join of two runs' rows; a key is for both runs unless the new one has its own."""
    return join({Side.OLD: table_of(old, old_key), Side.NEW: table_of(new, new_key or old_key)})


def rows_by_task(made: Join) -> dict[str, tuple[list[int], list[int]]]:
    """For each label the places of its rows in the old and in the new run."""
    old, new = (made.rows[side] for side in Side)
    return {label: (list(old.of(number)), list(new.of(number))) for number, label in enumerate(made.tasks)}


def write_run(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    failures: Iterable[Mapping[str, Any]] = (),
    planned: Iterable[Mapping[str, Any]] = (),
) -> Path:
    """Write a run's rollouts, and beside them its failed attempts and planned rows if any; the rollouts' path."""
    for ending, beside in (("failures", list(failures)), ("materialized_inputs", list(planned))):
        if beside:
            write_rows(path.with_name(f"{path.stem}_{ending}.jsonl"), beside)
    return write_rows(path, rows)


def summary(*words: str | Path) -> dict[str, Any]:
    """The JSON summary of a comparison, which is as its schema says."""
    done = run("--json", "dev", "compare", *words)
    assert (done.status, done.stderr) == (0, "")
    said: dict[str, Any] = json.loads(done.stdout)
    assert_valid(said)
    return said


def assert_valid(summary: Any) -> None:
    """A JSON summary is as its schema says."""
    _validator().validate(summary)


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(summary_schema())
    return Draft202012Validator(summary_schema())
