"""What the verifier said of a lost task: which row, which source, how many lines."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import compare_rollouts, render_report, tail_lines, verifier_output
from nemo_gym.rollout_compare.explain.evidence import Output, output_of
from nemo_gym.rollout_compare.explain.findings import with_findings
from nemo_gym.rollout_compare.explain.logs import LogRoots
from nemo_gym.rollout_compare.schema import CompareResult, Evidence
from nemo_gym.rollout_compare.schema import Output as Said
from tests.support import compare, run, write_rows

Row = Mapping[str, Any]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with the runs' folders in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new", "extra"):
        Path(name).mkdir()


def lost(*rows: Row, options: tuple[str, ...] = (), under: Path = Path()) -> list[str]:
    """The report's lines on a task that the new side lost with these rows; the runs' folders lie under a folder."""
    old = write_rows(under / "old/rollouts.jsonl", [{"task_id": "t", "reward": 1}])
    new = write_rows(under / "new/rollouts.jsonl", [{"task_id": "t", **row} for row in rows])
    done = compare(old, new, *options)
    assert (done.status, done.stderr) == (0, "")
    section = done.stdout[done.stdout.index("## Flips (1)") : done.stdout.index("\n## Masked")]
    return section.splitlines()[2:]


def put(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")


# Which row


def test_the_losing_sides_worst_row_speaks_the_first_of_equals() -> None:
    rows = [{"reward": reward, "test_output": f"row {n}"} for n, reward in enumerate([0.5, 0.0, 0.25, 0.0])]
    assert lost(*rows) == ["    new verifier output (last 1 line of row field 'test_output'):", "    | row 1"]


def test_the_old_side_speaks_where_it_lost() -> None:
    old = write_rows(Path("old/r.jsonl"), [{"task_id": "t", "reward": 0, "test_output": "old said"}])
    new = write_rows(Path("new/r.jsonl"), [{"task_id": "t", "reward": 1, "test_output": "new said"}])
    assert (
        "    old verifier output (last 1 line of row field 'test_output'):\n    | old said\n"
        in compare(old, new).stdout
    )
    assert "new said" not in compare(old, new).stdout


def test_tasks_that_did_not_flip_show_nothing() -> None:
    old = write_rows(Path("old/r.jsonl"), [{"task_id": str(n), "reward": 1, "test_output": "said"} for n in range(3)])
    new = write_rows(
        Path("new/r.jsonl"),
        [
            {"task_id": "0", "reward": 1, "test_output": "said"},
            {"task_id": "1", "reward": 0, "mask_sample": True, "test_output": "said"},
        ],
    )
    assert "said" not in compare(old, new).stdout


def test_a_flip_with_an_agent_error_shows_its_output_too() -> None:
    old = write_rows(Path("old/r.jsonl"), [{"task_id": "t", "reward": 1}])
    new = write_rows(Path("new/r.jsonl"), [{"task_id": "t", "reward": 0, "error": "oops", "test_output": "said"}])
    assert "    new verifier output (last 1 line of row field 'test_output'):\n    | said\n" in compare(old, new).stdout


# Which source


@pytest.mark.parametrize("where", ["", "new/", "old/", "extra/"])
def test_a_relative_folder_is_tried_under_here_new_old_and_the_logs_root(where: str) -> None:
    order = ["", "new/", "old/", "extra/"]
    for place in order[order.index(where) :]:
        put(f"{place}logs/t/test-stdout.txt", f"from {place or 'here'}\n")
    row = {"reward": 0, "verifier_logs_dir": "logs/t"}
    assert lost(row, options=("--logs-root", "extra")) == [
        f"    new verifier output (last 1 line of {where}logs/t/test-stdout.txt):",
        f"    | from {where or 'here'}",
    ]


def test_each_sides_own_folder_is_tried_before_the_other_sides() -> None:
    for side, reward in (("old", 1), ("new", 0)):
        put(f"{side}/logs/t/test-stdout.txt", f"from {side}\n")
        write_rows(Path(side, "r.jsonl"), [{"task_id": "t", "reward": reward, "verifier_logs_dir": "logs/t"}])
    report = compare("old/r.jsonl", "new/r.jsonl", "--both-sides").stdout
    assert [line for line in report.splitlines() if line.startswith("    | ")] == ["    | from new", "    | from old"]
    Path("old/logs/t/test-stdout.txt").unlink()
    report = compare("old/r.jsonl", "new/r.jsonl", "--both-sides").stdout
    assert [line for line in report.splitlines() if line.startswith("    | ")] == ["    | from new"] * 2


def test_the_folder_that_a_link_to_rollouts_leads_to_is_one_of_the_sides_own() -> None:
    put("elsewhere/logs/t/test-stdout.txt", "from the run\n")
    put("old/logs/t/test-stdout.txt", "from another run\n")
    write_rows(Path("old/r.jsonl"), [{"task_id": "t", "reward": 1}])
    write_rows(Path("elsewhere/r.jsonl"), [{"task_id": "t", "reward": 0, "verifier_logs_dir": "logs/t"}])
    Path("new/r.jsonl").symlink_to(Path("elsewhere/r.jsonl").resolve())
    assert "    | from the run\n" in compare("old/r.jsonl", "new/r.jsonl").stdout


def test_the_log_comes_before_the_fields() -> None:
    put("new/logs/t.log", "from the log\n")
    assert lost({"reward": 0, "verifier_logs_dir": "logs/t.log", "test_output": "from a field"})[1:] == [
        "    | from the log"
    ]


@pytest.mark.parametrize(
    ("row", "source", "text"),
    [
        ({"test_output": "1", "verifier_stdout": "2", "verifier_output": "3"}, "test_output", "1"),
        ({"verifier_stdout": "2", "verifier_output": "3"}, "verifier_stdout", "2"),
        ({"verifier_output": "3"}, "verifier_output", "3"),
        ({"test_output": " \n\t", "verifier_stdout": "", "verifier_output": "3"}, "verifier_output", "3"),
        ({"test_output": None, "verifier_stdout": ["2"], "verifier_output": "3"}, "verifier_output", "3"),
        ({"test_output": 1, "verifier_stdout": {"a": "2"}, "verifier_output": "3"}, "verifier_output", "3"),
        ({"verifier_logs_dir": "", "verifier_output": "3"}, "verifier_output", "3"),
        ({"verifier_logs_dir": None, "verifier_output": "3"}, "verifier_output", "3"),
        ({"verifier_logs_dir": ["logs"], "verifier_output": "3"}, "verifier_output", "3"),
    ],
)
def test_the_first_field_that_is_a_string_and_not_blank(row: Row, source: str, text: str) -> None:
    assert verifier_output(row, []) == (text, f"row field '{source}'")


def test_without_any_output_the_row_is_said_to_have_neither() -> None:
    text, why = verifier_output({"test_output": " "}, ["new"])
    assert text is None
    for name in ("verifier_logs_dir", "test_output", "verifier_stdout", "verifier_output"):
        assert name in why
    assert lost({"reward": 0}) == []
    report = compare("old/rollouts.jsonl", "new/rollouts.jsonl").stdout
    assert "note: no flip has verifier output on either side" in report


def test_a_log_that_is_nowhere_is_told_with_every_place(tmp_path: Path) -> None:
    (line,) = lost({"reward": 0, "verifier_logs_dir": "logs/t"}, options=("--logs-root", "extra"), under=tmp_path)
    places = ["logs/t", f"{tmp_path}/new/logs/t", f"{tmp_path}/old/logs/t", "extra/logs/t"]
    assert line == f"    new verifier output unavailable: not found: {', '.join(places)}"


def test_a_log_that_is_nowhere_gives_way_to_a_field(tmp_path: Path) -> None:
    row = {"reward": 0, "verifier_logs_dir": "logs/t", "verifier_output": "from a field"}
    assert lost(row, under=tmp_path) == [
        f"    new verifier log passed over: not found: logs/t, {tmp_path}/new/logs/t, {tmp_path}/old/logs/t",
        "    new verifier output (last 1 line of row field 'verifier_output'):",
        "    | from a field",
    ]


@pytest.mark.parametrize("field", [False, True])
def test_a_log_that_cannot_be_read_is_told_and_the_report_goes_on(field: bool) -> None:
    Path("new/t.log").symlink_to("t.log")
    row = {"reward": 0, "verifier_logs_dir": "t.log", **({"test_output": "from a field"} if field else {})}
    head, *lines = lost(row)
    what = "log passed over" if field else "output unavailable"
    assert head.startswith(f"    new verifier {what}: cannot read ")
    assert "t.log" in head
    from_field = ["    new verifier output (last 1 line of row field 'test_output'):", "    | from a field"]
    assert lines == (from_field if field else [])


def test_a_log_that_may_not_be_read_is_told_and_the_report_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    put("new/t.log", "secret\n")
    really_open = os.open

    def denied(name: Any, *rest: Any) -> int:
        if str(name).endswith("t.log"):
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return really_open(name, *rest)

    monkeypatch.setattr(os, "open", denied)
    (line,) = lost({"reward": 0, "verifier_logs_dir": "t.log"})
    assert line.startswith("    new verifier output unavailable: cannot read ")
    assert line.endswith("new/t.log: Permission denied")


def test_a_nul_in_the_path_is_shown() -> None:
    (line,) = lost({"reward": 0, "verifier_logs_dir": "logs\0t"})
    assert line.startswith("    new verifier output unavailable: ")
    assert "logs\\x00t" in line


def test_a_run_that_changed_since_it_was_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is shown that is not the one that was compared."""

    def changed_before(result: CompareResult, *rest: Any) -> CompareResult:
        put("new/rollouts.jsonl", '{"task_id": "another", "reward": 0, "test_output": "forged"}\n')
        return with_findings(result, *rest)

    monkeypatch.setattr("nemo_gym.rollout_compare.app.comparison.with_findings", changed_before)
    (line,) = lost({"reward": 0, "test_output": "said"})
    assert line.startswith("    new verifier output unavailable: ")
    assert "new/rollouts.jsonl" in line


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_row_shown_is_the_one_compared_wherever_it_stands(end: str) -> None:
    """Read again after a byte order mark, blank lines, carriage returns and long rows."""
    pad = "\u2028x" * 700
    rows = [f'{{"task_id": "{n}", "reward": 1, "pad": "{pad * n}"}}' for n in range(30)]
    write_rows(Path("old/r.jsonl"), [{"task_id": str(n), "reward": 1} for n in range(30)])
    rows[17] = '{"task_id": "17", "reward": 0, "test_output": "seventeen"}'
    rows[29] = '{"task_id": "29", "reward": 0, "test_output": "last"}'
    Path("new/r.jsonl").write_bytes(("\ufeff\n \r\n" + "\r\n\n".join(rows) + end).encode())
    report = compare("old/r.jsonl", "new/r.jsonl").stdout
    assert [line for line in report.splitlines() if line.startswith("    | ")] == ["    | seventeen", "    | last"]


