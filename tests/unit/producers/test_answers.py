"""The final answer is read from items that are left as they are written: the same as of a whole row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.gym.verdicts import answer_of
from nemo_gym.rollout_compare.producers.json_lines import decoder_for
from nemo_gym.rollout_compare.schema import Wanted
from tests.properties import PROPERTY

ANSWER = Wanted(answer=True)


def answer_in(line: bytes) -> str | None:
    values = decoder_for(ROLLOUTS.paths_for(ANSWER), ROLLOUTS.kinds_for(ANSWER)).decode(line)
    return ROLLOUTS.record(values, ANSWER, None).answer


def message(text: str, role: str = "assistant") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}


def row(*items: Any) -> dict[str, Any]:
    return {"response": {"output": list(items)}}


@pytest.mark.parametrize(
    ("items", "answer"),
    [
        ([message("first"), message("last"), {"type": "function_call", "arguments": "assistant"}], "last"),
        ([message("said"), message(" "), message("asked", "user")], "said"),
        ([{"role": "assistant", "content": "plain \ud83d"}], "plain \ud83d"),
        ([None, "assistant", 1, ["assistant"]], None),
        ([], None),
    ],
)
def test_the_last_message_with_text_is_the_answer(items: list[Any], answer: str | None) -> None:
    assert answer_in(json.dumps(row(*items)).encode()) == answer


def test_a_role_may_be_written_with_escapes() -> None:
    line = json.dumps(row(message("the answer"))).replace("assistant", r"\u0061ssistant")
    assert answer_in(line.encode()) == "the answer"


@pytest.mark.parametrize("output", [b"null", b"3", b'"text"', b'{"role": "assistant", "content": "x"}'])
def test_an_output_that_is_no_list_holds_no_answer(output: bytes) -> None:
    assert answer_in(b'{"response": {"output": ' + output + b"}}") is None


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    line = json.dumps(row(message("caf?"))).encode().replace(b"?", b"\xe9")
    assert answer_in(line) == "caf\ufffd"


@PROPERTY
@given(st.lists(st.builds(message, st.text(max_size=4), st.sampled_from(["assistant", "user"])), max_size=4))
def test_items_as_they_are_written_give_the_answer_of_whole_ones(items: list[Any]) -> None:
    assert answer_in(json.dumps(row(*items)).encode()) == answer_of([None, None, items])
