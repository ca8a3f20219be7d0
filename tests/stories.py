"""Golden stories, a folder each: a command, its inputs, and everything that the command must give."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

from tests.support import Done, run, set_times

GOLDEN = Path(__file__).parent / "golden"


def stories() -> list[str]:
    return sorted(path.name for path in GOLDEN.iterdir())


def reports(story: str) -> bool:
    """Whether a story ends in a report, and so has a summary."""
    return not story.startswith("error-")


def inputs_copied(story: str, folder: Path) -> Path:
    """A copy of a story's inputs in a folder, with one time of their last change."""
    copy = shutil.copytree(GOLDEN / story / "inputs", folder / "inputs")
    set_times(copy)
    return copy


def told(story: str, *more: str | Path) -> Done:
    """What a story's command, with more words, gives in the current folder."""
    prog, *words = shlex.split(text_of(GOLDEN / story / "cmd"))
    return run(*words, *more, prog=prog)


def text_of(path: Path) -> str:
    """A file's text, its line ends as they are."""
    return path.read_bytes().decode("utf-8")


def summary_of(story: str, path: Path) -> tuple[Done, Any]:
    """What a story's command gives when it also writes the summary to a path, and that summary."""
    done = told(story, "--json", path)
    return done, json.loads(text_of(path))
