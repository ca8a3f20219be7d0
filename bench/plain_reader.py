#!/usr/bin/env python3
"""The usual way: `json.loads` on every line, every row kept, and the same join and categories with plain dicts.

    plain_reader.py OLD NEW

Prints the counts as JSON: of tasks, under the names that the command's JSON summary gives them, and of rows.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

Row = dict[str, Any]

KEY = "_ng_task_id"
TOLERANCE = 1e-9


def load(path: str) -> list[Row]:
    """Every row of a file."""
    with Path(path).open(encoding="utf-8", errors="replace", newline="\n") as file:
        return [json.loads(line) for line in file if line.strip()]


def by_task(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each task."""
    tasks = defaultdict(list)
    for row in rows:
        tasks[row[KEY]].append(row)
    return tasks


def is_masked(row: Row) -> bool:
    """Whether the row does not count."""
    mask = row.get("mask_sample")
    if mask is None:
        mask = (row.get("instance_config") or {}).get("mask_sample")
    return bool(mask) or row.get("reward") is None or not math.isfinite(row["reward"])


def has_agent_error(row: Row) -> bool:
    """Whether the row's result is doubtful."""
    metadata = (row.get("response") or {}).get("metadata") or {}
    return bool(row.get("error")) or any(key.endswith("error_type") and value for key, value in metadata.items())


def mean_reward(rows: Iterable[Row]) -> float:
    """The mean of the rewards of rows none of which is masked."""
    return fmean(row["reward"] for row in rows)


def categories(old: list[Row] | None, new: list[Row] | None) -> list[str]:
    """The names under which a task is counted."""
    if not old or not new:
        return ["missing", "missing_old_only" if old else "missing_new_only"]
    masked = {side: any(map(is_masked, rows)) for side, rows in (("masked_old", old), ("masked_new", new))}
    if any(masked.values()):
        return ["masked", *(side for side, is_so in masked.items() if is_so)]
    difference = mean_reward(old) - mean_reward(new)
    if abs(difference) <= TOLERANCE:
        return ["identical"]
    if any(map(has_agent_error, [*old, *new])):
        return ["flipped_agent_error"]
    return ["flipped", "flipped_old_win" if difference > 0 else "flipped_new_win"]


def compare(old_path: str, new_path: str) -> Counter[str]:
    """How many tasks of each category two files have, and how many rows."""
    old_rows, new_rows = load(old_path), load(new_path)
    old, new = by_task(old_rows), by_task(new_rows)
    tasks = sorted(old.keys() | new.keys())
    counts = Counter(name for task in tasks for name in categories(old.get(task), new.get(task)))
    counts["tasks"] = len(tasks)
    for side, rows in (("old", old_rows), ("new", new_rows)):
        counts[f"{side}_rows"] = len(rows)
        counts[f"{side}_masked_rows"] = sum(map(is_masked, rows))
    return counts


if __name__ == "__main__":
    print(json.dumps(compare(*sys.argv[1:])))
