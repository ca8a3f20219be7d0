"""A sample as its events tell of it: what was asked, what was answered, how it was scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.chat import steps_of
from nemo_gym.rollout_compare.producers.rewards import NO_RESULT, number_of
from nemo_gym.rollout_compare.producers.scores import last_line, there_are, without_number
from nemo_gym.rollout_compare.schema import Output, Record, Step, Wanted, input_numbers, task_input, text_of

SAMPLE_ID, PROMPT = "sample_id", "sampling.prompt"
OUTPUT_FIELDS = ("match", "metrics", "sampling")

#: Which scores are the main one, best first; a grader that writes the first writes others beside it.
_MAIN = ("match.correct", "metrics.accuracy", "metrics.score")
_SCORED = ("match", "metrics")
_TARGET, _ANSWER = "match.expected", "match.sampled"


class Event(Struct, frozen=True):
    """A line of a log."""

    sample_id: Any = None
    type: Any = None
    data: Any = None
    spec: Any = None
    final_report: Any = None


class Sample:
    """What the events of a sample say.

    Attributes:
        line: The line of its first event.
        offset: Where that begins.
        prompt: What was asked first.
        scores: Each score's values, by the type of event and the name: `match.correct`.
        errors: What errors said.
        sampled: What was asked and answered, in turn; kept only where all is wanted.
    """

    def __init__(self, line: int, offset: int) -> None:
        """Make one without events."""
        self.line, self.offset = line, offset
        self.prompt: Any = None
        self.scores: dict[str, list[Any]] = {}
        self.errors: list[str] = []
        self.sampled: list[Mapping[str, Any]] = []

    def add(self, event: Event, *, whole: bool = False) -> None:
        """Add what an event says."""
        data = event.data if isinstance(event.data, Mapping) else {}
        if event.type == "error":
            self.errors.append(text_of(data.get("message") or data.get("error") or data.get("type") or event.data))
        elif event.type == "sampling":
            self.prompt = data.get("prompt") if self.prompt is None else self.prompt
            if whole:
                self.sampled.append(data)
        elif event.type in _SCORED:
            for name, value in data.items():
                self.scores.setdefault(f"{event.type}.{name}", []).append(value)


def metrics_of(sample: Sample) -> list[str]:
    """The scores that are numbers, or true and false."""
    return [name for name, values in sample.scores.items() if number_of(values[0]) is not None]


def facts_of(sample: Sample, reward: str | None, *, finished: bool) -> tuple[float | None, str | None]:
    """The reward, and why the sample does not count."""
    if sample.errors:
        return None, f"error: {last_line(sample.errors[0])}"
    if not sample.scores:
        return None, "no score" if finished else NO_RESULT
    name = _asked(sample, reward) if reward else _main(sample)
    if name is None:
        return None, f"no {f'score {reward}' if reward else 'main score'} {there_are(metrics_of(sample))}"
    values = sample.scores[name]
    numbers = [number for value in values if (number := number_of(value)) is not None]
    if len(numbers) < len(values):
        return None, without_number(name, next(value for value in values if number_of(value) is None))
    return fmean(numbers), None


def _asked(sample: Sample, reward: str) -> str | None:
    names = (reward, *(f"{kind}.{reward}" for kind in _SCORED))
    return next((name for name in names if name in sample.scores), None)


def _main(sample: Sample) -> str | None:
    main = next((name for name in _MAIN if name in sample.scores), None)
    if main is None:
        numbers = metrics_of(sample)
        return numbers[0] if len(numbers) == 1 else None
    return main


def record_of(name: str, sample: Sample, wanted: Wanted) -> Record:
    """What is wanted of a sample."""
    return Record(
        values=(name,) * len(wanted.fields),
        task_input=task_input(sample.prompt) if wanted.task_input else None,
        input_number=input_numbers([sample.prompt])[0] if wanted.task_input else 0,
        output=_output(sample) if wanted.output else None,
        row={SAMPLE_ID: name, **{key: values[0] for key, values in sample.scores.items()}} if wanted.row else None,
        transcript=tuple(_steps(sample)) if wanted.transcript else None,
    )


def _output(sample: Sample) -> Output:
    """The last answer, what it was held against, and all that was scored."""
    said = [f"answer: {text_of(one.get('sampled'))}" for one in sample.sampled[-1:]]
    said += [f"target: {text_of(value)}" for value in sample.scores.get(_TARGET, ())]
    others = {name: values for name, values in sample.scores.items() if name not in (_TARGET, _ANSWER)}
    said += [f"{name} {text_of(value)}" for name, values in others.items() for value in values]
    return Output(None, (("match, metrics", "\n".join(said)),) if said else (), OUTPUT_FIELDS)


def _steps(sample: Sample) -> Iterator[Step]:
    """What was asked and answered; a prompt that repeats what was said before it brings only what is new."""
    seen: tuple[Step, ...] = ()
    for one in sample.sampled:
        steps = steps_of(one.get("prompt"))
        yield from steps[len(seen) :] if steps[: len(seen)] == seen else steps
        sampled = one.get("sampled")
        answers = sampled if isinstance(sampled, list) else [sampled]
        answered = tuple(Step("assistant", text_of(answer)) for answer in answers if answer is not None)
        yield from answered
        seen = (*steps, *answered)
