"""What a Harbor trial leaves beside its result, read again for a flip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.schema import Step, Wanted
from tests.producers_support import again, harbor_killed, harbor_trial, put_json, table_at
from tests.support import compare, put

OUTPUT = Wanted(output=True)
TRANSCRIPT = Wanted(transcript=True)


def report(**tests: str) -> dict[str, Any]:
    return {"results": {"tests": [{"name": name, "status": status} for name, status in tests.items()]}}


def test_the_files_come_best_first_and_empty_ones_not_at_all(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0}, stdout="1 failed\n")
    put(trial / "verifier/test-stderr.txt", "")
    put(trial / "exception.txt", "AgentTimeoutError")
    put(trial / "trial.log", "began")
    output = again(table_at(tmp_path), OUTPUT).output
    assert output is not None
    names = [str(path.relative_to(trial)) for path in output.files]
    assert names == ["verifier/test-stdout.txt", "exception.txt", "trial.log"]


def shown_of(tmp_path: Path, old: Any, new: Any, place: str = "verifier/ctrf.json") -> str:
    """What the report says of a trial that the new run lost, by what each side's report of tests holds."""
    for side, reward, tests in (("old", 1.0, old), ("new", 0.0, new)):
        trial = harbor_trial(tmp_path / side, "one", rewards={"reward": reward}, stdout="the end\n")
        put(trial / place, tests if isinstance(tests, str) else json.dumps(tests))
    return compare(tmp_path / "old", tmp_path / "new").stdout


def test_the_single_tests_are_those_of_the_report(tmp_path: Path) -> None:
    new = report(a="passed", b="failed", c="skipped", d="pending", e="other")
    told = shown_of(tmp_path, report(**dict.fromkeys("abcde", "passed")), new)
    assert "broken tests (2): b, e\n" in told


def test_a_report_of_tests_is_read_as_any_other_such_file(tmp_path: Path) -> None:
    old, new = ([{"name": "t", "status": "passed", "suite": suite} for suite in "ab"] for _ in range(2))
    new[1]["status"] = "failed"
    told = shown_of(tmp_path, {"results": {"tests": old}}, {"results": {"tests": new}})
    assert "broken tests (1): b > t\n" in told
    cut = json.dumps({"results": {"tests": [*new, {"name": "u", "status": "passed"}]}})[:-20]
    assert "broken tests (1): b > t\n" in shown_of(tmp_path, {"results": {"tests": old}}, cut)


@pytest.mark.parametrize("content", ["{", "[]", '{"results": 1}', '{"results": {"tests": [1, {"name": 2}]}}'])
def test_a_report_that_is_none_names_no_tests(tmp_path: Path, content: str) -> None:
    told = shown_of(tmp_path, report(a="passed"), content)
    assert "old wins" in told
    assert "tests (" not in told


