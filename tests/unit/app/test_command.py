"""`run_compare`: statuses, what goes to which stream and in which order, and outputs that cannot be written."""

from __future__ import annotations

import errno
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nemo_gym.rollout_compare import RolloutCompareConfig, run_compare, summary_schema
from nemo_gym.rollout_compare.app.cli import main
from tests.support import assert_refused, compare, run, write_rows

COMMAND = [sys.executable, "-m", "nemo_gym.rollout_compare"]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """One identical task, one flip; named relative to the current folder."""
    monkeypatch.chdir(tmp_path)
    write_rows(Path("old.jsonl"), [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 1}])
    write_rows(Path("new.jsonl"), [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 0}])
    return "old.jsonl", "new.jsonl"


def config_of(pair: tuple[str, str], **options: Any) -> RolloutCompareConfig:
    return RolloutCompareConfig(old_rollouts=pair[0], new_rollouts=pair[1], **options)


def many_tasks(folder: Path, count: int = 3000) -> tuple[str, str]:
    """Runs whose report and summary are larger than any buffer."""
    old = write_rows(
        folder / "many-old.jsonl", [{"task_id": f"task {i} {'x' * 50}", "reward": 1} for i in range(count)]
    )
    return str(old), str(write_rows(folder / "many-new.jsonl", [{"task_id": "another", "reward": 1}]))


