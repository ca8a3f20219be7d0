#!/usr/bin/env python3
"""Measure `gym dev compare` on a Harbor job of many trials: a made-up trial multiplied, or those of a job.

many_trials.py                        5,000 trials a side
many_trials.py JOB --trials 500       the trials of a job, multiplied
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import memory_of

_TRIALS = 5_000
_TRIAL: dict[str, Any] = {
    "schema_version": 1,
    "id": "11111111-1111-4111-8111-111111111111",
    "task_name": "acme/sums",
    "trial_name": "sums__aaaaaaa",
    "trial_uri": "file:///elsewhere/jobs/made/sums__aaaaaaa",
    "task_id": {"path": "tasks/sums"},
    "source": "made-up",
    "task_checksum": "9f" * 32,
    "config": {"task": {"path": "tasks/sums"}, "agent": {"name": "agent", "kwargs": {"limit": 5}}, "job_id": "1"},
    "agent_info": {"name": "agent", "version": "2.0", "model_info": {"name": "m", "provider": "p"}},
    "agent_result": {
        "n_input_tokens": 900,
        "n_cache_tokens": 100,
        "n_output_tokens": 80,
        "metadata": {"n_episodes": 3},
    },
    "verifier_result": {"rewards": {"reward": 1.0}},
    "exception_info": None,
    "reward_valid": True,
    "started_at": "2026-01-01T00:00:00Z",
    "finished_at": "2026-01-01T00:01:30Z",
    "environment_setup": {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:10Z"},
    "step_results": None,
}


def made(job: Path) -> Path:
    """A job of one trial."""
    config = {"trial_name": _TRIAL["trial_name"], "task": {"path": "tasks/sums", "source": "made-up"}}
    trial = job / _TRIAL["trial_name"]
    trial.mkdir(parents=True)
    (trial / "result.json").write_text(json.dumps(_TRIAL), "utf-8")
    (trial / "config.json").write_text(json.dumps(config), "utf-8")
    (job / "config.json").write_text(json.dumps({"job_name": "made", "n_attempts": 1}), "utf-8")
    return job


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


def main(argv: Sequence[str] | None = None) -> None:
    """Print the seconds of the best of three runs, and the memory of one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", type=Path, nargs="?", help="a Harbor job's folder (default: a made-up trial)")
    parser.add_argument("--trials", type=int, default=_TRIALS)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        job = args.job or made(Path(folder, "made"))
        sides = [Path(folder, side) for side in ("old", "new")]
        for side in sides:
            multiplied(job, side, args.trials)
        command = [sys.executable, "-m", "nemo_gym.rollout_compare", *map(str, sides), "--quiet"]
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        size = sum(path.stat().st_size for path in sides[0].glob("*/result.json"))
        memory = memory_of(command)
    print(f"Harbor: {args.trials:,} trials a side, {size / 1e6:.0f} MB of results a side")
    print(f"{min(seconds[1:]):.2f} s warm, {memory.together / 1e6:.0f} MB in all processes")


if __name__ == "__main__":
    main()
