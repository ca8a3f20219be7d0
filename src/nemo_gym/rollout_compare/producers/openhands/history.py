"""The history of an OpenHands row as the steps of a transcript, by whichever of its versions it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.producers.chat import content_text
from nemo_gym.rollout_compare.schema import Step, text_of

_USER, _ASSISTANT = "user", "assistant"
_SPOKEN = ("message", "think", "finish")


def steps_of(history: Any, asked: Any) -> tuple[Step, ...]:
    """The steps of a history: events of its present version, or the actions and observations of 2024.

    Args:
        history: The events, or pairs of an action and what was observed.
        asked: What the system was asked, for a history that begins with what it did.
    """
    events = [event for event in _flat(history) if isinstance(event, Mapping)]
    steps = tuple(step for event in events if (step := _step(event)))
    spoken = any(step.role == _USER for step in steps)
    return steps if spoken or not steps or not isinstance(asked, str) else (Step(_USER, asked), *steps)


def _flat(history: Any) -> Iterator[Any]:
    for one in history if isinstance(history, list) else ():
        yield from one if isinstance(one, list) else (one,)


def _step(event: Mapping[str, Any]) -> Step | None:
    """One event, None for one that is neither said, done nor observed."""
    kind = event.get("kind")
    if isinstance(kind, str):
        return _of_kind(kind, event)
    source = _USER if event.get("source") == _USER else _ASSISTANT
    action, arguments = event.get("action"), event.get("args")
    arguments = arguments if isinstance(arguments, Mapping) else {}
    if isinstance(action, str):
        said = text_of(arguments.get("content") or arguments.get("thought") or event.get("message") or "")
        if action in _SPOKEN:
            return Step(source, said)
        done = {name: value for name, value in arguments.items() if name != "thought"}
        return Step(_ASSISTANT, text_of(arguments.get("thought") or ""), action, text_of(done))
    if "observation" in event:
        return Step("tool", output=content_text(event.get("content")))
    return None


def _of_kind(kind: str, event: Mapping[str, Any]) -> Step | None:
    source = _USER if event.get("source") == _USER else _ASSISTANT
    if kind == "SystemPromptEvent":
        return Step("system", content_text(_content(event.get("system_prompt"))))
    if kind == "MessageEvent":
        return Step(source, content_text(_content(event.get("llm_message"))))
    if kind == "ActionEvent":
        tool, call = event.get("tool_name"), event.get("tool_call")
        inner = call if isinstance(call, Mapping) else {}
        arguments = inner.get("arguments") or event.get("action") or ""
        return Step(_ASSISTANT, content_text(event.get("thought")), text_of(tool or "?"), text_of(arguments))
    if kind in ("ObservationEvent", "AgentErrorEvent"):
        seen = event.get("observation") or event.get("error")
        return Step("tool", output=content_text(_content(seen)))
    return None


def _content(value: Any) -> Any:
    """What a message or an observation holds: its content, its output, or itself."""
    if not isinstance(value, Mapping):
        return value
    return next((value[name] for name in ("content", "output", "text") if value.get(name)), "")
