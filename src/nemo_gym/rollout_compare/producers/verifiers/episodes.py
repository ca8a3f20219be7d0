"""A line of `traces.jsonl`, as verifiers writes it since its version 1: one episode, with a trace for each agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.chat import steps_of
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import measures_of
from nemo_gym.rollout_compare.producers.records import LOOKED_AT, Told
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.verdicts import Verdict, chosen_reward, error_text
from nemo_gym.rollout_compare.schema import Fields, Output, Row, Step, text_of

#: A task's own id; else a hash of its data, in which its place in the data set is counted.
TASKS = ("task.data.id", "task.key", "task.hash")
ASKED = "task.data.prompt"

_TELLING = ("id", "ok", "is_timeout", "errors", "traces", "rewards", "agent", "stop_condition", ASKED)
_MEASURES = {"input-tokens": "num_input_tokens", "output-tokens": "num_output_tokens"}
_SETTINGS = {
    "model": "agent.config.model",
    "harness": "agent.config.harness.id",
    "max turns": "agent.config.max_turns",
    "verifiers": "verifiers.version",
}
_SAMPLING = ("agent", "config", "sampling")


class EpisodeReader(Struct, frozen=True):
    """What an episode says.

    Attributes:
        agent: The agent whose reward is the episode's; None where there is only one agent.
        problem: Why the user has to choose one, None where the user need not.
    """

    agent: str | None = None
    problem: str | None = None

    output_fields: tuple[str, ...] = ("rewards", "errors", "info")

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every episode."""
        return (*_TELLING, *_MEASURES.values())

    def fields(self, key: str | None) -> Fields:
        """The names of a task."""
        return Fields(TASKS, input=ASKED).or_named(key)

    def metric_paths(self, metric: str) -> tuple[str, ...]:
        """A metric is found in the traces; it may be a field of the episode, too."""
        return (metric,)

    def metrics(self, row: Row) -> Iterator[str]:
        """What can be chosen: an agent, a reward or a metric of one."""
        traces = traces_of(row.get("traces"), row)
        for trace in traces:
            before = f"{_name_of(trace)}." if len(traces) > 1 else ""
            if before:
                yield before[:-1]
            for group in ("rewards", "metrics"):
                yield from (f"{before}{group}.{name}" for name in _mapping(trace.get(group)))

    def attempt(self, told: Told) -> Attempt:
        """An episode that is not ok has no score: its rewards are empty, and their sum is not one."""
        name, ok, timed_out, errors, listed, rewards, agent, stop, asked, *measured = told.values
        alone = {"rewards": rewards, "agent": agent, "stop_condition": stop, "errors": errors}
        traces = traces_of(listed, alone)
        masked = _fault(ok, timed_out, errors, traces)
        number, why = self._reward(told, traces)
        masked = masked or why
        own = self._own(traces)
        return Attempt(
            ids=told.fields,
            reward=None if masked else number,
            masked=masked,
            attempt=name,
            asked=asked,
            has_output=any(_mapping(trace.get("rewards")) or trace.get("errors") for trace in traces),
            number=told.number,
            offset=told.offset,
            settings=_settings(own or {}),
            measures=measures_of(_MEASURES, measured) | _spent(own or {}),
        )

    def _reward(self, told: Told, traces: Sequence[Row]) -> Verdict:
        if told.metric is None:
            return reward_of(self._own(traces))
        value = told.chosen if isinstance(told.chosen, bool | int | float | str) else None
        found = next(_metric(traces, told.metric), None) if value is None else value
        return chosen_reward(told.metric, found)

    def _own(self, traces: Sequence[Row]) -> Row | None:
        """The trace whose reward is the episode's."""
        if self.agent is None:
            return traces[0] if traces else None
        return next((trace for trace in traces if _name_of(trace) == self.agent), None)

    def asked(self, row: Row) -> Any:
        """The prompt."""
        return dig(row, ASKED.split("."))

    def output(self, row: Row) -> Output:
        """The rewards with their weights, the errors, and what the environment noted."""
        traces = traces_of(row.get("traces"), row)
        texts = []
        rewards = [f"{name}: {text_of(value)}" for trace in traces for name, value in _rewards(trace)]
        errors = [text_of(error) for one in (row, *traces) for error in _list(one.get("errors"))]
        notes = [text_of(info) for trace in traces if (info := trace.get("info"))]
        for name, lines in zip(self.output_fields, (rewards, errors, notes), strict=True):
            texts += [(name, "\n".join(lines))] if lines else []
        return Output(None, tuple(texts), self.output_fields)

    def transcript(self, row: Row) -> tuple[Step, ...] | None:
        """The messages of the trace whose reward is the episode's."""
        trace = self._own(traces_of(row.get("traces"), row)) or {}
        nodes = [node for node in _list(trace.get("nodes")) if isinstance(node, Mapping)]
        return steps_of([node.get("message") for node in nodes]) or None