def test_in_a_failures_sidecar_no_row_is_looked_for() -> None:
    write_rows(Path("new/rollouts_failures.jsonl"), [{"task_id": "u", "test_output": "failed"}])
    assert lost({"reward": 0, "test_output": "said"})[1:] == ["    | said"]


# How many lines


@pytest.mark.parametrize(
    ("count", "shown"), [("1", ["c"]), ("2", ["b", "c"]), ("3", ["a", "b", "c"]), ("99", ["a", "b", "c"])]
)
def test_tail_is_the_number_of_lines(count: str, shown: list[str]) -> None:
    put("new/t.log", "a\nb\nc\n")
    lines = "line" if len(shown) == 1 else "lines"
    for row in ({"test_output": "a\nb\nc\n"}, {"test_output": "a\nb\nc"}, {"verifier_logs_dir": "t.log"}):
        source = "row field 'test_output'" if "test_output" in row else "new/t.log"
        expected = [f"    new verifier output (last {len(shown)} {lines} of {source}):", *(f"    | {x}" for x in shown)]
        assert lost({"reward": 0, **row}, options=("--tail", count)) == expected


def test_fifteen_lines_by_default() -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    assert lost({"reward": 0, "test_output": text})[1:] == [f"    | line {n}" for n in range(5, 20)]


