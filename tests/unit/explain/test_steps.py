"""Both transcripts of a flip: side by side, bounded, the largest flips first."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from nemo_gym.rollout_compare import CompareResult, compare_rollouts
from nemo_gym.rollout_compare.explain.steps import side_by_side, with_steps
from nemo_gym.rollout_compare.report.html.page import page
from nemo_gym.rollout_compare.schema import Step


def said(*texts: str) -> list[Step]:
    return [Step("assistant", text) for text in texts]


def test_equal_steps_share_a_row_and_others_stand_in_pairs() -> None:
    rows = list(side_by_side(said("a", "b", "c", "z"), said("a", "x", "z", "y")))
    assert rows == [(0, 0), (1, 1), (2, None), (3, 2), (None, 3)]
    assert list(side_by_side([], said("a"))) == [(None, 0)]


def row(task: str, reward: float, output: str) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": json.dumps({"command": "ls"})}
    told = {"type": "function_call_output", "call_id": "c", "output": output}
    return {"task_id": task, "reward": reward, "response": {"output": [call, told]}}


def result_of(*outputs: str) -> CompareResult:
    old, new = ([row(f"t{i}", reward, output) for i, output in enumerate(outputs)] for reward in (1.0, 0.0))
    return compare_rollouts(old, new)


def test_transcripts_are_kept_as_far_as_there_is_room() -> None:
    result = result_of("x" * 100, "y" * 100, "z" * 100)
    whole = with_steps(result, result.flips, 10_000)
    assert list(whole.transcripts) == ["t0", "t1", "t2"]
    both = whole.transcripts["t1"]
    assert [step.output for step in both.old] == ["y" * 100]
    assert both.rows == ((0, 0),)
    assert list(with_steps(result, result.flips[::-1], 300).transcripts) == ["t2"]
    assert with_steps(replace(result, rows_at_hand=False), result.flips, 10_000).transcripts == {}


def test_a_long_text_is_cut_once_and_the_page_says_how_much_of_it_is_gone() -> None:
    result = result_of("x" * 50_000)
    both = with_steps(result, result.flips, 10**6).transcripts["t0"]
    cut = "x" * 10_000 + "... (30000 more characters) ..." + "x" * 10_000
    assert both.old[0].output == cut
    assert cut in page(replace(result, transcripts={"t0": both}), "", 10**6).decode()


def test_flips_without_transcripts_have_none() -> None:
    result = compare_rollouts([{"task_id": "a", "reward": 1.0}], [{"task_id": "a", "reward": 0.0}])
    assert with_steps(result, result.flips, 1000).transcripts == {}
