"""One result: its reward, why it does not count, what tells its task apart, what the assertions said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from nemo_gym.rollout_compare.producers.chat import content_text, steps_of
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.measures import measures_of as costs_of
from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import last_line, there_are, without_number
from nemo_gym.rollout_compare.schema import Output, Record, Row, Step, Wanted, input_numbers, task_input, text_of

#: The fields that may name the task; with several prompts or providers these are part of what is named.
DESCRIPTION, CASE_ID, VARS = "testCase.description", "testCase.metadata.testCaseId", "vars"
INPUT = "prompt.raw"
OUTPUT_FIELDS = ("gradingResult.reason", "gradingResult.componentResults", "response.output")

SCORE = "score"
_NAMED = "namedScores"
_ERROR = 2
_COSTS = ("input-tokens", "cached-tokens", "output-tokens", "seconds", "dollars")


class Result(Struct, frozen=True, rename="camel"):
    """What is read of every result."""

    test_case: Any = None
    vars: Any = None
    prompt: Any = None
    prompt_id: Any = None
    prompt_idx: Any = None
    provider: Any = None
    success: Any = None
    score: Any = None
    failure_reason: Any = None
    error: Any = None
    grading_result: Any = None
    named_scores: Any = None
    latency_ms: Any = None
    cost: Any = None
    token_usage: Any = None


class Facts(NamedTuple):
    """What a result says. `reward` is None unless it is a finite number."""

    reward: float | None
    masked: str | None


def facts_of(result: Result, reward: str | None) -> Facts:
    """What a result says: its score, or the field or named score that was asked for."""
    if _is_error(result):
        return Facts(None, f"error: {last_line(text_of(result.error or 'no reason given'))}")
    name = reward or SCORE
    value = score_of(result, name)
    if value is None and reward is None:  # older results of assertions that give no score
        name, value = "success", result.success
    if value is None:
        return Facts(None, f"no score {reward} {there_are(names_of(result))}" if reward else "no score")
    number = number_of(value)
    return Facts(number, None if number is not None else without_number(name, value))


def _is_error(result: Result) -> bool:
    """Whether there is nothing to measure. A failed assertion leaves a text in `error` too, but also a grade."""
    if result.failure_reason is not None:
        return bool(result.failure_reason == _ERROR)
    return bool(result.error) and not isinstance(result.grading_result, Mapping)


def score_of(result: Result, name: str) -> Any:
    """The value of a field or a named score."""
    if name in (SCORE, "success"):
        return result.score if name == SCORE else result.success
    named = result.named_scores if isinstance(result.named_scores, Mapping) else {}
    plain = name.removeprefix(f"{_NAMED}.")
    return named[plain] if plain in named else dig({"gradingResult": result.grading_result}, name.split("."))


def names_of(result: Result) -> list[str]:
    """What can be chosen as the reward."""
    named = result.named_scores if isinstance(result.named_scores, Mapping) else {}
    own = [name for name in (SCORE, "success") if score_of(result, name) is not None]
    return [*own, *(f"{_NAMED}.{name}" for name in named)]


def asked_of(result: Result) -> Any:
    """What the system was asked: the prompt as it was sent."""
    prompt = result.prompt
    return prompt.get("raw") if isinstance(prompt, Mapping) else prompt


def provider_of(result: Result) -> str:
    """What a result's provider is called: its label, else its id."""
    provider = result.provider
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    return text_of(provider or "?")


def prompt_of(result: Result) -> str:
    """What tells a result's prompt apart: its id, else its label, else its text before the variables are put in."""
    prompt = result.prompt if isinstance(result.prompt, Mapping) else {}
    return text_of(result.prompt_id or prompt.get("label") or prompt.get("display") or result.prompt_idx or "?")


def named_by(result: Result, field: str) -> Any:
    """What a field says of a result's task; None where it says nothing."""
    if field == VARS:
        return text_of(result.vars) if result.vars else None
    return dig({"testCase": result.test_case}, field.split("."))


def measures_of(result: Result) -> dict[str, float]:
    """What a result cost."""
    usage = result.token_usage if isinstance(result.token_usage, Mapping) else {}
    counts = (usage.get("prompt"), usage.get("cached"), usage.get("completion"))
    found = costs_of(_COSTS, (*counts, result.latency_ms, result.cost))
    return found | ({"seconds": found["seconds"] / 1000} if "seconds" in found else {})


def record_of(row: Row, result: Result, wanted: Wanted) -> Record:
    """What is wanted of a result."""
    asked = asked_of(result)
    return Record(
        values=tuple(named_by(result, field) for field in wanted.fields),
        task_input=task_input(asked) if wanted.task_input else None,
        input_number=input_numbers([asked])[0] if wanted.task_input else 0,
        output=_output(row, result) if wanted.output else None,
        row=row if wanted.row else None,
        transcript=_transcript(row, asked) if wanted.transcript else None,
    )


def _output(row: Row, result: Result) -> Output:
    """Why the assertions failed, one by one where they are recorded, after the answer they were about."""
    grade = result.grading_result if isinstance(result.grading_result, Mapping) else {}
    listed = grade.get("componentResults")
    parts = [part for part in listed if isinstance(part, Mapping)] if isinstance(listed, list) else []
    failed = [part for part in parts if part.get("pass") is False]
    answer = _answer(row)
    said = [f"answer: {answer}"] if answer else []
    said += [f"{_assertion(part)}: {part.get('reason')}" for part in failed]
    if isinstance(grade.get("reason"), str) and not failed:
        said.append(grade["reason"])
    tests = _tests(parts)
    return Output(None, ((OUTPUT_FIELDS[0], "\n".join(said)),) if said else (), OUTPUT_FIELDS, tests=tests or None)


def _tests(parts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Each assertion as a test; of several of one name the worst."""
    tests: dict[str, str] = {}
    for part in parts:
        name = _assertion(part)
        tests[name] = "passed" if part.get("pass") is True and tests.get(name) != "failed" else "failed"
    return tests


def _assertion(part: Mapping[str, Any]) -> str:
    assertion = part.get("assertion")
    if not isinstance(assertion, Mapping):
        return "assertion"
    value = assertion.get("value")
    name = text_of(assertion.get("metric") or assertion.get("type") or "assertion")
    return name if value is None else f"{name} {' '.join(text_of(value).split())[:_SHOWN_CHARACTERS]}"


_SHOWN_CHARACTERS = 60


def _answer(row: Row) -> str:
    response = row.get("response")
    output = response.get("output") if isinstance(response, Mapping) else response
    return content_text(output)


def _transcript(row: Row, asked: Any) -> tuple[Step, ...]:
    answer = _answer(row)
    return (*steps_of(_messages(asked)), *([Step("assistant", answer)] if answer else ()))


def _messages(asked: Any) -> Any:
    """A prompt as messages, where its text is a list of them."""
    import json

    if isinstance(asked, str) and asked.lstrip().startswith("["):
        try:
            found = json.loads(asked)
        except (ValueError, RecursionError):
            return asked
        return found if all(isinstance(one, Mapping) and "role" in one for one in found) else asked
    return asked
