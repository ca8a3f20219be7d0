"""Broken and hostile rows end in a report or in one error line that names file and line; never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.app import cli
from tests.support import Done, assert_refused, compare, controls, run, write_rows

DIGITS = "1" * 400
MORE_DIGITS = "7" * 5000  # more than Python turns into a number
DEEP = 100_000


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, *lines: str | bytes) -> str:
    Path(name).write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in lines))
    return name


def compared(new: str | bytes, old: str | bytes = '{"task_id": "t", "reward": 1}') -> Done:
    """A report, or one error line that names a file and a line."""
    done = compare(put("old.jsonl", old), put("new.jsonl", new))
    assert controls(done.stdout + done.stderr) == set()
    (done.stdout + done.stderr).encode("utf-8")
    if done.status == 0:
        assert done.stderr == ""
    else:
        assert_refused(done, ".jsonl:1: ")
    return done


def labels(*paths: str) -> dict[str, str]:
    """Every task's category, by label, from the summary."""
    done = run("--json", "dev", "compare", *paths)
    assert (done.status, done.stderr) == (0, "")
    done.stdout.encode("utf-8")
    return {task["task"]: task["category"] for task in json.loads(done.stdout)["tasks"]}


def nested(depth: int, kind: str = "list") -> str:
    begin, end = ("[", "]") if kind == "list" else ('{"a":', "}")
    return begin * depth + "1" + end * depth


# Lone surrogates


@pytest.mark.parametrize(
    "rest",
    [
        '"error": "\\ud800"',
        '"failure_kind": "\\udfff"',
        '"response": {"metadata": {"\\ud800error_type": "\\ud800"}}',
        '"test_output": "a\\ud800b\\udc00"',
        '"verifier_logs_dir": "/\\ud800"',
        '"\\ud800": "\\ud800"',
        '"mask_sample": true, "failure_kind": "\\ud800"',
        '"other": {"deep": ["\\udbff"]}',
    ],
)
def test_lone_surrogates_anywhere(rest: str) -> None:
    assert compared(f'{{"task_id": "t", "reward": 0, {rest}}}').status == 0
    assert set(labels("old.jsonl", "new.jsonl")) == {"t"}


def test_ids_with_lone_surrogates_stay_apart() -> None:
    put("old.jsonl", *(f'{{"task_id": "x\\u{code}", "reward": 1}}' for code in ("d800", "d801", "dc00")))
    put("new.jsonl", *(f'{{"task_id": "x\\u{code}", "reward": 0}}' for code in ("dc00", "d800", "d801")))
    assert labels("old.jsonl", "new.jsonl") == dict.fromkeys(["x\ud800", "x\ud801", "x\udc00"], "flipped")
    assert "### x\\ud800: old=1.0 new=0.0 -> old wins\n" in compare("old.jsonl", "new.jsonl").stdout


def test_a_bad_value_with_a_lone_surrogate_is_an_error_line() -> None:
    done = compared('{"task_id": "t\\ud800", "reward": "\\ud800"}')
    assert_refused(done, "new.jsonl:1: reward '\\ud800' is not a number (task t\\ud800)")


# Numbers without end


@pytest.mark.parametrize("digits", [DIGITS, f"-{DIGITS}", MORE_DIGITS])
def test_an_endless_reward_is_an_error(digits: str) -> None:
    assert_refused(
        compared(f'{{"task_id": "t", "reward": {digits}}}'), "new.jsonl:1: reward ", " is not a number (task t)"
    )


def test_an_endless_mask_is_an_error() -> None:
    done = compared(f'{{"task_id": "t", "reward": 1, "mask_sample": {DIGITS}}}')
    assert_refused(done, "new.jsonl:1: mask_sample ", " is not true or false")


@pytest.mark.parametrize("digits", [DIGITS, MORE_DIGITS])
def test_an_endless_id_is_its_digits(digits: str) -> None:
    put("old.jsonl", f'{{"task_id": {digits}, "reward": 1}}')
    put("new.jsonl", f'{{"task_id": {digits}, "reward": 1}}', f'{{"task_id": {digits[:-1]}2, "reward": 1}}')
    assert labels("old.jsonl", "new.jsonl") == {digits: "identical", f"{digits[:-1]}2": "missing"}


@pytest.mark.parametrize("digits", [DIGITS, MORE_DIGITS])
def test_an_endless_number_elsewhere_does_not_matter(digits: str) -> None:
    for field in ("other", "error", "failure_kind", "_ng_task_index", "_ng_rollout_index", "response", "test_output"):
        assert compared(f'{{"task_id": "t", "reward": 1, "{field}": {digits}}}').status == 0


@pytest.mark.parametrize(
    ("reward", "text"), [("1e400", "inf"), ("-1e400", "-inf"), ("NaN", "nan"), ("Infinity", "inf")]
)
def test_rewards_beyond_a_double_are_not_finite(reward: str, text: str) -> None:
    done = compared(f'{{"task_id": "t", "reward": {reward}}}')
    assert f"- t: old=1.0 new=none; new non-finite reward ({text})\n" in done.stdout


