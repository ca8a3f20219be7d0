"""What a start costs: help, version and wrong usage load nothing that compares; the face loads what is asked for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import nemo_gym.rollout_compare as face
from nemo_gym.rollout_compare import compare as door
from nemo_gym.rollout_compare import text

NAME = "nemo_gym.rollout_compare"

#: What help may load of the package: the way to the parser, and the table that it is made from.
LIGHT = {
    "__main__",
    "app",
    "app.cli",
    "app.ending",
    "app.kinds",
    "app.option",
    "app.gym",
    "app.interrupts",
    "app.options",
    "app.streams",
}
LIGHT |= {"compare", "compare.gate", "files", "files.signals", "text", "text.sizes", "text.terminal", "text.words"}

LOADED = f"""
import sys
from {NAME}.app.cli import main
status = main(sys.argv[2:], prog=sys.argv[1])
print(status, *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("prog", "words", "status"),
    [
        ("rollout-compare", ["--help"], 0),
        ("rollout-compare", ["--version"], 0),
        ("rollout-compare", ["old", "new", "--nix"], 2),
        ("gym", ["--help"], 0),
        ("gym", ["--version"], 0),
        ("gym", ["dev", "compare", "--help"], 0),
    ],
)
def test_help_version_and_wrong_usage_load_nothing_that_compares(prog: str, words: list[str], status: int) -> None:
    # A measure of coverage loads modules of its own into every process.
    bare = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    command = [sys.executable, "-c", LOADED, prog, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=bare)
    told, *modules = done.stderr.splitlines()[-1].split()
    assert (done.returncode, int(told)) == (0, status)
    ours = {module.removeprefix(f"{NAME}.") for module in modules if module.startswith(f"{NAME}.")}
    assert "app.cli" in ours
    assert ours - LIGHT == set()
    heavy = {"msgspec", "pydantic", "rich", "importlib.metadata", "multiprocessing", "statistics", "json", "pathlib"}
    assert heavy & set(modules) <= ({"pathlib"} if "difflib" in modules else set())


def test_the_face_is_what_type_checkers_read() -> None:
    tree = ast.parse(Path(str(face.__file__)).read_text("utf-8"))
    (hidden,) = [node for node in tree.body if isinstance(node, ast.If)]
    read = {
        str(node.module).removeprefix(f"{NAME}."): tuple(alias.name for alias in node.names)
        for node in hidden.body
        if isinstance(node, ast.ImportFrom)
    }
    assert read == face._HOMES
    assert sorted([*(name for names in read.values() for name in names), "__version__"]) == sorted(face.__all__)


def test_every_name_of_the_face_is_that_of_its_home() -> None:
    for home, names in face._HOMES.items():
        for name in names:
            assert getattr(face, name) is getattr(import_module(f"{NAME}.{home}"), name)
            assert name in dir(face)


@pytest.mark.parametrize("name", face._DOORS)
def test_a_door_need_not_be_imported_first(name: str) -> None:
    script = f"import {NAME}; print({NAME}.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{NAME}.{name}\n", "")


def test_an_unknown_name_is_an_error_as_of_every_module() -> None:
    for module in (face, door, text):
        with pytest.raises(AttributeError, match="has no attribute 'nix'"):
            module.nix  # noqa: B018


def test_a_door_gives_its_names() -> None:
    assert door.compare_rollouts is import_module(f"{NAME}.compare.categories").compare_rollouts


def test_the_version_is_that_of_the_distribution() -> None:
    assert face.__version__ == version("rollout-compare")
