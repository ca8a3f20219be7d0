"""Trajectories to steps of a transcript."""

from __future__ import annotations

from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.atif import steps_of
from nemo_gym.rollout_compare.schema import Step


def steps(*given: Any) -> list[Step]:
    return list(steps_of({"steps": list(given)}))


def test_who_spoke() -> None:
    said = [{"source": source, "message": source} for source in ("system", "user", "agent")]
    assert steps(*said) == [Step("system", "system"), Step("user", "user"), Step("assistant", "agent")]


def test_a_tool_is_called_with_arguments_and_gives_output() -> None:
    call = {"tool_call_id": "1", "function_name": "bash", "arguments": {"keystrokes": "ls\n"}}
    result = {"source_call_id": "1", "content": "calc.py"}
    step = {"source": "agent", "message": "I look.", "tool_calls": [call], "observation": {"results": [result]}}
    assert steps(step) == [Step("assistant", "I look.", "bash", '{"keystrokes":"ls\\n"}', "calc.py")]


def test_several_tools_are_several_steps_each_with_its_own_output() -> None:
    calls = [{"tool_call_id": name, "function_name": "bash", "arguments": name} for name in "ab"]
    results = [{"source_call_id": "b", "content": "of b"}, {"content": "of nobody"}, {"source_call_id": "c"}]
    step = {"source": "agent", "message": "both", "tool_calls": calls, "observation": {"results": results}}
    assert steps(step) == [
        Step("assistant", "both", "bash", "a", "of nobody"),
        Step("assistant", "", "bash", "b", "of b"),
    ]


def test_output_without_a_call_is_of_the_step() -> None:
    results = {"results": [{"content": "one"}, {"content": [{"text": "two"}]}]}
    assert steps({"source": "agent", "observation": results}) == [Step("assistant", output="one\ntwo")]


@pytest.mark.parametrize("trajectory", [{}, {"steps": None}, {"steps": [1, "x"]}])
def test_what_is_no_step_is_left_out(trajectory: dict[str, Any]) -> None:
    assert list(steps_of(trajectory)) == []


@pytest.mark.parametrize(
    "step",
    [{"tool_calls": 1}, {"tool_calls": [1]}, {"observation": 1}, {"observation": {"results": 1}}, {"source": 1}],
)
def test_what_is_not_as_it_should_be_does_not_matter(step: dict[str, Any]) -> None:
    assert steps(step) == [Step("assistant")]


def test_a_tool_without_a_name_has_none() -> None:
    assert steps({"source": "agent", "tool_calls": [{}]}) == [Step("assistant", arguments="")]