class Refusing(StringIO):
    """A stream that takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


# Reports


def test_the_report_goes_to_out_and_nowhere_else(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    out = StringIO()
    assert run_compare(config_of(pair), out) == 0
    assert out.getvalue().startswith("gym dev compare: 2 tasks (old 2 rows, new 2 rows)\n")
    assert tuple(capsys.readouterr()) == ("", "")


def test_without_out_the_report_goes_to_standard_output(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = StringIO()
    assert run_compare(config_of(pair)) == run_compare(config_of(pair), out) == 0
    assert tuple(capsys.readouterr()) == (out.getvalue(), "")


def test_a_report_is_status_0_whatever_it_says(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.jsonl", [{"task_id": "a", "reward": 1, "error": "x"}, {"task_id": "b"}])
    new = write_rows(tmp_path / "new.jsonl", [{"task_id": "a", "reward": 0}, {"task_id": "c", "reward": 0}])
    assert compare(old, new).status == 0


def test_the_report_is_the_same_every_time(pair: tuple[str, str]) -> None:
    assert compare(*pair) == compare(*pair)


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_afterwards_as_it_was_before(pair: tuple[str, str], collecting: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        assert compare(*pair).status == 0
        assert compare(pair[0], "gone.jsonl").status == 1
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()


def test_the_key_option_sets_both_sides(pair: tuple[str, str]) -> None:
    write_rows(Path(pair[0]), [{"task_id": "a", "n": 1, "reward": 1}, {"task_id": "b", "n": 2, "reward": 1}])
    write_rows(Path(pair[1]), [{"task_id": "b", "n": 1, "reward": 1}, {"task_id": "a", "n": 2, "reward": 1}])
    assert "join key: old=n, new=n\n" in compare(*pair, "--key", "n").stdout


# The JSON summary


def test_json_on_stdout_is_the_summary_alone(pair: tuple[str, str]) -> None:
    done = run("--json", "dev", "compare", *pair)
    assert (done.status, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    jsonschema.validate(summary, summary_schema())
    assert summary["schema_version"] == 1
    assert (summary["counts"]["tasks"], summary["counts"]["identical"], summary["counts"]["flipped_old_win"]) == (
        2,
        1,
        1,
    )
    assert compare(*pair, "--json-stdout") == done


def test_json_to_a_file_leaves_the_report_on_stdout_and_says_so_last(pair: tuple[str, str]) -> None:
    done = compare(*pair, "--json", "s.json")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == compare(*pair).stdout + "wrote s.json\n"
    assert Path("s.json").read_text("utf-8") == run("--json", "dev", "compare", *pair).stdout


def test_json_to_both_says_on_stderr_where_the_file_is(pair: tuple[str, str]) -> None:
    done = compare(*pair, "--json", "s.json", "--json-stdout")
    assert (done.status, done.stderr) == (0, "wrote s.json\n")
    assert Path("s.json").read_text("utf-8") == done.stdout


def test_the_file_is_whole_before_the_report_begins(pair: tuple[str, str]) -> None:
    seen: list[dict[str, Any]] = []

    class Watching(StringIO):
        def write(self, text: str) -> int:
            seen.append(json.loads(Path("s.json").read_text("utf-8")))
            return super().write(text)

    assert run_compare(config_of(pair, json_output="s.json"), Watching()) == 0
    assert seen[0]["counts"]["tasks"] == 2


# Status 1


def test_nothing_is_written_when_an_input_cannot_be_read(pair: tuple[str, str]) -> None:
    assert_refused(
        compare("none.jsonl", pair[1], "--json", "s.json"), "cannot read none.jsonl: No such file or directory"
    )
    assert_refused(
        compare(pair[0], "none.jsonl", "--json", "s.json"), "cannot read none.jsonl: No such file or directory"
    )
    assert not Path("s.json").exists()


def test_an_error_late_in_a_file_comes_before_any_output(pair: tuple[str, str]) -> None:
    with Path(pair[1]).open("a") as file:
        file.write("{}\n" * 3 + "nonsense\n")
    assert_refused(compare(*pair, "--json", "s.json"), "new.jsonl:6: invalid JSON (")
    assert not Path("s.json").exists()


def test_a_path_cannot_forge_a_line_of_an_error() -> None:
    assert_refused(compare("a\nerror: b", "n.jsonl"), "cannot read a\\nerror: b: ")


@pytest.mark.parametrize("name", ["caf\udce9.jsonl", "a\0b"])
def test_a_path_that_no_file_can_have_is_an_error_line(name: str) -> None:
    assert_refused(compare(name, "new.jsonl"), "cannot read ")


# Outputs that are inputs


@pytest.mark.parametrize("target", ["old.jsonl", "new.jsonl", "new_failures.jsonl", "old_failures.jsonl"])
@pytest.mark.parametrize("way", ["plain", "spelled otherwise", "symbolic link", "hard link", "linked folder"])
def test_an_output_that_is_an_input_is_refused(pair: tuple[str, str], target: str, way: str) -> None:
    for side in ("old", "new"):
        write_rows(Path(f"{side}_failures.jsonl"), [{"task_id": "z"}])
    output = Path("out.json")
    if way == "symbolic link":
        output.symlink_to(target)
    elif way == "hard link":
        output.hardlink_to(target)
    elif way == "linked folder":
        Path("folder").symlink_to(".")
        output = Path("folder", target)
    else:
        output = Path(target)
    name = f"./x/../{target}" if way == "spelled otherwise" else str(output)
    Path("x").mkdir()
    before = Path(target).read_bytes(), sorted(Path().iterdir())
    assert_refused(compare(*pair, "--json", name), "input")
    assert (Path(target).read_bytes(), sorted(Path().iterdir())) == before


def test_an_input_as_output_is_refused_before_it_is_read(pair: tuple[str, str]) -> None:
    Path(pair[0]).write_text("nonsense\n", "utf-8")
    assert_refused(compare(*pair, "--json", pair[0]), "input")
    assert Path(pair[0]).read_text("utf-8") == "nonsense\n"


# Whole or not at all


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let every file of this process run full at a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("before", [None, "kept"])
def test_a_summary_that_does_not_fit_leaves_everything_as_it_was(tmp_path: Path, before: str | None) -> None:
    pair = many_tasks(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    if before:
        (folder / "s.json").write_text(before, "utf-8")
    with files_no_larger_than(1 << 14):
        done = compare(*pair, "--json", folder / "s.json")
    assert_refused(done, f"cannot write {folder / 's.json'}: ", os.strerror(errno.EFBIG))
    assert [(path.name, path.read_text("utf-8")) for path in folder.iterdir()] == (
        [("s.json", before)] if before else []
    )


def test_a_summary_that_cannot_be_put_in_place_leaves_no_trace(
    pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("s.json").write_text("kept", "utf-8")
    before = sorted(Path().iterdir())
    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(os, "rename", full)
    assert_refused(compare(*pair, "--json", "s.json"), "cannot write s.json: No space left on device")
    assert Path("s.json").read_text("utf-8") == "kept"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no/s.json", "no/s.json: No such file or directory"),
        (".", ".: Is a directory"),
        ("old.jsonl/s.json", "old.jsonl/s.json: Not a directory"),
        ("new.jsonl/", "new.jsonl: it is the input new.jsonl"),
    ],
)
@pytest.mark.parametrize("option", ["--json", "--rerun"])
def test_an_output_that_cannot_be_is_refused(pair: tuple[str, str], option: str, name: str, why: str) -> None:
    Path(pair[0]).write_text("not read\n", "utf-8")
    before = sorted(Path().iterdir())
    assert_refused(compare(*pair, option, name), f"error: cannot write {why}\n")
    assert sorted(Path().iterdir()) == before


# Standard output that fails


def test_a_full_standard_output_is_one_error_line(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    out = Refusing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert run_compare(config_of(pair, json_output="s.json"), out) == 1
    assert capsys.readouterr().err == "error: cannot write standard output: No space left on device\n"
    assert json.loads(Path("s.json").read_text("utf-8"))["counts"]["tasks"] == 2


def test_an_out_that_is_closed_is_one_error_line(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    out = StringIO()
    out.close()
    assert run_compare(config_of(pair), out) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: cannot write standard output: ")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["dev", "compare", "--help"], ["dev", "compare", "--version"]]
)
def test_help_that_cannot_be_written_is_an_error_too(words: list[str]) -> None:
    err = StringIO()
    assert main(words, Refusing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), err) == 1
    assert err.getvalue() == "error: cannot write standard output: No space left on device\n"


def test_a_reader_who_leaves_before_the_help_comes_ends_the_command_quietly() -> None:
    err = StringIO()
    assert main(["--help"], Refusing(BrokenPipeError()), err) == 0
    assert err.getvalue() == ""


def sh(line: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """A shell line in which "$@" is the command."""
    full = {**os.environ, **(env or {})}
    return subprocess.run(["sh", "-c", line, "sh", *COMMAND, *words], env=full, capture_output=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["old.jsonl", "new.jsonl"], ["old.jsonl", "new.jsonl", "--json-stdout"]])
def test_a_full_device_is_one_error_line(pair: tuple[str, str], words: list[str]) -> None:
    done = sh('"$@" >/dev/full', *words)
    assert (done.returncode, done.stderr) == (1, b"error: cannot write standard output: No space left on device\n")


def test_a_closed_standard_output_is_one_error_line(pair: tuple[str, str]) -> None:
    done = sh('"$@" >&-', *pair)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: cannot write standard output")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_on_a_closed_standard_output_is_one_error_line(words: list[str]) -> None:
    done = sh('"$@" >&-', *words)
    assert (done.returncode, done.stderr) == (1, b"error: cannot write standard output: it is closed\n")


@pytest.mark.parametrize("options", [[], ["--json-stdout"]])
def test_a_gate_that_trips_is_status_3_though_the_reader_left(tmp_path: Path, options: list[str]) -> None:
    with subprocess.Popen(
        [*COMMAND, *many_tasks(tmp_path, 5_000), *options, "--fail-on", "missing"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b"gate: missing: 5001 tasks\n"
        assert process.wait() == 3


def test_a_gate_that_trips_is_status_3_without_a_standard_error(pair: tuple[str, str]) -> None:
    assert sh('"$@" 2>&-', *pair, "--fail-on", "lost").returncode == 3


def test_a_summary_to_standard_output_by_name_is_refused(pair: tuple[str, str]) -> None:
    done = sh('"$@" --json /dev/stdout', *pair)
    assert (done.returncode, done.stdout) == (1, b"")
    said = b"the report goes to standard output; --json-stdout prints the summary there in its place"
    assert done.stderr == b"error: cannot write /dev/stdout: " + said + b"\n"


def test_a_closed_standard_error_does_not_spoil_the_summary(pair: tuple[str, str]) -> None:
    done = sh('"$@" 2>&-', *pair, "--json", "s.json", "--json-stdout")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == Path("s.json").read_bytes()


def test_an_error_without_a_standard_error_is_a_status_alone(pair: tuple[str, str]) -> None:
    done = sh('"$@" 2>&-', pair[0], "gone.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


@pytest.mark.parametrize("options", [[], ["--json-stdout"]])
def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path: Path, options: list[str]) -> None:
    with subprocess.Popen(
        [*COMMAND, *many_tasks(tmp_path, 5_000), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_reader_of_out_that_leaves_does_not_take_standard_output_along(pair: tuple[str, str]) -> None:
    """Only the stream that was given is given up: a script goes on printing."""
    script = f"""
