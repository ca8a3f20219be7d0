"""`--jobs`, from the command line: the same report, summary and error from any number of processes."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.compressing import write_compressed
from tests.support import Done, alone, write_rows

JOBS = ["1", "2", "3", "64"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder has two runs, the new one of three shards of which one is compressed."""
    monkeypatch.chdir(tmp_path)
    rows = [{"task_id": f"t{i}", "reward": i % 2, "test_output": f"said {i}"} for i in range(300)]
    write_rows(Path("old.jsonl"), rows)
    write_rows(Path("new-1.jsonl"), [{**row, "reward": int(i % 3 == 0)} for i, row in enumerate(rows[:100])])
    write_compressed(Path("new-2.jsonl.gz"), rows[100:200])
    write_rows(Path("new-3.jsonl"), rows[200:250])
    write_rows(Path("new-3_failures.jsonl"), [{"task_id": "t260", "failure_kind": "crash"}, {}])


def told(*words: str) -> list[Done]:
    """What a comparison ends in with each number of processes that are asked for, the first of them by default."""
    return [Done(*done) for done in alone(told_by_each, *words)]


def told_by_each(*words: str) -> list[Done]:
    from nemo_gym.rollout_compare.app.cli import main

    ends = []
    for options in ([], *(["--jobs", jobs] for jobs in JOBS)):
        out, err = StringIO(), StringIO()
        ends.append(Done(main(["dev", "compare", *words, *options], out, err), out.getvalue(), err.getvalue()))
    return ends


@pytest.mark.parametrize("options", [[], ["--json-stdout"], ["--key", "task_id", "--quiet"]], ids=" ".join)
def test_the_report_is_the_same_from_any_number_of_processes(options: list[str]) -> None:
    reports = told("old.jsonl", "new-*", *options)
    assert reports == [reports[0]] * 5
    assert (reports[0].status, reports[0].stderr) == (0, "")
    if not options:
        assert reports[0].stdout.startswith("gym dev compare: 301 tasks (old 300 rows, new 252 rows incl. 2 masked)\n")


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (["new-1.jsonl", "new-3.jsonl", "old.jsonl"], "error: old.jsonl:301: expected a JSON object per line\n"),
        (["new-1.jsonl", "new-3.jsonl"], "error: new-1.jsonl:101: expected a JSON object per line\n"),
        (["new-3.jsonl", "new-3_failures.jsonl"], "error: new-3.jsonl:51: expected a JSON object per line\n"),
        (["new-3_failures.jsonl"], "error: new-3_failures.jsonl:3: expected a JSON object per line\n"),
    ],
)
def test_the_first_error_is_the_same_from_any_number_of_processes(names: list[str], error: str) -> None:
    for name in names:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write("[]\n")
    assert told("old.jsonl", "new-*") == [Done(1, "", error)] * 5


def test_what_is_left_out_is_the_same_from_any_number_of_processes() -> None:
    for name in ("old.jsonl", "new-1.jsonl"):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write('[]\n{"reward": "x"}\n')
    reports = told("old.jsonl", "new-*", "--skip-bad-lines")
    assert reports == [reports[0]] * 5
    assert reports[0].stdout.count(": 2 lines that are not rows were left out: line ") == 2


def processes_for(*jobs: str) -> list[int]:
    """How many processes a comparison starts for each number of jobs; `default` for none given."""
    from nemo_gym.rollout_compare.app.cli import main

    started: list[int] = []
    os.register_at_fork(before=lambda: started.append(1))
    counts = []
    for number in jobs:
        options = [] if number == "default" else ["--jobs", number]
        assert main(["dev", "compare", "old.jsonl", "new-*", *options], StringIO()) == 0
        counts.append(len(started))
        started.clear()
    return counts


def test_no_more_processes_are_started_than_asked_for_or_needed() -> None:
    assert alone(processes_for, "1", "2", "3", "4", "64", "default") == [0, 2, 3, 4, 4, 0]


