from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.gym.facts import (
    agent_error,
    label_for_message,
    mask_reason,
    measured_failure_kind,
    results_of,
    row_facts,
    task_id_of,
    tasksets_of,
)
from nemo_gym.rollout_compare.producers.gym.fields import RESULT_PATHS
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.schema import CompareInputError, identity_of, label_of

MEASURED = {"task_id": "a", "reward": 1.0}


class TestReward:
    @pytest.mark.parametrize("reward", [0, 1, -1, 0.5, -0.25, 1e300, 10**300, 2**53])
    def test_a_finite_number_is_the_reward(self, reward: float) -> None:
        assert row_facts({"reward": reward}).reward == float(reward)

    @pytest.mark.parametrize("row", [{}, {"reward": None}, {"reward": None, "score": 1.0}])
    def test_absent_or_null_is_no_reward(self, row: dict[str, Any]) -> None:
        assert row_facts(row).reward is None
        assert mask_reason(row) == "no reward"

    @pytest.mark.parametrize(
        ("reward", "reason"),
        [
            (math.nan, "non-finite reward (nan)"),
            (math.inf, "non-finite reward (inf)"),
            (-math.inf, "non-finite reward (-inf)"),
        ],
    )
    def test_one_that_is_not_finite_masks_and_is_no_reward(self, reward: float, reason: str) -> None:
        assert mask_reason({"reward": reward}) == reason
        assert row_facts({"reward": reward}).reward is None

    @pytest.mark.parametrize(
        ("reward", "shown"),
        [
            (True, "True"),
            (False, "False"),
            ("1.0", "'1.0'"),
            ("", "''"),
            ([1.0], r"\[1\.0\]"),
            ([], r"\[\]"),
            ({"value": 1}, r"\{'value': 1\}"),
            ("a\nb", r"'a\\nb'"),
        ],
    )
    def test_anything_else_is_an_error_that_shows_it_as_python_does(self, reward: object, shown: str) -> None:
        with pytest.raises(CompareInputError, match=f"^reward {shown} is not a number$"):
            row_facts({"reward": reward})

    @pytest.mark.parametrize("reward", [10**400, -(10**400), 10**5000, 2**1024], ids=["400", "-400", "5000", "least"])
    def test_an_integer_beyond_a_double_is_an_error(self, reward: int) -> None:
        with pytest.raises(CompareInputError, match=r"^reward .* is not a number$"):
            row_facts({"reward": reward})

    def test_an_integer_beyond_a_double_is_shown_by_its_digits(self) -> None:
        with pytest.raises(CompareInputError, match=r"^reward -12345678901234567890"):
            row_facts({"reward": int("-" + "1234567890" * 40)})

    def test_a_masked_row_must_have_a_number_too(self) -> None:
        with pytest.raises(CompareInputError, match=r"^reward 'x' is not a number$"):
            row_facts({"reward": "x", "mask_sample": True})

    def test_a_masked_row_keeps_its_finite_reward(self) -> None:
        assert row_facts({"reward": 0.5, "mask_sample": True}).reward == 0.5


class TestMask:
    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ({}, None),
            ({"mask_sample": None}, None),
            ({"mask_sample": False}, None),
            ({"mask_sample": 0}, None),
            ({"mask_sample": True}, "mask_sample"),
            ({"mask_sample": 1}, "mask_sample"),
            ({"mask_sample": True, "failure_kind": "timeout"}, "mask_sample (failure_kind=timeout)"),
            ({"mask_sample": True, "failure_kind": None}, "mask_sample"),
            ({"mask_sample": True, "failure_kind": ""}, "mask_sample"),
            ({"mask_sample": False, "failure_kind": "timeout"}, None),
            ({"failure_kind": "timeout"}, None),
        ],
    )
    def test_mask_sample_masks_and_a_failure_kind_alone_does_not(self, row: dict[str, Any], reason: str | None) -> None:
        assert mask_reason({**MEASURED, **row}) == reason

    @pytest.mark.parametrize("reward", [None, math.nan, math.inf])
    def test_mask_sample_is_the_first_reason(self, reward: float | None) -> None:
        assert mask_reason({"reward": reward, "mask_sample": True}) == "mask_sample"

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ({"instance_config": {"mask_sample": True}}, "mask_sample"),
            ({"instance_config": {"mask_sample": 1}}, "mask_sample"),
            ({"instance_config": {"mask_sample": False}}, None),
            ({"instance_config": {"mask_sample": None}}, None),
            ({"instance_config": {}}, None),
            ({"instance_config": None}, None),
            ({"instance_config": "mask_sample"}, None),
            ({"instance_config": ["mask_sample"]}, None),
            ({"mask_sample": None, "instance_config": {"mask_sample": True}}, "mask_sample"),
            ({"mask_sample": False, "instance_config": {"mask_sample": True}}, None),
            ({"mask_sample": 0, "instance_config": {"mask_sample": True}}, None),
            ({"mask_sample": True, "instance_config": {"mask_sample": False}}, "mask_sample"),
            (
                {"instance_config": {"mask_sample": True}, "failure_kind": "timeout"},
                "mask_sample (failure_kind=timeout)",
            ),
        ],
    )
    def test_the_older_place_counts_where_mask_sample_is_absent_or_null(
        self, row: dict[str, Any], reason: str | None
    ) -> None:
        assert mask_reason({**MEASURED, **row}) == reason

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("true", "'true'"),
            ("", "''"),
            (2, "2"),
            (-1, "-1"),
            (0.5, r"0\.5"),
            (math.nan, "nan"),
            ([], r"\[\]"),
            ({}, r"\{\}"),
            ([True], r"\[True\]"),
        ],
    )
    @pytest.mark.parametrize("older", [False, True])
    def test_any_other_value_is_an_error(self, value: object, shown: str, older: bool) -> None:
        mask = {"mask_sample": value}
        row = {**MEASURED, **({"instance_config": mask} if older else mask)}
        with pytest.raises(CompareInputError, match=f"^mask_sample {shown} is not true or false$"):
            mask_reason(row)


