"""What the user names of Harbor's: jobs, trials, folders of jobs, and what is half there."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.report.notes import note_text
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.producers_support import Row, harbor_killed, harbor_trial, put_json, rows_of, table_at
from tests.support import assert_refused, compare, put, write_rows

KEY, SHORT = "task_name", "task_name without organization"
KILLED = Row(None, "no result: killed or still running")
ONE, ZERO = {"reward": 1.0}, {"reward": 0.0}


def notes(path: Path) -> list[str]:
    return [note_text(note) for note in table_at(path).notes]


def test_attempts_at_a_task_are_its_trials(tmp_path: Path) -> None:
    for name, reward in (("fix__aaaaaaa", 1.0), ("fix__bbbbbbb", 0.0), ("sum__ccccccc", 1.0)):
        harbor_trial(tmp_path, name, rewards={"reward": reward})
    table = table_at(tmp_path)
    assert rows_of(table, KEY) == {"fix": [Row(1.0), Row(0.0)], "sum": [Row(1.0)]}
    assert [table.rollout_index.value(code) for code in table.rollout_index.codes] == [
        "fix__aaaaaaa",
        "fix__bbbbbbb",
        "sum__ccccccc",
    ]


@pytest.mark.parametrize("named", ["job/one__abcdefg", "job/one__abcdefg/result.json"])
def test_a_single_trial_is_a_run(tmp_path: Path, named: str) -> None:
    harbor_trial(tmp_path / "job", "one", rewards=ONE)
    harbor_trial(tmp_path / "job", "two", rewards=ONE)
    table = table_at(tmp_path / named)
    assert rows_of(table, KEY) == {"one": [Row(1.0)]}
    assert table.place(0).where == str(tmp_path / "job/one__abcdefg/result.json")


def test_a_single_trial_that_was_killed_is_a_run(tmp_path: Path) -> None:
    harbor_killed(tmp_path, "slow__abcdefg", "tasks/slow")
    assert rows_of(table_at(tmp_path / "slow__abcdefg"), KEY) == {"slow": [KILLED]}


@pytest.mark.parametrize("named", ["job", "job/result.json", "."])
def test_a_job_is_found_by_its_folder_its_result_or_the_folder_around_it(tmp_path: Path, named: str) -> None:
    harbor_trial(tmp_path / "job", "one", rewards=ONE)
    put_json(tmp_path / "job/result.json", {"n_total_trials": 1, "stats": {}})
    assert rows_of(table_at(tmp_path / named), KEY) == {"one": [Row(1.0)]}


def test_folders_that_are_no_trials_are_left_alone(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards=ONE)
    put(tmp_path / "logs__1/note.txt", "")
    put_json(tmp_path / "other/config.json", {"name": "x"})
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(1.0)]}


def test_a_killed_trial_is_called_as_the_results_call_their_tasks(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", task="acme/one", rewards=ONE)
    harbor_killed(tmp_path, "slow__abcdefg", "tasks/slow")
    assert rows_of(table_at(tmp_path), KEY) == {"acme/one": [Row(1.0)], "acme/slow": [KILLED]}


def test_results_that_cannot_be_read_or_name_no_task_do_not_name_a_killed_trial(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", task="acme/one", rewards=ONE)
    put(harbor_trial(tmp_path, "two") / "result.json", "{")
    put(harbor_trial(tmp_path, "three") / "result.json", '{"task_name": 3}')
    harbor_killed(tmp_path, "slow__abcdefg", "tasks/slow")
    assert rows_of(table_at(tmp_path, skip_bad_lines=True), KEY)["acme/slow"] == [KILLED]


def test_of_several_organizations_a_killed_trial_gets_that_of_the_same_task(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", task="acme/one", rewards=ONE)
    harbor_trial(tmp_path, "two", task="other/two", rewards=ONE)
    harbor_killed(tmp_path, "two__bbbbbbb", "tasks/two")
    harbor_killed(tmp_path, "three__ccccccc", "tasks/three")
    rows = rows_of(table_at(tmp_path), KEY)
    assert rows == {"acme/one": [Row(1.0)], "other/two": [Row(1.0), KILLED], "three": [KILLED]}
    assert set(rows_of(table_at(tmp_path), SHORT)) == {"one", "two", "three"}


def test_a_killed_trial_is_named_by_its_configuration_lock_or_folder(tmp_path: Path) -> None:
    put_json(tmp_path / "a__aaaaaaa/config.json", {"trial_name": "a", "task": {"name": "org/alpha"}})
    put_json(tmp_path / "b__bbbbbbb/config.json", {"trial_name": "b", "task": {}})
    put_json(tmp_path / "b__bbbbbbb/lock.json", {"task": {"name": "beta"}})
    put_json(tmp_path / "c__ccccccc/config.json", {"trial_name": "c"})
    put(tmp_path / "d__ddddddd/result.json", "")
    put_json(tmp_path / "d__ddddddd/config.json", {"trial_name": "d", "task": {"path": "tasks/delta"}})
    assert set(rows_of(table_at(tmp_path, form="harbor"), KEY)) == {"org/alpha", "beta", "c", "delta"}


def test_trials_that_never_began_are_counted(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards=ONE)
    put_json(tmp_path / "result.json", {"n_total_trials": 3, "stats": {}})
    assert notes(tmp_path) == [f"{tmp_path}: 2 planned attempts left no record: killed or never started"]
    put_json(tmp_path / "result.json", {"n_total_trials": 2, "stats": {}})
    assert notes(tmp_path) == [f"{tmp_path}: 1 planned attempt left no record: killed or never started"]
    put_json(tmp_path / "result.json", {"n_total_trials": 1, "stats": {}})
    assert notes(tmp_path) == []


def test_tasks_of_several_data_sets_are_told_apart_by_them(tmp_path: Path) -> None:
    put_json(tmp_path / "config.json", {"datasets": [{"name": "a"}, {"name": "b"}]})
    harbor_trial(tmp_path, "same__aaaaaaa", rewards=ONE, source="a")
    harbor_trial(tmp_path, "same__bbbbbbb", rewards=ZERO, source="b")
    harbor_trial(tmp_path, "same__ccccccc", rewards=ZERO, source=None)
    rows = rows_of(table_at(tmp_path), KEY)
    assert rows == {("a", "same"): [Row(1.0)], ("b", "same"): [Row(0.0)], "same": [Row(0.0)]}


def agents(*named: str) -> dict[str, object]:
    return {"agents": [{"name": name, "model_name": "m"} for name in named]}


def test_several_jobs_of_one_agent_are_attempts_of_one_run(tmp_path: Path) -> None:
    for job, reward in (("first", 1.0), ("second", 0.0)):
        put_json(tmp_path / job / "config.json", agents("terminus"))
        harbor_trial(tmp_path / job, "one", rewards={"reward": reward})
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(1.0), Row(0.0)]}


def test_jobs_of_several_agents_are_no_run(tmp_path: Path) -> None:
    for job in ("first", "second"):
        put_json(tmp_path / job / "config.json", agents(job))
        harbor_trial(tmp_path / job, "one", rewards=ONE)
    with pytest.raises(CompareInputError, match=r"different agents or models; name one: .*first, .*second$"):
        table_at(tmp_path)


def test_a_job_of_several_agents_says_so(tmp_path: Path) -> None:
    put_json(tmp_path / "config.json", agents("a", "b"))
    harbor_trial(tmp_path, "one", rewards=ONE)
    said = "the job ran 2 agents; their trials count as attempts of one: a with m, b with m"
    assert notes(tmp_path) == [f"{tmp_path}: {said}"]


def test_trials_that_only_the_result_of_the_job_has_are_read_from_it(tmp_path: Path) -> None:
    trials = [
        {"task_name": "one", "trial_name": "one__a", "verifier_result": {"rewards": ONE}},
        {"task_name": "two", "trial_name": "two__b", "exception_info": {"exception_type": "ApiError"}},
    ]
    put_json(tmp_path / "result.json", {"n_total_trials": 2, "stats": {}, "trial_results": trials})
    table = table_at(tmp_path)
    assert rows_of(table, KEY) == {"one": [Row(1.0)], "two": [Row(None, "ApiError")]}
    assert table.place(1).where == f"{tmp_path / 'result.json'} (result 2, two__b)"


def test_an_entry_that_is_no_result_is_one_error(tmp_path: Path) -> None:
    put_json(tmp_path / "result.json", {"n_total_trials": 1, "stats": {}, "trial_results": [7]})
    with pytest.raises(CompareInputError, match=r"result\.json \(result 1, \?\): expected a JSON object for each"):
        table_at(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("result.json", {"n_total_trials": 1, "stats": {}}, "the job has no folder of a trial"),
        ("config.json", {"jobs_dir": "x"}, "the job has no folder of a trial"),
        ("note.json", {}, "it is a folder without a Harbor job or trial"),
    ],
)
def test_a_folder_without_trials_is_no_run(tmp_path: Path, name: str, content: object, problem: str) -> None:
    put_json(tmp_path / name, content)
    with pytest.raises(CompareInputError, match=problem), locate_run(str(tmp_path), "harbor").opened():
        pass


def two_runs(folder: Path, broken: bytes) -> tuple[Path, Path]:
    for side in ("old", "new"):
        for name in ("one", "two", "three"):
            harbor_trial(folder / side, name, rewards=ONE)
    put(folder / "new/three__abcdefg/result.json", broken)
    return folder / "old", folder / "new"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'{"task_name": "three", ', "invalid JSON (Expecting property name enclosed in double quotes: column 24)"),
        (b"[1]", "expected a JSON object"),
        (b"[" * 600 + b"]" * 600, "invalid JSON (nested too deeply)"),
    ],
)
def test_a_broken_result_is_one_error_that_names_it(tmp_path: Path, broken: bytes, reason: str) -> None:
    done = compare(*two_runs(tmp_path, broken))
    assert_refused(done, f"error: {tmp_path}/new/three__abcdefg/result.json: {reason}\n")


def test_broken_results_can_be_left_out_and_are_counted(tmp_path: Path) -> None:
    done = compare(*two_runs(tmp_path, b"{"), "--skip-bad-lines")
    assert done.status == 0
    assert "1 trial that cannot be read was left out: three__abcdefg/result.json (invalid JSON" in done.stdout
    assert "identical                    2" in done.stdout
    put(tmp_path / "new/two__abcdefg/result.json", "no")
    done = compare(tmp_path / "old", tmp_path / "new", "--skip-bad-lines")
    assert "2 trials that cannot be read were left out: three__abcdefg/result.json (invalid" in done.stdout
    put(tmp_path / "new/one__abcdefg/result.json", "no")
    done = compare(tmp_path / "old", tmp_path / "new", "--skip-bad-lines")
    assert_refused(done, f"{tmp_path}/new: none of its trials can be read: one__abcdefg/result.json (invalid")


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = harbor_trial(tmp_path / "outside", "secret", rewards=ONE)
    job = tmp_path / "job"
    harbor_trial(job, "one", rewards=ONE)
    (job / "linked__aaaaaaa").symlink_to(outside)
    assert rows_of(table_at(job), KEY) == {"one": [Row(1.0)]}
    trial = harbor_trial(job, "two", rewards=ONE)
    (trial / "result.json").unlink()
    (trial / "result.json").symlink_to(outside / "result.json")
    with pytest.raises(CompareInputError, match=r"two__abcdefg/result.json: it is a link that leads out of the run's"):
        table_at(job)


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards=ONE)
    (trial / "result.json").rename(tmp_path / "kept.json")
    (trial / "result.json").symlink_to(tmp_path / "kept.json")
    assert rows_of(table_at(tmp_path), KEY) == {"one": [Row(1.0)]}


def test_a_pipe_in_place_of_a_result_is_not_waited_for(tmp_path: Path) -> None:
    trial = harbor_trial(tmp_path, "one", rewards=ONE)
    (trial / "result.json").unlink()
    os.mkfifo(trial / "result.json")
    assert rows_of(table_at(tmp_path), KEY) == {"one": [KILLED]}


def test_any_field_can_be_the_key(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "one", rewards=ONE, task_id={"path": "tasks/one"})
    assert set(rows_of(table_at(tmp_path, key="task_id.path"), "task_id.path")) == {"tasks/one"}


def test_a_key_that_a_trial_lacks_is_one_error(tmp_path: Path) -> None:
    old, new = two_runs(tmp_path, json.dumps({"task_name": "three", "trial_name": "t"}).encode())
    assert_refused(compare(old, new, "--key", "task_checksum"), "new/three__abcdefg/result.json", "'task_checksum'")


def test_trials_join_rollouts_by_the_names_of_their_tasks(tmp_path: Path) -> None:
    harbor_trial(tmp_path / "job", "one", task="acme/one", rewards=ONE)
    harbor_trial(tmp_path / "job", "two", task="acme/two", rewards=ONE)
    input_ = {"input": "do it"}
    rows = [{"task_name": name, "reward": 1.0, "responses_create_params": input_} for name in ("one", "two")]
    rollouts = write_rows(tmp_path / "rollouts.jsonl", rows)
    done = compare(tmp_path / "job", rollouts)
    assert "identical                    2" in done.stdout
    assert "different task" not in done.stdout


def test_a_task_whose_content_changed_is_named(tmp_path: Path) -> None:
    for side in ("old", "new"):
        harbor_trial(tmp_path / side, "one", rewards=ONE, task_checksum=side)
        harbor_trial(tmp_path / side, "two", rewards=ONE)
    done = compare(tmp_path / "old", tmp_path / "new")
    assert "note: same id, different task content: one\n" in done.stdout


def test_however_the_trials_are_divided_they_are_the_same(tmp_path: Path) -> None:
    for number in range(30):
        harbor_trial(tmp_path, f"task-{number:02}", rewards={"reward": number % 2})
    harbor_killed(tmp_path, "z__aaaaaaa", "tasks/z")
    with locate_run(str(tmp_path)).opened() as run:
        source = run.shards[0].main
        whole = source.pieces(1 << 30)
        parts = source.pieces(1)
    assert len(whole) == 1
    assert len(parts) == 31
    assert (parts[0].start, parts[-1].stop) == (0, 31)
    assert all(one.stop == other.start for one, other in pairwise(parts))
