#!/usr/bin/env python3
"""Measure `gym dev compare` on made-up Inspect logs and lm-eval samples.

    logs.py                                        50,000 samples a log; 1 GB of samples a run
    logs.py --samples 5000 --size 50               a quick one

Both runs are of the same tasks; a tenth of them flip. The log is one archive whose samples hold a transcript of some kB
each, of which only those of flips are to be opened. Files are in the system's cache.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from measure import memory_of, times_in_turn
from tables import Table, megabytes, seconds_text

TIME = "2026-01-01T00-00-00.000000"
TASK = "sums"


#: Text that does not compress to nothing, of which pieces are taken.
_POOL = f"{Random(0).getrandbits(1 << 22):x}"
_WORD = 7


def words(random: Random, count: int) -> str:
    """So many words' worth of text."""
    start = random.randrange(len(_POOL) - count * _WORD)
    return _POOL[start : start + count * _WORD]


def write_log(path: Path, samples: int, seed: int) -> None:
    """An Inspect log as an archive."""
    random, tasks = Random(seed), Random(0)
    run = {"task": TASK, "task_id": str(seed), "created": "2026-01-01", "model": "m/1"}
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(samples):
            value = "C" if random.random() < 0.9 else "I"
            summary = {
                "id": number,
                "epoch": 1,
                "input": words(tasks, 40),
                "target": "42",
                "metadata": {"level": number % 5},
                "scores": {"match": {"value": value, "answer": words(random, 5), "explanation": words(random, 20)}},
                "model_usage": {"m/1": {"input_tokens": 400, "output_tokens": 50, "total_tokens": 450}},
                "total_time": 1.5,
                "uuid": f"{random.getrandbits(96):x}",
                "completed": True,
            }
            summaries.append(summary)
            whole = {**summary, "messages": [{"role": "user", "content": words(random, 300)}]}
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(whole))
        archive.writestr("summaries.json", json.dumps(summaries))
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": run}))


def rows(seed: int) -> Iterator[dict[str, Any]]:
    """Rows of lm-eval, two filters for each document, without end."""
    random, tasks = Random(seed), Random(0)
    number = 0
    while True:
        prompt, answer = words(tasks, 300), words(random, 60)
        for name in ("strict-match", "flexible-extract"):
            yield {
                "doc_id": number,
                "doc": {"question": prompt},
                "target": "42",
                "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["Q:"], "do_sample": False}}},
                "resps": [[answer]],
                "filtered_resps": [answer[:8]],
                "filter": name,
                "metrics": ["exact_match"],
                "doc_hash": f"{number:064x}"[::-1],
                "exact_match": float(random.random() < 0.9),
            }
        number += 1


def write_samples(folder: Path, size: int, seed: int) -> None:
    """A file of samples of about so many bytes."""
    folder.mkdir()
    written = 0
    with (folder / f"samples_{TASK}_{TIME}.jsonl").open("w", encoding="utf-8") as file:
        for row in rows(seed):
            written += file.write(f"{json.dumps(row)}\n")
            if written >= size and row["filter"] != "strict-match":
                return


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=50_000, metavar="N", help="samples in a log (default: 50000)")
    parser.add_argument("--size", type=int, default=1000, metavar="MB", help="MB of samples in a run (default: 1000)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each command (default: 3)")
    options = parser.parse_args(argv)
    table = Table(["data", "bytes", "time", "rate", "largest process", "all processes"])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for seed, name in enumerate(("old", "new"), 1):
            write_log(folder / f"{name}.eval", options.samples, seed)
            write_samples(folder / name, options.size * 1_000_000, seed)
        runs = {
            f"Inspect, {options.samples:,} samples a log": [folder / "old.eval", folder / "new.eval"],
            f"lm-eval, {options.size} MB a run": [folder / "old", folder / "new"],
        }
        for name, pair in runs.items():
            command = [sys.executable, "-m", "nemo_gym.rollout_compare", *map(str, pair)]
            size = sum(file.stat().st_size for path in pair for file in ([path] if path.is_file() else path.iterdir()))
            seconds = sorted(times_in_turn({name: command}, options.runs)[name])[options.runs // 2]
            memory = memory_of(command)
            rate = f"{megabytes(int(size / seconds))}/s"
            peaks = megabytes(memory.largest), megabytes(memory.together)
            table.print_row(name, megabytes(size), seconds_text(seconds), rate, *peaks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