class TestAgentError:
    @pytest.mark.parametrize(
        ("error", "shown"),
        [
            ("boom", "error: boom"),
            ("Traceback:\n  File x\nValueError: no", "error: ValueError: no"),
            ("ValueError: no\n", "error: ValueError: no"),
            ("one\r\ntwo\r\n", "error: two"),
            ("x" * 120, "error: " + "x" * 120),
            ("x" * 121, "error: " + "x" * 120),
            ("first\n" + "abc" * 100, "error: " + "abc" * 40),
            (["a"], 'error: ["a"]'),
        ],
    )
    def test_a_truthy_error_is_shown_by_the_last_line_of_its_text(self, error: object, shown: str) -> None:
        assert agent_error({**MEASURED, "error": error}) == shown

    def test_an_error_that_is_an_object_is_shown_with_what_it_says(self) -> None:
        shown = agent_error({**MEASURED, "error": {"message": "sandbox gone"}})
        assert shown is not None
        assert shown.startswith("error: ")
        assert "sandbox gone" in shown

    @pytest.mark.parametrize("error", [None, "", 0, False, [], {}])
    def test_an_error_that_is_not_truthy_is_none(self, error: object) -> None:
        assert agent_error({**MEASURED, "error": error}) is None

    @pytest.mark.parametrize(
        ("metadata", "shown"),
        [
            ({"error_type": "Timeout"}, "error_type=Timeout"),
            ({"harness_error_type": "Timeout"}, "harness_error_type=Timeout"),
            ({"a": 1, "z_error_type": "First", "b_error_type": "Second"}, "z_error_type=First"),
            ({"z_error_type": "", "y_error_type": None, "b_error_type": "Second"}, "b_error_type=Second"),
            ({"x_error_type": 7}, "x_error_type=7"),
            ({"error_types": "Timeout", "error": "x", "error_type_2": "y"}, None),
            ({"nested": {"error_type": "Timeout"}}, None),
            ({}, None),
        ],
    )
    def test_else_the_first_truthy_error_type_of_the_responses_metadata(
        self, metadata: dict[str, Any], shown: str | None
    ) -> None:
        assert agent_error({**MEASURED, "response": {"metadata": metadata}}) == shown

    def test_the_rows_own_error_comes_first(self) -> None:
        row = {"error": "own", "response": {"metadata": {"error_type": "Timeout"}}}
        assert agent_error(row) == "error: own"

    def test_an_empty_error_leaves_the_metadata_to_speak(self) -> None:
        row = {"error": "", "response": {"metadata": {"error_type": "Timeout"}}}
        assert agent_error(row) == "error_type=Timeout"

    @pytest.mark.parametrize("value", [None, True, 1, 0.5, "error_type", ["error_type"], []])
    @pytest.mark.parametrize("level", ["response", "metadata"])
    def test_a_response_or_metadata_of_another_type_is_none(self, value: object, level: str) -> None:
        response = value if level == "response" else {"metadata": value}
        assert agent_error({**MEASURED, "response": response}) is None

    @pytest.mark.parametrize("row", [{}, {"response": {}}])
    def test_without_a_response_or_metadata_there_is_none(self, row: dict[str, Any]) -> None:
        assert agent_error({**MEASURED, **row}) is None

    def test_it_does_not_mask(self) -> None:
        assert mask_reason({**MEASURED, "error": "boom"}) is None


