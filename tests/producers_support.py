"""Made-up runs of other producers, and what a reader finds in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run, read_again
from nemo_gym.rollout_compare.schema import Record, Wanted
from nemo_gym.rollout_compare.table.table import Table
from tests.support import put


class Row(NamedTuple):
    """What a reader says of an attempt; a reward that is no number is None."""

    reward: float | None
    masked: str | None = None
    agent_error: str | None = None


def table_at(path: str | Path, *, jobs: int = 1, form: str | None = None, **plan: Any) -> Table:
    """A run as columns."""
    with locate_run(str(path), form).opened() as run:
        (table,) = run_tables([run], [Plan(**plan)], jobs)
    return table


def rows_of(table: Table, key: str) -> dict[Any, list[Row]]:
    """What is said of each task's attempts, in their order."""
    found: dict[Any, list[Row]] = {}
    for i, reward in enumerate(table.reward):
        said = Row(None if isnan(reward) else reward, _text(table.masked[i]), _text(table.agent_error[i]))
        found.setdefault(table.keys[key][i], []).append(said)
    return found


def _text(said: object) -> str | None:
    return None if said is None else str(said)


def only_row(path: str | Path, key: str, **plan: Any) -> Row:
    """What is said of the only attempt of a run."""
    ((row,),) = rows_of(table_at(path, **plan), key).values()
    return row


def again(table: Table, wanted: Wanted, row: int = 0) -> Record:
    """A row read again."""
    ((_, record),) = read_again([table.place(row)], wanted)
    assert isinstance(record, Record), record
    return record


def put_json(path: Path, value: Any) -> None:
    """Write a JSON file."""
    put(path, json.dumps(value))


def harbor_trial(
    job: Path,
    name: str,
    *,
    task: str | None = None,
    rewards: Mapping[str, Any] | None = None,
    error: str | None = None,
    stdout: str | None = None,
    **more: Any,
) -> Path:
    """A trial of Harbor that ended, in the folder of its job."""
    trial = job / f"{name}__{'abcdefg'}" if "__" not in name else job / name
    result = {
        "id": f"id-{trial.name}",
        "task_name": task or name.partition("__")[0],
        "trial_name": trial.name,
        "source": "bench",
        "task_checksum": f"sum of {name.partition('__')[0]}",
        "config": {"trial_name": trial.name, "task": {"path": f"tasks/{name}"}},
        "verifier_result": None if rewards is None else {"rewards": dict(rewards)},
        "exception_info": None if error is None else {"exception_type": error, "exception_traceback": "..."},
        "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:01:30Z",
        **more,
    }
    put_json(trial / "result.json", result)
    put_json(trial / "config.json", result["config"])
    if stdout is not None:
        put(trial / "verifier/test-stdout.txt", stdout)
    return trial


def harbor_killed(job: Path, name: str, path: str) -> Path:
    """A trial of Harbor that began and left no result."""
    put_json(job / name / "config.json", {"trial_name": name, "task": {"path": path, "source": "bench"}})
    return job / name


def terminal_bench_result(task: str, resolved: bool | None, attempt: int = 1, **more: Any) -> dict[str, Any]:
    """The result of a terminal-bench trial."""
    return {
        "id": f"{task}-{attempt}",
        "trial_name": f"{task}.{attempt}-of-2.run",
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": resolved,
        "failure_mode": "unset",
        "parser_results": None,
        **more,
    }


def evaluator_row(problem: int, reward: float | None, repeat: int = 0, **more: Any) -> dict[str, Any]:
    """A result of NeMo Evaluator."""
    return {"problem_idx": problem, "repeat": repeat, "reward": reward, "prompt": f"What is {problem}?", **more}
