"""What the surroundings do ends in one error line and status 1, or is got over; never in a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.app import cli, comparison, job
from nemo_gym.rollout_compare.engine import workers
from tests.support import alone, assert_refused, compare, write_rows

COMMAND = [sys.executable, "-m", "nemo_gym.rollout_compare"]


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("old", "new"):
        write_rows(Path(f"{side}.jsonl"), [{"task_id": "a", "reward": 1}])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENFILE, "Too many open files in system", "x"), "Too many open files in system: x"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (OSError("odd"), "odd"),
        (MemoryError(), "memory has run out; --jobs 1 takes the least"),
        (RecursionError(), "a value is nested too deeply"),
        (ImportError("x.so: cannot open shared object file"), "x.so: cannot open shared object file"),
        (ImportError(), "ImportError"),
    ],
)
@pytest.mark.parametrize("where", ["locate_runs", "compare_runs"])
def test_it_is_one_line(error: Exception, said: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(job, where, fail)
    done = compare("old.jsonl", "new.jsonl")
    assert_refused(done)
    assert done.stderr == f"error: {said}\n"


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(job, "locate_runs", fail)
    with pytest.raises(ValueError, match="a fault of ours"):
        compare("old.jsonl", "new.jsonl")


def test_a_reader_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(job, "locate_runs", fail)
    monkeypatch.setattr(cli, "forget_stdout", lambda: None)
    assert compare("old.jsonl", "new.jsonl") == (0, "", "")


@pytest.mark.parametrize("parts", [501, 1000, 30000])
@pytest.mark.parametrize("option", ["--key", "--old-key", "--new-key"])
def test_a_key_that_no_row_can_have(option: str, parts: int) -> None:
    done = compare("old.jsonl", "new.jsonl", option, ".".join("a" * parts))
    assert_refused(done, f"it has {parts} parts, and a row no more than 500 levels")
    assert len(done.stderr) < 250


@pytest.mark.parametrize("parts", [2, 33, 400, 498])
def test_a_long_key_that_rows_have(parts: int) -> None:
    inner: object = "a"
    for _ in range(parts):
        inner = {"a": inner}
    for side in ("old", "new"):
        write_rows(Path(f"{side}.jsonl"), [{**inner, "reward": 1}])  # type: ignore[dict-item]
    assert compare("old.jsonl", "new.jsonl", "--key", ".".join("a" * parts)).status == 0


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000, "\0"])
def test_a_folder_for_logs_that_cannot_be_looked_at(name: str) -> None:
    assert_refused(compare("old.jsonl", "new.jsonl", "--logs-root", name), "there is no such folder")


@pytest.mark.parametrize("option", ["tail", "max-flips", "jobs", "fail-on", "only", "max-line"])
def test_dashes_for_a_value_that_they_cannot_be(option: str) -> None:
    done = compare("old.jsonl", "new.jsonl", f"--{option}=--")
    assert done.status == 2
    assert done.stderr.startswith(f"error: argument --{option}: '--' is not a ")


def test_dashes_for_a_value_that_they_can_be() -> None:
    for option in ("json", "rerun"):
        assert compare("old.jsonl", "new.jsonl", f"--{option}=--").status == 0
        assert Path("--").exists()
    assert_refused(compare("old.jsonl", "new.jsonl", "--logs-root=--"), "cannot read logs under '--'")
    assert_refused(compare("old.jsonl", "new.jsonl", "--key=--"), "no '--' field")


def test_standard_input_where_the_current_folder_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from nemo_gym.rollout_compare.__main__ import compare_main; "
    with Path("old.jsonl").open("rb") as piped:
        command = [sys.executable, "-c", f"{script}sys.exit(compare_main())", "-", str(tmp_path / "new.jsonl")]
        done = subprocess.run(command, stdin=piped, cwd=gone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("forks", "started"), [(0, 0), (1, 1), (2, 2), (9, 3)])
def test_fewer_workers_do_the_work_where_no_more_can_start(forks: int, started: int) -> None:
    assert alone(work_with_few, str(forks)) == [[0, 2, 4, 6, 8], started]


def work_with_few(forks: str) -> list[object]:
    """The results of some work where so many processes can be started, and how many were."""
    fork, left, started = os.fork, [int(forks)], [0]

    def limited() -> int:
        if not left[0]:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        left[0] -= 1
        started[0] += 1
        return fork()

    vars(os)["fork"] = limited
    found = list(workers.map_by_processes(lambda item, _: 2 * item, range(5), 3, lambda *_: None))
    return [found, started[0]]


@pytest.mark.parametrize("descriptors", [6, 9, 14, 20, 30])
def test_few_descriptors(descriptors: int) -> None:
    script = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors}, {descriptors})); "
    script += "from nemo_gym.rollout_compare.__main__ import compare_main; import sys; sys.exit(compare_main())"
    write_rows(Path("old.jsonl"), ({"task_id": f"t{i}", "reward": 1, "x": "y" * (1 << 20)} for i in range(40)))
    command = [sys.executable, "-c", script, "old.jsonl", "old.jsonl", "--jobs", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") or (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.returncode == 0 or (done.stderr.startswith("error: ") and not done.stdout)


def test_keys_are_looked_at_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="no row has the field"):
        comparison.compare_files("old.jsonl", "new.jsonl", key="." * 600)
