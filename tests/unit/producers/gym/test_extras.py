"""How a rollout was run and what that cost, as its row tells it; at hand and in a file alike."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.producers import read_again
from nemo_gym.rollout_compare.producers.gym.extras import number, system_prompt
from nemo_gym.rollout_compare.schema import Record, Wanted, summed_up
from nemo_gym.rollout_compare.table.table import Table
from tests.support import read_files, write_rows

CALL = {"type": "function_call", "call_id": "1", "name": "bash", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "ok"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
ASKED = {"type": "message", "role": "user", "content": "go on"}


def row(**fields: Any) -> dict[str, Any]:
    return {"task_id": "a", "reward": 1.0, **fields}


def tables(tmp_path: Path, *rows: dict[str, Any]) -> list[Table]:
    return [table_of(rows), read_files(write_rows(tmp_path / "rows.jsonl", rows))[0]]


def settings_of(table: Table, row: int = 0) -> dict[str, str | None]:
    return {name: column[row] for name, column in table.settings.columns.items()}


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({}, {}),
        ({"response": {"model": "m"}}, {"model": "m"}),
        ({"response": {"model": ""}}, {}),
        ({"responses_create_params": {"input": "x", "model": "asked"}}, {"model": "asked"}),
        ({"responses_create_params": {"model": "asked"}, "response": {"model": "m"}}, {"model": "m"}),
        (
            {"responses_create_params": {"input": "x", "temperature": 0.6, "top_p": None, "tools": [], "user": "u"}},
            {"temperature": "0.6"},
        ),
        ({"responses_create_params": {"input": "x", "metadata": {"id": "7"}}}, {}),
        (
            {"responses_create_params": {"chat_template_kwargs": {"thinking": True}, "extra": 1}},
            {"other parameters": 'chat_template_kwargs={"thinking": true}, extra=1'},
        ),
        (
            {"responses_create_params": {"extra_body": {"api_key": "k"}}},
            {"other parameters": 'extra_body={"api_key": "(secret)"}'},
        ),
        ({"responses_create_params": {"instructions": "Be brief."}}, {"system prompt": summed_up("Be brief.")}),
        (
            {"responses_create_params": {"input": [{"role": "system", "content": "Be brief."}, ASKED]}},
            {"system prompt": summed_up("Be brief.")},
        ),
        ({"agent_ref": {"type": "agents", "name": "simple"}}, {"agent": "simple"}),
        ({"agent_ref": {"name": ["odd"]}}, {"agent": "name=[\"odd\"]"}),
        (
            {"_ng_environment_server": "server", "skills_ref": {"name": "none"}},
            {"environment server": "server", "skills": '"none"'},
        ),
        ({"response": {"metadata": {"harness": "terminus", "harness_version": "2.1"}}}, {"harness": "terminus 2.1"}),
        ({"response": {"metadata": {"agent_version": "3", "x": 1, "y_version": ""}}}, {"versions": "agent_version=3"}),
        ({"response": {"metadata": "none"}}, {}),
        ({"response": "text", "responses_create_params": ["odd"], "agent_ref": 0}, {}),
    ],
)  # fmt: skip
def test_settings(tmp_path: Path, fields: dict[str, Any], settings: dict[str, str]) -> None:
    for table in tables(tmp_path, row(**fields)):
        assert settings_of(table) == settings


@pytest.mark.parametrize(
    ("fields", "measures"),
    [
        ({}, {}),
        (
            {
                "response": {
                    "usage": {
                        "input_tokens": 100,
                        "input_tokens_details": {"cached_tokens": 40},
                        "output_tokens": 20,
                        "output_tokens_details": {"reasoning_tokens": 5},
                        "cost": 0.25,
                    }
                }
            },
            {
                "input-tokens": 100,
                "cached-tokens": 40,
                "output-tokens": 20,
                "reasoning-tokens": 5,
                "dollars": 0.25,
                "truncated": 0,
            },
        ),
        ({"response": {"usage": {"input_tokens": "many", "output_tokens": -1, "cost": True}}}, {"truncated": 0}),
        ({"response": {"usage": 7}}, {"truncated": 0}),
        ({"response": {"output": [CALL, OUTPUT, CALL, CALL, OUTPUT, SAID]}}, {"turns": 3, "tool-calls": 3}),
        ({"response": {"output": [SAID, ASKED, SAID, "odd", 7]}}, {"turns": 2, "tool-calls": 0}),
        ({"response": {"output": [SAID]}, "turns_used": 4}, {"turns": 4, "tool-calls": 0}),
        ({"turns_used": 4}, {"turns": 4}),
        ({"response": {"output": {"odd": 1}}}, {}),
        ({"response": {"output": []}}, {}),
        ({"ng_perf": {"total_latency_ms": 1500}}, {"seconds": 1.5}),
        ({"ng_perf": {"total_latency_ms": None}}, {}),
        ({"response": {"incomplete_details": {"reason": "max_output_tokens"}}}, {"truncated": 1}),
        ({"response": {"incomplete_details": {"reason": "content_filter"}}}, {"truncated": 0}),
        ({"response": {"status": "incomplete"}}, {"truncated": 1}),
        ({"response": {"status": "completed"}}, {"truncated": 0}),
    ],
)
def test_measures(tmp_path: Path, fields: dict[str, Any], measures: dict[str, float]) -> None:
    for table in tables(tmp_path, row(**fields)):
        assert {name: column[0] for name, column in table.measures.columns.items()} == measures


def test_rows_without_a_measure_beside_rows_with_it(tmp_path: Path) -> None:
    rows = [
        row(),
        row(response={"output": [CALL], "usage": {"input_tokens": 3}}),
        row(response={"output": []}, turns_used=2),
    ]
    for table in tables(tmp_path, *rows):
        assert [str(value) for value in table.measures.columns["input-tokens"]] == ["nan", "3.0", "nan"]
        assert [str(value) for value in table.measures.columns["turns"]] == ["nan", "1.0", "2.0"]
        assert bytes(table.has_transcript) == b"\0\1\0"


def test_settings_may_come_late(tmp_path: Path) -> None:
    rows = [row(responses_create_params={"input": "x"}) for _ in range(20)]
    rows.append(row(responses_create_params={"input": "x", "temperature": 1}))
    for table in tables(tmp_path, *rows):
        assert [table.settings.columns["temperature"][i] for i in (0, 19, 20)] == [None, None, "1"]


def test_a_failed_attempt_says_nothing_of_settings() -> None:
    table = table_of([row(_ng_failed_attempt=True, mask_sample=True, agent_ref={"name": "a"})])
    assert not table.settings.columns


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3.0), (0.5, 0.5), (None, math.nan), (True, math.nan), (-1, math.nan), ("3", math.nan), (10**400, math.nan)],
)
def test_a_measure_is_a_number_from_0_on(value: Any, expected: float) -> None:
    assert number(value) == expected or (math.isnan(expected) and math.isnan(number(value)))


@pytest.mark.parametrize(
    ("asked", "prompt"),
    [
        ("text", None),
        ([], None),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "late"}], None),
        ([{"role": "developer", "content": [{"text": "a"}, {"image": 1}]}, {"role": "system", "content": "b"}], "a\nb"),
        ([{"role": "system", "content": None}, "odd"], None),
    ],
)
def test_the_system_prompt_is_what_the_input_begins_with(asked: Any, prompt: str | None) -> None:
    assert system_prompt(asked) == prompt


@pytest.mark.parametrize(
    ("params", "whole"),
    [
        ({"instructions": "I", "input": [{"role": "system", "content": "S"}]}, {"system prompt": "I"}),
        ({"input": [{"role": "system", "content": "S"}]}, {"system prompt": "S"}),
        ({"input": "x"}, {}),
    ],
)
def test_a_system_prompt_is_read_again_whole(params: dict[str, Any], whole: dict[str, str]) -> None:
    table = table_of([row(responses_create_params=params)])
    ((_, record),) = read_again([table.place(0)], Wanted(settings=("system prompt", "other"), transcript=True))
    assert isinstance(record, Record)
    assert record.settings == whole
