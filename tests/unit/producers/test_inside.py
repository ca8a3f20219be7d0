"""Files in the folder of a run: what is read, and what is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.support import put


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run's folder, beside a file that is none of its."""
    put(tmp_path / "secret.txt", "secret")
    put(tmp_path / "run/inner/file.txt", "text")
    return RunFolder.at(tmp_path / "run")


def refused(folder: RunFolder, name: str, most: int = 1 << 20) -> str:
    with pytest.raises(CompareInputError) as error:
        folder.read(name, most)
    return str(error.value).removeprefix(f"cannot read {folder.path / name}: ")


def test_a_file_is_read_by_its_path_in_the_folder(folder: RunFolder) -> None:
    assert folder.read("inner/file.txt") == b"text"
    assert folder.size_of("inner/file.txt") == 4
    assert folder.file("inner/file.txt") == folder.path / "inner/file.txt"


def test_what_is_no_regular_file_is_refused(folder: RunFolder) -> None:
    os.mkfifo(folder.path / "pipe")
    for name in ("pipe", "inner"):
        assert refused(folder, name) == "it is not a regular file"
        assert folder.size_of(name) is None
        assert folder.file(name) is None


def test_what_is_not_there_is_refused(folder: RunFolder) -> None:
    (folder.path / "broken").symlink_to("nowhere")
    assert refused(folder, "nothing") == "No such file or directory"
    assert refused(folder, "broken") == "No such file or directory"
    assert re.search("embedded null (byte|character)", refused(folder, "nul\0byte"))
    assert folder.size_of("nul\0byte") is None


def test_what_is_too_large_is_refused(folder: RunFolder) -> None:
    put(folder.path / "large", b"x" * ((1 << 20) + 1))
    assert refused(folder, "large") == "it is larger than 1 MiB"
    assert folder.read("large", 2 << 20) == b"x" * ((1 << 20) + 1)


@pytest.mark.parametrize("target", ["../secret.txt", "{}/secret.txt"])
def test_links_that_lead_out_are_refused(folder: RunFolder, target: str) -> None:
    (folder.path / "link").symlink_to(target.format(folder.path.parent))
    assert refused(folder, "link") == "it is a link that leads out of the run's folder"
    assert folder.file("link") is None


def test_links_inside_are_followed_also_where_the_folder_is_one_itself(folder: RunFolder, tmp_path: Path) -> None:
    (folder.path / "link").symlink_to("inner/file.txt")
    (tmp_path / "run-link").symlink_to(folder.path)
    assert folder.read("link") == RunFolder.at(tmp_path / "run-link").read("link") == b"text"


def test_the_folders_in_it_are_those_that_lie_inside(folder: RunFolder, tmp_path: Path) -> None:
    put(tmp_path / "outside/file.txt", "")
    (folder.path / "out").symlink_to(tmp_path / "outside")
    (folder.path / "same").symlink_to(folder.path / "inner")
    assert list(folder.folders()) == ["inner", "same"]
    assert list(folder.folders("inner")) == []
    with pytest.raises(CompareInputError, match=r"cannot read .*nowhere: No such file"):
        list(folder.folders("nowhere"))


@pytest.mark.parametrize("content", ["", "[1]", "{", "nothing"])
def test_an_object_that_cannot_be_read_is_empty(folder: RunFolder, content: str) -> None:
    put(folder.path / "file.json", content)
    assert folder.read_object("file.json") == {}
    assert folder.read_object("nowhere.json") == {}