def reader_of(rows: Iterator[Row]) -> EpisodeReader:
    """The reader for a run, by the agents in its first episodes: the only one, or the only one that is trained."""
    several: dict[str, bool] = {}
    for row in islice(rows, LOOKED_AT):
        traces = traces_of(row.get("traces"), row)
        if len(traces) > 1:
            for trace in traces:
                several[_name_of(trace)] = bool(dig(trace, ("agent", "trainable")))
    trained = [name for name, trainable in several.items() if trainable]
    if len(trained) == 1 or len(several) < 2:
        return EpisodeReader(trained[0] if trained else next(iter(several), None))
    return EpisodeReader(problem="an episode has several agents, none of which is the only one that is trained")


def traces_of(listed: Any, alone: Row) -> list[Row]:
    """The traces of an episode; a line that has none but rewards is a trace itself."""
    if isinstance(listed, list):
        return [trace for trace in listed if isinstance(trace, Mapping)]
    return [alone] if alone.get("rewards") is not None else []


def reward_of(trace: Row | None) -> Verdict:
    """The sum of a trace's rewards, each by its weight; one that is null was not given."""
    given = [_weighted(value) for _, value in _rewards(trace or {}) if value is not None]
    known = [number for number in given if number is not None]
    if not given:
        return None, "no reward"
    return (sum(known), None) if len(known) == len(given) else (None, "a reward is not a finite number")


def _weighted(value: Any) -> float | None:
    if not isinstance(value, Mapping):
        return number_of(value) if not isinstance(value, str) else None
    score, weight = value.get("score"), value.get("weight")
    number, by = number_of(score), 1.0 if weight is None else number_of(weight)
    return None if number is None or by is None else number_of(number * by)


def _rewards(trace: Row) -> Iterator[tuple[str, Any]]:
    yield from _mapping(trace.get("rewards")).items()


def _metric(traces: Sequence[Row], metric: str) -> Iterator[float]:
    """The values that a name may mean: an agent's reward, or a reward or metric of one agent, or of the only one."""
    for trace in traces:
        agent = _name_of(trace)
        if metric == agent and (number := reward_of(trace)[0]) is not None:
            yield number
        before, _, rest = metric.partition(".")
        name = rest if before == agent and rest else metric
        group, _, last = name.partition(".")
        groups = ("rewards", "metrics") if group not in ("rewards", "metrics") else (group,)
        for one in groups:
            value = _mapping(trace.get(one)).get(last if group == one and last else name)
            if isinstance(value, Mapping):
                value = value.get("score")
            if (number := number_of(value)) is not None:
                yield number


def _fault(ok: Any, timed_out: Any, errors: Any, traces: Sequence[Row]) -> str | None:
    """Why an episode has no score, None if it may have one."""
    failed = ok is False or (ok is None and (errors or any(trace.get("ok") is False for trace in traces)))
    if not (failed or timed_out):
        return None
    found = [error for one in ({"errors": errors}, *traces) for error in _list(one.get("errors"))]
    if not found:
        return "timed out" if timed_out else "not ok"
    first = found[0]
    kind = first.get("type") if isinstance(first, Mapping) else None
    said = error_text(first, "message", "type")
    return f"error: {text_of(kind)}" if kind and kind == said else f"error: {text_of(kind)}: {said}" if kind else said


def _settings(trace: Row) -> dict[str, Any]:
    found = {name: dig(trace, path.split(".")) for name, path in _SETTINGS.items()}
    found |= {str(name): value for name, value in _mapping(dig(trace, _SAMPLING)).items()}
    return {name: value for name, value in found.items() if value is not None}


def _spent(trace: Row) -> dict[str, float]:
    """How long a trace took, and how often its agent was asked."""
    calls = trace.get("calls")
    start, end = (number_of(dig(trace, ("timing", *names))) for names in (("start",), ("scoring", "end")))
    spent = {"turns": float(len(calls))} if isinstance(calls, list) else {}
    return spent | ({"seconds": end - start} if start is not None and end is not None and end >= start else {})


def _name_of(trace: Row) -> str:
    return text_of(dig(trace, ("agent", "name")) or "agent")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