def test_a_tail_of_0_shows_none() -> None:
    put("new/t.log", "said\n")
    for row in ({"test_output": "said"}, {"verifier_logs_dir": "t.log"}, {"verifier_logs_dir": "gone"}):
        assert lost({"reward": 0, **row}, options=("--tail", "0")) == []


@pytest.mark.slow
def test_a_tail_longer_than_a_block_is_whole() -> None:
    text = "".join(f"{n:0>999}\n" for n in range(3000))  # 3 MB
    put("new/t.log", text)
    shown = lost({"reward": 0, "verifier_logs_dir": "t.log"}, options=("--tail", "2500"))
    assert len(shown) == 2501
    assert all(line.startswith("    | 000") for line in shown[1:])


def test_of_the_summary_only_the_lines_depend_on_the_tail() -> None:
    lost({"reward": 0, "test_output": "said"})
    pair = ("old/rollouts.jsonl", "new/rollouts.jsonl")
    with_tail, without = (run("--json", "dev", "compare", *pair, "--tail", n) for n in ("5", "0"))
    told = with_tail.stdout.replace('"lines": ["said"]', '"lines": []').replace('{"tail": 5}', '{"tail": 0}')
    assert told == without.stdout != with_tail.stdout


# As a library


def test_tail_lines() -> None:
    assert tail_lines("a\nb\nc\n", 2) == ["b", "c"]
    assert tail_lines("a\nb", 5) == ["a", "b"]
    assert tail_lines("a\n\n\nb\n\n", 3) == ["", "b", ""]
    assert tail_lines("a", 0) == []
    assert tail_lines("a\u2028b\x0bc\x85d\n", 2) == ["a\\u2028b\\x0bc\\x85d"]


