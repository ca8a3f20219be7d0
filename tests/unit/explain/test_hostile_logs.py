"""Logs and reports of single tests that mean harm, through the whole command."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import assert_valid, compare, controls, put, run, write_rows
from tests.triage_support import changed

BOTH = "tests/test_a.py::test_one PASSED\n=== 1 passed in 0.1s ===\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        Path(name).mkdir()


def compared(old: dict[str, Any] | None = None, new: dict[str, Any] | None = None, task: str = "t") -> tuple[str, Any]:
    """The report, in which nothing reaches a terminal, and the one flip of the summary."""
    logs = {"verifier_logs_dir": "logs"}
    paths = (
        str(write_rows(Path("old/r.jsonl"), [{"task_id": task, "reward": 1, **(logs if old is None else old)}])),
        str(write_rows(Path("new/r.jsonl"), [{"task_id": task, "reward": 0, **(logs if new is None else new)}])),
    )
    start = time.process_time()
    done = compare(*paths, "--both-sides")
    assert time.process_time() - start < 30
    assert (done.status, done.stderr) == (0, "")
    assert controls(done.stdout) == set()
    done.stdout.encode("utf-8")
    summary = json.loads(run("--json", "dev", "compare", *paths).stdout)
    assert_valid(summary)
    (flip,) = summary["flips"]
    return done.stdout, flip


BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol">{}]>
<testsuite><testcase name="&lol9;"/></testsuite>""".format(
    "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10)).replace("&lol0;", "&lol;")
)
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>'


@pytest.mark.parametrize("document", [BOMB, OUTSIDE])
def test_an_entity_bomb_in_a_report_is_refused_and_the_text_speaks(document: str) -> None:
    put("old/logs/test-stdout.txt", BOTH)
    put("new/logs/test-stdout.txt", BOTH.replace("PASSED", "FAILED"))
    for name in ("old", "new"):
        put(f"{name}/logs/junit.xml", document)
    report, flip = compared(
        old={"verifier_logs_dir": str(Path("old/logs").resolve())},
        new={"verifier_logs_dir": str(Path("new/logs").resolve())},
    )
    assert flip["tests"] == changed(["tests/test_a.py::test_one"], [])
    assert "lollol" not in report
    assert "root:" not in report


@pytest.mark.parametrize(
    "name",
    ["a\n## Masked (9)", "\x1b[2J\x1b[31mred", "a\r\nb", "\x9b31m", "\u202eabc", "\ud800", "x" * 100_000, "\x07"],
)
def test_names_of_tests_cannot_forge_a_line(name: str) -> None:
    reports = [
        json.dumps({"results": {"tests": [{"name": f"n{name}", "status": status}]}}) for status in ("passed", "failed")
    ]
    for side, text in zip(("old", "new"), reports, strict=True):
        put(f"{side}/logs-{side}/test-stdout.txt", "said\n")
        put(f"{side}/logs-{side}/ctrf.json", text)
    report, flip = compared({"verifier_logs_dir": "logs-old"}, {"verifier_logs_dir": "logs-new"})
    (broken,) = flip["tests"]["broken"]
    assert broken.isprintable()
    assert len(broken) < 600
    assert [line for line in report.splitlines() if line.startswith("## ")] == [
        "## Difference",
        "## Flips (1)",
        "## Masked (0)",
        "## Missing (0)",
    ]
    (line,) = [line for line in report.splitlines() if line.startswith("    broken tests (1): n")]
    assert len(line) < 300


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mx", "x"),
        ("a\x00b\x07", "a\\x00b\\x07"),
        ("a\u2028## Masked (9)", "a\\u2028## Masked (9)"),
        ("a\x0b\x0cb\x85c", "a\\x0b\\x0cb\\x85c"),
    ],
)
def test_escape_codes_in_a_log_are_gone_in_report_and_summary(said: str, shown: str) -> None:
    put("logs/test-stdout.txt", f"{said}\nValueError: bad {said}\n")
    report, flip = compared()
    assert f"    | {shown}\n" in report
    assert flip["new"]["lines"] == [shown, f"ValueError: bad {shown}"]
    assert (flip["signature"] or "").isprintable()


def test_a_signature_cannot_forge_a_line_of_the_clusters() -> None:
    evil = "ValueError: x\u2028## Masked (9)\x1b[2J"
    old = write_rows(Path("old/r.jsonl"), [{"task_id": task, "reward": 1} for task in ("a\n## Masked (9)", "b")])
    new = write_rows(
        Path("new/r.jsonl"),
        [{"task_id": task, "reward": 0, "test_output": evil} for task in ("a\n## Masked (9)", "b")],
    )
    done = compare(old, new)
    assert controls(done.stdout) == set()
    assert "2 lost, 0 won: ValueError: x\\u<n>## Masked (<n>)\n    a\\n## Masked (9) ends with:\n" in done.stdout


@pytest.mark.parametrize("char", ["x", "[", " ", "\x1b", "(", "'", "/", "=", ":", "-", "E", "\r", "1"])
@pytest.mark.slow
def test_millions_of_one_character_end_soon(char: str) -> None:
    compared({"test_output": char * 1_000_000}, {"test_output": f"E   {char * 1_000_000}"})


def test_a_line_of_gigabytes_costs_what_its_end_costs() -> None:
    path = Path("new/logs/test-stdout.txt")
    put(str(path), "")
    with path.open("r+b") as file:
        file.truncate(20 << 30)  # a hole: no disk is needed
        file.seek(0, 2)
        file.write(b"\nValueError: at the end\n")
    _, flip = compared({}, {"verifier_logs_dir": "logs"})
    assert flip["new"]["lines"][-1] == "ValueError: at the end"
    assert flip["signature"] == "ValueError: at the end"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ctrf.json", '{"results": {"tests": ' + "[" * 200_000),
        ("ctrf.json", "[" * 1_000_000),
        ("ctrf.json", b"\xff\xfe\x00" * 1000),
        ("a.xml", "<testsuite>" * 200_000),
        ("a.xml", b"\x00" * 1_000_000),
        ("a.xml", '<?xml version="1.0" encoding="no-such"?><testsuite/>'),
        ("a.xml", "<testsuite " + "a='1' " * 100_000 + "/>"),
    ],
)
def test_a_broken_report_leaves_the_text(name: str, content: str | bytes) -> None:
    put("logs/test-stdout.txt", BOTH)
    put(f"logs/{name}", content)
    assert compared()[1]["tests"] == changed([], [])
