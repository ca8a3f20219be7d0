"""The documents are true: what they show is run, what they list is held against the code, their links resolve."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

import nemo_gym.rollout_compare.app.cli as command_line
from nemo_gym.rollout_compare import schema, summary_schema
from nemo_gym.rollout_compare.app import job
from nemo_gym.rollout_compare.app.cli import compare_parser
from nemo_gym.rollout_compare.app.interrupts import INTERRUPTED
from nemo_gym.rollout_compare.compare.gate import RULES, is_rule
from nemo_gym.rollout_compare.producers.gym import fields
from tests.consoles import COLUMNS, EXAMPLE, run_console, run_documents, run_python, steps
from tests.documents import ROOT, blocks_of, commands_of, prose_of, section_of, shows, table_of, text_of
from tests.support import assert_valid, run, set_times

PACKAGE = Path(command_line.__file__).parent.parent
JOINING = "docs/how-tasks-are-joined.md"

RUN = run_documents()
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
    path = shutil.copytree(EXAMPLE, tmp_path / "example")
    set_times(path)
    monkeypatch.chdir(path)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    return path


@pytest.mark.parametrize("document", RUN)
def test_what_a_document_shows_is_what_happens(document: str, folder: Path) -> None:
    for block, after in steps(document, folder):
        if block.info == "console":
            for command, real in run_console(block):
                assert shows(command.shown, real), f"{document}:{command.line}: {command.words}\n" + "\n".join(real)
        elif block.info == "python":
            printed = run_python(document, block)
            if after and after.info == "text":
                assert printed == after.text
        else:
            assert block.info in ("", "text", "json", "yaml"), f"{document}:{block.line}: {block.info}"
    assert doctest.testfile(str(ROOT / document), module_relative=False).failed == 0


def test_the_readme_starts_with_the_example(folder: Path) -> None:
    first = next(block for block in blocks_of("README.md") if block.info == "console")
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\ndemo:")[1].split("\n")[1]
    command, *_ = commands_of(first)
    assert recipe.endswith(command.words.removeprefix("gym"))
    assert len(command.shown) > 20
    assert first.line < 30


def test_the_readme_s_library_snippet_prints_what_it_says(folder: Path) -> None:
    (snippet,) = (block for block in blocks_of("README.md") if "compare_rollouts" in block.text)
    first, report = run_python("README.md", snippet).split("\n", 1)
    assert f"prints is `{first}`" in text_of("README.md")
    title, _, _, *lines = run(
        "dev", "compare", "old/rollouts.jsonl", "new/rollouts.jsonl", "--tail", "15"
    ).stdout.split("\n")
    assert report == "\n".join([title, *lines]) + "\n"  # rows at hand are of no file
    assert len([line for line in snippet.lines if line]) <= 6


def test_the_readme_lists_the_parser_s_options_and_no_others() -> None:
    listed = [re.findall(r"`([^`]+)`", row[0]) for row in table_of(section_of("README.md", "## Options"))]
    actions = compare_parser("gym dev compare")._actions
    real = []
    for action in actions:
        metavar = f" {action.metavar}" if action.metavar and action.option_strings else ""
        real.append([name + metavar for name in action.option_strings] or [str(action.metavar)])
    assert sorted(listed) == sorted(real)


def test_the_readme_explains_the_two_counts_of_flips_that_its_example_shows() -> None:
    (told,) = (line for line in " ".join(prose_of("README.md")).split('"Lost" and "won"')[1:])
    first = next(block for block in blocks_of("README.md") if block.info == "console")
    assert all(count in first.text for count in re.findall(r"`([^`]+)`", told.split("How to read it")[0]))


def test_the_readme_shows_a_summary_again() -> None:
    (block,) = (block for block in blocks_of("README.md") if any("compare show" in line for line in block.lines))
    assert block.info == "console"  # it is run, with all the others


def test_the_readme_lists_the_exit_statuses() -> None:
    listed = [int(row[0]) for row in table_of(section_of("README.md", "## Exit status"))]
    assert listed == [job.OK, command_line.ERROR, command_line.USAGE, job.GATE, INTERRUPTED, 128 + SIGTERM]


def test_the_readme_lists_the_gate_s_rules() -> None:
    listed = table_of(section_of("README.md", "## The gate"))
    assert listed == [[f"`{name}`", rule.broken_by] for name, rule in RULES.items()]
    assert [name for name in RULES if not is_rule(f"{name}>2")] == ["worse", "not-shown"]  # not "about tasks"


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


def test_the_recipes_are_the_files_beside_them() -> None:
    shown = [block.text for block in blocks_of("docs/in-ci.md") if block.info == "yaml"]
    recipes = [ROOT / "docs" / "recipes" / name for name in ("github-actions.yml", "gitlab-ci.yml")]
    assert shown == [recipe.read_text("utf-8") for recipe in recipes]


def test_nothing_says_that_the_package_is_on_an_index() -> None:
    texts = [line for document in RUN for line in text_of(document).splitlines() if "index of your own" not in line]
    assert [line for line in texts if re.search(r"pip install rollout-compare\b", line)] == []


@pytest.mark.parametrize("document", ALL)
def test_lines_are_not_too_long(document: str) -> None:
    assert [line for line in prose_of(document) if len(line) > 120 and not line.lstrip().startswith("|")] == []


def test_the_design_names_every_dependency() -> None:
    project: dict[str, Any] = tomllib.loads(text_of("pyproject.toml"))["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["parquet"]]
    required = {re.split(r"[^\w.-]", requirement)[0] for requirement in requirements}
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


#: Parts of the schema whose keys have a table of their own in the document.
APART = ("SideSummary", "Evidence")

#: Parts that are for programs: the document tells of them as a whole.
WHOLE = ("Facts", "TranscriptSummary")


def keys_of(part: dict[str, Any], parts: dict[str, Any], at: str = "") -> Iterator[str]:
    """The keys that a part of a schema describes, as the document writes them."""
    for name, value in part.get("properties", {}).items():
        yield at + name
        for option in value.get("anyOf", [value]):
            held = option.get("items", option)
            referred = held.get("$ref", "").rpartition("/")[2]
            if referred and referred not in (*APART, *WHOLE):
                yield from keys_of(parts[referred], parts, f"{at}{name}{'[]' if 'items' in option else ''}.")


def test_the_json_document_lists_the_schema_s_keys_and_no_others() -> None:
    listed = [row[0].strip("`") for row in table_of(section_of("docs/json-summary.md", "## The keys"))]
    described = summary_schema()
    parts = described["$defs"]
    real = [key for part in (described, *(parts[name] for name in APART)) for key in keys_of(part, parts)]
    assert sorted(listed) == sorted(real)


def test_the_json_example_is_real_and_valid(folder: Path) -> None:
    (example,) = (json.loads(block.text) for block in blocks_of("docs/json-summary.md") if block.info == "json")
    assert_valid(example)
    for block in blocks_of("docs/json-summary.md"):
        if block.info.startswith("jsonl "):
            (folder / block.info.split()[1]).write_text(block.text, "utf-8")
            set_times(folder)
    assert example == json.loads(run("--json", "dev", "compare", "old.jsonl", "new.jsonl").stdout)


def test_contributing_lists_the_make_targets_and_no_others() -> None:
    rows = table_of(section_of("CONTRIBUTING.md", "## Set up"))
    listed = [row[0].strip("`").removeprefix("make ") for row in rows]
    real = re.findall(r"^([a-z-]+):.*## ", text_of("Makefile"), re.MULTILINE)
    assert sorted(listed) == sorted(real)


def test_the_targets_names_fit_their_column_in_make_s_help() -> None:
    makefile = text_of("Makefile")
    (width,) = (int(digits) for digits in re.findall(r'printf "make %-(\d+)s', makefile))
    assert max(map(len, re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))) <= width


def test_readme_and_contributing_name_targets_that_exist() -> None:
    real = set(re.findall(r"^([a-z-]+):.*## ", text_of("Makefile"), re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text_of(document), re.MULTILINE)) <= real
