"""Harbor's trials: which rewards count, what masks, what is the agent's own error, what the attempt is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.harbor.rules import HarborReader
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.trials import Asked, Told, Trial
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.producers_support import Row, harbor_trial, only_row, rows_of, table_at

KEY = "task_name"
PASSED = {"reward": 1.0}
FAILED = {"reward": 0.0}


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ({"rewards": PASSED}, Row(1.0)),
        ({"rewards": {"reward": True}}, Row(1.0)),
        ({"rewards": {"reward": "0.25"}}, Row(0.25)),
        ({"rewards": FAILED, "error": "AgentTimeoutError"}, Row(0.0, None, "AgentTimeoutError")),
        ({"rewards": FAILED, "error": "NobodyKnowsThisError"}, Row(0.0, None, "NobodyKnowsThisError")),
        ({"rewards": FAILED, "error": "InternalServerError"}, Row(0.0, "InternalServerError")),
        ({"rewards": PASSED, "error": "VerifierTimeoutError"}, Row(1.0, "VerifierTimeoutError")),
        ({"error": "SandboxBuildFailedError"}, Row(None, "SandboxBuildFailedError")),
        ({"error": "AgentTimeoutError"}, Row(None, "AgentTimeoutError")),
        ({}, Row(None, "no reward: the verifier gave none")),
        ({"rewards": {"reward": None}}, Row(None, "no reward 'reward': the verifier gave reward")),
        ({"rewards": {"reward": "much"}}, Row(None, "reward is not a number ('much')")),
        ({"rewards": {"reward": [1]}}, Row(None, "reward has no value for a single attempt ([1])")),
        ({"verifier_result": {"reward": 0.5}}, Row(0.5)),
        ({"verifier_result": 7}, Row(None, "no reward: the verifier gave none")),
        # from 0.26 on a result says it itself, and its word counts
        ({"rewards": FAILED, "reward_valid": False}, Row(0.0, "reward_valid is false")),
        ({"rewards": FAILED, "reward_valid": False, "error": "AgentTimeoutError"}, Row(0.0, "AgentTimeoutError")),
        ({"rewards": FAILED, "reward_valid": True, "error": "ApiError"}, Row(0.0, None, "ApiError")),
        ({"reward_valid": False}, Row(None, "no reward: the verifier gave none")),
    ],
)
def test_what_a_result_says(tmp_path: Path, trial: dict[str, Any], said: Row) -> None:
    harbor_trial(tmp_path / "job", "fix-add", **trial)
    assert rows_of(table_at(tmp_path / "job", jobs=2), KEY) == {"fix-add": [said]}
    assert only_row(tmp_path / "job", KEY) == said


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"has_valid_reward": False}, Row(0.0, "AgentTimeoutError")),
        ({"has_valid_reward": True}, Row(0.0, None, "AgentTimeoutError")),
        ({}, Row(0.0, None, "AgentTimeoutError")),
    ],
)
def test_the_policy_beside_an_exception_overrides_the_table(tmp_path: Path, policy: dict[str, bool], said: Row) -> None:
    raised = {"exception_type": "AgentTimeoutError", "policy": policy}
    harbor_trial(tmp_path / "job", "fix-add", rewards=FAILED, exception_info=raised)
    assert only_row(tmp_path / "job", KEY) == said


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ({"exception_type": "ApiError"}, Row(0.5, "ApiError")),
        ({"exception_type": "ApiError", "policy": {"has_valid_reward": True}}, Row(0.5, None, "ApiError")),
        ({"exception_type": "AgentTimeoutError", "policy": None}, Row(0.5, None, "AgentTimeoutError")),
        (None, Row(0.5)),
    ],
)
def test_an_exception_in_a_step_is_one_of_the_trial(tmp_path: Path, raised: dict[str, Any] | None, said: Row) -> None:
    steps = [{"step_name": "first"}, {"step_name": "second", "exception_info": raised}]
    harbor_trial(tmp_path / "job", "two-steps", rewards={"reward": 0.5}, step_results=steps)
    assert only_row(tmp_path / "job", KEY) == said


def test_another_metric_is_the_reward_where_it_is_chosen(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "both", rewards={"reward": 1.0, "recall": 0.5})
    harbor_trial(tmp_path, "one", rewards={"reward": 1.0, "style": 0.1})
    rows = rows_of(table_at(tmp_path, reward="recall"), KEY)
    assert rows == {"both": [Row(0.5)], "one": [Row(None, "no reward 'recall': the verifier gave reward, style")]}


def test_any_field_of_the_result_can_be_the_reward(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards=PASSED, agent_result={"n_output_tokens": 80})
    assert only_row(tmp_path, KEY, reward="agent_result.n_output_tokens") == Row(80.0)


def test_the_only_metric_of_a_run_is_its_reward(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards={"score": 0.5})
    harbor_trial(tmp_path, "two", rewards={"score": 0.75})
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(0.5)], "two": [Row(0.75)]}


def test_of_several_metrics_without_a_main_one_the_user_chooses(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards={"recall": 0.5, "wrong": 2})
    harbor_trial(tmp_path, "two", rewards={"recall": 0.75})
    harbor_trial(tmp_path, "three", error="ApiError")
    with pytest.raises(CompareInputError, match=r"takes one of: recall \(2 attempts\), wrong \(1 attempt\)$"):
        table_at(tmp_path)
    assert rows_of(table_at(tmp_path, reward="wrong"), KEY)["one"] == [Row(2.0)]


def test_where_one_trial_has_the_main_metric_the_others_are_masked(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "a-other", rewards={"recall": 0.5, "wrong": 2})
    harbor_trial(tmp_path, "b-usual", rewards=PASSED)
    rows = rows_of(table_at(tmp_path), KEY)
    assert rows["a-other"] == [Row(None, "no reward 'reward': the verifier gave recall, wrong")]


def attempt(**result: Any) -> Any:
    """A result as the reader makes an attempt of it."""
    reader = HarborReader()
    told = Told(tuple(dig(result, path.split(".")) for path in reader.paths), None, {})
    return reader.attempt(Trial("t", "t/result.json", 1), told, 1, 0, Asked("reward", False, (KEY,)))


def test_what_an_attempt_cost_and_was_run_with() -> None:
    one = attempt(
        agent_info={"name": "terminus-2", "version": "2.0", "model_info": {"name": "m-7b", "provider": "openai"}},
        agent_result={"n_input_tokens": 900, "n_cache_tokens": 100, "n_output_tokens": 80, "cost_usd": 0.02}
        | {"metadata": {"n_episodes": 3}},
        config={"agent": {"kwargs": {"temperature": 0.5}}, "timeout_multiplier": 2.0},
        started_at="2026-01-01T00:00:00",
        finished_at="2026-01-01T00:01:30.5",
    )
    assert one.measures == {
        "input-tokens": 900.0,
        "cached-tokens": 100.0,
        "output-tokens": 80.0,
        "dollars": 0.02,
        "turns": 3.0,
        "seconds": 90.5,
    }
    assert one.settings == {
        "agent": "terminus-2",
        "agent version": "2.0",
        "model": "m-7b",
        "model provider": "openai",
        "timeout multiplier": 2.0,
        "agent arguments": {"temperature": 0.5},
    }


def test_the_costs_of_steps_are_added() -> None:
    steps = [{"agent_result": {"n_input_tokens": 5, "cost_usd": None}}, {"agent_result": {"n_input_tokens": 7}}, {}]
    assert attempt(step_results=steps).measures == {"input-tokens": 12.0}


@pytest.mark.parametrize("times", [{}, {"started_at": "2026-01-01T00:00:00"}, {"started_at": 1, "finished_at": 2}])
def test_times_that_say_nothing_cost_nothing(times: dict[str, Any]) -> None:
    assert attempt(**times).measures == {}


def test_times_with_and_without_a_zone_give_no_seconds() -> None:
    times = {"started_at": "2026-01-01T00:00:00", "finished_at": "2026-01-01T00:00:05Z"}
    assert attempt(**times).measures == {}
