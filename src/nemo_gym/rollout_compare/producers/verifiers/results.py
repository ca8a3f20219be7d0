"""A row of `results.jsonl`, as verifiers wrote it before its version 1: one rollout of one example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.chat import steps_of
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import measures_of, setting_of
from nemo_gym.rollout_compare.producers.records import Told
from nemo_gym.rollout_compare.producers.verdicts import chosen_reward, error_text, own_reward
from nemo_gym.rollout_compare.schema import Fields, Output, Row, Step, text_of

#: The example's place in the data set, unless the data set has numbers of its own.
EXAMPLE = "example_id"
ASKED, ANSWERED = "prompt", "completion"

_TELLING = ("reward", "error", "is_completed", "is_truncated", ASKED, "metrics")
_MEASURES = {
    "input-tokens": "token_usage.input_tokens",
    "output-tokens": "token_usage.output_tokens",
    "seconds": "timing.total",
    "turns": "metrics.num_turns",
}
_SETTINGS = {"model": "model", "environment": "env_id", "verifiers": "version_info.vf_version"}
#: What an error says of itself, best first.
_ERROR_TEXTS = ("error_chain_str", "error")
_GROUPS = ("sampling_args", "env_args")


class ResultReader(Struct, frozen=True):
    """What a row says.

    Attributes:
        settings: What the run was made with.
    """

    settings: tuple[tuple[str, Any], ...]

    #: `reward` is always the main metric.
    problem: None = None
    output_fields: tuple[str, ...] = ("metrics",)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> ResultReader:
        """The reader for a run by its metadata."""
        found = {name: dig(metadata, path.split(".")) for name, path in _SETTINGS.items()}
        for group in _GROUPS:
            more = metadata.get(group)
            found |= {str(name): value for name, value in more.items()} if isinstance(more, Mapping) else {}
        return cls(tuple((name, setting_of(value)) for name, value in found.items() if value is not None))

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every row."""
        return (*_TELLING, *_MEASURES.values())

    def fields(self, key: str | None) -> Fields:
        """The example's place, which tells an example only where the runs have the same order."""
        return Fields((EXAMPLE,), input=ASKED, positions=(EXAMPLE,)).or_named(key)

    def metric_paths(self, metric: str) -> tuple[str, ...]:
        """A metric stands in the row, and among its metrics."""
        return (metric, f"metrics.{metric}")

    def metrics(self, row: Row) -> Iterator[str]:
        """The names of the metrics."""
        return iter(_metrics(row))

    def attempt(self, told: Told) -> Attempt:
        """An error masks, for the reward is 0 then whatever the model did."""
        reward, error, completed, truncated, asked, metrics, *measured = told.values
        number, masked = own_reward(reward) if told.metric is None else chosen_reward(told.metric, told.chosen)
        if error:
            masked = f"error: {error_text(error, *_ERROR_TEXTS)}"
        elif completed is False:
            masked = "not completed"
        return Attempt(
            ids=told.fields,
            reward=None if masked else number,
            masked=masked,
            agent_error="is_truncated=true" if truncated is True and not masked else None,
            asked=asked,
            has_output=bool(metrics),
            number=told.number,
            offset=told.offset,
            settings=dict(self.settings),
            measures=measures_of(_MEASURES, measured),
        )

    def asked(self, row: Row) -> Any:
        """The prompt."""
        return row.get(ASKED)

    def output(self, row: Row) -> Output:
        """The metrics, and the answer that was expected."""
        found = _metrics(row)
        lines = [f"{name}: {text_of(value)}" for name, value in found.items()]
        answer = row.get("answer")
        lines += [f"expected answer: {text_of(answer)}"] if answer not in (None, "") else []
        return Output(None, (("metrics", "\n".join(lines)),) if found else (), self.output_fields)

    def transcript(self, row: Row) -> tuple[Step, ...] | None:
        """The prompt and the completion."""
        answered = row.get(ANSWERED)
        answered = [{"role": "assistant", "content": answered}] if isinstance(answered, str) else answered
        return (*steps_of(row.get(ASKED)), *steps_of(answered)) or None


def _metrics(row: Row) -> Mapping[str, Any]:
    metrics = row.get("metrics")
    return metrics if isinstance(metrics, Mapping) else {}
