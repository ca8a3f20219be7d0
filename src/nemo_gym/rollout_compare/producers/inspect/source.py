"""A log as a source of rows: all its samples as one batch, and the few that are shown read again whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from nemo_gym.rollout_compare.files import check_unchanged, gone
from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.documents import open_archive, parse_document, read_document
from nemo_gym.rollout_compare.producers.inspect.facts import check_choice, choice_of, facts_of, names_of, scores_of
from nemo_gym.rollout_compare.producers.inspect.fields import (
    CUT_ENDING,
    INDEX,
    INPUT,
    OUTPUT_FIELDS,
    SAMPLE_ID,
    Eval,
    Sample,
)
from nemo_gym.rollout_compare.producers.inspect.log import AROUND, Log, planned_ids, read_log, settings_of
from nemo_gym.rollout_compare.producers.inspect.records import record_of
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import measures_of as costs_of
from nemo_gym.rollout_compare.producers.one_file import WholeFile
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fields, Place, Record, Row, Wanted, no_rows

_USAGE = {
    "input_tokens": "input-tokens",
    "input_tokens_cache_read": "cached-tokens",
    "output_tokens": "output-tokens",
    "reasoning_tokens": "reasoning-tokens",
    "total_cost": "dollars",
}


def log_fields(key: str | None) -> Fields:
    """The fields that may name the task: the given one, or the id of the sample together with the log's task."""
    return Fields((SAMPLE_ID,), (), (), INPUT, INDEX).or_named(key)


class LogSource(WholeFile, frozen=True):
    """A log.

    Attributes:
        task: What its samples' taskset is called.
        archive: Whether it is an archive, not a document.
        alone: Whether the run has no other logs.
    """

    task: str
    archive: bool
    alone: bool = True

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a sample's verifier output."""
        return OUTPUT_FIELDS

    @property
    def unit(self) -> str:
        """A row is a sample."""
        return "sample"

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return log_fields(key)

    def batches(
        self, piece: object, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """All samples."""
        del piece
        log = read_log(self.input)
        on_bytes(self.size)
        if log.faults and not plan.skip_bad_lines:
            yield no_rows(log.faults[:1], len(log.samples))
            return
        yield self._batch(log, plan, wanted())

    def _batch(self, log: Log, plan: Plan, fields: Sequence[str]) -> Batch:
        choice = choice_of(log.head, plan.reward)
        if self.alone:
            try:
                check_choice(log.samples, choice)
            except CompareInputError as error:
                raise CompareInputError(f"{self.path}: {error}") from None
        index = {name: place for place, name in enumerate(_ids(log.head.eval))}
        settings = dict(settings_of(log.head))
        attempts = []
        for number, (sample, place) in enumerate(zip(log.samples, log.places, strict=True), 1):
            fact = facts_of(sample, choice)
            attempts.append(
                Attempt(
                    ids={field: self._named(sample, field) for field in fields},
                    reward=fact.reward,
                    masked=fact.masked,
                    failure_kind=fact.failure_kind,
                    task_index=index.get(str(sample.id)),
                    attempt=sample.epoch,
                    asked=asked_of(sample),
                    has_output=bool(scores_of(sample)),
                    number=number,
                    offset=place,
                    settings=settings,
                    measures=measures_of(sample),
                )
            )
        return batch_of(attempts, fields, log.faults, len(attempts))

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The scores that can be chosen as the reward, of a sample read again."""
        return names_of(scores_of(msgspec.convert(row, Sample)))

    def _named(self, sample: Sample, field: str) -> Any:
        if field == SAMPLE_ID:
            return {"taskset": self.task, "task_id": sample.id}
        return dig(msgspec.structs.asdict(sample), field.split("."))

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each sample: of an archive only these are opened, and none for what its summary says."""
        done = 0
        try:
            if not grown:
                check_unchanged(self.input)
            for row in self._rows(places, wanted):
                done += 1
                yield self._record(row, wanted)
        except CompareInputError as error:
            for _ in places[done:]:
                yield error

    def _rows(self, places: Sequence[Place], wanted: Wanted) -> Iterator[Row | None]:
        if not self.archive:
            whole = parse_document(read_document(self.input), dict, AROUND)
            samples = whole.get("samples") or []
            for place in places:
                yield samples[place.offset - 1] if place.offset <= len(samples) else None
            return
        summed_up = not (wanted.output or wanted.row or wanted.transcript)
        log = read_log(self.input) if summed_up or not all(place.offset for place in places) else None
        with open_archive(self.input) as archive:
            for place in places:
                if log and (summed_up or not place.offset):
                    known = place.line <= len(log.samples)
                    yield msgspec.structs.asdict(log.samples[place.line - 1]) if known else None
                else:
                    found = place.offset <= len(archive.names)
                    yield archive.document(place.offset - 1, dict) if found else None

    def _record(self, row: Row | None, wanted: Wanted) -> Record | Exception:
        if row is None:
            return gone(self.input)
        values = tuple(row.get("id") if field == SAMPLE_ID else dig(row, field.split(".")) for field in wanted.fields)
        return record_of(row, wanted, values)


def _ids(run: Eval) -> list[str]:
    """The ids of the planned samples, none where they do not tell them apart."""
    ids = [str(one) for one in planned_ids(run)[0]]
    return ids if len(set(ids)) == len(ids) else []


def asked_of(sample: Sample) -> Any:
    """What the system was asked; a text that the summary cut says nothing."""
    asked = sample.input
    return None if isinstance(asked, str) and asked.endswith(CUT_ENDING) else asked


def measures_of(sample: Sample) -> dict[str, float]:
    """What a sample cost, over all models that it used."""
    found: dict[str, float] = {}
    usages = sample.model_usage.values() if isinstance(sample.model_usage, dict) else ()
    for usage in usages:
        spent = usage if isinstance(usage, dict) else {}
        for name, value in costs_of(_USAGE.values(), [spent.get(name) for name in _USAGE]).items():
            found[name] = found.get(name, 0) + value
    return found | costs_of(("turns", "seconds"), (sample.turn_count, sample.total_time))
