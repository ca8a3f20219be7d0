"""What the agent did, as the items of a response tell it."""

from __future__ import annotations

from typing import Any

import pytest

from nemo_gym.rollout_compare import Step, transcript_of
from nemo_gym.rollout_compare.producers.steps import MOST_CHARACTERS, MOST_STEPS


def steps(items: Any, asked: Any = None) -> list[Step]:
    found = transcript_of({"responses_create_params": {"input": asked}, "response": {"output": items}})
    assert found is not None
    return list(found)


def test_messages_calls_and_what_they_gave() -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "First look."}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "1", "name": "bash", "arguments": '{"command": "ls"}'},
        {"type": "function_call_output", "call_id": "1", "output": "a.txt"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done."}, {"type": "image"}],
        },
    ]
    asked = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "List."}]
    assert steps(items, asked) == [
        Step("system", "Be brief."),
        Step("user", "List."),
        Step("reasoning", "First look."),
        Step("assistant", "", "bash", '{"command": "ls"}', "a.txt"),
        Step("assistant", "Done.\n(image)"),
    ]


@pytest.mark.parametrize(
    ("item", "step"),
    [
        ({"type": "web_search_call", "action": {"q": "x"}}, Step("assistant", "", "web_search", '{"q":"x"}')),
        ({"type": "function_call", "name": "", "arguments": None}, Step("assistant", "", "function", "")),
        ({"type": "function_call_output", "call_id": "9", "output": {"a": 1}}, Step("tool", '{"a":1}')),
        ({"type": "function_call_output", "output": [{"text": "a"}, "b"]}, Step("tool", "a\nb")),
        ({"type": "function_call_output", "call_id": 3}, Step("tool", "")),
        ({"role": "user", "content": "again"}, Step("user", "again")),
        ({"role": 7, "content": 7}, Step("assistant", "7")),
        ({"type": "message", "role": "assistant", "content": [{"refusal": "no"}, 7]}, Step("assistant", "no")),
        ("text", Step("user", "text")),
    ],
)
def test_every_kind_of_item_is_a_step(item: Any, step: Step) -> None:
    assert steps([item]) == [step]


def test_a_question_that_is_a_text_is_the_users() -> None:
    assert steps([7, {"role": "assistant", "content": "4"}], "2 + 2?") == [
        Step("user", "2 + 2?"),
        Step("assistant", "4"),
    ]


@pytest.mark.parametrize("row", [{}, {"response": None}, {"response": {"output": []}}, {"response": {"output": "x"}}])
def test_a_row_that_does_not_tell_has_no_transcript(row: dict[str, Any]) -> None:
    assert transcript_of(row) is None


def test_texts_are_safe_and_bounded() -> None:
    (step,) = steps(
        [{"type": "function_call", "name": "ba\x1b[31msh", "arguments": "a\x07\r\n\tb\u202e" + "x" * 99_999}]
    )
    assert step.tool == "bash"
    assert step.arguments is not None
    assert step.arguments.startswith("a\\x07\n\tb\\u202ex")
    assert step.arguments.endswith("x" * 100)
    assert len(step.arguments) < MOST_CHARACTERS + 100
    assert "more characters" in step.arguments


def test_a_transcript_has_so_many_steps() -> None:
    assert len(steps([{"role": "assistant", "content": str(i)} for i in range(MOST_STEPS + 5)])) == MOST_STEPS
