"""Made-up runs for the fuzzer: rollouts, failed attempts and planned rows, each changed here and there."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

TEXTS = (
    "", " ", "a", "A", "unknown", "x/y", "x", "\u00e9", "e\u0301", "\u200b", "a\nb", "\x1b[2J", "\u202e", "\ud800",
    "\U0001f468\u200d\U0001f469", "9" * 20, "z" * 200, "NaN", "\0", "[1]", "x/y/z",
)  # fmt: skip
NUMBERS = (0, 1, -1, 0.0, -0.0, 0.5, 1.5, 1e300, -1e300, 1e-300, 2**53, 2**63, 2**70, float("nan"), float("inf"))
OUTPUT = (
    "E   ValueError: no {n}\n",
    "FAILED tests/test_a.py::test_{n} - AssertionError\n",
    "PASSED tests/test_a.py::test_{n}\n",
    "1 failed, 2 passed in 0.1s\n",
    "--- FAIL: TestA (0.00s)\n",
    "test_a ... ok\r",
    "Killed\n",
    "\x1b[31mred\x1b[m\n",
    "ab\n" * 50,
    "ok {n} - name\n",
    "not ok {n}\n",
    "<testsuite>",
    "Traceback (most recent call last):\n  x\nKeyError: {n}\n",
)
KEYS = ("task_id", "task_name", "_ng_task_id", "instance_id", "uuid", "id", "verifier_metadata.task_id")
BYTES = (b"", b"\n", b" ", b"{", b"}", b'"', b"[", b"\xff", b"\0", b"\r", b",", b"NaN", b"\xef\xbb\xbf", b"1e999")


def value_of(chance: random.Random, depth: int = 0) -> Any:
    """Any value of JSON."""
    kind = chance.randrange(9 if depth < 3 else 5)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind < 3:
        return chance.choice(NUMBERS)
    if kind < 5:
        return chance.choice(TEXTS)
    if kind < 7:
        names = [chance.choice((*TEXTS, *KEYS, "taskset")) for _ in range(chance.randrange(4))]
        return {name: value_of(chance, depth + 1) for name in names}
    return [value_of(chance, depth + 1) for _ in range(chance.randrange(4))]


def put(row: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path."""
    *outer, last = path.split(".")
    for name in outer:
        inner = row.get(name)
        row[name] = inner = inner if isinstance(inner, dict) else {}
        row = inner
    row[last] = value


def output_of(chance: random.Random) -> str:
    """What a verifier may say."""
    return "".join(chance.choice(OUTPUT).replace("{n}", str(chance.randrange(4))) for _ in range(chance.randrange(6)))


def row_of(chance: random.Random, run: random.Random, task: int) -> dict[str, Any]:
    """An ordinary row."""
    row: dict[str, Any] = {"reward": chance.choice([0, 1, 1, 0.5])}
    put(row, run.choice(KEYS), f"{run.choice(['', 'set/'])}t{task}")
    if chance.random() < 0.7:
        row |= {"_ng_task_index": task, "_ng_rollout_index": chance.randrange(3)}
    if chance.random() < 0.5:
        put(row, "responses_create_params.input", f"question {task}")
    if chance.random() < 0.4:
        row[chance.choice(["test_output", "verifier_stdout"])] = output_of(chance)
    return row


def changed(row: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A row with some of its values changed."""
    names = [*row, *KEYS, "error", "failure_kind", "mask_sample", "instance_config.mask_sample", "response.metadata",
             "verifier_logs_dir", "test_output", "reward", "_ng_task_index", "_ng_rollout_index", "_ng_failure_class",
             "_ng_omitted_rollout", "_ng_dispatch_drained", "responses_create_params.input"]  # fmt: skip
    for _ in range(chance.choice([1, 1, 2, 5])):
        name = chance.choice(names)
        if name in ("reward", "mask_sample", "instance_config.mask_sample") and chance.random() < 0.8:
            continue  # what is not a number ends the comparison
        if chance.random() < 0.2:
            row.pop(name.partition(".")[0], None)
        else:
            put(row, name, value_of(chance))
    return row


def line_of(row: dict[str, Any], chance: random.Random) -> bytes:
    """A row as a line, now and then with a few bytes of it changed."""
    line = json.dumps(row, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    if chance.random() < 0.01:
        at = chance.randrange(len(line) + 1)
        line = line[:at] + chance.choice(BYTES) + line[at + chance.randrange(3) :]
    return line


def write_run(folder: Path, chance: random.Random, run: random.Random) -> None:
    """Write a run; `run` is the same for both runs of a pair, so that they have tasks in common."""
    folder.mkdir()
    tasks = run.choice([1, 2, 5, 12])
    seeds = [run.random() for _ in range(tasks)]
    wild = chance.choice([0, 0, 0.05, 0.3])
    rows = []
    for task, seed in enumerate(seeds):
        for _ in range(chance.choice([0, 1, 1, 1, 3])):
            row = row_of(chance, random.Random(seed if chance.random() < wild else 1), task)
            rows.append(changed(row, chance) if chance.random() < wild else row)
    write(folder / "run.jsonl", rows, chance)
    if chance.random() < 0.4:
        failed = [{**row, "_ng_failure_class": chance.choice(TEXTS)} for row in rows if chance.random() < 0.5]
        failed = [changed(row, chance) if chance.random() < wild else row for row in failed]
        for row in failed:
            row.pop("reward", None)
            row["_ng_rollout_index"] = chance.randrange(5)
        write(folder / "run_failures.jsonl", failed, chance)
    if chance.random() < 0.3:
        planned = [changed(dict(row), chance) if chance.random() < wild / 5 else row for row in rows]
        write(folder / "run_materialized_inputs.jsonl", planned, chance)


def write(path: Path, rows: list[dict[str, Any]], chance: random.Random) -> None:
    """Write rows, with blank lines, other ends and a cut here and there."""
    lines = [line_of(row, chance) + chance.choice([b"\n"] * 9 + [b"\r\n", b"\n\n", b"\n \n"]) for row in rows]
    data = b"".join(lines)
    if chance.random() < 0.02:
        data = data[: chance.randrange(len(data) + 1)]
    path.write_bytes(data)