def test_the_mean_of_rewards_whose_sum_is_beyond_a_double() -> None:
    row = {"task_id": "t", "reward": 1.7e308}
    write_rows(Path("old.jsonl"), [row, row, row])
    write_rows(Path("new.jsonl"), [row])
    assert labels("old.jsonl", "new.jsonl") == {"t": "identical"}


# Nesting without end


@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("field", ["task_id", "reward", "error", "other", "mask_sample", "failure_kind", "response"])
def test_nesting_too_deep_is_invalid_json(field: str, kind: str) -> None:
    row = f'{{"task_id": "t", "reward": 1, "{field}": {nested(DEEP, kind)}}}'
    assert_refused(compared(row), "new.jsonl:1: invalid JSON (")


def test_a_line_that_is_nothing_but_nesting() -> None:
    for line in (nested(DEEP), "[" * DEEP, '{"a":' * DEEP, nested(DEEP, "object")):
        assert_refused(compared(line), "new.jsonl:1: invalid JSON (")


@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("depth", [150, 330, 500, 900, 980, 990, 1000, 1500])
@pytest.mark.parametrize("field", ["task_id", "reward", "error", "other", "mask_sample", "failure_kind", "test_output"])
def test_nesting_near_the_limit_is_a_report_or_an_error(field: str, depth: int, kind: str) -> None:
    compared(f'{{"task_id": "t", "reward": 0, "{field}": {nested(depth, kind)}}}')


def test_nesting_in_the_sidecar() -> None:
    put("old.jsonl", '{"task_id": "t", "reward": 1}')
    put("old_failures.jsonl", '{"task_id": "u"}', f'{{"task_id": "t", "x": {nested(DEEP)}}}')
    assert_refused(compare("old.jsonl", "old.jsonl"), "old_failures.jsonl:2: invalid JSON (")


# Bytes that are no text


def test_nul_bytes() -> None:
    assert_refused(compared(b"\0\0\0"), "new.jsonl:1: invalid JSON (")
    assert_refused(compared(b'{"task_id": "a\0", "reward": 1}'), "new.jsonl:1: invalid JSON (")
    assert "- a\\x00b: only on new side (reward 1.0)\n" in compared('{"task_id": "a\\u0000b", "reward": 1}').stdout


def test_invalid_utf8_in_an_id() -> None:
    put("old.jsonl", b'{"task_id": "caf\xe9", "reward": 1}')
    put("new.jsonl", '{"task_id": "caf\ufffd", "reward": 1}')
    assert labels("old.jsonl", "new.jsonl") == {"caf\ufffd": "identical"}


@pytest.mark.slow
def test_a_line_of_100_megabytes() -> None:
    with Path("new.jsonl").open("wb") as file:
        file.write(b'{"task_id": "t", "transcript": "')
        file.writelines(b"x" * (1 << 20) for _ in range(100))
        file.write(b'", "reward": 1}\n{"task_id": "u", "reward": 1}\n')
    put("old.jsonl", '{"task_id": "t", "reward": 1}')
    assert labels("old.jsonl", "new.jsonl") == {"t": "identical", "u": "missing"}


def test_a_broken_line_of_10_megabytes_is_one_short_error_line() -> None:
    done = compared(b"x" * (10 << 20))
    assert_refused(done, "new.jsonl:1: invalid JSON (")
    assert len(done.stderr) < 1000


@pytest.mark.parametrize("field", ["reward", "mask_sample"])
def test_a_bad_value_of_10_megabytes_is_one_short_error_line(field: str) -> None:
    done = compared(json.dumps({"task_id": "t", "reward": 1, field: "x" * (10 << 20)}))
    assert_refused(done, f"new.jsonl:1: {field} 'xxx")
    assert len(done.stderr) < 1000


# Ids


def test_an_empty_id_is_a_task_and_visible() -> None:
    done = compared('{"task_id": "", "reward": 1}')
    assert labels("old.jsonl", "new.jsonl") == {"": "missing", "t": "missing"}
    assert "- : only" not in done.stdout


def test_an_id_of_10_000_characters() -> None:
    long = "x" * 10_000
    compared(f'{{"task_id": "{long}1", "reward": 0}}', f'{{"task_id": "{long}2", "reward": 0}}')
    assert labels("old.jsonl", "new.jsonl") == {f"{long}1": "missing", f"{long}2": "missing"}
    compared(f'{{"task_id": "{long}", "reward": 0}}', f'{{"task_id": "{long}", "reward": 1}}')
    assert labels("old.jsonl", "new.jsonl") == {long: "flipped"}


