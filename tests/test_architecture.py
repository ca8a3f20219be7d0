"""The package's shape, read from its source: who imports whom, and how long files and functions are."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nemo_gym.rollout_compare

ROOT = Path(__file__).parent.parent
PACKAGE = Path(nemo_gym.rollout_compare.__file__).parent
NAME = "nemo_gym.rollout_compare"

#: What every module may import: the words that all of them speak.
VOCABULARY = {"schema", "figures", "safe_text"}

#: What no step of the road may import: whoever goes the whole road, and whoever writes.
ABOVE = {"__init__", "__main__", "cli", "command", "job", "options", "outputs", "progress"}

SOURCES = {
    path: ast.parse(path.read_text("utf-8"))
    for folder in (PACKAGE, *(ROOT / name for name in ("tests", "tools", "bench", "examples")))
    for path in sorted(folder.rglob("*.py"))
}


def module_of(path: Path) -> str:
    """A file's module, or subpackage, within the package: `report/text.py` is of `report`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    """The modules of the package that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are spelled out"
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    found = {name.removeprefix(f"{NAME}.").split(".")[0] for name in names if name.startswith(f"{NAME}.")}
    return found & MODULES


MODULES = {module_of(path) for path in SOURCES if path.is_relative_to(PACKAGE)}
IMPORTS: dict[str, set[str]] = {name: set() for name in MODULES}
for _path, _tree in SOURCES.items():
    if _path.is_relative_to(PACKAGE):
        IMPORTS[module_of(_path)] |= imported(_tree) - {module_of(_path)}


def steps() -> dict[str, int]:
    """The number of the step of the road that each module belongs to, by the package's docstring."""
    doc = nemo_gym.rollout_compare.__doc__ or ""
    found: dict[str, int] = {}
    for number, text in re.findall(r"^(\d+)\. (.*(?:\n   .*)*)$", doc, re.MULTILINE):
        found |= {name: int(number) for name in re.findall(r"`(\w+)`", text) if name in MODULES}
    return found


STEPS = steps()


def test_every_module_is_named_in_the_packages_docstring() -> None:
    doc = nemo_gym.rollout_compare.__doc__ or ""
    assert {
        name for name in MODULES - {"__init__", "__main__", "schema", "safe_text"} if f"`{name}`" not in doc
    } == set()
    assert len(STEPS) >= 8


def test_nobody_imports_in_a_circle() -> None:
    inner = {name: found - {"__init__"} for name, found in IMPORTS.items() if name != "__init__"}
    order = list(TopologicalSorter(inner).static_order())
    assert set(order) == set(inner)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_a_step_of_the_road_imports_earlier_steps_only(name: str) -> None:
    later = {other for other, step in STEPS.items() if step > STEPS[name]}
    assert IMPORTS[name] & (later | ABOVE) == set()


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("figures", set()),
        ("schema", {"figures"}),
        ("safe_text", set()),
        ("options", {"schema"}),
        ("outputs", VOCABULARY | {"ending"}),
        ("rows", VOCABULARY | {"decode"}),
        ("decode", VOCABULARY),
        ("logs", VOCABULARY),
        ("triage", VOCABULARY),
        ("statistics", VOCABULARY | {"paired"}),
        ("evidence", VOCABULARY | {"decode", "logs", "rows"}),
        ("report", VOCABULARY | {"evidence", "findings"}),
        ("command", VOCABULARY | {"gate", "job", "options"}),
        ("__main__", {"cli"}),
    ],
)
def test_a_module_imports_no_more_than_it_needs(name: str, allowed: set[str]) -> None:
    assert IMPORTS[name] <= allowed


def test_the_command_line_goes_no_part_of_the_road_itself() -> None:
    assert IMPORTS["cli"] & set(STEPS) <= {"inputs", "gate"}  # what standard input is called, what a rule is


@pytest.mark.parametrize(
    ("name", "importers"), [("cli", {"__main__"}), ("command", {"__init__"}), ("job", {"cli", "command"})]
)
def test_the_upper_floors_are_imported_from_above_only(name: str, importers: set[str]) -> None:
    assert {other for other, found in IMPORTS.items() if name in found} == importers


def test_the_package_owns_nothing_of_nemo_gym() -> None:
    assert [path.name for path in PACKAGE.parent.iterdir() if path.name != "__pycache__"] == ["rollout_compare"]
    assert (PACKAGE / "py.typed").exists()


def test_files_stay_short() -> None:
    """Test files may be long by having many tests."""
    paths = [path for path in SOURCES if not path.is_relative_to(ROOT / "tests")]
    lengths = {str(path): len(path.read_text("utf-8").splitlines()) for path in paths}
    assert lengths
    assert {path: length for path, length in lengths.items() if length >= 300} == {}


def test_functions_stay_short() -> None:
    lengths = {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if not path.is_relative_to(ROOT / "tests")  # a test may hold a long table of what is right
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def test_the_rules_would_be_noticed() -> None:
    """What the rules are read from is not empty, and an import inside a function counts."""
    assert IMPORTS["cli"]
    assert IMPORTS["report"] >= {"evidence", "schema"}
    assert imported(ast.parse(f"def f():\n    from {NAME} import cli\n    import {NAME}.rows.x")) == {"cli", "rows"}
