"""Runs of SWE-bench: reports, logs, and what leaderboards keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.producers.verdicts import tests_of_report as outcomes_of
from nemo_gym.rollout_compare.schema import Step
from tests.producer_support import found_in, record_in, table_of_run
from tests.record_support import judged, listed, put_json, verdict, write_instance, write_predictions
from tests.support import assert_refused, compare, put, write_rows

RUN = "logs/run_evaluation/run/model"
EVALUATED = listed(
    submitted=["a", "b", "c", "d", "e"],
    completed=["a", "b", "e"],
    resolved=["a"],
    unresolved=["b", "e"],
    empty_patch=["c"],
    error=["d"],
    incomplete=["never"],
    infra_failure_ids=["e"],
    failure_reasons={"e": "container_unavailable"},
)
EXPECTED = [
    ("a", 1.0),
    ("b", 0.0),
    ("c", 0.0),
    ("d", "no report.json: its evaluation failed"),
    ("e", "infra failure: container_unavailable"),
]


def kinds(path: Path) -> list[Any]:
    table = table_of_run(path)
    return [table.failure_kind[row] for row in range(len(table))]


def test_a_report_alone_tells_what_was_resolved(tmp_path: Path) -> None:
    path = put_json(tmp_path / "model.run.json", EVALUATED)
    assert found_in(path) == found_in(tmp_path) == EXPECTED
    assert kinds(path) == [None, None, "empty_patch", None, None]


def test_what_was_never_submitted_is_not_missing(tmp_path: Path) -> None:
    old = put_json(tmp_path / "old.json", listed(submitted=["a"], resolved=["a"], unresolved=[]))
    new = put_json(tmp_path / "new.json", listed(submitted=["a"], resolved=["a"], incomplete=["b", "c"]))
    assert "missing                      0" in compare(old, new).stdout


@pytest.mark.parametrize(
    ("report", "found"),
    [
        (verdict("a", True), 1.0),
        (verdict("a", False), 0.0),
        ({"resolved": True}, 1.0),
        ({"other name": {"resolved": True}}, 1.0),
        (verdict("a", False, infra_failure=True), "infra failure"),
        (verdict("a", False, infra_failure=True, infra_failure_reason="oom"), "infra failure: oom"),
        (None, "no report.json"),
        ("", "report.json is empty"),
        ("{}", "report.json is empty"),
    ],
)
def test_an_instance_has_a_report_of_its_own(report: Any, found: Any, tmp_path: Path) -> None:
    write_instance(tmp_path / RUN, "a", report)
    write_instance(tmp_path / RUN, "z", verdict("z", True))
    for named in (tmp_path, tmp_path / "logs", tmp_path / "logs/run_evaluation", tmp_path / RUN):
        assert found_in(named) == [("a", found), ("z", 1.0)]
    assert found_in(tmp_path / RUN / "a") == [("a", found)]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"patch_exists": False}, "empty_patch"),
        ({"patch_successfully_applied": False}, "patch_not_applied"),
        ({"patch_successfully_applied": False, "infra_failure_reason": "tests_timed_out"}, "tests_timed_out"),
        ({}, None),
    ],
)
def test_why_an_instance_is_not_resolved(more: dict[str, Any], kind: str | None, tmp_path: Path) -> None:
    write_instance(tmp_path / RUN, "a", verdict("a", False, **more))
    assert kinds(tmp_path) == [kind]


def test_the_own_report_decides_and_the_runs_fills_in(tmp_path: Path) -> None:
    put_json(tmp_path / "model.run.json", EVALUATED)
    for name in ("a", "b"):
        write_instance(tmp_path / RUN, name, verdict(name, name == "b"))
    write_instance(tmp_path / RUN, "f", None)
    assert found_in(tmp_path) == [("a", 0.0), ("b", 1.0), *EXPECTED[2:], ("f", "no report.json")]


def test_one_report_that_is_broken_is_named(tmp_path: Path) -> None:
    for name in "abc":
        write_instance(tmp_path / RUN, name, '{"b": ' if name == "b" else verdict(name, True))
    done = compare(tmp_path, tmp_path)
    assert_refused(done, f"{RUN}/b/report.json: invalid JSON")
    assert done.stderr.count("report.json") == 1
    assert found_in(tmp_path, skip_bad_lines=True) == [("a", 1.0), ("c", 1.0)]
    assert "1 instance" in compare(tmp_path, tmp_path, "--skip-bad-lines").stdout


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (verdict("a", "yes"), 'resolved "yes" is not true or false'),
        ({"x": 1, "y": 2}, "it says nothing of a"),
        ("[]", "expected a JSON object"),
    ],
)
def test_a_report_that_says_something_else(report: Any, said: str, tmp_path: Path) -> None:
    write_instance(tmp_path / RUN, "a", report)
    assert_refused(compare(tmp_path, tmp_path), said)


def test_a_report_that_is_not_json_or_lists_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    put(path, '{"resolved_ids": ["a"], "submitted_ids": [')
    assert_refused(compare(path, path), "r.json: invalid JSON")
    put(path, '{"resolved_ids": null, "submitted_ids": null}')
    assert_refused(compare(path, path), "it has no list of instances")


def test_another_field_of_the_reports_may_be_the_reward(tmp_path: Path) -> None:
    write_instance(tmp_path / RUN, "a", verdict("a", False))
    assert found_in(tmp_path, reward="patch_successfully_applied") == [("a", 1.0)]
    assert found_in(tmp_path, reward="resolved") == [("a", 0.0)]
    assert found_in(tmp_path, reward="x") == [("a", "no value of x")]


def test_sb_cli_and_other_evaluators(tmp_path: Path) -> None:
    more = {"failed_ids": ["c"], "pending_ids": ["d"]}
    path = put_json(tmp_path / "r.json", listed(submitted=list("abcd"), resolved=["a"], unresolved=["b"], **more))
    assert found_in(path) == [
        ("a", 1.0),
        ("b", 0.0),
        ("c", "its evaluation failed"),
        ("d", "its evaluation is pending"),
    ]
    path = put_json(path, {"submitted_ids": ["a", "b"], "resolved_ids": ["a"]})
    assert found_in(path) == [("a", 1.0), ("b", 0.0)]


def test_what_leaderboards_keep(tmp_path: Path) -> None:
    kept = {"resolved": ["a"], "no_generation": ["b"], "no_logs": ["c"]}
    put_json(tmp_path / "results" / "results.json", kept)
    found = [("a", 1.0), ("b", 0.0), ("c", "no report.json: its evaluation failed")]
    assert found_in(tmp_path) == found_in(tmp_path / "results" / "results.json") == found
    assert "does not list the instances that failed" in compare(tmp_path, tmp_path).stdout
    write_predictions(tmp_path / "all_preds.jsonl", {"a": "diff", "d": "diff", "e": " "})
    assert found_in(tmp_path) == [*found, ("d", 0.0), ("e", 0.0)]
    assert "does not list" not in compare(tmp_path, tmp_path).stdout


def test_the_first_versions_told_why(tmp_path: Path) -> None:
    kept = {
        "resolved": ["a"],
        "generated": ["a", "b", "c"],
        "applied": ["a", "b"],
        "no_apply": ["c"],
        "no_generation": ["d"],
    }
    path = put_json(tmp_path / "results.json", kept)
    assert found_in(path) == [("a", 1.0), ("b", 0.0), ("c", 0.0), ("d", 0.0)]
    assert kinds(path) == [None, None, "no_apply", "empty_patch"]


def test_details_of_each_instance(tmp_path: Path) -> None:
    details = {"b": {"resolved": False, "cost": 0.5, "api_calls": 3}, "a": {"resolved": True}}
    put_json(tmp_path / "per_instance_details.json", details)
    assert found_in(tmp_path) == [("a", 1.0), ("b", 0.0)]
    assert found_in(tmp_path, reward="cost") == [("a", "no value of cost"), ("b", 0.5)]


@pytest.mark.parametrize("name", ["preds.json", "all_preds.jsonl", "predictions.jsonl"])
def test_predictions_say_where_verdicts_are(name: str, tmp_path: Path) -> None:
    write_predictions(tmp_path / name, {"a": "diff"})
    for named in (tmp_path, tmp_path / name):
        assert_refused(compare(named, named), f"{name}: predictions do not say what was resolved", "MODEL.RUN_ID.json")


def test_what_was_submitted_and_left_no_logs(tmp_path: Path) -> None:
    write_instance(tmp_path / RUN, "a", verdict("a", True))
    write_predictions(tmp_path / "predictions.jsonl", {"a": "diff", "b": "diff", "c": ""})
    assert found_in(tmp_path) == [("a", 1.0), ("b", "no report.json: killed or still running"), ("c", 0.0)]
    put(tmp_path / "predictions.jsonl", 'no\n{"instance_id": "b", "model_patch": null}\n{"x": 1}\n')
    assert found_in(tmp_path) == [("a", 1.0), ("b", 0.0)]


def test_several_runs_and_models(tmp_path: Path) -> None:
    for run in ("one", "two"):
        write_instance(tmp_path / "logs/run_evaluation" / run / "model", "a", verdict("a", run == "one"))
    assert found_in(tmp_path) == [("a", 1.0), ("a", 0.0)]  # two attempts of one model
    write_instance(tmp_path / "logs/run_evaluation/one/other", "a", verdict("a", True))
    assert_refused(compare(tmp_path, tmp_path), "it holds 3 runs; name one of them: logs/run_evaluation/one/model")
    for run in ("one", "two"):
        put_json(tmp_path / f"model.{run}.json", listed(submitted=["a"], resolved=["a"], unresolved=[]))
    assert_refused(compare(tmp_path, tmp_path), "it holds 2 reports; name one of them: model.one.json, model.two.json")
    assert found_in(tmp_path / "model.two.json") == [("a", 0.0)]


def test_a_folder_that_holds_none(tmp_path: Path) -> None:
    assert_refused(compare(tmp_path, tmp_path, "--format", "swe-bench"), "without a report of SWE-bench or its logs")


def test_an_instance_is_read_again(tmp_path: Path) -> None:
    status = {"FAIL_TO_PASS": {"success": ["t::a"], "failure": ["t::b"]}, "PASS_TO_PASS": {"success": ["t::b"]}}
    folder = write_instance(tmp_path / RUN, "a", verdict("a", False, tests_status=status), "1 failed\n")
    record = record_in(tmp_path)
    assert record.values == ("a",)
    assert record.output is not None
    assert record.output.files == (folder / "test_output.txt", folder / "run_instance.log")
    assert record.output.tests == {"t::a": "passed", "t::b": "failed"}
    assert record.row is not None
    assert record.row["resolved"] is False


def test_a_test_of_two_kinds_failed_if_it_failed_in_one_whoever_wrote_the_report_down(tmp_path: Path) -> None:
    status = {"FAIL_TO_PASS": {"success": ["a"], "failure": ["b"]}, "PASS_TO_PASS": {"success": ["b"], "failure": []}}
    write_instance(tmp_path / RUN, "i", verdict("i", False, tests_status=status), "1 failed\n")
    rows = [
        {"task_id": "i", "reward": 0.0, "tests_status": status},
        {"task_id": "i", "reward": 0.0, "metadata": {"eval_report": {"i": {"tests_status": status}}}},
    ]
    paths = [tmp_path, *(write_rows(tmp_path / f"{number}.jsonl", [row]) for number, row in enumerate(rows))]
    outputs = [record_in(path).output for path in paths]
    assert [output and output.tests for output in outputs] == [{"a": "passed", "b": "failed"}] * 3


@pytest.mark.parametrize("status", [None, 7, {"FAIL_TO_PASS": None}, {"FAIL_TO_PASS": {"success": "a"}}])
def test_what_is_no_report_of_tests(status: Any) -> None:
    assert outcomes_of([status]) is None


@pytest.mark.parametrize(
    ("place", "document"),
    [
        ("a/a.traj.json", {"messages": [{"role": "user", "content": "fix"}, {"role": "assistant", "content": "ls"}]}),
        (
            "trajs/a/a.traj",
            {
                "history": [{"role": "user", "content": "fix"}, {"role": "assistant", "content": "x"}],
                "trajectory": [{"thought": "look", "action": "ls\n", "observation": "a.py"}],
            },
        ),
        ("a.traj", {}),
    ],
)
def test_trajectories_beside_a_report(place: str, document: Any, tmp_path: Path) -> None:
    put_json(tmp_path / "model.run.json", listed(submitted=["a", "o/b"], resolved=["a", "o/b"], unresolved=[]))
    put_json(tmp_path / place, document)
    steps = record_in(tmp_path).transcript
    assert record_in(tmp_path, 1).transcript is None
    if not document:
        assert steps is None
    elif "messages" in document:
        assert steps == (Step("user", "fix"), Step("assistant", "ls"))
    else:
        assert steps == (Step("user", "fix"), Step("assistant", "look", "bash", "ls", "a.py"))


def test_what_has_changed_since_is_not_shown(tmp_path: Path) -> None:
    folder = write_instance(tmp_path / RUN, "a", verdict("a", False))
    table = table_of_run(tmp_path)
    (source,) = {table.place(0).source}
    put(folder / "report.json", "{}")
    (record,) = source.again([table.place(0)], _wanted(), grown=False)
    assert "has changed or gone" in str(record)
    put(folder / "report.json", "broken")
    (record,) = source.again([table.place(0)], _wanted(), grown=True)
    assert "invalid JSON" in str(record)


def _wanted() -> Any:
    from nemo_gym.rollout_compare.schema import Wanted

    return Wanted(output=True)


def test_a_run_reads_in_pieces_as_whole(tmp_path: Path) -> None:
    for number in range(5):
        write_instance(tmp_path / RUN, f"i{number}", verdict(f"i{number}", number % 2 == 0))
    with locate_run(str(tmp_path)).opened() as run:
        (shard,) = run.shards
        assert shard.main.pieces(1) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
        assert shard.main.pieces(1 << 20) == [(0, 5)]
        assert shard.main.unchanged()
    located = locate_run(str(tmp_path))
    assert len(located.files()) == 5
    assert located.folders() == [tmp_path / RUN]


def test_against_openhands(tmp_path: Path) -> None:
    old = put_json(tmp_path / "model.run.json", listed(submitted=["a", "b"], resolved=["a"], unresolved=["b"]))
    new = write_rows(tmp_path / "output.swebench_eval.jsonl", [judged("a", False), judged("b", False), judged("c")])
    told = compare(old, new).stdout
    assert "join key: old=instance_id, new=instance_id" in told
    assert "identical                    1" in told
    assert "flipped                      1   old-win 1, new-win 0" in told
    assert "missing                      1   old-only 0, new-only 1" in told


@pytest.mark.parametrize("form", ["list", "object"])
def test_predictions_in_one_document(form: str, tmp_path: Path) -> None:
    rows: list[Any] = [{"instance_id": "b", "model_patch": "diff"}, {"x": 1}, 2]
    put_json(tmp_path / "preds.json", rows if form == "list" else {str(i): row for i, row in enumerate(rows)})
    put_json(tmp_path / "results.json", {"resolved": ["a"], "no_generation": []})
    assert found_in(tmp_path) == [("a", 1.0), ("b", 0.0)]
    put(tmp_path / "preds.json", "3")
    assert_refused(compare(tmp_path, tmp_path), "neither an object nor a list")


def test_a_table_that_is_called_predictions(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "predictions.jsonl", [{"id": "t", "correct": True}])
    assert found_in(path) == [("t", 1.0)]


def test_a_trajectory_with_something_else_in_it(tmp_path: Path) -> None:
    put_json(tmp_path / "model.run.json", listed(submitted=["a"], resolved=["a"], unresolved=[]))
    put_json(tmp_path / "a.traj", {"history": [3], "trajectory": [3, {"action": "ls"}]})
    assert record_in(tmp_path).transcript == (Step("assistant", "", "bash", "ls", ""),)
