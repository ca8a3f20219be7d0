"""Golden stories: a folder each, with a command, its inputs, and everything that the command must give.

`cmd` is run in a copy of `inputs`. What it must give (`stdout`, `stderr`, `code`) is worked out by hand; a story that
ends in a report has its summary in `summary.json` too. There is no way to have these files written.
"""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nemo_gym.rollout_compare import summary_schema
from tests.support import Done, run, set_times

GOLDEN = Path(__file__).parent / "golden"
STORIES = sorted(path.name for path in GOLDEN.iterdir())
REPORTS = [name for name in STORIES if not name.startswith("error-")]


@pytest.fixture
def folder(story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A story's folder; the current one is a copy of its inputs."""
    shutil.copytree(GOLDEN / story / "inputs", tmp_path / "inputs")
    set_times(tmp_path / "inputs")
    monkeypatch.chdir(tmp_path / "inputs")
    return GOLDEN / story


def told(folder: Path, *more: str) -> Done:
    prog, *words = shlex.split(text(folder, "cmd"))
    return run(*words, *more, prog=prog)


def text(folder: Path, name: str) -> str:
    return (folder / name).read_bytes().decode("utf-8")


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def canonical(summary: Any) -> str:
    return json.dumps(summary, indent=1, sort_keys=True)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_holds_what_it_must_and_nothing_else(story: str) -> None:
    expected = {"cmd", "inputs", "stdout", "stderr", "code"} | ({"summary.json"} if story in REPORTS else set())
    assert {path.name for path in (GOLDEN / story).iterdir()} == expected


@pytest.mark.parametrize("story", STORIES)
def test_the_command_gives_what_the_story_says(folder: Path) -> None:
    before = files()
    done = told(folder)
    assert done.stdout == text(folder, "stdout")
    assert done.stderr == text(folder, "stderr")
    assert done.status == int(text(folder, "code"))
    assert files() == before


@pytest.mark.parametrize("story", REPORTS)
def test_the_summary_is_what_the_story_says(folder: Path, tmp_path: Path) -> None:
    expected = json.loads(text(folder, "summary.json"))
    done = told(folder, "--json", str(tmp_path / "summary.json"))
    assert done.stdout == text(folder, "stdout") + f"wrote {tmp_path / 'summary.json'}\n"
    assert canonical(json.loads(text(tmp_path, "summary.json"))) == canonical(expected)
    jsonschema.validate(expected, summary_schema())


def test_there_are_stories_of_both_kinds() -> None:
    assert len(REPORTS) > 5
    assert len(STORIES) - len(REPORTS) > 3
