"""`--rerun`: the labels of the tasks to run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import RolloutCompareConfig, compare_rollouts, run_compare
from nemo_gym.rollout_compare.report.rerun import tasks_to_rerun
from tests.support import assert_refused, compare, run, write_rows

OLD: list[dict[str, Any]] = [
    {"task_id": "same", "reward": 1},
    {"task_id": "flip", "reward": 1},
    {"task_id": "doubtful", "reward": 1},
    {"task_id": "masked", "reward": 1},
    {"task_id": "old only", "reward": 1},
    {"task_id": "unsure but equal", "reward": 1, "error": "oops"},
]
NEW: list[dict[str, Any]] = [
    {"task_id": "same", "reward": 1},
    {"task_id": "flip", "reward": 0},
    {"task_id": "doubtful", "reward": 0, "error": "oops"},
    {"task_id": "masked", "reward": None},
    {"task_id": "new only\nflip", "reward": 0},
    {"task_id": "unsure but equal", "reward": 1},
]
AGAIN = ["doubtful", "masked", "new only\\nflip", "old only", "unsure but equal"]


@pytest.fixture(autouse=True)
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    return str(write_rows(Path("old.jsonl"), OLD)), str(write_rows(Path("new.jsonl"), NEW))


def test_they_are_masked_missing_or_have_an_agent_error_one_a_line() -> None:
    assert list(tasks_to_rerun(compare_rollouts(OLD, NEW))) == AGAIN


def test_the_file_holds_them_and_the_report_is_as_ever(pair: tuple[str, str]) -> None:
    done = compare(*pair, "--rerun", "again.txt")
    assert done == (0, compare(*pair).stdout + "wrote again.txt\n", "")
    assert Path("again.txt").read_text("utf-8").splitlines() == AGAIN


def test_failures_that_name_no_task_cannot_be_run_again_but_a_real_task_of_that_name_can(pair: tuple[str, str]) -> None:
    write_rows(Path("new_failures.jsonl"), [{"failure_kind": "crash"}, {"task_id": "flip", "failure_kind": "crash"}])
    write_rows(Path("old.jsonl"), [*OLD, {"task_id": "unknown#1", "reward": 1}])
    done = compare(*pair, "--rerun", "again.txt")
    assert "- unknown#1: new=none; " in done.stdout
    assert Path("again.txt").read_text("utf-8").splitlines() == ["doubtful", "flip", *AGAIN[1:4], "unknown#1", AGAIN[4]]


def test_nothing_to_run_again_is_an_empty_file() -> None:
    write_rows(Path("sure.jsonl"), OLD[:5])
    done = compare("sure.jsonl", "sure.jsonl", "--rerun", "again.txt")
    assert done.status == 0
    assert Path("again.txt").read_bytes() == b""


def test_with_json_on_standard_output_the_confirmation_is_on_standard_error(pair: tuple[str, str]) -> None:
    done = run("--json", "dev", "compare", *pair, "--rerun", "again.txt")
    assert done.stderr == "wrote again.txt\n"
    assert done.stdout.startswith("{")


@pytest.mark.parametrize(("rerun", "told"), [("out", "out"), ("./out", "out"), ("link", "link")])
def test_two_outputs_may_not_be_one_file(pair: tuple[str, str], rerun: str, told: str) -> None:
    Path("link").symlink_to("out")
    assert_refused(
        compare(*pair, "--json", "out", "--rerun", rerun), f"cannot write {told}: it is named for two outputs"
    )
    assert not Path("out").exists()


def test_an_input_is_not_overwritten(pair: tuple[str, str]) -> None:
    before = Path("new.jsonl").read_bytes()
    assert_refused(compare(*pair, "--rerun", "new.jsonl"), "cannot write new.jsonl: it is the input new.jsonl")
    assert Path("new.jsonl").read_bytes() == before


@pytest.mark.parametrize("option", ["--json", "--rerun"])
def test_an_output_that_cannot_be_is_one_error_line(pair: tuple[str, str], option: str) -> None:
    Path("loop").symlink_to("loop")
    assert_refused(compare(*pair, option, "loop"), "cannot write loop: ")
    assert_refused(compare(*pair, option, "no/where"), "cannot write no/where: No such file or directory")


def test_a_path_that_no_file_can_have(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_compare(RolloutCompareConfig(old_rollouts=pair[0], new_rollouts=pair[1], rerun="a\0b")) == 1
    assert capsys.readouterr().err.startswith("error: cannot write a\\x00b: ")
