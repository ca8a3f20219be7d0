"""The examples' documents hold: what the table in a README says is what the comparison finds."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.support import run, set_times

FOLDER = Path(__file__).parent.parent / "examples" / "terminal-bench"
README = (FOLDER / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        done = run("--json", *command())
    assert (done.status, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def report() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        return run(*command()).stdout


def command() -> list[str]:
    """The command that the README shows, without the program's name."""
    (line,) = re.findall(r"^cd examples/terminal-bench && gym (.*)$", README, re.MULTILINE)
    return shlex.split(line)


def table(head: str) -> list[list[str]]:
    """The cells of the table whose first line begins with a text, without its head."""
    lines = README[README.index(head) :].split("\n\n")[0].splitlines()[2:]
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in lines]
    assert rows
    return rows


def category_of(task: dict[str, Any]) -> str:
    """A task's category in the words of the README."""
    name = {"flipped_agent_error": "flipped (agent error)"}.get(task["category"], task["category"])
    if task["winner"]:
        return f"{name}, {task['winner']} wins"
    if name == "missing":
        return "missing, old only" if task["old"] else "missing, new only"
    sides = [side for side in ("old", "new") if task[side] and task[side]["masked"]]
    return ", ".join([name, *sides])


def reward_of(side: dict[str, Any] | None) -> str:
    if side is None:
        return "-"
    return "none" if side["reward"] is None else str(side["reward"])


def test_the_table_names_every_task_with_its_category_and_rewards(summary: dict[str, Any]) -> None:
    said = sorted([name.strip("`"), category, old, new] for name, category, old, new, _ in table("| task | category |"))
    found = [
        [task["task"], category_of(task), reward_of(task["old"]), reward_of(task["new"])] for task in summary["tasks"]
    ]
    assert said == sorted(found)


def test_the_counts_are_those_of_the_summary(summary: dict[str, Any]) -> None:
    cells = [cell for row in table("| count | value |") for cell in row if cell]
    said = {name.strip("`"): int(value) for name, value in zip(cells[::2], cells[1::2], strict=True)}
    assert said == summary["counts"]


def test_the_rows_and_the_keys_are_as_told(summary: dict[str, Any], report: str) -> None:
    told = " ".join(README.split())
    rows = re.search(r"Old: (\d+) rows, (\d+) of them masked\. New: (\d+) rows, .*?, (\d+) of the \d+ masked", told)
    assert rows
    old, old_masked, new, new_masked = rows.groups()
    assert f"(old {old} rows incl. {old_masked} masked, new {new} rows incl. {new_masked} masked)\n" in report
    keys = re.search(r"Join key: old `(.*?)` with the prefix `(.*?)` stripped, new `(.*?)`\.", told)
    assert keys
    join = summary["join"]
    assert keys.groups() == (join["old_key"], join["old_prefix_stripped"], join["new_key"])


def test_every_category_has_an_example(summary: dict[str, Any]) -> None:
    assert [name for name, count in summary["counts"].items() if not count] == []


def test_the_reasons_in_the_table_stand_in_the_report(report: str) -> None:
    """What the column `why` quotes and the report must show of it."""
    for name, quoted in {
        "compile-kernel-module": "new agent error: terminus2_error_type=TimeoutError",
        "tmux-session-restore": "old agent error: error: ConnectionResetError: ",
        "memory-leak-hunt": "new scored with failure_kind=max_turns (not masked)",
        "matrix-rank-report": "row field 'verifier_stdout'",
        "nginx-404": "new verifier output unavailable: ",
    }.items():
        section = report[report.index(f"### {name}: ") :].split("\n###", 1)[0]
        assert quoted in section
    assert "\x1b" not in report
    assert "- large-repo-bisect: old=1.0 new=0.0; new mask_sample (failure_kind=agent_timeout)\n" in report


def test_the_example_s_page_is_what_the_command_writes(tmp_path: Path) -> None:
    """`python tools/pictures.py` makes it anew."""
    copy = shutil.copytree(FOLDER, tmp_path / "example")
    set_times(copy)
    with chdir(copy):
        prog = "python -m nemo_gym.rollout_compare"
        run("old/rollouts.jsonl", "new/rollouts.jsonl", "--html", "made.html", prog=prog)
    assert (copy / "made.html").read_bytes() == (FOLDER / "compare.html").read_bytes()