def test_an_anonymous_failure_does_not_join_a_task_of_its_name() -> None:
    put("old.jsonl", '{"task_id": "unknown#1", "reward": 1}')
    put("new.jsonl", '{"task_id": "unknown#1", "reward": 1}')
    put("new_failures.jsonl", '{"x": 1}')
    done = run("--json", "dev", "compare", "old.jsonl", "new.jsonl")
    tasks = [(task["task"], task["category"]) for task in json.loads(done.stdout)["tasks"]]
    assert tasks == [("unknown#1", "identical"), ("unknown#1", "masked")]


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("1", '"1"', "1"),
        ("0", '"0"', "0"),
        ("-7", '"-7"', "-7"),
        ("1.5", '"1.5"', "1.5"),
        ("true", '"true"', "true"),
        ("false", '"false"', "false"),
        ("[1, true]", "[1,  true]", "[1,true]"),
        ('{"b": 1, "a": [2]}', '{"a": [2], "b": 1}', '{"a":[2],"b":1}'),
        ('{"task_id": 5}', "5", "5"),
        ('{"id": "x", "taskset": "s"}', '"x"', "x"),
        ('{"id": "x", "task_id": null}', '"x"', "x"),
        ("[]", "[]", "[]"),
        ("{}", "{}", "{}"),
    ],
)
def test_ids_of_every_type_are_their_text(old: str, new: str, label: str) -> None:
    assert compared(f'{{"task_id": {new}, "reward": 1}}', f'{{"task_id": {old}, "reward": 1}}').status == 0
    assert labels("old.jsonl", "new.jsonl") == {label: "identical"}


def test_ids_that_differ_only_in_what_a_terminal_shows_stay_apart() -> None:
    put("old.jsonl", '{"task_id": "a", "reward": 1}', '{"task_id": "a\\u001b[0m", "reward": 1}')
    assert len(labels("old.jsonl", "old.jsonl")) == 2


# Keys


@pytest.mark.parametrize(
    "key", ['a"b', "a\\b", "a\nb", "a\x00b", "\ud800", "caf\u00e9", " ", ".", "a..b", ".a", "__class__"]
)
def test_a_key_of_any_name_that_no_row_has(key: str) -> None:
    path = put("run.jsonl", '{"task_id": "t", "reward": 1}')
    assert_refused(compare(path, path, "--key", key), "run.jsonl:1: row has no '", "task_id")


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "caf\u00e9", " ", "__class__", "field_0", "reward"])
def test_a_key_of_any_name_that_every_row_has(key: str) -> None:
    rows = [{"other": 1, "reward": 1, key: 1}]
    write_rows(Path("run.jsonl"), rows)
    done = run("--json", "dev", "compare", "run.jsonl", "run.jsonl", "--key", key)
    assert (done.status, done.stderr) == (0, "")
    assert json.loads(done.stdout)["join"]["old_key"] == key
    assert json.loads(done.stdout)["counts"]["identical"] == 1


@pytest.mark.parametrize("key", ["response.metadata.id", "instance_config.mask_sample", "error.type", "failure_kind.x"])
def test_a_key_inside_a_field_that_has_a_meaning(key: str) -> None:
    *outer, last = key.split(".")
    row: Any = {last: 1}
    for name in reversed(outer):
        row = {name: row}
    write_rows(Path("run.jsonl"), [{**row, "reward": 1}])
    done = run("--json", "dev", "compare", "run.jsonl", "run.jsonl", "--key", key)
    assert (done.status, done.stderr) == (0, "")
    assert [task["task"] for task in json.loads(done.stdout)["tasks"]] == ["1"]


# Fields of a wrong type


@pytest.mark.parametrize("value", ["null", "0", "7", '"x"', "[]", "[1]", "{}", '{"a": 1}', "true", "1.5"])
@pytest.mark.parametrize(
    "field",
    ["response", "instance_config", "verifier_metadata", "error", "failure_kind", "verifier_logs_dir", "test_output"],
)
def test_a_field_of_any_type_makes_no_error(field: str, value: str) -> None:
    assert compared(f'{{"task_id": "t", "reward": 0, "{field}": {value}}}').status == 0


@pytest.mark.parametrize("field", ["_ng_task_index", "_ng_rollout_index", "failure_kind", "failure_reason", "task_id"])
@pytest.mark.parametrize("value", [None, True, 1.5, [1], {"a": [1]}, "x", 10**400])
def test_a_failure_with_a_field_of_any_type_makes_no_error(field: str, value: object) -> None:
    row = {"_ng_task_index": 1, "_ng_rollout_index": 2, "task_id": "t", field: value}
    put("run.jsonl", '{"task_id": "t", "reward": 1, "_ng_task_index": [1], "_ng_rollout_index": {"a": 1}}')
    write_rows(Path("run_failures.jsonl"), [row, row, {**row, "_ng_omitted_rollout": [0]}])
    assert compare("run.jsonl", "run.jsonl").status == 0


def test_every_program_name_says_the_same() -> None:
    path = put("run.jsonl", "nonsense")
    refused = {run(*words, path, path, prog=prog) for prog, *words in (("gym", "dev", "compare"), ("rollout-compare",))}
    assert len(refused) == 1
    assert_refused(refused.pop(), "run.jsonl:1: ")
    assert cli.ERROR == 1
