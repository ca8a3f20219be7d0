"""What the rows of a file of samples have in common: the task, the filters, the metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.producers.lm_eval import RESULTS, SAMPLES
from nemo_gym.rollout_compare.producers.scores import there_are
from nemo_gym.rollout_compare.schema import Fields, Row

#: The fields that may name the task: a hash of its document, or the document's place in its split.
HASH, PLACE = "doc_hash", "doc_id"
FILTER, METRICS = "filter", "metrics"
ANSWERS, TARGET, RESPONSES = "filtered_resps", "target", "resps"
#: What the system was asked: newer files number the requests of a document, older ones list them.
ARGUMENTS, ASKED = "arguments", "arguments.gen_args_0.arg_0"
OUTPUT_FIELDS = (ANSWERS, TARGET, RESPONSES)

#: The first digits of a document's hash, as many as tell millions of documents apart.
HASH_DIGITS = 16

_OWN = frozenset(
    {HASH, PLACE, FILTER, METRICS, ANSWERS, TARGET, RESPONSES, ARGUMENTS, "doc", "prompt_hash", "target_hash", "schema"}
)
_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d++)?"
_NAME = re.compile(rf"(?P<stem>.+?)(?:_(?P<time>{_TIME}))?\.jsonl?(?:\.\w++)?\Z", re.DOTALL)


class Named(Struct, frozen=True):
    """What the name of a file says.

    Attributes:
        stem: The name without its ending, the time, and `samples_` or `results_` before it.
        time: When the run ended, as text that sorts; empty where the name does not tell.
    """

    stem: str
    time: str = ""


def named(name: str) -> Named:
    """What the name of a file of samples or results says."""
    match = _NAME.match(name)
    if not match:
        return Named(name)
    stem = match["stem"]
    if stem.startswith(SAMPLES):
        stem = stem.removeprefix(SAMPLES)
    elif stem.startswith(RESULTS):
        stem = stem.removeprefix(RESULTS).removeprefix("_")
    return Named(stem, match["time"] or "")


def task_of(stem: str, known: Sequence[str]) -> str:
    """The task that the name of a file tells: the longest known one that it ends in, else all of it."""
    fitting = [task for task in known if stem == task or stem.endswith(f"_{task}")]
    return max(fitting, key=len, default=stem)


class Layout(Struct, frozen=True):
    """What the rows of a file have in common.

    Attributes:
        task: The task, which stands in the file's name only.
        metrics: The metrics of a row, in their order.
        filter: The first filter; None where the rows do not say which they are of.
        asked: The path of what the system was asked.
        filters: All filters as far as the results tell them, else none.
        alone: Whether the run has no other files.
        settings: What the run was made with, by name.
    """

    task: str
    metrics: tuple[str, ...] = ()
    filter: str | None = None
    asked: str = ASKED
    filters: tuple[str, ...] = ()
    alone: bool = True
    settings: tuple[tuple[str, Any], ...] = ()


class Choice(Struct, frozen=True):
    """Which metric under which filter is the reward, and what is wrong with the choice, None if nothing is."""

    metric: str
    filter: str | None
    fault: str | None = None


def metrics_of(row: Row) -> tuple[str, ...]:
    """The metrics of a row, in their order: newer rows name them, in older ones they are what nothing else is."""
    said = row.get(METRICS)
    if isinstance(said, list) and said:
        return tuple(str(name) for name in said)
    return tuple(name for name in row if name not in _OWN)


def layout_of(row: Row, known: Layout) -> Layout:
    """The layout that a file's first row tells, beside what is known of the file."""
    found = row.get(FILTER)
    asked = ASKED if isinstance(row.get(ARGUMENTS), Mapping) else ARGUMENTS
    named = found if isinstance(found, str) else None
    return replace(known, metrics=metrics_of(row), filter=named, asked=asked)


def choice_of(layout: Layout, reward: str | None) -> Choice:
    """The first metric of the first filter; or what the user named: METRIC or, as in the results, METRIC,FILTER."""
    if reward is None:
        return Choice(layout.metrics[0] if layout.metrics else "metric", layout.filter)
    metric, comma, chosen = reward.rpartition(",")
    if not comma:
        metric, chosen = reward, layout.filter or ""
    if metric not in layout.metrics:
        return Choice(metric, layout.filter, f"no metric {metric} {there_are(layout.metrics)}")
    if comma and layout.filters and chosen not in layout.filters:
        return Choice(metric, layout.filter, f"no filter {chosen} {there_are(layout.filters)}")
    return Choice(metric, chosen or None)


def sample_fields(key: str | None) -> Fields:
    """The fields that may name the task: the given one, or those of the document; its place is never taken quietly."""
    return Fields((HASH,), (PLACE,), (HASH,), ARGUMENTS, PLACE).or_named(key)


def asked_of(value: Any) -> Any:
    """What the system was asked, by the value at the layout's path: of several requests the first one's prompt."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value if isinstance(value, str) else None