class TestFailureKind:
    @pytest.mark.parametrize(
        ("row", "kind"),
        [
            ({"reward": 1.0, "failure_kind": "timeout"}, "timeout"),
            ({"reward": 1.0, "mask_sample": False, "failure_kind": "timeout"}, "timeout"),
            ({"reward": 1.0}, None),
            ({"reward": 1.0, "failure_kind": None}, None),
            ({"reward": 1.0, "failure_kind": ""}, None),
            ({"reward": 1.0, "mask_sample": True, "failure_kind": "timeout"}, None),
            ({"reward": None, "failure_kind": "timeout"}, None),
            ({"reward": math.nan, "failure_kind": "timeout"}, None),
        ],
    )
    def test_it_labels_measured_results_only(self, row: dict[str, Any], kind: str | None) -> None:
        assert measured_failure_kind(row) == kind


class TestTaskId:
    @pytest.mark.parametrize(
        ("value", "label"),
        [
            ("sort-list", "sort-list"),
            ("", ""),
            ("a/b", "a/b"),
            ("unknown#1", "unknown#1"),
            ("caf\u00e9\n\x1b", "caf\u00e9\n\x1b"),
            ("x" * 10_000, "x" * 10_000),
            (7, "7"),
            (0, "0"),
            (-3, "-3"),
            (1.5, "1.5"),
            (2**53 + 1, "9007199254740993"),
            (10**400, "1" + "0" * 400),
        ],
    )
    def test_the_label_is_the_value_as_text(self, value: object, label: str) -> None:
        assert task_id_of({"task_id": value}, "task_id") == label

    @pytest.mark.parametrize(
        ("value", "label"),
        [
            ({"taskset": "S", "task_id": "T"}, "T"),
            ({"taskset": "S", "id": "T"}, "T"),
            ({"taskset": "S", "task_id": "T", "id": "other"}, "T"),
            ({"taskset": "S", "task_id": None, "id": "T"}, "T"),
            ({"task_id": "T"}, "T"),
            ({"id": 7}, "7"),
            ({"id": 0}, "0"),
            ({"task_id": "", "id": "x"}, ""),
            ({"task_id": "T", "version": 2}, "T"),
        ],
    )
    def test_the_label_of_a_structured_id_is_its_task(self, value: dict[str, Any], label: str) -> None:
        assert task_id_of({"task_id": value}, "task_id") == label

    @pytest.mark.parametrize(
        "value", [{"b": 1, "a": {"d": 1, "c": 2}}, {"taskset": "S"}, {}, {"taskset": "S", "id": None}]
    )
    def test_the_label_of_an_object_with_neither_is_its_json(self, value: dict[str, Any]) -> None:
        label = task_id_of({"task_id": value}, "task_id")
        assert label is not None
        assert json.loads(label) == value

    def test_the_json_of_an_object_does_not_depend_on_the_order_of_its_keys(self) -> None:
        one, other = {"b": 1, "a": {"d": 1, "c": 2}}, {"a": {"c": 2, "d": 1}, "b": 1}
        label = task_id_of({"task_id": one}, "task_id")
        assert label == task_id_of({"task_id": other}, "task_id")
        assert label is not None
        assert [label.index(f'"{name}"') for name in "acdb"] == sorted(label.index(f'"{name}"') for name in "acdb")

    @pytest.mark.parametrize(
        ("value", "label"),
        [
            ({"taskset": "S", "task_id": "T"}, "S/T"),
            ({"taskset": "S", "id": 7}, "S/7"),
            ({"taskset": 3, "id": "T"}, "3/T"),
            ({"taskset": None, "task_id": "T"}, "T"),
            ({"task_id": "T"}, "T"),
            ("T", "T"),
        ],
    )
    def test_with_its_taskset_where_it_has_one(self, value: object, label: str) -> None:
        assert task_id_of({"task_id": value}, "task_id", with_taskset=True) == label

    @pytest.mark.parametrize(
        ("row", "key", "label"),
        [
            ({"verifier_metadata": {"task_id": "a"}}, "verifier_metadata.task_id", "a"),
            ({"verifier_metadata.task_id": "a"}, "verifier_metadata.task_id", None),
            ({"task_id": {"taskset": "S", "task_id": "T"}}, "task_id.taskset", "S"),
            ({"task_id": None}, "task_id", None),
            ({}, "task_id", None),
            ({"verifier_metadata": None}, "verifier_metadata.task_id", None),
            ({"verifier_metadata": "task_id"}, "verifier_metadata.task_id", None),
            ({"verifier_metadata": [{"task_id": "a"}]}, "verifier_metadata.task_id", None),
        ],
    )
    def test_a_key_is_a_dotted_path_and_null_is_absent(self, row: dict[str, Any], key: str, label: str | None) -> None:
        assert task_id_of(row, key) == label

    def test_an_identity_without_taskset_differs_from_the_same_id_in_one(self) -> None:
        assert identity_of("S/T") != identity_of({"taskset": "S", "task_id": "T"})

    @pytest.mark.parametrize(("with_taskset", "label"), [(True, "S/T"), (False, "T")])
    def test_an_identity_is_called_with_or_without_its_taskset(self, with_taskset: bool, label: str) -> None:
        assert label_of(identity_of({"taskset": "S", "task_id": "T"}), with_taskset=with_taskset) == label