def test_a_report_that_a_link_leads_to_within_the_run(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    put_json(trial / "verifier/real.json", report(a="passed"))
    (trial / "verifier/ctrf.json").symlink_to("real.json")
    output = again(table_at(tmp_path), OUTPUT).output
    assert output is not None
    assert output.reports == {str(tmp_path / "one__abcdefg/verifier/real.json"): ""}


def test_of_several_steps_the_last_one_s_output_comes_first(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    for step in ("1-create", "2-extend"):
        put(trial / f"steps/{step}/verifier/test-stdout.txt", step)
        put_json(trial / f"steps/{step}/verifier/ctrf.json", report(test="passed"))
        put_json(trial / f"steps/{step}/agent/trajectory.json", {"steps": [{"source": "agent", "message": step}]})
    table = table_at(tmp_path)
    output = again(table, OUTPUT).output
    assert output is not None
    assert [path.read_text("utf-8") for path in output.files] == ["2-extend", "1-create"]
    assert sorted(output.reports.values()) == ["1-create/", "2-extend/"]
    assert again(table, TRANSCRIPT).transcript == (Step("assistant", "1-create"), Step("assistant", "2-extend"))


def test_tests_of_several_steps_are_told_apart_by_their_steps(tmp_path: Path) -> None:
    put_json(tmp_path / "old/one__abcdefg/steps/2-extend/verifier/ctrf.json", report(test="passed"))
    put_json(tmp_path / "new/one__abcdefg/steps/2-extend/verifier/ctrf.json", report(test="passed"))
    told = shown_of(tmp_path, report(test="passed"), report(test="failed"), "steps/1-create/verifier/ctrf.json")
    assert "broken tests (1): 1-create/test\n" in told


def test_a_folder_that_a_link_leads_out_to_holds_no_output(tmp_path: Path) -> None:
    put(tmp_path / "outside/test-stdout.txt", "secret")
    trial = harbor_trial(tmp_path / "job", "one", rewards={"reward": 0.0})
    (trial / "verifier").symlink_to(tmp_path / "outside")
    output = again(table_at(tmp_path / "job"), OUTPUT).output
    assert output is not None
    assert output.files == ()


def test_a_trajectory_goes_on_in_the_files_that_it_names(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    for name, more in (("trajectory.json", "b.json"), ("b.json", "../../../b.json")):
        steps = [{"source": "agent", "message": name}]
        put_json(trial / "agent" / name, {"steps": steps, "continued_trajectory_ref": more})
    found = again(table_at(tmp_path), TRANSCRIPT).transcript
    assert found == (Step("assistant", "trajectory.json"), Step("assistant", "b.json"))


def test_without_a_trajectory_there_is_no_transcript(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    assert again(table_at(tmp_path), TRANSCRIPT).transcript is None


def test_a_killed_trial_can_be_read_again_too(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    trial = harbor_killed(tmp_path, "two__bbbbbbb", "tasks/two")
    put(trial / "trial.log", "began")
    record = again(table_at(tmp_path), Wanted(fields=("task_name", "source"), output=True, row=True), row=1)
    assert record.values == ("two", None)
    assert record.row == {}
    assert record.output is not None
    assert record.output.files == (tmp_path / "two__bbbbbbb/trial.log",)


def test_what_is_wanted_of_a_trial_and_nothing_else(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", task="acme/one", rewards={"reward": 0.0})
    table = table_at(tmp_path)
    wanted = Wanted(fields=("task_name", "task_name without organization", "source"), task_input=True)
    record = again(table, wanted)
    assert record.values == ("acme/one", "one", "bench")
    assert record.input_number == table.inputs[0] != 0
    assert (record.output, record.row, record.transcript) == (None, None, None)


def test_a_result_that_has_changed_is_not_taken_for_the_one_that_was_read(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    table = table_at(tmp_path)
    source = table.place(0).source
    put(trial / "result.json", "{}")
    (error,) = source.again([table.place(0)], OUTPUT, grown=False)
    assert "one__abcdefg/result.json has changed or gone since it was first read" in str(error)
    put(trial / "result.json", "[")
    (error,) = source.again([table.place(0)], OUTPUT, grown=True)
    assert "invalid JSON" in str(error)


def test_a_run_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards={"reward": 0.0})
    source = table_at(tmp_path).place(0).source
    assert source.unchanged()  # type: ignore[attr-defined]
    put(trial / "result.json", "{}")
    assert not source.unchanged()  # type: ignore[attr-defined]


def test_a_flip_shows_output_and_tests(tmp_path: Path) -> None:
    for side, reward, status in (("old", 1.0, "passed"), ("new", 0.0, "failed")):
        trial = harbor_trial(tmp_path / side, "one", rewards={"reward": reward}, stdout=f"test_a {status}\n")
        put_json(trial / "verifier/ctrf.json", report(test_a=status))
    done = compare(tmp_path / "old", tmp_path / "new")
    assert "broken tests (1): test_a\n" in done.stdout
    assert (
        f"last 1 line of {tmp_path}/new/one__abcdefg/verifier/test-stdout.txt):\n    | test_a failed\n" in done.stdout
    )