def with_verifier_output_by(new: str, changing: str, *jobs: str) -> list[Any]:
    """How many processes read verifier output, and which flips they find; the old run changes before if asked."""
    from nemo_gym.rollout_compare.app import comparison
    from nemo_gym.rollout_compare.app.cli import main
    from nemo_gym.rollout_compare.explain import findings

    vars(findings).update(_WORTH_PROCESSES=2, _TASKS_A_BATCH=7)
    compare, with_findings = vars(comparison)["compare_tables"], vars(comparison)["with_findings"]
    started: list[int] = []
    os.register_at_fork(before=lambda: started.append(1))
    read: list[int] = []

    def compared_before_a_change(*args: Any) -> Any:
        result = compare(*args)
        if changing == "changing":
            Path("old.jsonl").touch()
        started.clear()
        return result

    def told_by(*args: Any) -> Any:
        result = with_findings(*args)
        read.append(len(started))
        return result

    vars(comparison).update(compare_tables=compared_before_a_change, with_findings=told_by)
    said = []
    for number in jobs:
        out = StringIO()
        assert main(["dev", "compare", "old.jsonl", new, "--json-stdout", "--jobs", number], out) == 0
        said.append(json.loads(out.getvalue()))
        del said[-1]["run"]  # it says when the old run changed
    assert all(one == said[0] for one in said)
    return [read, said[0]["flips"]]


def test_any_number_of_processes_reads_the_same_verifier_output() -> None:
    read, flips = alone(with_verifier_output_by, "new-[13].jsonl", "at_rest", "1", "2", "3", "64")
    assert len(flips) == 50
    assert read == [0, 2, 3, 22]  # these and 100 tasks that agree, 7 at a time
    assert alone(with_verifier_output_by, "new-*", "at_rest", "1", "3") == [[0, 0], flips]  # a file is compressed
    for flip in flips:
        expected = [f"said {flip['task'].removeprefix('t')}"]
        assert [flip[side]["lines"] for side in ("old", "new")] == [expected, expected]


def lines_beside_threads(threads: str) -> list[Any]:
    """How many processes are started where this one has threads, and the old lines of each flip."""
    from threading import Event, Thread

    from nemo_gym.rollout_compare.app.cli import main
    from nemo_gym.rollout_compare.explain import findings

    started: list[int] = []
    os.register_at_fork(before=lambda: started.append(1))
    vars(findings).update(_WORTH_PROCESSES=2, _TASKS_A_BATCH=7)
    done, out = Event(), StringIO()
    waiting = [Thread(target=done.wait) for _ in range(int(threads))]
    for thread in waiting:
        thread.start()
    main(["dev", "compare", "old.jsonl", "new-[13].jsonl", "--json-stdout", "--jobs", "2"], out)
    done.set()
    return [len(started), [flip["old"]["lines"] for flip in json.loads(out.getvalue())["flips"]]]


def test_a_program_with_threads_reads_verifier_output_by_itself() -> None:
    started, lines = alone(lines_beside_threads, "0")
    assert (started, len(lines)) == (4, 50)
    assert alone(lines_beside_threads, "1") == [0, lines]


def test_any_number_of_processes_says_that_a_run_has_changed() -> None:
    read, flips = alone(with_verifier_output_by, "new-[13].jsonl", "changing", "1", "2", "3")
    assert read == [0, 2, 3]
    reasons = {flip["old"]["unavailable"] for flip in flips}
    assert reasons == {"old.jsonl has changed or gone since it was first read"}
    assert all(flip["new"]["lines"] == [f"said {flip['task'].removeprefix('t')}"] for flip in flips)


def test_a_script_may_ask_for_them() -> None:
    assert alone(by_script) == [["1", 0], ["2", 0]]


def by_script() -> list[Any]:
    from nemo_gym.rollout_compare import RolloutCompareConfig, run_compare

    outs: list[Any] = []
    for jobs in (1, 2):
        config = RolloutCompareConfig(old_rollouts="old.jsonl", new_rollouts="new-*", jobs=jobs, json_stdout=True)
        out = StringIO()
        outs.append((str(jobs), run_compare(config, out), json.loads(out.getvalue())))
    assert outs[0][2] == outs[1][2]
    return [one[:2] for one in outs]