@pytest.mark.parametrize(("tail", "lines"), [(0, ()), (1, ("c",)), (2, ("\\x07b", "c")), (9, ("a", "\\x07b", "c"))])
def test_output_of_gives_the_tail_safe_to_print_and_the_text_as_it_is(tail: int, lines: tuple[str, ...]) -> None:
    put("extra/t.log", "a\n\x07b\nc\n")
    found = output_of(Said("t.log", ()), LogRoots((Path("extra"),)), tail)
    assert found == Output(Evidence("file", "extra/t.log", lines), "a\n\x07b\nc\n", False, "t.log")


def test_output_of_says_what_was_passed_over_and_what_is_missing() -> None:
    roots = LogRoots(())
    why = "not found: t.log"
    field = Evidence("field", "verifier_output", ("x",), why)
    assert output_of(Said("t.log", (("verifier_output", "x"),)), roots, 5) == Output(field, "x", False, "t.log")
    assert output_of(Said("t.log", ()), roots, 5) == Output(Evidence(None, unavailable=why), None, False, "t.log")
    assert output_of(Said(None, (("verifier_output", "x"),)), roots, 5).logs is None


def test_render_report_looks_for_logs_in_the_roots() -> None:
    put("extra/t.log", "1\n2\n")
    rows = [{"task_id": "t", "reward": 0, "verifier_logs_dir": "t.log"}]
    report = render_report(compare_rollouts([{"task_id": "t", "reward": 1}], rows), ["extra"], 1)
    assert "    new verifier output (last 1 line of extra/t.log):\n    | 2\n" in report


# What comes after the run


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 failed\n+ rm -r build\n++ pwd\n\n", ["1 failed"]),
        ("+ pytest\n1 failed\n\n+ exit 1", ["+ pytest", "1 failed"]),
        ("1 failed\n\n", ["1 failed", ""]),  # nothing was traced
        ("+ make\n++ pwd\n", ["+ make", "++ pwd"]),  # nothing else was said
        ("-3\n+ 4\n", ["-3", "+ 4"]),  # a difference of files, not a trace
        ("@@ -1 +1 @@\n+ 4\n", ["@@ -1 +1 @@", "+ 4"]),
        ("1 failed\n+ : '>>>>> End Test Output'\n+ git checkout\nUpdated 1 path\n", ["1 failed"]),
        ("1 failed\n+ cd /\n>>>>> End Test Output\nUpdated 1 path\n", ["1 failed"]),
    ],
)
def test_what_a_shell_traced_after_the_last_line_is_left_out(text: str, shown: list[str]) -> None:
    assert tail_lines(text, 10) == shown


# Logs that a reader found


def test_of_logs_that_a_reader_found_the_first_that_can_be_read_speaks() -> None:
    put("new/there.log", "from a log\n")
    gone, there = Path("new/gone.log"), Path("new/there.log")
    said = Said(None, (("stderr", "from a field"),), ("stderr",), files=(gone, there))
    assert output_of(said, LogRoots(()), 5) == Output(
        Evidence("file", "new/there.log", ("from a log",)), "from a log\n", cut=False, logs=None
    )


def test_where_none_can_be_read_a_field_speaks_and_why_it_had_to_is_kept() -> None:
    files = (Path("new/gone.log"), Path("new/lost.log"))
    why = "cannot read new/gone.log: No such file or directory"
    said = Said(None, (("stderr", "from a field"),), ("stderr",), files=files)
    assert output_of(said, LogRoots(()), 5).evidence == Evidence("field", "stderr", ("from a field",), why)
    assert output_of(Said(None, (), ("stderr",), files=files), LogRoots(()), 5).evidence == Evidence(
        None, unavailable=why
    )
