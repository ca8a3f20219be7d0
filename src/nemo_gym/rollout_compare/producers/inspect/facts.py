"""What a sample says of its result: the score that is chosen among several, and why it does not count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from nemo_gym.rollout_compare.producers.inspect.fields import GRADES, INSTRUMENT_FAILURES, WORDS, Head, Sample
from nemo_gym.rollout_compare.producers.rewards import NO_RESULT, number_of
from nemo_gym.rollout_compare.producers.scores import last_line, shown, there_are, to_choose_from, without_number
from nemo_gym.rollout_compare.producers.verdicts import error_text
from nemo_gym.rollout_compare.schema import CompareInputError, text_of

_ONLY_SCORE = "score"


class Choice(Struct, frozen=True):
    """Which of a sample's scores is the reward.

    Attributes:
        asked: What the user named: a scorer, or a scorer and the name of one of its values; None for the main one.
        scorer: The scorer that the log calls its main one, None where it calls none so: then a sample's first.
        value: The name of the main one among its values, None where it is not said.
    """

    asked: str | None = None
    scorer: str | None = None
    value: str | None = None


class Facts(NamedTuple):
    """What a sample says of its result. `reward` is None unless it is a finite number."""

    reward: float | None
    masked: str | None
    failure_kind: str | None


def choice_of(head: Head, asked: str | None) -> Choice:
    """The choice that a log makes, unless the user made one."""
    results = head.results if isinstance(head.results, dict) else {}
    headline = results.get("headline")
    if asked is not None or not isinstance(headline, dict):
        return Choice(asked)
    scorer, value = headline.get("scorer"), headline.get("score")
    return Choice(None, scorer if isinstance(scorer, str) else None, value if isinstance(value, str) else None)


def scores_of(sample: Sample) -> Mapping[str, Any]:
    """A sample's scores by their names; older logs have one without a name."""
    if sample.scores is None and sample.score is not None:
        return {_ONLY_SCORE: sample.score}
    return sample.scores or {}


def facts_of(sample: Sample, choice: Choice) -> Facts:
    """What a sample says of its result."""
    kind = _failure_kind(sample)
    if sample.error:
        return Facts(None, f"error: {error_text(sample.error, 'message')}", None)
    if sample.invalidation:
        return Facts(None, f"invalidated: {_reason_of(sample.invalidation)}", None)
    scores = scores_of(sample)
    if not scores:
        return Facts(None, NO_RESULT if sample.completed is False else "no score", None)
    name, value, why = _chosen(scores, choice)
    if why:
        return Facts(None, why, None)
    reason = _field(scores.get(name.split(".")[0], scores.get(name)), "reason")
    if reason in INSTRUMENT_FAILURES:
        return Facts(None, str(reason), None)
    reward = reward_of(value)
    if reward is None:
        return Facts(None, _why_none(name, value), None)
    return Facts(reward, None, kind or (str(reason) if reason else None))


def reward_of(value: Any) -> float | None:
    """The number that a score's value stands for, by Inspect's own rule; None where it stands for none."""
    if isinstance(value, str):
        if value in GRADES:
            return GRADES[value]
        if value.lower() in WORDS:
            return WORDS[value.lower()]
    return number_of(value)


def _why_none(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return f"{name} gave no score"
    return without_number(name, value)


def _failure_kind(sample: Sample) -> str | None:
    limit = _field(sample.limit, "type") or sample.limit
    return f"limit: {limit}" if isinstance(limit, str) and limit else None


def _reason_of(invalidation: Any) -> str:
    return last_line(text_of(_field(invalidation, "reason") or "no reason given"))


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def value_of(score: Any) -> Any:
    """A score's value."""
    return score.get("value") if isinstance(score, dict) else score


def _chosen(scores: Mapping[str, Any], choice: Choice) -> tuple[str, Any, str | None]:
    """The name of the chosen score, its value, and why there is none."""
    if choice.asked is not None:
        return _asked(scores, choice.asked)
    first = choice.scorer if choice.scorer in scores else next(iter(scores))
    assert first is not None
    value = value_of(scores[first])
    if not isinstance(value, dict):
        return first, value, None
    key = choice.value if choice.value in value else None
    if key is None and len(value) == 1:
        (key,) = value
    if key is None:
        return first, None, f"{first} has several values, none of them the main one: {', '.join(value) or 'none'}"
    return f"{first}.{key}", value[key], None


def _asked(scores: Mapping[str, Any], asked: str) -> tuple[str, Any, str | None]:
    if asked in scores and not isinstance(value_of(scores[asked]), dict):
        return asked, value_of(scores[asked]), None
    for name, score in scores.items():
        value = value_of(score)
        key = asked.removeprefix(f"{name}.")
        if key != asked and isinstance(value, dict) and key in value:
            return asked, value[key], None
    return asked, None, f"no score {asked} {there_are(names_of(scores))}"


def names_of(scores: Mapping[str, Any]) -> list[str]:
    """What can be chosen among scores: the names of scorers, and of their values where they have several."""
    found: list[str] = []
    for name, score in scores.items():
        value = value_of(score)
        found += [f"{name}.{key}" for key in value] if isinstance(value, dict) else [name]
    return found


def check_choice(samples: Sequence[Sample], choice: Choice) -> None:
    """See to it that the reward can be told on some of the samples that have scores.

    Raises:
        CompareInputError: No sample has the score that was asked for, or none has a main one; the text lists those that
            there are, and does not say in which log.
    """
    scored = [scores for sample in samples if not sample.error and (scores := scores_of(sample))]
    if not scored or any(_chosen(scores, choice)[2] is None for scores in scored):
        return
    what = (
        f"no sample has the score {shown(choice.asked)}" if choice.asked else "none of several scores is the main one"
    )
    names = (name for scores in scored for name in names_of(scores))
    raise CompareInputError(f"{what}; {to_choose_from(names, 'sample')}")
