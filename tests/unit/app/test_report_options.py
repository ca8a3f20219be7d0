"""Options of what is shown, through the whole command: sides, sections, so many flips; and the config's like."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nemo_gym.rollout_compare import Category, RolloutCompareConfig, run_compare
from tests.support import assert_refused, compare, run, write_rows


@pytest.fixture(autouse=True)
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Three flips (of one an agent error), an identical task, a masked one, a missing one."""
    monkeypatch.chdir(tmp_path)
    old: list[dict[str, Any]] = [
        {"task_id": "a", "reward": 1, "test_output": "a won"},
        {"task_id": "b", "reward": 0, "test_output": "b lost"},
        {"task_id": "c", "reward": 1, "error": "oops", "test_output": "c won"},
        {"task_id": "same", "reward": 1},
        {"task_id": "masked", "reward": None},
        {"task_id": "gone", "reward": 1},
    ]
    new: list[dict[str, Any]] = [
        {"task_id": "a", "reward": 0, "test_output": "a lost"},
        {"task_id": "b", "reward": 1, "test_output": "b won"},
        {"task_id": "c", "reward": 0, "test_output": "c lost"},
        {"task_id": "same", "reward": 1},
        {"task_id": "masked", "reward": 1},
    ]
    return str(write_rows(Path("old.jsonl"), old)), str(write_rows(Path("new.jsonl"), new))


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_the_losing_side_speaks_and_with_both_sides_the_winning_one_after_it(pair: tuple[str, str]) -> None:
    def said(*options: str) -> list[str]:
        return [line for line in compare(*pair, *options).stdout.splitlines() if line.startswith("    | ")]

    assert said() == ["    | a lost", "    | b lost", "    | c lost"]
    both = [f"    | {task} {how}" for task in "abc" for how in ("lost", "won")]
    assert said("--both-sides") == both


def test_with_a_tail_of_0_nothing_is_said_of_verifier_output(pair: tuple[str, str]) -> None:
    told = compare(*pair, "--tail", "0").stdout
    assert "output" not in told
    assert compare(*pair, "--tail", "0", "--both-sides").stdout == told
    flip, *_ = json.loads(run("--json", "dev", "compare", *pair, "--tail", "0").stdout)["flips"]
    assert flip["new"] == {"source": "field", "path": "test_output", "lines": [], "unavailable": None}


def test_a_tail_beyond_any_file_is_the_whole_output(pair: tuple[str, str]) -> None:
    assert compare(*pair, "--tail", "999999999999999999") == compare(*pair)


def test_only_so_many_flips_of_each_kind(pair: tuple[str, str]) -> None:
    done = compare(*pair, "--max-flips", "1")
    assert "... and 1 more flip\n" in done.stdout
    assert "## Flips (2)\n" in done.stdout
    assert "### a: " in done.stdout
    assert "### b: " not in done.stdout
    assert "### c: " in done.stdout
    assert compare(*pair, "--max-flips", "2") == compare(*pair)


@pytest.mark.parametrize(
    ("only", "sections"),
    [
        (["identical"], ["## Difference", "## Identical (1)"]),
        (["flipped"], ["## Difference", "## Flips (2)"]),
        (["flipped_agent_error"], ["## Difference", "## Flips with agent errors (1)"]),
        (["masked"], ["## Difference", "## Masked (1)"]),
        (["missing", "masked"], ["## Difference", "## Masked (1)", "## Missing (1)"]),
    ],
)
def test_only_some_sections(pair: tuple[str, str], only: list[str], sections: list[str]) -> None:
    options = [word for category in only for word in ("--only", category)]
    done = compare(*pair, *options)
    assert headings(done.stdout) == sections
    counts = done.stdout[: done.stdout.index("## Difference")]
    assert compare(*pair).stdout.startswith(counts)


@pytest.mark.parametrize("asked", [False, True])
def test_a_summary_has_transcripts_only_where_they_are_asked_for(tmp_path: Path, asked: bool) -> None:
    def path(name: str, reward: float) -> Path:
        output = [{"role": "assistant", "content": f"said in {name}"}]
        return write_rows(tmp_path / name, [{"task_id": "a", "reward": reward, "response": {"output": output}}])

    runs, asking = (path("old.jsonl", 1.0), path("new.jsonl", 0.0)), ["--transcripts"] * asked
    done = compare(*runs, "--html", tmp_path / "page.html", "--json", tmp_path / "s.json", "--json-stdout", *asking)
    for text in (done.stdout, (tmp_path / "s.json").read_text("utf-8")):
        assert [one["task"] for one in json.loads(text)["transcripts"]] == ["a"] * asked
    assert "said in new.jsonl" in (tmp_path / "page.html").read_text("utf-8")


