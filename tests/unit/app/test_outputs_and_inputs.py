"""Outputs are told from inputs by what they are, not by what they are called; nothing that is read is overwritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import assert_refused, compare, put, write_rows
from tests.support import run as gym

COMMAND = [sys.executable, "-m", "nemo_gym.rollout_compare"]


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("old.jsonl"), [{"task_id": "a", "reward": 1}])
    write_rows(Path("new.jsonl"), [{"task_id": "a", "reward": 0, "verifier_logs_dir": "logs"}])
    put("logs/test-stdout.txt", "boom error\n")


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("option", ["--json", "--rerun"])
@pytest.mark.parametrize("named", ["old.jsonl", "/dev/stdin", "/proc/self/fd/0", "hard", "soft", "logs/../old.jsonl"])
@pytest.mark.parametrize("run", ["-", "/dev/stdin"])
def test_standard_input_is_the_file_that_it_comes_from(option: str, named: str, run: str) -> None:
    Path("hard").hardlink_to("old.jsonl")
    Path("soft").symlink_to("old.jsonl")
    before = files()
    with Path("old.jsonl").open("rb") as piped:
        command = [*COMMAND, run, "new.jsonl", option, named]
        done = subprocess.run(command, stdin=piped, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"error: cannot write {named}: it is the input ")
    assert files() == before


def test_a_file_that_is_called_like_standard_input_is_not_it() -> None:
    put("standard input", "before")
    with Path("old.jsonl").open("rb") as piped:
        command = [*COMMAND, "-", "new.jsonl", "--json", "standard input"]
        done = subprocess.run(command, stdin=piped, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("standard input").read_bytes().startswith(b"{")


@pytest.mark.parametrize(("stream", "name"), [(1, "standard output"), (2, "standard error")])
@pytest.mark.parametrize("way", ["itself", "hard link", "link"])
def test_where_a_stream_goes_nothing_else_does(stream: int, name: str, way: str) -> None:
    put("out.txt", "")
    if way != "itself":
        (Path("other").hardlink_to if way == "hard link" else Path("other").symlink_to)("out.txt")
    command = [*COMMAND, "old.jsonl", "new.jsonl", "--json", "out.txt" if way == "itself" else "other"]
    with Path("out.txt").open("wb") as file:
        where = {"stdout" if stream == 1 else "stderr": file}
        done = subprocess.run(command, **{"stdout": -1, "stderr": -1, **where}, check=False)  # type: ignore[call-overload]
    assert done.returncode == 1
    said = done.stderr if stream == 1 else Path("out.txt").read_bytes()
    assert said.endswith(f": {name} goes there; name another file\n".encode())


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        ("--json", "--json-stdout prints the summary there in its place"),
        ("--markdown", "--markdown - prints the comment there in its place"),
        ("--rerun", "name a file for --rerun"),
        ("--html", "name a file for --html"),
        ("--junit", "name a file for --junit"),
    ],
)
def test_of_standard_output_it_is_said_what_to_do_instead(option: str, instead: str) -> None:
    wanted = f"error: cannot write /dev/stdout: the report goes to standard output; {instead}\n"
    assert compare("old.jsonl", "new.jsonl", "--json", "sum.json").status == 0
    for command in (["old.jsonl", "new.jsonl"], ["show", "sum.json"])[: 1 if option == "--json" else 2]:
        done = compare(*command, option, "/dev/stdout")
        assert done == (1, "", wanted)


def test_devnull_takes_everything() -> None:
    command = [*COMMAND, "old.jsonl", "new.jsonl", "--json", os.devnull, "--rerun", os.devnull]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert (done.returncode in (0, 1), done.stderr.count(b"\n") <= 1) == (True, True)


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ("parts/*.jsonl", "parts/p2.jsonl"),
        ("parts/*.jsonl", "parts/../parts/p2.jsonl"),
        ("*/p[0-9].jsonl", "parts/p9.jsonl"),
        ("parts/*.jsonl", "linked/p2.jsonl"),
        ("parts/p1.jsonl", "parts/p1_failures.jsonl"),
        ("parts/p1.jsonl", "parts/p1_materialized_inputs.jsonl.gz"),
        ("parts", "parts/more.jsonl"),
    ],
)
def test_what_would_be_read_as_a_file_of_the_run_next_time(run: str, named: str) -> None:
    put("parts/p1.jsonl", Path("new.jsonl").read_bytes())
    Path("linked").symlink_to("parts")
    before = files()
    assert_refused(compare("old.jsonl", run, "--json", named), f"cannot write {named}: it would be read as a file of ")
    assert files() == before


@pytest.mark.parametrize(
    ("run", "named"),
    [("parts/*.jsonl", "parts/p2.json"), ("parts/*.jsonl", "p2.jsonl"), ("parts", "parts/summary.json")],
)
def test_what_would_not_be_read_is_written(run: str, named: str) -> None:
    put("parts/p1.jsonl", Path("new.jsonl").read_bytes())
    assert compare("old.jsonl", run, "--json", named).status == 0
    assert Path(named).read_bytes().startswith(b"{")


@pytest.mark.parametrize("option", ["--json", "--rerun"])
@pytest.mark.parametrize("tail", ["0", "5"])
def test_a_log_that_a_flip_quotes_stays(option: str, tail: str) -> None:
    Path("hard.txt").hardlink_to("logs/test-stdout.txt")
    before = files()
    for named in ("logs/test-stdout.txt", "hard.txt"):
        done = compare("old.jsonl", "new.jsonl", option, named, "--tail", tail)
        assert_refused(done, f"cannot write {named}: the report quotes it")
    assert files() == before


@pytest.mark.parametrize("name", ["ctrf.json", "junit.xml", "test_report.json"])
@pytest.mark.parametrize("option", ["--json", "--junit", "--markdown"])
def test_a_report_of_tests_beside_a_log_stays(name: str, option: str) -> None:
    put(f"logs/{name}", "<testsuites/>")
    before = files()
    assert_refused(compare("old.jsonl", "new.jsonl", option, f"logs/{name}"), f"cannot write logs/{name}: the report ")
    Path("logs/test-stdout.txt").unlink()  # then the row has no output but that
    assert_refused(compare("old.jsonl", "new.jsonl", option, f"logs/{name}"), f"cannot write logs/{name}: the report ")
    assert compare("old.jsonl", "new.jsonl", option, "logs/summary.txt").status == 0
    assert {**before, "logs/summary.txt": b""}.keys() == {*files(), "logs/test-stdout.txt"}
    assert files()[f"logs/{name}"] == b"<testsuites/>"


def test_a_log_with_another_name_is_read_for_its_own_run_alone() -> None:
    put("secret.txt", "secret words\n")
    for run in ("mine", "theirs"):
        Path(run).mkdir()
    write_rows(Path("mine/run.jsonl"), [{"task_id": "a", "reward": 1}])
    write_rows(Path("theirs/run.jsonl"), [{"task_id": "a", "reward": 0, "verifier_logs_dir": "hard.txt"}])
    Path("mine/hard.txt").hardlink_to("secret.txt")
    assert "it has another name, and lies outside its run's folder" in compare("mine", "theirs").stdout
    Path("mine/hard.txt").rename("theirs/hard.txt")
    assert "secret words" in compare("mine", "theirs").stdout


HARBOR = {"task_name": "a", "trial_name": "a__1", "verifier_result": {"rewards": {"reward": 1}}, "config": {}}


@pytest.mark.parametrize(
    ("named", "is_read"),
    [
        ("job/a__1/summary.json", True),
        ("job/b__1/result.json", True),
        ("job/summary.json", False),
        ("job/reports/summary.json", False),
        ("summary.json", False),
    ],
)
def test_what_a_folder_of_trials_would_hold(named: str, is_read: bool) -> None:
    put("job/a__1/result.json", json.dumps(HARBOR))
    put("job/a__1/config.json", "{}")
    put("job/config.json", "{}")
    Path(named).parent.mkdir(exist_ok=True, parents=True)
    done = compare("job", "job", "--json", named)
    if is_read:
        assert_refused(done, f"cannot write {named}: it would be read as a file of the run")
    else:
        assert (done.status, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("run", "named", "is_read"),
    [
        ("parts/*.csv", "parts/b.csv", True),
        ("parts/*.csv", "b.csv", False),
        ("parts", "parts/b.csv", True),
        ("parts", "parts/b.json", False),
        ("parts/a.csv", "parts/b.csv", False),
    ],
)
def test_what_a_folder_or_a_pattern_of_tables_would_hold(run: str, named: str, is_read: bool) -> None:
    put("parts/a.csv", "task_id,reward\na,1\n")
    done = compare(run, run, "--format", "table", "--json" if named.endswith("json") else "--table", named)
    if is_read:
        assert_refused(done, f"cannot write {named}: it would be read as a file of the run")
    else:
        assert (done.status, done.stderr) == (0, "")


def test_a_file_that_nobody_may_write_stays_though_its_folder_may_be_written() -> None:
    put("kept.json", "kept")
    Path("kept.json").chmod(0o444)
    assert_refused(compare("old.jsonl", "new.jsonl", "--json", "kept.json"), "kept.json: Permission denied")
    assert Path("kept.json").read_bytes() == b"kept"


def test_two_names_of_one_file_are_two_outputs_of_one_name() -> None:
    put("one", "")
    Path("two").hardlink_to("one")
    assert_refused(compare("old.jsonl", "new.jsonl", "--json", "one", "--rerun", "two"), "is named for two outputs")


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        ("--json", "--json-stdout prints the summary there in its place"),
        ("--html", "name a file for --html"),
        ("--junit", "name a file for --junit"),
        ("--rerun", "name a file for --rerun"),
    ],
)
def test_a_dash_is_no_file_called_so(option: str, instead: str) -> None:
    done = compare("old.jsonl", "new.jsonl", option, "-")
    assert_refused(done, f"error: cannot write -: the report goes to standard output; {instead}\n")
    assert not Path("-").exists()
    if option != "--json":
        compare("old.jsonl", "new.jsonl", "--json", "s.json")
        assert compare("show", "s.json", option, "-") == done
    assert compare("old.jsonl", "new.jsonl", option, "./-").status == 0
    assert Path("-").exists()


def test_standard_output_takes_one_of_two() -> None:
    done = compare("old.jsonl", "new.jsonl", "--json-stdout", "--markdown", "-")
    assert_refused(
        done, "the JSON summary and --markdown - cannot both go to standard output: give --markdown the name"
    )
    assert gym("--json", "dev", "compare", "old.jsonl", "new.jsonl", "--markdown", "-") == done
