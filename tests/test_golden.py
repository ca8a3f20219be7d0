"""Golden stories: `cmd` is run in a copy of `inputs` and must give `stdout`, `stderr`, `code` and `summary.json`.

They are worked out by hand. `make golden` writes them anew after a change, for somebody to read every difference; here
a file that is missing is a failure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.stories import GOLDEN, inputs_copied, reports, stories, summary_of, text_of, told
from tests.support import assert_valid

STORIES = stories()
REPORTS = [name for name in STORIES if reports(name)]


@pytest.fixture
def folder(story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A story's folder; the current one is a copy of its inputs."""
    monkeypatch.chdir(inputs_copied(story, tmp_path))
    return GOLDEN / story


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def canonical(summary: Any) -> str:
    return json.dumps(summary, indent=1, sort_keys=True)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_holds_what_it_must_and_nothing_else(story: str) -> None:
    expected = {"cmd", "inputs", "stdout", "stderr", "code"} | ({"summary.json"} if reports(story) else set())
    assert {path.name for path in (GOLDEN / story).iterdir()} == expected


@pytest.mark.parametrize("story", STORIES)
def test_the_command_gives_what_the_story_says(story: str, folder: Path) -> None:
    before = files()
    done = told(story)
    assert done.stdout == text_of(folder / "stdout")
    assert done.stderr == text_of(folder / "stderr")
    assert done.status == int(text_of(folder / "code"))
    assert files() == before


@pytest.mark.parametrize("story", REPORTS)
def test_the_summary_is_what_the_story_says(story: str, folder: Path, tmp_path: Path) -> None:
    expected = json.loads(text_of(folder / "summary.json"))
    done, summary = summary_of(story, tmp_path / "summary.json")
    assert done.stdout == text_of(folder / "stdout") + f"wrote {tmp_path / 'summary.json'}\n"
    assert canonical(summary) == canonical(expected)
    assert_valid(expected)


def test_there_are_stories_of_both_kinds() -> None:
    assert len(REPORTS) > 5
    assert len(STORIES) - len(REPORTS) > 3
