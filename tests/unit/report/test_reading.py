"""A summary is a whole result again: every output made from it is the one made from the runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import (
    CompareInputError,
    CompareResult,
    Setting,
    compare_rollouts,
    explain_flips,
    summary_dict,
)
from nemo_gym.rollout_compare.compare import Questions
from nemo_gym.rollout_compare.report.renderers import RENDERERS
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines
from nemo_gym.rollout_compare.schema import Wanted
from tests.stories import GOLDEN, inputs_copied, reports, stories, text_of, told
from tests.support import Done, assert_refused, compare, run, write_rows

REPORTS = [story for story in stories() if reports(story)]


#: Options that say what the report shows, with how many words follow each.
SHOWN = {"--max-flips": 1, "--sort": 1, "--only": 1, "--both-sides": 0, "--hide-noise": 0}

OUTPUTS = {"--html": "page.html", "--markdown": "c.md", "--junit": "j.xml", "--table": "t.csv", "--rerun": "r.txt"}


@pytest.mark.parametrize("story", REPORTS)
def test_every_output_can_be_made_again_from_the_summary(
    story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs_copied(story, tmp_path))
    prog, *words = shlex.split(text_of(GOLDEN / story / "cmd"))
    command = words[:2] if prog == "gym" else []
    kept = [word for i, given in enumerate(words) if given in SHOWN for word in words[i : i + 1 + SHOWN[given]]]
    first, again = ([w for option, name in OUTPUTS.items() for w in (option, when + name)] for when in ("1-", "2-"))
    done = told(story, "--json", "s.json", "--transcripts", *first)
    shown = run(*command, "show", "s.json", *kept, *again, prog=prog)
    assert (shown.status, shown.stderr) == (0, "")
    for name in OUTPUTS.values():
        assert Path(f"2-{name}").read_bytes() == Path(f"1-{name}").read_bytes(), name
    if not done.stdout.startswith("{"):  # else the story prints its summary
        assert report_of(shown) == report_of(done)


def report_of(done: Done) -> list[str]:
    return [line for line in done.stdout.splitlines() if not line.startswith("wrote ")]


ROWS: tuple[list[dict[str, Any]], list[dict[str, Any]]] = (
    [
        {"task_id": "a", "reward": 1.0, "test_output": "ok"},
        {"task_id": "b", "reward": 1.0},
        {"task_id": "b", "reward": 0.0},
        {"task_id": "c", "reward": None, "failure_kind": "timeout", "mask_sample": True},
        {"task_id": "d", "reward": 0.25},
    ],
    [
        {"task_id": "a", "reward": 0.0, "error": "Boom: no", "test_output": "E   ValueError: x"},
        {"task_id": "b", "reward": 1.0},
        {"task_id": "b", "reward": float("inf")},
        {"task_id": "c", "reward": 1.0},
    ],
)


def saved(path: Path) -> tuple[CompareResult, CompareResult]:
    result = explain_flips(compare_rollouts(*ROWS), [])
    path.write_text(json.dumps(summary_dict(result)), "utf-8")
    return result, CompareResult.from_json(path)


def test_a_result_is_what_it_was(tmp_path: Path) -> None:
    result, again = saved(tmp_path / "s.json")
    assert list(again.tasks) == list(result.tasks)
    for name in ("notes", "clusters", "statistics", "join_check", "gate", "old_key", "old_rows", "new_masked_rows"):
        assert getattr(again, name) == getattr(result, name), name
    assert [flip.old for flip in again.flips] == [flip.old for flip in result.flips]
    assert [flip.task for flip in again.flips] == ["a"]
    assert again.run is None


def test_groups_and_the_settings_of_flips_are_what_they_were(tmp_path: Path) -> None:
    old, new = (
        [
            {**row, "kind": row["task_id"], "responses_create_params": {"input": "x", "temperature": value}}
            for row in rows
        ]
        for rows, value in zip(ROWS, (1.0, 0.5), strict=True)
    )
    result = compare_rollouts(old, new, questions=Questions(by=("kind",)))
    (tmp_path / "s.json").write_text(json.dumps(summary_dict(result)), "utf-8")
    again = CompareResult.from_json(tmp_path / "s.json")
    assert again.groups == result.groups == {"kind": ["a", "b", "c", "d"]}
    assert [flip.settings for flip in again.flips] == [(Setting("temperature", "1.0", "0.5"),)]


@pytest.mark.parametrize("places", [[0], [0, 1, 2, 7]])
def test_groups_of_other_tasks_are_refused(places: list[int], tmp_path: Path) -> None:
    summary = summary_dict(saved(tmp_path / "s.json")[0])
    summary["facts"]["groups"] = [{"field": "kind", "values": ["x", "y", "z"], "tasks": places}]
    (tmp_path / "s.json").write_text(json.dumps(summary))
    with pytest.raises(CompareInputError, match="`groups` does not give a value of 'kind' for each task"):
        CompareResult.from_json(tmp_path / "s.json")


def test_its_rows_cannot_be_read_again_and_what_they_said_stays(tmp_path: Path) -> None:
    _, again = saved(tmp_path / "s.json")
    place = again.flips[0].rows.new
    assert place.where == str(tmp_path / "s.json")
    (error,) = place.source.again([place], Wanted(), grown=False)
    assert str(error) == f"{tmp_path / 's.json'} is a summary: it does not hold the rows"
    assert explain_flips(again, []) is again


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a JSON summary: "),
        ("[" * 100_000, "is not a JSON summary: "),
        ("[]", "is not a JSON summary of this version: Expected `object`, got `array`; write it again with --json"),
        ('{"schema_version": 1}', "is not a JSON summary of this version: Object missing required field `run`"),
        ('{"schema_version": 7}', "is not a JSON summary of this version: "),
    ],
)
def test_what_is_no_summary_is_one_clear_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(text, "utf-8")
    with pytest.raises(CompareInputError) as error:
        CompareResult.from_json(path)
    assert str(error.value).startswith(f"{path} {said}")
    assert "\n" not in str(error.value)
    assert_refused(compare("show", path), f"{path} {said}")


def test_a_summary_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    result, _ = saved(tmp_path / "s.json")
    summary = summary_dict(result)
    summary["flips"][0]["task"] = "nobody"
    (tmp_path / "s.json").write_text(json.dumps(summary))
    with pytest.raises(CompareInputError, match="lacks the flip 'nobody'"):
        CompareResult.from_json(tmp_path / "s.json")


def test_a_summary_with_an_impossible_time_is_refused(tmp_path: Path) -> None:
    sides = [write_rows(tmp_path / f"{side}.jsonl", rows[:1]) for side, rows in zip(("old", "new"), ROWS, strict=True)]
    compare(*sides, "--json", tmp_path / "s.json")
    summary = json.loads((tmp_path / "s.json").read_text())
    summary["run"]["old"]["files"][0]["modified"] = "yesterday"
    (tmp_path / "s.json").write_text(json.dumps(summary))
    with pytest.raises(CompareInputError, match="'yesterday' does not match format"):
        CompareResult.from_json(tmp_path / "s.json")


def test_what_came_through_a_pipe_has_no_time(tmp_path: Path) -> None:
    sides = [write_rows(tmp_path / f"{side}.jsonl", rows[:1]) for side, rows in zip(("old", "new"), ROWS, strict=True)]
    compare(*sides, "--json", tmp_path / "s.json")
    summary = json.loads((tmp_path / "s.json").read_text())
    summary["run"]["old"]["files"][0] |= {"path": "-", "modified": None}
    (tmp_path / "s.json").write_text(json.dumps(summary))
    run_again = CompareResult.from_json(tmp_path / "s.json").run
    assert run_again is not None
    assert run_again.old.files[0].modified is None
    assert run_again.new.files[0].modified == int(sides[1].stat().st_mtime)
    size = sides[0].stat().st_size
    assert f"\nold: - (rollouts, {size} bytes)\n" in compare("show", tmp_path / "s.json").stdout


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CompareInputError, match=r"cannot read .*no\.json: No such file or directory"):
        CompareResult.from_json(tmp_path / "no.json")


def test_show_refuses_to_overwrite_its_summary(tmp_path: Path) -> None:
    saved(tmp_path / "s.json")
    assert_refused(compare("show", tmp_path / "s.json", "--html", tmp_path / "s.json"), "it is the input")


def test_a_lone_surrogate_comes_back(tmp_path: Path) -> None:
    result = compare_rollouts([{"task_id": "a\ud800", "reward": 1.0}], [{"task_id": "a\ud800", "reward": 0.0}])
    (tmp_path / "s.json").write_text(json.dumps(summary_dict(result)))
    again = CompareResult.from_json(tmp_path / "s.json")
    assert again.tasks[0].task == "a\ud800"
    assert list(report_lines(again)) == list(report_lines(result))
    for render in RENDERERS.values():
        assert render(again, Shown()) is not None
