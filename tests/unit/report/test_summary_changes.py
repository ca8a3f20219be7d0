"""What the summary says of settings that differ, costs, and where agents parted."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from nemo_gym.rollout_compare import compare_rollouts, explain_flips, summary_dict, summary_schema


def rows(temperature: float, command: str, tokens: int, reward: float) -> list[dict[str, Any]]:
    call = {"type": "function_call", "name": "bash", "arguments": command}
    usage = {"output_tokens": tokens}
    response = {"output": [call], "usage": usage, "incomplete_details": {"reason": "max_output_tokens"}}
    params = {"input": "x", "temperature": temperature, "instructions": f"{temperature}"}
    return [
        {"task_id": f"t{i}", "reward": reward, "responses_create_params": params, "response": response}
        for i in range(6)
    ]


def test_the_summary_tells_it_all_and_is_valid() -> None:
    result = explain_flips(compare_rollouts(rows(1.0, "ls", 10, 1.0), rows(0.5, "pwd", 20, 0.0)), [])
    summary = summary_dict(result)
    Draft202012Validator(summary_schema()).validate(summary)
    assert summary["settings_compared"] == ["system prompt", "temperature"]
    assert [change["field"] for change in summary["changes"]] == ["system prompt", "temperature"]
    assert summary["changes"][0]["first_difference"] == 1
    assert summary["changes"][1] == {
        "field": "temperature",
        "old": {"1.0": 6},
        "new": {"0.5": 6},
        "old_values": 1,
        "new_values": 1,
        "tasks": 6,
        "total": 6,
        "first_difference": None,
    }
    (tokens,) = (cost for cost in summary["costs"] if cost["measure"] == "output-tokens")
    assert (tokens["tasks"], tokens["mean_old"], tokens["mean_new"], tokens["carried_by"]) == (6, 10.0, 20.0, None)
    assert tokens["ratio"]["tasks"] == 6
    assert tokens["solved"]["tasks"] == 0
    assert summary["truncated"] == {"old": 6, "old_known": 6, "new": 6, "new_known": 6}
    assert summary["flips"][0]["parted"] == {
        "step": 1,
        "old": 'bash "ls"',
        "new": 'bash "pwd"',
        "old_steps": 1,
        "new_steps": 1,
    }
