"""What Inspect calls the parts of a log and their fields."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

#: The parts of an archive.
HEADER = "header.json"
SUMMARIES = "summaries.json"
START = "_journal/start.json"
JOURNAL = "_journal/summaries/"
SAMPLES = "samples/"

#: What the field that names the task is called in reports: the task of the log together with the sample's id.
SAMPLE_ID = "sample.id"
INPUT = "sample.input"
INDEX = "dataset.sample_ids"

#: Fields that the verifier's output is made of.
OUTPUT_FIELDS = ("scores.explanation", "scores.answer", "target")

#: Letter grades. A text that is one of the words below, or a number, is what it says.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

#: Why a score says nothing of the agent: the grader, or what scores, failed.
INSTRUMENT_FAILURES = ("grader_failed", "scoring_failed")

#: What a summary's texts end in that are longer than summaries keep.
CUT_ENDING = "(content truncated)"


class Eval(Struct, frozen=True):
    """What a log says of its run."""

    task: str = "task"
    task_id: str | None = None
    created: str = ""
    model: str | None = None
    task_version: Any = None
    task_args: Any = None
    dataset: Any = None
    config: Any = None
    model_generate_config: Any = None
    packages: Any = None


class Head(Struct, frozen=True):
    """What a log says before its samples; `plan` is not read."""

    eval: Eval
    status: str = "started"
    results: Any = None
    invalidated: Any = False


class Sample(Struct, frozen=True, kw_only=True):
    """A sample, or its summary: of the same names, the summary's texts are shorter and its error is a text."""

    id: Any
    epoch: int = 1
    input: Any = None
    target: Any = None
    scores: dict[str, Any] | None = None
    score: Any = None
    error: Any = None
    limit: Any = None
    invalidation: Any = None
    completed: bool | None = None
    model_usage: Any = None
    total_time: Any = None
    turn_count: Any = None


class Document(Struct, frozen=True):
    """A whole log as one JSON document."""

    eval: Eval
    status: str = "started"
    results: Any = None
    invalidated: Any = False
    samples: list[Any] | None = None


def entry_of(sample: Sample) -> str:
    """The name of an archive's entry that holds a whole sample."""
    return f"{SAMPLES}{sample.id}_epoch_{sample.epoch}.json"