def test_tasksets_of_names_each_taskset_once() -> None:
    rows: list[dict[str, Any]] = [
        {"task_id": {"taskset": "S", "task_id": "a"}},
        {"task_id": {"taskset": "S", "id": "b"}},
        {"task_id": {"taskset": "R", "task_id": "a"}},
        {"task_id": {"task_id": "no taskset"}},
        {"task_id": {"taskset": "neither id"}},
        {"task_id": "plain"},
        {"task_id": None},
        {},
    ]
    assert tasksets_of(rows, "task_id") == {"S", "R"}


@pytest.mark.parametrize(
    ("row", "key", "label"),
    [
        ({"_ng_task_id": 3, "task_name": "a"}, None, "3"),
        ({"_ng_task_id": None, "task_name": "a", "task_id": "b"}, None, "a"),
        ({"verifier_metadata": {"id": "v"}}, None, "v"),
        ({"task_name": "a", "slot": "s"}, "slot", "s"),
        ({"task_name": "a"}, "slot", "a"),
        ({"task_id": {"taskset": "S", "task_id": "T"}}, None, "S/T"),
        ({"slot": {"taskset": "S", "id": 7}}, "slot", "S/7"),
        ({}, None, "unknown"),
        ({"name": "x"}, None, "unknown"),
    ],
)
def test_a_message_names_the_task_as_far_as_it_can_be_told(row: dict[str, Any], key: str | None, label: str) -> None:
    assert label_for_message(row, key) == label


def test_every_function_takes_any_mapping() -> None:
    row = MappingProxyType(
        {
            "task_id": MappingProxyType({"taskset": "S", "task_id": "T"}),
            "reward": 0.0,
            "failure_kind": "timeout",
            "response": MappingProxyType({"metadata": MappingProxyType({"x_error_type": "E"})}),
            "instance_config": MappingProxyType({"mask_sample": False}),
        }
    )
    assert task_id_of(row, "task_id", with_taskset=True) == "S/T"
    assert tasksets_of([row], "task_id") == {"S"}
    assert agent_error(row) == "x_error_type=E"
    assert measured_failure_kind(row) == "timeout"
    assert mask_reason(row) is None


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"evaluation_completed": False}, "evaluation_completed=false"),
        ({"evaluation_completed": True}, None),
        ({"evaluation_completed": 0}, None),
        ({"evaluation_completed": None}, None),
        ({"verifier_error": "Traceback\nKeyError: 'x'\n"}, "verifier_error=KeyError: 'x'"),
        ({"eval_timed_out": True}, "eval_timed_out=true"),
        ({"container_timed_out": 1}, "container_timed_out=1"),
        ({"sandbox_failed": "oom"}, "sandbox_failed=oom"),
        ({"metadata": {"exception_info": {"type": "E"}}}, 'metadata.exception_info={"type":"E"}'),
        ({"metadata": "none"}, None),
        ({"sandbox_failed": False, "verifier_error": ""}, None),
        ({"error": "boom", "verifier_error": "x"}, "error: boom"),
        ({"verifier_error": "x", "sandbox_failed": True}, "verifier_error=x"),
    ],
)
def test_marks_of_the_infrastructure_make_a_result_doubtful_and_never_mask_it(
    fields: dict[str, Any], mark: str | None
) -> None:
    row = {"reward": 0, **fields}
    assert agent_error(row) == mark
    assert mask_reason(row) is None
    values = [[dig(row, path.split("."))] for path in RESULT_PATHS]
    [through_columns] = results_of(values)[2]
    assert (str(through_columns) if through_columns else None) == mark