import io
from nemo_gym.rollout_compare import RolloutCompareConfig, run_compare
class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError
print(run_compare(RolloutCompareConfig(old_rollouts={pair[0]!r}, new_rollouts={pair[1]!r}), Gone()))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0\n", b"")


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_ends_a_command_that_waits_and_nothing_is_left(tmp_path: Path, number: int, status: int) -> None:
    pipe, spool = tmp_path / "pipe", tmp_path / "spool"
    os.mkfifo(pipe)
    spool.mkdir()
    env = {**os.environ, "TMPDIR": str(spool)}
    with (
        subprocess.Popen([*COMMAND, pipe, pipe], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        pipe.open("wb"),  # waits until the command reads
    ):
        for _ in range(10):  # a signal that comes just before a read begins is only noticed after it
            time.sleep(0.2)
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
                break
        process.kill()
        out, err = process.communicate()
    assert (process.returncode, out, err) == (status, b"", b"")
    assert list(spool.iterdir()) == []


# Encodings


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_what_a_terminal_cannot_show_is_written_as_an_escape(tmp_path: Path, encoding: str) -> None:
    label = "\u2717 fa\u00eele \U0001f600"
    rows = [{"task_id": label, "reward": 1}]
    old, new = write_rows(tmp_path / "o.jsonl", rows), write_rows(tmp_path / "n.jsonl", [{"task_id": "y", "reward": 1}])
    screen, err = BytesIO(), StringIO()
    with TextIOWrapper(screen, encoding) as out:
        assert main(["dev", "compare", str(old), str(new)], out, err) == 0
        out.flush()
        shown = screen.getvalue().decode(encoding)
    expected = {
        "ascii": "\\u2717 fa\\xeele \\U0001f600",
        "latin-1": "\\u2717 fa\u00eele \\U0001f600",
        "cp1252": "\\u2717 fa\u00eele \\U0001f600",
        "utf-8": label,
    }
    assert f"- {expected[encoding]}: only on old side (reward 1.0)\n" in shown
    assert err.getvalue() == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_summary_is_valid_json_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    label = "\u2717 fa\u00eele \U0001f600"
    rows = write_rows(tmp_path / "o.jsonl", [{"task_id": label, "reward": 1}])
    screen = BytesIO()
    with TextIOWrapper(screen, encoding) as out:
        assert main(["--json", "dev", "compare", str(rows), str(rows)], out, StringIO()) == 0
        out.flush()
        summary = json.loads(screen.getvalue().decode(encoding))
    assert [task["task"] for task in summary["tasks"]] == [label]


def test_an_error_line_too_is_shown_as_far_as_the_terminal_can(tmp_path: Path) -> None:
    done = sh('"$@"', "d\u00e9j\u00e0.jsonl", "x", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"error: cannot read d\\xe9j\\xe0.jsonl: No such file or directory\n"
