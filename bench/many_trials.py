"""A Harbor job of many trials, made by multiplying a real one, compared with itself: time and memory."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import memory_of

_TRIALS = 5_000


def multiplied(job: Path, target: Path, count: int) -> None:
    """Copy a job's trials, each as other tasks, until there are so many.

    Raises:
        SystemExit: The job has no trial.
    """
    results = sorted(job.glob("*/result.json"))
    if not results:
        raise SystemExit(f"{job} has no trial")
    target.mkdir(parents=True)
    shutil.copyfile(job / "config.json", target / "config.json")
    for number in range(count):
        source = results[number % len(results)]
        result: dict[str, Any] = json.loads(source.read_bytes())
        name = f"task-{number:06}__aaaaaaa"
        result.update(task_name=f"{result['task_name']}-{number:06}", trial_name=name)
        (target / name).mkdir()
        (target / name / "result.json").write_text(json.dumps(result, indent=4), "utf-8")
        shutil.copyfile(source.with_name("config.json"), target / name / "config.json")


def main() -> None:
    """Print the seconds of the best of three runs, and the memory of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", type=Path, help="a Harbor job's folder")
    parser.add_argument("--trials", type=int, default=_TRIALS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = [Path(folder, side) for side in ("old", "new")]
        for side in sides:
            multiplied(args.job, side, args.trials)
        command = [sys.executable, "-m", "nemo_gym.rollout_compare", *map(str, sides), "--quiet"]
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        size = sum(path.stat().st_size for path in sides[0].glob("*/result.json"))
        memory = memory_of(command)
    print(f"{args.trials} trials a side, {size / 1e6:.0f} MB of results a side")
    print(f"{min(seconds[1:]):.2f} s warm, {memory.together / 1e6:.0f} MB in all processes")


if __name__ == "__main__":
    main()
