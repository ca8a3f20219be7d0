"""Small runs of producers whose attempts are records, made up: verifiers, OpenHands, SWE-bench, tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support import put, write_rows


def put_json(path: Path, value: Any) -> Path:
    """Write a JSON document, and the folders that it lies in."""
    put(path, json.dumps(value))
    return path


# verifiers


def result(example: int, reward: Any = 1.0, **more: Any) -> dict[str, Any]:
    """A row of version 0."""
    return {
        "example_id": example,
        "prompt": [{"role": "system", "content": "Be short."}, {"role": "user", "content": f"question {example}"}],
        "completion": [{"role": "assistant", "content": "42"}],
        "reward": reward,
        "error": None,
        "is_completed": True,
        "is_truncated": False,
        "metrics": {"correct": reward, "brevity": 0.5},
        **more,
    }


def write_results(folder: Path, rows: Sequence[Mapping[str, Any]], **metadata: Any) -> Path:
    """A run of version 0: its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "results.jsonl", rows)
    known = {"env_id": "sums", "model": "m", "sampling_args": {"temperature": 0.5}}
    put_json(folder / "metadata.json", known | metadata)
    return folder


def trace(name: str = "agent", *, trainable: bool = True, **rewards: Any) -> dict[str, Any]:
    """What one agent did in an episode."""
    return {
        "id": "t",
        "agent": {"name": name, "trainable": trainable, "config": {"model": "m", "sampling": {"temperature": 0.5}}},
        "nodes": [{"message": {"role": "user", "content": "q"}}, {"message": {"role": "assistant", "content": "a"}}],
        "calls": [{}],
        "rewards": rewards,
        "metrics": {"length": 3},
        "timing": {"start": 10.0, "scoring": {"end": 12.5}},
    }


def episode(task: str, *traces: Mapping[str, Any], ok: bool | None = True, **more: Any) -> dict[str, Any]:
    """An episode of version 1."""
    return {
        "id": f"episode {task}",
        "task": {"data": {"id": task, "prompt": f"question {task}"}, "key": f"key {task}"},
        "ok": ok,
        "errors": [],
        "traces": list(traces),
        "num_input_tokens": 7,
        **more,
    }


def write_episodes(folder: Path, episodes: Iterable[Mapping[str, Any]]) -> Path:
    """A run of version 1: its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "traces.jsonl", episodes)
    return folder


# OpenHands


def judged(instance: str, resolved: bool | None = True, /, **more: Any) -> dict[str, Any]:
    """A row with a verdict, or without one where it is None."""
    report = {} if resolved is None else {"report": {"resolved": resolved, **more.pop("report", {})}}
    return {
        "instance_id": instance,
        "attempt": 1,
        "test_result": {"git_patch": "diff", **report},
        "instruction": f"Fix {instance}",
        "metadata": {"llm": {"model": "m"}, "max_iterations": 9},
        "history": [],
        "metrics": {"accumulated_cost": 0.25},
        "error": None,
        **more,
    }


# SWE-bench


def listed(**ids: Any) -> dict[str, Any]:
    """The report of a run, by its lists of ids."""
    names = ("submitted", "completed", "incomplete", "empty_patch", "resolved", "unresolved", "error")
    found = {f"{name}_ids": list(ids.pop(name, ())) for name in names}
    return {"total_instances": 500, "schema_version": 2, **found, **ids}


def verdict(instance: str, resolved: Any, **more: Any) -> dict[str, Any]:
    """An instance's own report."""
    return {instance: {"patch_is_None": False, "patch_successfully_applied": True, "resolved": resolved, **more}}


def write_instance(logs: Path, instance: str, report: Mapping[str, Any] | str | None, output: str = "") -> Path:
    """The folder of an evaluated instance."""
    folder = logs / instance
    put(folder / "run_instance.log", "evaluated\n")
    if report is not None:
        put(folder / "report.json", report if isinstance(report, str) else json.dumps(report))
    if output:
        put(folder / "test_output.txt", output)
    return folder


def write_predictions(path: Path, patches: Mapping[str, str]) -> Path:
    """What was submitted: for each instance its patch."""
    rows = [{"instance_id": name, "model_name_or_path": "m", "model_patch": patch} for name, patch in patches.items()]
    if path.suffix == ".jsonl":
        return write_rows(path, rows)
    return put_json(path, {row["instance_id"]: row for row in rows})


# Tables


def write_csv(path: Path, header: Sequence[str], *rows: Sequence[Any], delimiter: str = ",") -> Path:
    """A table as text."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path
