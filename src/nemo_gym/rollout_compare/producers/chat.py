"""Messages of a chat as the steps of a transcript, whichever producer recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.schema import Step, text_of

_ROLES = {"system": "system", "developer": "system", "user": "user", "human": "user", "tool": "tool"}
_ASSISTANT = "assistant"
_TEXTS = ("text", "reasoning", "refusal")


def steps_of(messages: Any) -> tuple[Step, ...]:
    """The steps that messages with `role`, `content` and perhaps `tool_calls` make; a text alone is one of the user.

    Each call is a step of its own, the first one with what was said along with it. What a call gave is its output where
    the answer names the call, else a step of its own.
    """
    if isinstance(messages, str):
        return (Step("user", messages),) if messages else ()
    if not isinstance(messages, list | tuple):
        return ()
    known = [message for message in messages if isinstance(message, Mapping)]
    calls = {call for message in known for call in map(_id_of, _calls(message)) if call is not None}
    given = {
        message["tool_call_id"]: content_text(message.get("content"))
        for message in known
        if isinstance(message.get("tool_call_id"), str) and message["tool_call_id"] in calls
    }
    return tuple(step for message in known for step in _steps(message, given))


def _steps(message: Mapping[str, Any], given: Mapping[str, str]) -> Iterator[Step]:
    if message.get("tool_call_id") in given:
        return
    role = message.get("role")
    text = content_text(message.get("content"))
    calls = _calls(message)
    if not calls:
        yield Step(_ROLES.get(role, _ASSISTANT) if isinstance(role, str) else _ASSISTANT, text)
    for place, call in enumerate(calls):
        name, arguments = _called(call)
        output = given.get(_id_of(call) or "")
        yield Step(_ASSISTANT, "" if place else text, name, arguments, output)


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _id_of(call: Mapping[str, Any]) -> str | None:
    name = call.get("id")
    return name if isinstance(name, str) else None


def _called(call: Mapping[str, Any]) -> tuple[str, str]:
    """The name and the arguments of a call, which stand in it or in its `function`."""
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else {"name": function, **call}
    return text_of(inner.get("name") or "?"), text_of(inner.get("arguments") or "")


def content_text(content: Any) -> str:
    """The text of a message's content: a string, or the texts of its parts; a part without text is named."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return "" if content is None else text_of(content)
    return "\n".join(_part_texts(content))


def _part_texts(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            text = next((part[name] for name in _TEXTS if isinstance(part.get(name), str)), None)
            yield f"({text_of(part.get('type') or 'part')})" if text is None else text
