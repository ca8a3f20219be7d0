"""Two runs on disk to a result: the options of a script, and the tasks that the gate allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.app.comparison import compare_files
from nemo_gym.rollout_compare.schema import NoteKind
from tests.support import assert_refused, compare, run, write_rows

#: `lost` and `flaky` flip, `same` does not.
OLD, NEW = {"same": 1, "lost": 1, "flaky": 1}, {"same": 1, "lost": 0, "flaky": 0}


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, rewards in (("old.jsonl", OLD), ("new.jsonl", NEW)):
        write_rows(Path(path), [{"task_id": task, "reward": reward} for task, reward in rewards.items()])


def test_an_option_that_there_is_none_of_is_a_type_error_that_names_it_and_those_there_are() -> None:
    unknown: dict[str, Any] = {"tial": 3, "html": "x", "key": "task_id"}
    with pytest.raises(TypeError, match=r"^compare_files has no option html, tial; it takes key, old_key, .*\bby, "):
        compare_files("old.jsonl", "new.jsonl", **unknown)


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_what_an_allowed_task_breaks_is_not_held_against_the_run(mark: str) -> None:
    Path("allowed").write_text(f"{mark}flaky # a race in its verifier\n\n# all that follows is old\nlost\n", "utf-8")
    assert compare("old.jsonl", "new.jsonl", "--fail-on", "lost").status == 3
    done = run("--json", "dev", "compare", "old.jsonl", "new.jsonl", "--fail-on", "lost", "--allow", "allowed")
    assert (done.status, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["gate"] == {"passed": True, "rules": [{"rule": "lost", "value": 0, "tripped": False}]}
    assert not [note for note in told["notes"] if "allowed" in note]  # both of them still flip


def test_an_allowed_task_that_does_not_flip_any_more_is_noted_and_the_others_are_held_against_the_run() -> None:
    Path("allowed").write_text("same\ngone\nflaky\n", "utf-8")
    result = compare_files("old.jsonl", "new.jsonl", fail_on=["lost"], allow="allowed")
    assert result.gate is not None
    assert [(rule.rule, rule.value, rule.tripped) for rule in result.gate] == [("lost", 1, True)]
    (note,) = (note for note in result.notes if note.kind is NoteKind.NO_LONGER_FLIPS)
    assert note.tasks == ("gone", "same")
    plain = compare_files("old.jsonl", "new.jsonl", fail_on=["lost"])
    assert result.notes == (*plain.notes, note)
    done = compare("old.jsonl", "new.jsonl", "--fail-on", "lost", "--allow", "allowed")
    assert done.status == 3
    assert "note: allowed, but does not flip any more: gone, same\n" in done.stdout


def test_a_file_of_allowed_tasks_that_cannot_be_read() -> None:
    done = compare("old.jsonl", "new.jsonl", "--allow", "gone")
    assert_refused(done)
    assert done.stderr == "error: cannot read gone: No such file or directory\n"
    Path("folder").mkdir()
    assert_refused(compare("old.jsonl", "new.jsonl", "--allow", "folder"), "cannot read folder: Is a directory")
