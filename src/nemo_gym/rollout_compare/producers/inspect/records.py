"""A sample that is shown: what its scorers said, and what was said and done in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.producers.chat import content_text, steps_of
from nemo_gym.rollout_compare.producers.inspect.facts import value_of
from nemo_gym.rollout_compare.producers.inspect.fields import OUTPUT_FIELDS
from nemo_gym.rollout_compare.schema import Output, Record, Row, Step, input_numbers, task_input, text_of

_ATTACHED = "attachment://"


def record_of(row: Row, wanted: Any, values: tuple[Any, ...]) -> Record:
    """What is wanted of a sample."""
    asked = row.get("input")
    return Record(
        values=values,
        task_input=task_input(asked) if wanted.task_input else None,
        input_number=input_numbers([asked])[0] if wanted.task_input else 0,
        output=_output(row) if wanted.output else None,
        row=row if wanted.row else None,
        transcript=_transcript(row) if wanted.transcript else None,
    )


def _output(row: Row) -> Output:
    """What all scorers said, the first one last, where a reader looks first; then the answer and the target."""
    scores = row.get("scores")
    if not isinstance(scores, Mapping):
        scores = {"score": row["score"]} if row.get("score") else {}
    said = [line for name in reversed(list(scores)) for line in _said(name, scores[name], len(scores) > 1)]
    if not said:
        return Output(None, (), OUTPUT_FIELDS)
    first = next(iter(scores.values()))
    answer = first.get("answer") if isinstance(first, Mapping) else None
    if answer is not None:
        said.append(f"answer: {content_text(answer)}")
    if row.get("target") is not None:
        said.append(f"target: {content_text(row['target'])}")
    text = _resolved("\n".join(said), row)
    return Output(None, ((OUTPUT_FIELDS[0], text),), OUTPUT_FIELDS)


def _said(name: str, score: Any, named: bool) -> Iterator[str]:
    explanation = score.get("explanation") if isinstance(score, Mapping) else None
    if named:
        yield f"{name} = {text_of(value_of(score))}"
    if isinstance(explanation, str) and explanation.strip():
        yield explanation.rstrip("\n")


def _transcript(row: Row) -> tuple[Step, ...]:
    return tuple(
        Step(step.role, _resolved(step.text, row), step.tool, step.arguments, step.output)
        for step in steps_of(row.get("messages"))
    )


def _resolved(text: str, row: Row) -> str:
    """A text that stands apart from the messages, where one names it."""
    attachments = row.get("attachments")
    if text.startswith(_ATTACHED) and isinstance(attachments, Mapping):
        found = attachments.get(text.removeprefix(_ATTACHED))
        return found if isinstance(found, str) else text
    return text
