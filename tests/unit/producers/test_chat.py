"""Messages of a chat as steps."""

from __future__ import annotations

from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.chat import content_text, steps_of
from nemo_gym.rollout_compare.schema import Step


@pytest.mark.parametrize(
    ("messages", "steps"),
    [
        ("hello", (Step("user", "hello"),)),
        ("", ()),
        (None, ()),
        ([7, {"role": "developer", "content": "be good"}], (Step("system", "be good"),)),
        ([{"role": "oracle", "content": None}], (Step("assistant"),)),
        ([{"role": 7, "content": "x"}], (Step("assistant", "x"),)),
        ([{"role": "tool", "tool_call_id": "gone", "content": "2"}], (Step("tool", "2"),)),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "ls", "arguments": '{"a":1}'}}, 7]}],
            (Step("assistant", "", "ls", '{"a":1}'),),
        ),
        ([{"role": "assistant", "tool_calls": [{"id": 1}]}], (Step("assistant", "", "?", ""),)),
    ],
)
def test_each_message_and_each_call_is_a_step(messages: Any, steps: tuple[Step, ...]) -> None:
    assert steps_of(messages) == steps


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        ({"x": 1}, '{"x":1}'),
        (
            ["a", {"text": "b"}, {"reasoning": "c"}, {"refusal": "no"}, {"type": "image"}, {}, 7],
            "a\nb\nc\nno\n(image)\n(part)",
        ),
    ],
)
def test_the_text_of_a_message_is_that_of_its_parts(content: Any, text: str) -> None:
    assert content_text(content) == text
