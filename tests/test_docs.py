"""The documents are true: what they show is run, what they list is held against the code, their links resolve."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from signal import SIGTERM
from typing import Any

import jsonschema
import pytest

import nemo_gym.rollout_compare.app.cli as command_line
from nemo_gym.rollout_compare import summary_schema
from nemo_gym.rollout_compare.app import job
from nemo_gym.rollout_compare.app.cli import compare_parser
from nemo_gym.rollout_compare.app.interrupts import INTERRUPTED
from nemo_gym.rollout_compare.compare.gate import RULES, is_rule
from nemo_gym.rollout_compare.producers.gym import fields
from nemo_gym.rollout_compare.schema import result as schema
from tests.documents import ROOT, Block, blocks_of, prose_of, section_of, shows, table_of, text_of
from tests.support import Done, run

PACKAGE = Path(command_line.__file__).parent.parent
EXAMPLE = ROOT / "examples" / "terminal-bench"
JOINING = "docs/how-tasks-are-joined.md"

RUN = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
ALL = [*RUN, "CHANGELOG.md", "CONTRIBUTING.md"]


@pytest.mark.parametrize(
    ("shown", "real", "right"),
    [
        ("a b", "a b", True),
        ("a b", "a c", False),
        ("a b", "a b c", False),
        ("a ...", "a b c", True),
        ("a ...", "a", False),
        ("a ...", "b c", False),
        ("... c", "a b c", True),
        ("... c", "a b", False),
        ("... c", "c", False),
        ("a ... c", "a b c", True),
        ("a ... c", "a c", False),
        ("a ... c ... e", "a b c d e", True),
        ("a ... x ... e", "a b c d e", False),
        ("... c b ...", "a b c d", False),
        ("... b c ...", "a b c d", True),
    ],
)
def test_lines_are_left_out_only_where_dots_say_so(shown: str, real: str, right: bool) -> None:
    assert shows(shown.split(), real.split()) is right


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a copy of the example."""
    shutil.copytree(EXAMPLE, tmp_path / "example")
    monkeypatch.chdir(tmp_path / "example")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "example"


def commands_of(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block with the output that is shown for it."""
    command: str | None = None
    shown: list[str] = []
    for line in block.lines:
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line.removeprefix("$ "), []
        else:
            shown.append(line)
    assert command, f"line {block.line}: a console block without a command"
    yield command, shown


def run_by_shell(command: str) -> Done:
    """Run a command line as a user types it, with the programs of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def check_console(document: str, block: Block) -> None:
    status: int | None = None
    for command, shown in commands_of(block):
        program, *words = shlex.split(command)
        if program == "echo":
            assert words == ["$?"]
            real = [str(status)]
        else:
            known = ("gym", "rollout-compare", "gzip", "gunzip", "cat")
            assert program in known, f"{document}:{block.line}: {command}"
            own = program in known[:2] and "|" not in words
            done = run(*words, prog=program) if own else run_by_shell(command)
            status = done.status
            real = (done.stdout + done.stderr).splitlines()
        assert shows(shown, real), f"{document}:{block.line}: {command}\n" + "\n".join(real)


def check_python(document: str, block: Block, after: Block | None) -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(block.text, f"{document}:{block.line}", "exec"), {"__name__": "document"})  # noqa: S102
    if after and after.info == "text":
        assert printed.getvalue() == after.text


@pytest.mark.parametrize("document", RUN)
def test_what_a_document_shows_is_what_happens(document: str, folder: Path) -> None:
    blocks = blocks_of(document)
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block.info.startswith("jsonl "):
            path = folder / block.info.split()[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.info == "console":
            check_console(document, block)
        elif block.info == "python" and not block.text.startswith(">>> "):
            check_python(document, block, after)
        else:
            known = ("", "text", "json", "python")
            assert block.info in known, f"{document}:{block.line}: {block.info}"
    assert doctest.testfile(str(ROOT / document), module_relative=False).failed == 0


def test_the_readme_starts_with_the_example(folder: Path) -> None:
    first = next(block for block in blocks_of("README.md") if block.info == "console")
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\ndemo:")[1].split("\n")[1]
    (command, shown), *_ = commands_of(first)
    assert recipe.endswith(command.removeprefix("gym"))
    assert len(shown) > 20
    assert first.line < 20


def test_the_readme_s_library_snippet_prints_what_it_says(folder: Path) -> None:
    (snippet,) = (block for block in blocks_of("README.md") if "compare_rollouts" in block.text)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(snippet.text, "README.md", "exec"), {})  # noqa: S102
    first, report = printed.getvalue().split("\n", 1)
    assert f"prints is `{first}`" in text_of("README.md")
    assert report == run("dev", "compare", "old/rollouts.jsonl", "new/rollouts.jsonl", "--tail", "15").stdout + "\n"
    assert len([line for line in snippet.lines if line]) <= 6


def test_the_readme_lists_the_parser_s_options_and_no_others() -> None:
    listed = [re.findall(r"`([^`]+)`", row[0]) for row in table_of(section_of("README.md", "## Options"))]
    actions = compare_parser("gym dev compare")._actions
    real = []
    for action in actions:
        metavar = f" {action.metavar}" if action.metavar and action.option_strings else ""
        real.append([name + metavar for name in action.option_strings] or [str(action.metavar)])
    assert sorted(listed) == sorted(real)


def test_the_readme_lists_the_exit_statuses() -> None:
    listed = [int(row[0]) for row in table_of(section_of("README.md", "## Exit status"))]
    assert listed == [job.OK, job.ERROR, command_line.USAGE, job.GATE, INTERRUPTED, 128 + SIGTERM]


