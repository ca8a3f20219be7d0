"""Trajectories in the Agent Trajectory Interchange Format, which several producers write, to steps of a transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.producers.chat import content_text
from nemo_gym.rollout_compare.schema import Step

_ROLES = {"agent": "assistant"}


def steps_of(trajectory: Mapping[str, Any]) -> Iterator[Step]:
    """The steps of a trajectory, of any version from 1.0 to 1.8; what is not as it should be is left out."""
    steps = trajectory.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, Mapping):
            yield from _steps(step)


def _steps(step: Mapping[str, Any]) -> Iterator[Step]:
    """A step of the agent is one for each tool that it calls, the first of them with what it said."""
    source = step.get("source")
    role = _ROLES.get(source, source) if isinstance(source, str) else "assistant"
    text = content_text(step.get("message"))
    calls = step.get("tool_calls")
    calls = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    results = _results(step)
    if not calls:
        yield Step(role, text, output="\n".join(output for _, output in results) or None)
    for number, call in enumerate(calls):
        own = [output for name, output in results if name == call.get("tool_call_id") or (name is None and not number)]
        name = call.get("function_name")
        yield Step(
            role,
            text if not number else "",
            tool=name if isinstance(name, str) else None,
            arguments=content_text(call.get("arguments")),
            output="\n".join(own) or None,
        )


def _results(step: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """What a step's tools gave: for each the call that it answers, where that is said, and the text."""
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, Mapping) else None
    found = [one for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []
    return [(one.get("source_call_id"), content_text(one.get("content"))) for one in found]
