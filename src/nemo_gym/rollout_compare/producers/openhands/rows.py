"""A row of OpenHands' benchmarks: one attempt at an instance, with its whole history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import measures_of
from nemo_gym.rollout_compare.producers.openhands.history import steps_of
from nemo_gym.rollout_compare.producers.records import LOOKED_AT, Told
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import numbers_in
from nemo_gym.rollout_compare.producers.verdicts import chosen_reward, error_text
from nemo_gym.rollout_compare.schema import Fields, Output, Row, Step, text_of

INSTANCE = "instance_id"
_OLD_INSTANCE = "id"  # of 2024, where it may be the only one
_RESULT = "test_result"

#: Where a verdict may stand, best first.
VERDICTS = (
    "test_result.report.resolved",
    "report.resolved",
    "test_result.resolved",
    "test_result.passed",
    "test_result.result",
    "test_result.success",
    "test_result.score",
)
#: What was judged, in the order of the verdicts' paths; and what an attempt was asked.
_REPORTS = ("test_result.report", "report")
ASKED = ("instance.problem_statement", "instruction")
#: What a report says of a patch that failed, worst first.
_EMPTY, _TIMEOUT, _NOT_EVALUATED = "empty_generation", "test_timeout", "error_eval"
_KINDS = (_EMPTY, _TIMEOUT, "failed_apply_patch")
_OUTPUTS = ("test_result.test_output", "test_output", "test_result.eval_output", *_REPORTS, _RESULT)

_MEASURES = {
    "dollars": "metrics.accumulated_cost",
    "input-tokens": "metrics.accumulated_token_usage.prompt_tokens",
    "output-tokens": "metrics.accumulated_token_usage.completion_tokens",
    "cached-tokens": "metrics.accumulated_token_usage.cache_read_tokens",
    "reasoning-tokens": "metrics.accumulated_token_usage.reasoning_tokens",
}
_SETTINGS = {
    "model": ("metadata.llm.model", "metadata.llm_config.model"),
    "temperature": ("metadata.llm.temperature", "metadata.llm_config.temperature"),
    "agent": ("metadata.agent_class",),
    "data set": ("metadata.dataset",),
    "max iterations": ("metadata.max_iterations",),
}
_SETTING_PATHS = tuple(path for paths in _SETTINGS.values() for path in paths)


class RowReader(Struct, frozen=True):
    """What a row says.

    Attributes:
        verdict: Where the run's rows have their verdict, None where the first have none.
        failed: Whether the rows are those of the file of errors.
    """

    verdict: str | None
    failed: bool = False

    output_fields: tuple[str, ...] = _OUTPUTS

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every row."""
        verdict = self.verdict or VERDICTS[0]
        return (verdict, "error", INSTANCE, *_REPORTS, *ASKED, *_MEASURES.values(), *_SETTING_PATHS)

    @property
    def problem(self) -> str | None:
        """Why a metric has to be chosen."""
        if self.verdict or self.failed:
            return None
        return "no row has a verdict (for SWE-bench it is in output.swebench_eval.jsonl or output.report.json)"

    def fields(self, key: str | None) -> Fields:
        """The instance's id."""
        return Fields((INSTANCE, _OLD_INSTANCE), input=ASKED[0]).or_named(key)

    def metric_paths(self, metric: str) -> tuple[str, ...]:
        """A metric by its whole path, or by its path in the result."""
        return (metric, f"{_RESULT}.{metric}")

    def metrics(self, row: Row) -> Iterator[str]:
        """Every number in the result."""
        yield from numbers_in(row.get(_RESULT), _RESULT)

    def attempt(self, told: Told) -> Attempt:
        """An error masks; an empty patch counts 0, and a test that took too long is doubtful."""
        verdict, error, instance, *rest = told.values
        report = next((one for one in rest[: len(_REPORTS)] if isinstance(one, Mapping)), {})
        rest = rest[len(_REPORTS) :]
        asked = next((text for text in rest[: len(ASKED)] if isinstance(text, str) and text), None)
        rest = rest[len(ASKED) :]
        number, masked = chosen_reward(
            told.metric or self.verdict or "verdict", told.chosen if told.metric else verdict
        )
        if error:
            masked = f"error: {error_text(error, 'message', 'error')}"
        elif report.get(_NOT_EVALUATED) or self.failed:
            masked = "error: the evaluation failed" if report.get(_NOT_EVALUATED) else "error"
        kind = next((name for name in _KINDS if report.get(name)), None)
        return Attempt(
            ids=told.fields,
            reward=None if masked else number,
            masked=masked,
            agent_error=f"{_TIMEOUT}=true" if kind == _TIMEOUT and not masked else None,
            failure_kind=None if masked else kind,
            task_index=told.fields.get(INSTANCE) if instance is None else instance,
            attempt=1,  # a row stands for its instance: what failed before it no longer counts
            asked=asked,
            has_output=bool(report),
            number=told.number,
            offset=told.offset,
            settings=_settings(rest[len(_MEASURES) :]),
            measures=measures_of(_MEASURES, rest[: len(_MEASURES)]),
        )

    def asked(self, row: Row) -> Any:
        """The problem, else the whole instruction."""
        found = (dig(row, path.split(".")) for path in ASKED)
        return next((text for text in found if isinstance(text, str) and text), None)

    def output(self, row: Row) -> Output:
        """The output of the tests where it was kept, else the report."""
        found = [(path, dig(row, path.split("."))) for path in _OUTPUTS]
        texts = [(path, _text(value)) for path, value in found if value]
        return Output(None, tuple(texts), self.output_fields)

    def transcript(self, row: Row) -> tuple[Step, ...] | None:
        """The events of the history."""
        return steps_of(row.get("history"), self.asked(row)) or None


def reader_of(rows: Iterator[Row]) -> RowReader:
    """The reader for a run, by where its first rows have a verdict."""
    first = list(islice(rows, LOOKED_AT))
    found = (path for path in VERDICTS if any(number_of(dig(row, path.split("."))) is not None for row in first))
    return RowReader(next(found, None) if first else VERDICTS[0])


def _settings(values: list[Any]) -> dict[str, Any]:
    by_path = dict(zip(_SETTING_PATHS, values, strict=True))
    found = {
        name: next((by_path[path] for path in paths if by_path[path] is not None), None)
        for name, paths in _SETTINGS.items()
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(value: Any) -> str:
    if not isinstance(value, Mapping):
        return text_of(value)
    return "\n".join(f"{name}: {text_of(inner)}" for name, inner in value.items() if name != "git_patch")
