"""A log of events as a source of rows: the events of a sample, which come in no order, are one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nemo_gym.rollout_compare.files import Piece, check_unchanged, gone, iter_blocks
from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from nemo_gym.rollout_compare.producers.one_file import WholeFile
from nemo_gym.rollout_compare.producers.openai_evals.samples import (
    OUTPUT_FIELDS,
    PROMPT,
    SAMPLE_ID,
    Event,
    Sample,
    facts_of,
    metrics_of,
    record_of,
)
from nemo_gym.rollout_compare.producers.scores import shown, to_choose_from
from nemo_gym.rollout_compare.producers.seems import what_text_seems
from nemo_gym.rollout_compare.schema import (
    Batch,
    CompareInputError,
    Fault,
    Fields,
    Place,
    Record,
    Wanted,
    no_rows,
    text_of,
)


def event_fields(key: str | None) -> Fields:
    """The field that names the task."""
    return Fields((SAMPLE_ID,), (), (), PROMPT).or_named(key)


class EventLog(WholeFile, frozen=True):
    """A log, in which the events of a sample may stand anywhere.

    Attributes:
        alone: Whether the run has no other logs.
    """

    alone: bool = True

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that hold what the answer was held against."""
        return OUTPUT_FIELDS

    @property
    def unit(self) -> str:
        """What may be broken is a line."""
        return "line"

    def where(self, line: int) -> str:
        """The place of a sample's first event: `PATH:LINE`."""
        return f"{self.path}:{line}"

    def fields(self, key: str | None) -> Fields:
        """The field that names the task."""
        return event_fields(key)

    def batches(
        self, piece: object, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """All samples, in the order of their first events."""
        del piece
        samples: dict[str, Sample] = {}
        faults: list[Fault] = []
        head, finished, last = Event(), False, 0
        for number, offset, event in self._events(faults):
            if faults and not plan.skip_bad_lines:
                yield no_rows(faults[:1], faults[0].line)
                return
            last = number
            if event is None:
                continue
            if event.spec is not None:
                head = event
            finished = finished or event.final_report is not None
            name = sample_of(event)
            if name is not None:
                samples.setdefault(name, Sample(number, offset)).add(event)
        on_bytes(self.size)
        if self.alone:
            self._check(samples, plan.reward)
        yield self._batch(samples, plan, tuple(wanted()), faults, (last, finished, _settings(head)))

    def _batch(
        self,
        samples: Mapping[str, Sample],
        plan: Plan,
        fields: Sequence[str],
        faults: Sequence[Fault],
        beside: tuple[int, bool, Mapping[str, Any]],
    ) -> Batch:
        last, finished, settings = beside
        attempts = []
        for name, sample in samples.items():
            reward, masked = facts_of(sample, plan.reward, finished=finished)
            attempts.append(
                Attempt(
                    ids=dict.fromkeys(fields, name),
                    reward=reward,
                    masked=masked,
                    asked=sample.prompt,
                    has_output=bool(sample.scores),
                    number=sample.line,
                    offset=sample.offset,
                    settings=settings,
                )
            )
        return batch_of(attempts, fields, faults, last)

    def _events(self, faults: list[Fault]) -> Iterator[tuple[int, int, Event | None]]:
        """Each line's number, its offset and its event, None where it is none, which is a fault."""
        decoder = msgspec.json.Decoder(Event)
        for block in iter_blocks(Piece(self.input)):
            last = len(block.lines) - 1
            for i, (number, offset, line) in enumerate(zip(block.numbers, block.offsets, block.lines, strict=True)):
                try:
                    event = _decoded(decoder, line)
                except InvalidLine as error:
                    cut = ": the last line is cut off; the run may still be writing, or was killed"
                    seems = what_text_seems(bytes(line)) if block.begins_file and not i else None
                    reason = f"{error}; {seems}" if seems else str(error)
                    faults.append(Fault(number, reason + cut * (block.ends_unfinished and i == last)))
                    event = None
                yield number, offset, event

    def _check(self, samples: Mapping[str, Sample], reward: str | None) -> None:
        """See to it that some sample has the score that is the reward."""
        scored = [sample for sample in samples.values() if sample.scores and not sample.errors]
        if not scored or any(facts_of(sample, reward, finished=True)[1] is None for sample in scored):
            return
        names = [name for sample in scored for name in metrics_of(sample)]
        if reward is None and len(set(names)) < 2:
            return
        what = f"no sample has the score {shown(reward)}" if reward else "none of several scores is the main one"
        raise CompareInputError(f"{self.path}: {what}; {to_choose_from(names, 'sample')}")

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each sample: the log is read once, and of it their events are kept."""
        try:
            if not grown:
                check_unchanged(self.input)
            found = self._again({place.offset for place in places})
        except CompareInputError as error:
            yield from [error] * len(places)
            return
        for place in places:
            named = found.get(place.offset)
            yield record_of(*named, wanted) if named else gone(self.input)

    def _again(self, offsets: set[int]) -> dict[int, tuple[str, Sample]]:
        named: dict[str, int] = {}
        samples: dict[int, tuple[str, Sample]] = {}
        for number, offset, event in self._events([]):
            name = sample_of(event) if event else None
            if event is None or name is None:
                continue
            if offset in offsets and name not in named:
                named[name] = offset
                samples[offset] = name, Sample(number, offset)
            if name in named:
                samples[named[name]][1].add(event, whole=True)
        return samples


def sample_of(event: Event) -> str | None:
    """The sample that an event is of, None where it is of none: of the whole run, or its first lines."""
    return None if event.sample_id is None or not event.type else text_of(event.sample_id)


def _decoded(decoder: msgspec.json.Decoder[Event], line: bytes | memoryview) -> Event:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return msgspec.convert(
            {name: value for name, value in parse_object(bytes(line)).items() if name in Event.__struct_fields__}, Event
        )


def _settings(head: Event) -> dict[str, Any]:
    """What the first line says that the run was made with."""
    spec = head.spec if isinstance(head.spec, Mapping) else {}
    config = spec.get("run_config")
    seed = config.get("seed") if isinstance(config, Mapping) else None
    found = {"model": spec.get("completion_fns"), "eval": spec.get("eval_name"), "seed": seed}
    return {name: value for name, value in found.items() if value is not None}
