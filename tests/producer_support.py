"""Small runs of other producers, made up; and what a reader finds in one."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run, read_again
from nemo_gym.rollout_compare.schema import Output, Record, Step, Wanted, label_of
from nemo_gym.rollout_compare.table.table import Table


def table_of_run(path: Path | str, jobs: int = 1, **plan: Any) -> Table:
    """A run as the engine reads it."""
    with locate_run(str(path)).opened() as run:
        (table,) = run_tables([run], [Plan(**plan)], jobs)
    return table


def found_in(path: Path | str, **plan: Any) -> list[tuple[str, Any]]:
    """Each row's task, by the first field that names all, with its reward or else why it does not count."""
    table = table_of_run(path, **plan)
    column = next(column for column in table.keys.values() if column.first_missing is None)
    labels = [label_of(column[row] or "", with_taskset=True) for row in range(len(table))]
    return [
        (label, table.reward[row] if table.masked[row] is None else str(table.masked[row]))
        for row, label in enumerate(labels)
    ]


def record_in(path: Path | str, row: int = 0, **plan: Any) -> Record:
    """A row read again with all that can be wanted of it."""
    table = table_of_run(path, **plan)
    wanted = Wanted(tuple(table.keys), task_input=True, output=True, row=True, transcript=True)
    ((_, record),) = read_again([table.place(row)], wanted)
    assert isinstance(record, Record), record
    assert record.input_number == table.inputs[row]
    return record


def output_in(path: Path | str, row: int = 0) -> str:
    """A row's verifier output."""
    output = record_in(path, row).output
    assert isinstance(output, Output)
    ((_, text),) = output.texts
    return text


def steps_in(path: Path | str, row: int = 0) -> tuple[Step, ...]:
    """A row's transcript."""
    steps = record_in(path, row).transcript
    assert steps is not None
    return steps


# Inspect


def sample(id: Any = "a", value: Any = "C", epoch: int = 1, **more: Any) -> dict[str, Any]:  # noqa: A002
    """A sample with one score, as it stands in an archive; a summary is the same without the messages."""
    return {
        "id": id,
        "epoch": epoch,
        "input": f"question {id}",
        "target": "42",
        "scores": {"match": {"value": value, "answer": "41", "explanation": "looked for 42"}},
        **more,
    }


def head(task: str = "sums", status: str = "success", **more: Any) -> dict[str, Any]:
    """The head of a log; what `more` says is of `eval`."""
    run = {"task": task, "task_id": f"id-{task}", "created": "2026-01-01T00:00:00+00:00", "model": "m/1", **more}
    return {"version": 2, "status": status, "eval": run}


def write_archive(
    path: Path,
    samples: Sequence[Mapping[str, Any]],
    header: Mapping[str, Any] | None = None,
    *,
    method: int = zipfile.ZIP_DEFLATED,
    killed: bool = False,
) -> Path:
    """A log as an archive; one of a run that was killed has no header, and a journal for summaries."""
    header = head() if header is None else header
    module: Any = zipfile
    if method == ZSTD:
        from backports.zstd import zipfile as module
    with module.ZipFile(path, "w", method) as archive:
        archive.writestr("_journal/start.json", json.dumps({**header, "status": "started"}))
        for number, one in enumerate(samples, 1):
            name = f"samples/{one['id']}_epoch_{one['epoch']}.json"
            if name not in archive.namelist():
                archive.writestr(name, json.dumps(one))
            archive.writestr(f"_journal/summaries/{number}.json", json.dumps([summary(one)]))
        if not killed:
            archive.writestr("summaries.json", json.dumps([summary(one) for one in samples]))
            archive.writestr("header.json", json.dumps(header))
    return path


ZSTD = 93


def summary(one: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's summary: its error is the message alone, its limit the type."""
    short = {name: value for name, value in one.items() if name not in ("messages", "attachments")}
    if isinstance(one.get("error"), dict):
        short["error"] = one["error"]["message"]
    if isinstance(one.get("limit"), dict):
        short["limit"] = one["limit"]["type"]
    return short


def write_document(path: Path, samples: Sequence[Any] | None, header: Mapping[str, Any] | None = None) -> Path:
    """A log as a JSON document."""
    path.write_text(json.dumps({**(head() if header is None else header), "samples": samples}), "utf-8")
    return path


# lm-evaluation-harness

TIME = "2026-11-30T17-00-56.808284"


def doc(
    place: int = 0, value: Any = 1.0, metric: str = "acc", name: str | None = "none", **more: Any
) -> dict[str, Any]:
    """A row of samples."""
    row = {
        "doc_id": place,
        "doc": {"q": place},
        "target": "42",
        "arguments": {"gen_args_0": {"arg_0": f"question {place}", "arg_1": {"until": ["x"]}}},
        "resps": [["it is 41"]],
        "filtered_resps": ["41"],
        "filter": name,
        "metrics": [metric],
        "doc_hash": f"{place:064x}"[::-1],
        metric: value,
        **more,
    }
    return {key: value for key, value in row.items() if value is not None or key == metric}


def write_samples(folder: Path, rows: Iterable[Mapping[str, Any]], task: str = "sums", time: str = TIME) -> Path:
    """A file of samples in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def write_results(folder: Path, results: Mapping[str, Any], time: str = TIME) -> Path:
    """The results beside samples."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"results_{time}.json"
    path.write_text(json.dumps({"results": results, "configs": {}, "versions": {}, "n-shot": {}}), "utf-8")
    return path


# OpenAI evals


def event(sample_id: str, type: str, **data: Any) -> dict[str, Any]:  # noqa: A002
    """An event."""
    return {"run_id": "r", "event_id": 0, "sample_id": sample_id, "type": type, "data": data}


def write_events(path: Path, events: Iterable[Mapping[str, Any]], *, finished: bool = True) -> Path:
    """A log."""
    lines: list[Mapping[str, Any]] = [
        {"spec": {"completion_fns": ["m"], "eval_name": "sums.test.v1", "run_config": {"seed": 7}}}
    ]
    lines += [{"final_report": {"accuracy": 0.5}, "run_id": "r"}] if finished else []
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*lines, *events]), "utf-8")
    return path


# promptfoo


def result(description: str | None = "a", score: Any = 1, **more: Any) -> dict[str, Any]:
    """A result."""
    return {
        "testIdx": 0,
        "promptIdx": 0,
        "promptId": "p" * 64,
        "testCase": {"description": description, "vars": {"name": description}},
        "vars": {"name": description},
        "prompt": {"raw": f"Hello {description}", "label": "Hello {{name}}"},
        "provider": {"id": "mock", "label": ""},
        "response": {"output": "Good day"},
        "success": score == 1,
        "score": score,
        "failureReason": 0 if score == 1 else 1,
        "gradingResult": {
            "pass": score == 1,
            "score": score,
            "reason": "All assertions passed" if score == 1 else "no Hello in it",
            "componentResults": [
                {"pass": True, "reason": "ok", "assertion": {"type": "is-text"}},
                {"pass": score == 1, "reason": "no Hello in it", "assertion": {"type": "contains", "value": "Hello"}},
            ],
        },
        "namedScores": {"tone": 0.25},
        "latencyMs": 1500,
        "cost": 0.5,
        "tokenUsage": {"prompt": 8, "completion": 4, "cached": 0},
        **more,
    }


def write_results_document(path: Path, results: Sequence[Any]) -> Path:
    """Results as a document."""
    whole = {"evalId": "eval-1", "results": {"version": 3, "results": results, "stats": {}}, "config": {}}
    path.write_text(json.dumps(whole), "utf-8")
    return path
