"""The package's shape, read from its source and held against the table in docs/design.md: who imports whom and by
which door, whose words stand where, and how long files and functions are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import nemo_gym.rollout_compare
from tests.documents import section_of, table_of

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


def imports_of(tree: ast.AST) -> Iterator[str]:
    """What a file imports of ours, anywhere in it, by dotted names within the package: `table.places.FileRow`."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are spelled out"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.removeprefix(f"{NAME}.") for name in names if name.startswith(f"{NAME}."))


def imported(tree: ast.AST) -> set[str]:
    """The packages that a file imports."""
    return {name.split(".")[0] for name in imports_of(tree)} & PACKAGES


OURS = {path: tree for path, tree in SOURCES.items() if path.is_relative_to(PACKAGE)}
PACKAGES = {package_of(path) for path in OURS}
IMPORTS: dict[str, set[str]] = {name: set() for name in PACKAGES}
for _path, _tree in OURS.items():
    IMPORTS[package_of(_path)] |= imported(_tree) - {package_of(_path)}

#: What stands beside the packages and may import all of them.
BESIDE = {"__init__", "__main__", "command"}


def table_in_the_design() -> dict[str, set[str]]:
    """For each package the packages that it may import."""
    rows = table_of(section_of("docs/design.md", "## The packages"))
    allowed = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[2])) for row in rows}
    assert [name for name, row in zip(allowed, rows, strict=True) if row[2] == "all of these"] == ["app"]
    return allowed | {"app": set(allowed) - {"app"}}


def modules_past_the_door() -> set[str]:
    """The modules that the design lets other packages import directly: `PACKAGE.MODULE`."""
    lines = "\n".join(section_of("docs/design.md", "## The packages"))
    return set(re.findall(r"^\* `(\w+(?:\.\w+)+)`: \w", lines, re.MULTILINE))


@cache
def door_of(package: str) -> set[str]:
    """The names that a package's door lists: its `__all__`."""
    for node in OURS[PACKAGE / package / "__init__.py"].body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return set()


def test_the_design_names_every_package_and_no_others() -> None:
    assert set(table_in_the_design()) == PACKAGES - BESIDE
    assert all((PACKAGE / name / "__init__.py").exists() for name in PACKAGES - BESIDE)


def test_a_package_imports_only_what_the_design_allows() -> None:
    allowed = table_in_the_design()
    excess = {name: IMPORTS[name] - allowed[name] for name in allowed}
    assert {name: more for name, more in excess.items() if more} == {}


def test_the_design_s_table_has_no_circle() -> None:
    """A package comes after all that it may import: so the code has no circle either."""
    before: set[str] = set()
    for name, allowed in table_in_the_design().items():
        assert allowed <= before, name
        before.add(name)


def test_nothing_imports_what_stands_beside_the_packages() -> None:
    """But the face, which has the command's names, and they among themselves."""
    assert {name: IMPORTS[name] & BESIDE for name in PACKAGES - BESIDE if IMPORTS[name] & BESIDE} == {}


def test_packages_are_imported_by_their_doors() -> None:
    direct = modules_past_the_door()
    past = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path, tree in OURS.items()
        for name in imports_of(tree)
        for package, _, rest in [name.partition(".")]
        if package in PACKAGES - BESIDE - {package_of(path)}
        if rest and rest not in door_of(package)
        if not any(f"{name}.".startswith(f"{module}.") for module in direct)
    ]
    assert past == []


def test_every_module_past_the_door_is_imported_so() -> None:
    used = {name for path, tree in OURS.items() for name in imports_of(tree) if package_of(path) != name.split(".")[0]}
    assert {
        module for module in modules_past_the_door() if not any(f"{name}.".startswith(f"{module}.") for name in used)
    } == set()


#: How NeMo Gym names what it records. Names that every producer has, such as `reward` and `task_id`, prove nothing.
FIELDS = {
    "container_timed_out",
    "eval_timed_out",
    "evaluation_completed",
    "failure_kind",
    "failure_reason",
    "instance_config",
    "mask_sample",
    "responses_create_params",
    "sandbox_failed",
    "test_output",
    "verifier_error",
    "verifier_logs_dir",
    "verifier_metadata",
    "verifier_output",
    "verifier_stdout",
}
#: Names that are words of ours too, and where.
OWN_WORDS = {
    ("__init__", "verifier_output"),  # a function for scripts
    ("explain", "verifier_output"),  # the same
    ("app", "verifier_logs_dir"),  # help, as published
    ("app", "verifier_metadata"),  # help, as published
    ("producers", "mask_sample"),  # a column of a table, as documented
    ("producers", "test_output"),  # OpenHands, SWE-bench and tables call theirs so, too
    ("producers", "verifier_output"),  # a column of a table
    ("producers", "verifier_stdout"),  # a column of a table
    ("report", "failure_kind"),  # a key of the JSON summary, and a line of the report
    ("schema", "mask_sample"),  # a kind of mask
    ("table", "failure_kind"),  # a column of a table
    ("text", "failure_kind"),  # the words for a mask
    ("text", "mask_sample"),  # the words for a mask
}


def literals_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The strings in a file with their lines, docstrings left out."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def fields_in(text: str) -> set[str]:
    """The names of NeMo Gym's fields in a text."""
    return {name for name in re.findall(r"\w+", text) if name in FIELDS or name.startswith("_ng_")}


def test_nemo_gym_s_field_names_stand_in_its_producer_alone() -> None:
    elsewhere = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path, tree in OURS.items()
        if not path.is_relative_to(PACKAGE / "producers" / "gym")
        for line, text in literals_of(tree)
        for name in sorted(fields_in(text))
        if (package_of(path), name) not in OWN_WORDS
    ]
    assert elsewhere == []


def test_nemo_gym_s_producer_uses_the_field_names_that_are_looked_for() -> None:
    trees = [tree for path, tree in OURS.items() if path.is_relative_to(PACKAGE / "producers" / "gym")]
    found = {name for tree in trees for _, text in literals_of(tree) for name in fields_in(text)}
    assert {"_ng_task_index", "_ng_rollout_index", "mask_sample", "failure_kind", "instance_config"} <= found


def test_the_package_owns_nothing_of_nemo_gym() -> None:
    assert [path.name for path in PACKAGE.parent.iterdir() if path.name != "__pycache__"] == ["rollout_compare"]
    assert (PACKAGE / "py.typed").exists()


FOLDERS = sorted(path.parent for path in OURS if path.name == "__init__.py" and path.parent != PACKAGE)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_a_package_s_docstring_lists_its_modules_and_no_others(folder: Path) -> None:
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    told = re.findall(r"^\* `(\w+)`: \w", ast.get_docstring(OURS[folder / "__init__.py"]) or "", re.MULTILINE)
    assert sorted(told) == sorted(modules - {"__init__"})


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
    tree = ast.parse(
        f"def f():\n    from {NAME} import app\n    import {NAME}.table.x\n    from {NAME}.a.b import c, d"
    )
    assert list(imports_of(tree)) == ["app", "table.x", "a.b.c", "a.b.d"]
    assert imported(tree) == {"app", "table"}
    assert "compare_tables" in door_of("compare")
    assert list(literals_of(ast.parse('"told"\na = f"x{b}y"\n'))) == [(2, "x"), (2, "y")]
    assert fields_in("row has no verifier_metadata.task_id, _ng_x") == {"verifier_metadata", "_ng_x"}
