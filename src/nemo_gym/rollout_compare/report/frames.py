"""One row a task: as a table in a file, as columns for data frames, and the head of them for a notebook."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from html import escape
from io import BytesIO, StringIO
from math import isfinite
from typing import Any, Final

from nemo_gym.rollout_compare.report.terminal.decision import decision_text
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult, Flip, Side, TaskComparison, TaskSide
from nemo_gym.rollout_compare.text import encodable, one_line

#: What is told of each side, with what it holds.
_OF_SIDES: Final = {
    "reward": float,
    "rows": int,
    "solved": int,
    "masked": str,
    "agent_error": str,
    "failure_kind": str,
}

#: The columns in their order, with what they hold.
COLUMNS: Final = {
    "task": str,
    "category": str,
    "winner": str,
    **{f"{side}_{name}": kind for side in Side for name, kind in _OF_SIDES.items()},
    "delta": float,
    "signature": str,
    "within_noise": bool,
    "broken_tests": int,
    "fixed_tests": int,
}

# What a spreadsheet takes for a formula when a cell begins so.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

# The writer quotes the characters of the end of a line, and before Python 3.13 no other line break.
_END = "\r\n"


def records_of(result: CompareResult) -> list[dict[str, Any]]:
    """One record a task, for tables: what `tasks` of the summary says, flat, and how the flip was explained."""
    flips = {flip.task: flip for flip in result.flips}
    return [_record(task, flips.get(task.task)) for task in result.tasks]


def _record(task: TaskComparison, flip: Flip | None) -> dict[str, Any]:
    old, new = ((told.reward if told else None) for told in (task.old, task.new))
    tests = flip.tests if flip else None
    sides = {f"{side}_{name}": _told(task.side(side), name) for side in Side for name in _OF_SIDES}
    return {
        "task": task.task,
        "category": task.category.value,
        "winner": task.winner.value if task.winner else None,
        **sides,
        "delta": None if old is None or new is None or not isfinite(new - old) else new - old,
        "signature": flip.signature if flip else None,
        "within_noise": flip.repeats.within_noise if flip and flip.repeats else None,
        "broken_tests": len(tests.broken) if tests else None,
        "fixed_tests": len(tests.fixed) if tests else None,
    }


def _told(side: TaskSide | None, name: str) -> Any:
    """What a side says; one without a row says nothing but that."""
    return getattr(side, name) if side else 0 if name == "rows" else None


def columns_of(result: CompareResult) -> dict[str, list[Any]]:
    """The records as columns."""
    records = records_of(result)
    return {name: [record[name] for record in records] for name in COLUMNS}


def table_of(result: CompareResult, kind: str) -> Iterator[str] | bytes:
    """The table as a file of a kind: `.csv`, `.jsonl` or `.parquet`.

    Raises:
        CompareInputError: pyarrow, which `.parquet` needs, is not installed.
    """
    if kind == ".parquet":
        return _parquet(result)
    return _csv(result) if kind == ".csv" else _jsonl(result)


def _csv(result: CompareResult) -> Iterator[str]:
    yield ",".join(COLUMNS)
    for record in records_of(result):
        line = StringIO()
        csv.writer(line, lineterminator=_END).writerow(_cell(record[name]) for name in COLUMNS)
        yield line.getvalue().removesuffix(_END)


def _cell(value: Any) -> Any:
    """A value as a spreadsheet may have it: text stays text."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return str(value).lower() if isinstance(value, bool) else value


def _jsonl(result: CompareResult) -> Iterator[str]:
    return (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records_of(result))


def _parquet(result: CompareResult) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise CompareInputError("a .parquet table needs pyarrow: pip install 'rollout-compare[parquet]'") from None
    kinds = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    columns = {
        name: pa.array([encodable(one, None) if isinstance(one, str) else one for one in values], kinds[COLUMNS[name]])
        for name, values in columns_of(result).items()
    }
    out = BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def notebook_table(result: CompareResult) -> str:
    """The decision and the counts as a small table; no text of a run can act in it."""
    counts = {name: number for name, number in result.counts().items() if "_" not in name or name.endswith("_error")}
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in counts)
    cells = "".join(f"<td>{number:,}</td>" for number in counts.values())
    decision = escape(one_line(decision_text(result) or "", 400))
    return f"<table><caption>{decision}</caption><tr>{head}</tr><tr>{cells}</tr></table>"