def test_the_readme_lists_the_gate_s_rules() -> None:
    listed = table_of(section_of("README.md", "## The gate"))
    assert listed == [[f"`{name}`", rule.broken_by] for name, rule in RULES.items()]
    assert [name for name in RULES if not is_rule(f"{name}>2")] == ["worse"]  # "All but `worse` may end in ..."


def test_reading_the_report_lists_what_can_be_shown_alone() -> None:
    (listed,) = re.findall(r"`--only CATEGORY` shows(.+?)which is", text_of("docs/reading-the-report.md"), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", listed)) == {category.value for category in schema.Category}


def test_the_readme_lists_the_categories() -> None:
    listed = [row[0].strip("`") for row in table_of(section_of("README.md", "## How to read it"))]
    names = {name.replace("flipped (agent error)", "flipped_agent_error") for name in listed}
    assert names == {category.value for category in schema.Category}


def anchors_of(path: Path) -> set[str]:
    """The anchors of a document's headings, as they are made from their text."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", [*ALL, "examples/terminal-bench/README.md"])
def test_links_resolve(document: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", "\n".join(prose_of(document))):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / document).parent / name if name else ROOT / document
        assert path.is_relative_to(ROOT), target
        assert path.is_file(), f"{document}: {target}"
        assert not anchor or anchor in anchors_of(path), f"{document}: {target}"


def test_every_document_is_named_in_the_readme() -> None:
    linked = set(re.findall(r"\]\(([^)#]+)\)", "\n".join(section_of("README.md", "## Documents"))))
    assert set(ALL) - {"README.md"} <= linked


@pytest.mark.parametrize("document", ALL)
def test_lines_are_not_too_long(document: str) -> None:
    assert [line for line in prose_of(document) if len(line) > 120 and not line.startswith("|")] == []


def test_the_design_names_every_dependency() -> None:
    project: dict[str, Any] = tomllib.loads(text_of("pyproject.toml"))["project"]
    required = {re.split(r"[^\w.-]", requirement)[0] for requirement in project["dependencies"]}
    listed = re.findall(r"^\* `([\w.-]+)`", "\n".join(section_of("docs/design.md", "## Dependencies")), re.MULTILINE)
    assert sorted(listed) == sorted(required)
    assert all(f"`{name}`" in text_of("README.md") for name in required)


def test_the_changelog_begins_with_the_current_version() -> None:
    headings = re.findall(r"^## \[([^]]+)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == version("rollout-compare")


def test_key_candidates_are_listed_in_their_order() -> None:
    lines = section_of(JOINING, "## The key")
    listed = [match.groups() for line in lines if (match := re.fullmatch(r"(\d+)\. `([\w.]+)`", line))]
    candidates = (*fields.KEY_CANDIDATES, *fields.FURTHER_CANDIDATES)
    assert listed == [(str(i), path) for i, path in enumerate(candidates, 1)]


#: The beginning of a note that no example can show: it takes a file that changes at the right moment.
NOT_SHOWN = "... changed while it was read"


def test_every_note_that_a_document_shows_is_explained_and_every_explained_one_is_shown() -> None:
    explained = section_of(JOINING, "## What each note means")
    told = [match[1] for line in explained if (match := re.fullmatch(r"\* `(.+)`", line))]
    shown = [
        line.removeprefix("note: ")
        .replace("both runs are", "the old run is")
        .replace("both runs have", "the old run has")
        for document in RUN
        for block in blocks_of(document)
        for line in block.lines
        if line.startswith("note: ")
    ]
    shown = [line.replace("the new run", "the old run").replace("first new", "first old") for line in shown]
    patterns = {note: ".+".join(map(re.escape, note.split("..."))) for note in told}
    unexplained = [line for line in shown if not any(re.match(pattern, line) for pattern in patterns.values())]
    assert unexplained == []
    unseen = [note for note, pattern in patterns.items() if not any(re.match(pattern, line) for line in shown)]
    assert [note for note in unseen if not note.startswith(NOT_SHOWN)] == []


def keys_of(schema_part: dict[str, Any], at: str = "") -> Iterator[str]:
    """The keys that a schema part describes, as the document writes them."""
    for name, value in schema_part.get("properties", {}).items():
        yield at + name
        yield from keys_of(value, f"{at}{name}.")
        yield from keys_of(value.get("items", {}), f"{at}{name}[].")


def test_the_json_document_lists_the_schema_s_keys_and_no_others() -> None:
    listed = [row[0].strip("`") for row in table_of(section_of("docs/json-summary.md", "## The keys"))]
    described = summary_schema()
    parts = (described, *(described["$defs"][name] for name in ("side", "evidence")))
    assert sorted(listed) == sorted(key for part in parts for key in keys_of(part))


def test_the_json_example_is_real_and_valid(folder: Path) -> None:
    (example,) = (json.loads(block.text) for block in blocks_of("docs/json-summary.md") if block.info == "json")
    jsonschema.Draft202012Validator(summary_schema()).validate(example)
    for block in blocks_of("docs/json-summary.md"):
        if block.info.startswith("jsonl "):
            (folder / block.info.split()[1]).write_text(block.text, "utf-8")
    assert example == json.loads(run("--json", "dev", "compare", "old.jsonl", "new.jsonl").stdout)


def test_contributing_lists_the_make_targets_and_no_others() -> None:
    rows = table_of(section_of("CONTRIBUTING.md", "## Set up"))
    listed = [row[0].strip("`").removeprefix("make ") for row in rows]
    real = re.findall(r"^([a-z-]+):.*## ", text_of("Makefile"), re.MULTILINE)
    assert sorted(listed) == sorted(real)


def test_readme_and_contributing_name_targets_that_exist() -> None:
    real = set(re.findall(r"^([a-z-]+):.*## ", text_of("Makefile"), re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text_of(document), re.MULTILINE)) <= real
