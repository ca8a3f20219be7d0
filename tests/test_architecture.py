"""The package's shape, read from its source: who imports whom, and how long files and functions are."""

from __future__ import annotations

import ast
from pathlib import Path

import nemo_gym.rollout_compare

ROOT = Path(__file__).parent.parent
PACKAGE = Path(nemo_gym.rollout_compare.__file__).parent
NAME = "nemo_gym.rollout_compare"

SOURCES = {
    path: ast.parse(path.read_text("utf-8"))
    for folder in (PACKAGE, *(ROOT / name for name in ("tests", "tools", "bench", "examples")))
    for path in sorted(folder.rglob("*.py"))
}


def package_of(path: Path) -> str:
    """A file's package, or its own name where it lies in none."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    """The packages that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are spelled out"
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    found = {name.removeprefix(f"{NAME}.").split(".")[0] for name in names if name.startswith(f"{NAME}.")}
    return found & PACKAGES


PACKAGES = {package_of(path) for path in SOURCES if path.is_relative_to(PACKAGE)}
IMPORTS: dict[str, set[str]] = {name: set() for name in PACKAGES}
for _path, _tree in SOURCES.items():
    if _path.is_relative_to(PACKAGE):
        IMPORTS[package_of(_path)] |= imported(_tree) - {package_of(_path)}


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
    assert IMPORTS["app"] >= {"report", "schema"}
    assert imported(ast.parse(f"def f():\n    from {NAME} import app\n    import {NAME}.table.x")) == {"app", "table"}