def test_what_is_shown_never_filters_the_summary(pair: tuple[str, str]) -> None:
    whole = run("--json", "dev", "compare", *pair)
    assert len(json.loads(whole.stdout)["flips"]) == 3
    assert run("--json", "dev", "compare", *pair, "--only", "missing", "--max-flips", "0", "--both-sides") == whole


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--only", "flippd", "did you mean flipped?"),
        ("--only", "lost", "categories are identical, flipped, flipped_agent_error, masked, missing"),
        ("--only", "", "categories are identical, flipped, flipped_agent_error, masked, missing"),
        ("--max-flips", "-1", "is not a whole number, 0 or more"),
        ("--max-flips", "x", "is not a whole number, 0 or more"),
        ("--logs-root", "", "it is empty"),
        ("--rerun", "", "it is empty"),
        ("--sort", "name", "'name' is not an order; orders are size, label"),
        ("--margin", "2%", "'2%' is not a number, 0 or more"),
        ("--margin", "-0.1", "'-0.1' is not a number, 0 or more"),
        ("--tolerance", "nan", "'nan' is not a number, 0 or more"),
        ("--tolerance", "inf", "'inf' is not a number, 0 or more"),
    ],
)
def test_a_value_that_is_none_is_wrong_usage(pair: tuple[str, str], option: str, value: str, hint: str) -> None:
    done = compare(*pair, option, value)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith(f"error: argument {option}: ")
    assert hint in done.stderr.splitlines()[0]


# The config


def config(pair: tuple[str, str], **options: Any) -> RolloutCompareConfig:
    return RolloutCompareConfig(old_rollouts=pair[0], new_rollouts=pair[1], **options)


def report(pair: tuple[str, str], **options: Any) -> str:
    out = StringIO()
    assert run_compare(config(pair, **options), out) == 0
    return out.getvalue()


def test_the_config_shows_what_the_command_shows(pair: tuple[str, str]) -> None:
    assert report(pair) == compare(*pair).stdout
    shown = report(pair, both_sides=True, max_flips=1, only=("flipped",))
    assert shown == compare(*pair, "--both-sides", "--max-flips", "1", "--only", "flipped").stdout
    assert shown == report(pair, both_sides=True, max_flips=1, only=[Category.FLIPPED])


@pytest.mark.parametrize("root", ["logs", ("logs",), ["elsewhere", "logs"], ("new=logs",), "new=logs"])
def test_logs_roots_are_a_text_or_several(pair: tuple[str, str], root: Any) -> None:
    write_rows(Path("new.jsonl"), [{"task_id": "a", "reward": 0, "verifier_logs_dir": "/gone/a"}])
    Path("logs/a").mkdir(parents=True)
    Path("elsewhere").mkdir()
    Path("elsewhere/unrelated.txt").touch()
    Path("logs/a/test-stdout.txt").write_text("found\n", "utf-8")
    assert "(last 1 line of logs/a/test-stdout.txt):\n    | found\n" in report(pair, logs_root=root)


@pytest.mark.parametrize(("old", "new", "loser"), [(0, 1, "old"), (1, 0, "new")])
@pytest.mark.parametrize("linked", [False, True])
def test_each_side_s_own_logs_come_first(old: int, new: int, loser: str, linked: bool) -> None:
    """Both runs name their logs alike; a run that is reached by a link has its logs where it really is."""
    for side, reward in (("old", old), ("new", new)):
        Path(side, "logs").mkdir(parents=True)
        Path(side, "logs", "test-stdout.txt").write_text(f"{side} said\n", "utf-8")
        write_rows(Path(side, "run.jsonl"), [{"task_id": "a", "reward": reward, "verifier_logs_dir": "logs"}])
        Path(f"{side}.link").symlink_to(f"{side}/run.jsonl")
    done = compare(*(f"{side}.link" if linked else f"{side}/run.jsonl" for side in ("old", "new")))
    assert f"    | {loser} said\n" in done.stdout


@pytest.mark.parametrize("root", ["nowhere", "old=nowhere", "old.jsonl", "new="])
def test_a_logs_root_that_is_no_folder_is_an_error(pair: tuple[str, str], root: str) -> None:
    Path("logs").mkdir()
    assert_refused(compare(*pair, "--logs-root", "logs", "--logs-root", root), f"'{root}'", "there is no such folder")


@pytest.mark.parametrize("root", [None, (), []])
def test_no_logs_root_is_none_at_all(pair: tuple[str, str], root: Any) -> None:
    assert report(pair, logs_root=root) == compare(*pair).stdout


@pytest.mark.parametrize(
    "wrong",
    [
        {"logs_root": ""},
        {"logs_root": ("a", "")},
        {"logs_root": 3},
        {"max_flips": -1},
        {"max_flips": "1"},
        {"only": ("lost",)},
        {"rerun": ""},
    ],
)
def test_wrong_values_are_refused(pair: tuple[str, str], wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        config(pair, **wrong)
