"""A log to its head and its samples: of an archive the summaries are enough, and no sample is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import Any

import msgspec
from msgspec import Struct

from nemo_gym.rollout_compare.files import Input, cannot_read, reading
from nemo_gym.rollout_compare.producers.documents import (
    ZIP_MAGIC,
    Archive,
    converted,
    open_archive,
    parse_document,
    read_document,
)
from nemo_gym.rollout_compare.producers.inspect.fields import (
    HEADER,
    JOURNAL,
    SAMPLES,
    START,
    SUMMARIES,
    Document,
    Eval,
    Head,
    Sample,
    entry_of,
)
from nemo_gym.rollout_compare.schema import CompareInputError, Fault

_HEAD_BYTES = 1 << 20
#: In a document a sample stands in a list, in an object.
AROUND = 2
_EVAL = re.compile(r'"eval"\s*:\s*')


class Log(Struct, frozen=True):
    """A log that was read.

    Attributes:
        head: What it says of the run.
        samples: Of each sample and epoch the last entry, in the order of the first; None for one that is no sample.
        places: For each of them the number of the archive's entry that holds it whole, from 1; 0 where there is none.
            In a document its place in the list, from 1.
        faults: What is wrong with those that are no samples, by their numbers from 1.
    """

    head: Head
    samples: Sequence[Sample]
    places: Sequence[int]
    faults: Sequence[Fault]


def is_archive(source: Input) -> bool:
    """Whether a log is an archive, whatever it is called."""
    with reading(source) as (file, _):
        return file.read(len(ZIP_MAGIC)) == ZIP_MAGIC


@lru_cache(maxsize=256)
def read_eval(source: Input) -> Eval:
    """What a log says of its run, read from its beginning where that is possible; it is asked for more than once.

    Raises:
        CompareInputError: It cannot be read, or is no log.
    """
    if is_archive(source):
        with open_archive(source) as archive:
            return _head(archive, source).eval
    with reading(source) as (file, _):
        beginning = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    found = _EVAL.search(beginning)
    try:
        value, _ = JSONDecoder().raw_decode(beginning, found.end()) if found else (None, 0)
        return converted(value, Eval)
    except (JSONDecodeError, RecursionError, msgspec.ValidationError):
        return _document(source).eval


def read_log(source: Input) -> Log:
    """A log.

    Raises:
        CompareInputError: It cannot be read, is no log, or has no samples though its run was finished.
    """
    log = _read_archive(source) if is_archive(source) else _read_document(source)
    if not log.samples and not log.faults and log.head.status == "success":
        raise CompareInputError(
            f"cannot read {source.path}: it has no samples (the run was told not to log them, or only its header was"
            " kept)"
        )
    return log


def _read_document(source: Input) -> Log:
    document = _document(source)
    samples, faults = _converted(document.samples or [])
    head = Head(document.eval, document.status, document.results, document.invalidated)
    return _unique(head, samples, range(1, len(samples) + 1), faults)


def _document(source: Input) -> Document:
    data = read_document(source)
    try:
        return parse_document(data, Document, AROUND)
    except CompareInputError as error:
        raise cannot_read(source.path, error) from None


def _read_archive(source: Input) -> Log:
    with open_archive(source) as archive:
        head = _head(archive, source)
        samples, faults = _converted(
            [one for name in _summary_names(archive) for one in archive.document(name, list, 1)]
        )
        named = {name: place for place, name in enumerate(archive.names, 1)}
        if head.invalidated is True:  # a summary does not say which samples were
            samples = [_whole(archive, sample, named) for sample in samples]
        known = {entry_of(sample) for sample in samples if sample}
        unknown = [name for name in named if name not in known] if HEADER not in named or not samples else []
        for name in unknown:
            if name.startswith(SAMPLES) and name.endswith(".json"):
                try:
                    samples.append(archive.document(name, Sample))
                except CompareInputError as error:
                    samples.append(None)
                    faults.append(Fault(len(samples), str(error).removeprefix(f"cannot read {source.path}: ")))
    return _unique(head, samples, [named.get(entry_of(sample), 0) if sample else 0 for sample in samples], faults)


def _head(archive: Archive, source: Input) -> Head:
    if HEADER in archive:
        return archive.document(HEADER, Head)
    if START in archive:
        return archive.document(START, Head)
    raise CompareInputError(f"cannot read {source.path}: it is no Inspect log: it has neither {HEADER} nor {START}")


def _summary_names(archive: Archive) -> list[str]:
    """The entries with summaries: one of all samples, or what the journal of an unfinished run has."""
    if SUMMARIES in archive:
        return [SUMMARIES]
    numbered = [name for name in dict.fromkeys(archive.names) if name.startswith(JOURNAL) and name.endswith(".json")]
    return sorted(numbered, key=lambda name: (len(name), name))


def _whole(archive: Archive, sample: Sample | None, named: dict[str, int]) -> Sample | None:
    name = entry_of(sample) if sample else ""
    return archive.document(name, Sample) if name in named else sample


def _converted(values: Sequence[Any]) -> tuple[list[Sample | None], list[Fault]]:
    """Values as samples, and what is wrong with those that are none."""
    try:
        return list(converted(values, list[Sample])), []
    except msgspec.ValidationError:
        pass
    samples: list[Sample | None] = []
    faults = []
    for number, value in enumerate(values, 1):
        try:
            samples.append(converted(value, Sample))
        except msgspec.ValidationError as error:
            samples.append(None)
            faults.append(Fault(number, f"it is no sample: {error}"))
    return samples, faults


def _unique(head: Head, samples: Sequence[Sample | None], places: Sequence[int], faults: Sequence[Fault]) -> Log:
    """Of each sample and epoch the last: one that was queued again is written again."""
    last: dict[tuple[str, int], tuple[Sample, int]] = {}
    for sample, place in zip(samples, places, strict=True):
        if sample:
            last[str(sample.id), sample.epoch] = sample, place
    return Log(head, [sample for sample, _ in last.values()], [place for _, place in last.values()], faults)


def planned_ids(run: Eval) -> tuple[list[Any], int]:
    """The ids of the samples that the run was to be of, none where they are not recorded, and how many epochs."""
    dataset, config = _mapping(run.dataset), _mapping(run.config)
    ids, epochs = dataset.get("sample_ids"), config.get("epochs")
    return ids if isinstance(ids, list) else [], epochs if isinstance(epochs, int) and epochs > 0 else 1


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def settings_of(head: Head) -> Iterator[tuple[str, Any]]:
    """What the run was made with, by name."""
    run = head.eval
    plain = {
        "model": run.model,
        "task version": run.task_version,
        "inspect_ai": _mapping(run.packages).get("inspect_ai"),
    }
    config = _mapping(run.config)
    limits = {name: value for name, value in config.items() if name.endswith("_limit") or name == "epochs"}
    for group in (plain, _mapping(run.model_generate_config), _mapping(run.task_args), limits):
        yield from ((name, value) for name, value in group.items() if value is not None)
