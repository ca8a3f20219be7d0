"""A row of a table: what its columns say."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.chat import steps_of
from nemo_gym.rollout_compare.producers.records import Told, value_at
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import MOST_LISTED, last_line, shown
from nemo_gym.rollout_compare.producers.tables.columns import Columns, candidates
from nemo_gym.rollout_compare.producers.verdicts import Verdict
from nemo_gym.rollout_compare.schema import CompareInputError, Fields, Output, Row, Step, text_of
from nemo_gym.rollout_compare.text import first_of

#: What stands in a cell where there is nothing.
_NOTHING = frozenset({"", "na", "n/a", "nan", "null", "none"})
_TRUTHS = {"true": 1.0, "false": 0.0}


class TableReader(Struct, frozen=True):
    """What a row says.

    Attributes:
        columns: Which column says what.
        typed: Whether cells have types, as in JSON; else all are text.
    """

    columns: Columns
    typed: bool

    @property
    def paths(self) -> tuple[str, ...]:
        """The columns that are read of every row."""
        one = self.columns
        named = (one.score, one.error, one.mask, one.attempt)
        measures = (column for _, column in one.measures)
        return (*(name or _ABSENT for name in named), *one.asked, *one.settings, *measures, *one.outputs)

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The columns that may hold what the verifier said."""
        return self.columns.outputs or ("test_output", "explanation")

    @property
    def problem(self) -> str | None:
        """Why a column has to be chosen."""
        if self.columns.score is not None:
            return None
        return "several columns may be the reward" if self.columns.scores else "no column is called like a score"

    def fields(self, key: str | None) -> Fields:
        """The columns that may name the task."""
        asked = self.columns.asked[0] if self.columns.asked else "task input"
        more = self.columns.more_ids
        ids = self.columns.ids or (() if more else ("id",))
        return Fields(ids, more, input=asked, positions=self.columns.positions).or_named(key)

    def metric_paths(self, metric: str) -> tuple[str, ...]:
        """The column by its name.

        Raises:
            CompareInputError: The table has no such column.
        """
        known = self.columns.known
        if known is not None and metric not in known and metric.partition(".")[0] not in known:
            named = first_of([name for name in known if name], MOST_LISTED)
            raise CompareInputError(f"no column is called {metric!r}; there are {named}")
        return (metric,)

    def metrics(self, row: Row) -> Iterator[str]:
        """The columns that could be meant."""
        return candidates(row, self.columns)

    def attempt(self, told: Told) -> Attempt:
        """A row without a score does not count; an error makes a score doubtful."""
        score, error, mask, attempt, *rest = told.values
        one = self.columns
        asked = _asked(one.asked, rest[: len(one.asked)])
        rest = rest[len(one.asked) :]
        settings = {name: value for name, value in zip(one.settings, rest, strict=False) if not _is_nothing(value)}
        rest = rest[len(one.settings) :]
        number, masked = self._reward(told, score)
        said = None if _is_nothing(error) else last_line(text_of(error))
        if _is_true(mask):
            masked = one.mask
        elif masked and said:
            masked = f"error: {said}"
        return Attempt(
            ids={name: _id(value) for name, value in told.fields.items()},
            reward=None if masked else number,
            masked=masked,
            agent_error=f"{one.error}={said}" if said and not masked else None,
            attempt=_id(attempt),
            asked=asked,
            has_output=any(not _is_nothing(value) for value in rest[len(one.measures) :]),
            number=told.number,
            offset=told.offset,
            settings=settings,
            measures=_measures(one, rest),
        )

    def _reward(self, told: Told, score: Any) -> Verdict:
        name = told.metric or self.columns.score or ""
        value = told.chosen if told.metric else score
        if _is_nothing(value):
            return None, f"no {name}"
        if isinstance(value, str) and not (self.typed and told.metric is None):
            number = _TRUTHS.get(value.strip().lower(), number_of(value))
        else:
            number = None if isinstance(value, str) else number_of(value)
        if number is not None:
            return number, None
        if _is_infinite(value):
            return None, f"non-finite {name} ({value})"
        raise CompareInputError(f"{name} {shown(value)} is not a number")

    def asked(self, row: Row) -> Any:
        """What the system was asked."""
        return _asked(self.columns.asked, [value_at(row, name) for name in self.columns.asked])

    def output(self, row: Row) -> Output:
        """What the verifier said, as the columns have it."""
        found = ((name, value_at(row, name)) for name in self.columns.outputs)
        texts = tuple((name, text_of(value)) for name, value in found if not _is_nothing(value))
        return Output(None, texts, self.output_fields)

    def transcript(self, row: Row) -> tuple[Step, ...] | None:
        """What was asked, and what was answered."""
        answers = [value for name in self.columns.answers if not _is_nothing(value := value_at(row, name))]
        if not answers:
            return None
        answer = answers[0]
        messages = isinstance(answer, list) and all(isinstance(one, dict) and "role" in one for one in answer)
        steps = steps_of(answer) if messages else (Step("assistant", text_of(answer)),)
        return (*steps_of(self.asked(row)), *steps)


#: A name that no column has.
_ABSENT = "(no such column)"


def _is_nothing(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) < 5 and value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, float) and isnan(value))


def _is_infinite(value: Any) -> bool:
    try:
        return isinstance(value, float | str) and abs(float(value)) == float("inf")
    except ValueError:
        return False


def _is_true(value: Any) -> bool:
    number = _TRUTHS.get(value.strip().lower(), number_of(value)) if isinstance(value, str) else number_of(value)
    return bool(number)


def _id(value: Any) -> Any:
    """A name of a task: of a whole number that became a double because others are missing the whole number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if value == "" or (isinstance(value, float) and isnan(value)) else value


def _asked(columns: tuple[str, ...], values: list[Any]) -> Any:
    """Messages or a text; of several columns their texts with their names."""
    if len(values) == 1:
        (value,) = values
        is_messages = isinstance(value, list) and any(isinstance(one, dict) and "role" in one for one in value)
        return value if value is None or isinstance(value, str) or is_messages else text_of(value)
    filled = [(name, value) for name, value in zip(columns, values, strict=True) if not _is_nothing(value)]
    return "\n".join(f"{name}: {text_of(value)}" for name, value in filled) or None


def _measures(columns: Columns, values: list[Any]) -> dict[str, float]:
    numbers = ((measure, number_of(value)) for (measure, _), value in zip(columns.measures, values, strict=False))
    return {measure: number for measure, number in numbers if number is not None and number >= 0}
