"""What SWE-agent and mini-swe-agent leave of each instance: its trajectory, as steps of a transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nemo_gym.rollout_compare.producers.chat import content_text, steps_of
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.schema import Step, text_of

_PLACES = ("{0}/{0}.traj.json", "{0}/{0}.traj", "trajs/{0}/{0}.traj.json", "trajs/{0}/{0}.traj", "trajs/{0}.traj")
_MORE = ("trajs/{0}.traj.json", "trajs/{0}.json", "{0}.traj.json", "{0}.traj")


def steps_in(folder: RunFolder, instance: str) -> tuple[Step, ...] | None:
    """The steps of an instance's trajectory beside the run's report; None where there is none."""
    if "/" in instance:
        return None
    for place in (*_PLACES, *_MORE):
        name = place.format(instance)
        if folder.file(name):
            return tuple(_steps(folder.read_object(name))) or None
    return None


def _steps(document: Mapping[str, Any]) -> Iterator[Step]:
    """The messages of mini-swe-agent, or the thoughts, actions and observations of SWE-agent."""
    messages = document.get("messages")
    if isinstance(messages, list):
        yield from steps_of(messages)
        return
    history = document.get("history")
    before = [one for one in (history if isinstance(history, list) else ()) if isinstance(one, Mapping)]
    for one in before:
        if one.get("role") not in ("system", "user"):
            break
        yield Step(str(one["role"]), content_text(one.get("content")))
    trajectory = document.get("trajectory")
    for one in trajectory if isinstance(trajectory, list) else ():
        if isinstance(one, Mapping):
            action, seen = text_of(one.get("action") or ""), one.get("observation")
            yield Step("assistant", text_of(one.get("thought") or ""), "bash", action.strip(), content_text(seen))
