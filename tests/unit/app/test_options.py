"""The table of options: what is made from it, and that what type checkers read instead says the same."""

from __future__ import annotations

import ast
from pathlib import Path
from types import GenericAlias
from typing import Any, get_type_hints

import pytest
from msgspec import structs

from nemo_gym.rollout_compare import Category, RolloutCompareConfig, command
from nemo_gym.rollout_compare.app import values
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.report import RENDERERS
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL
from tests.documents import section_of, table_of

Declared = dict[str, tuple[Any, Any]]

REQUIRED = "required"


def declared(module: Any, name: str) -> Declared:
    """The fields that type checkers read, with their types and defaults: a class that is never run."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name]
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign)]
    names = vars(module) | {"Category": Category}
    return {
        ast.unparse(field.target): (
            eval(ast.unparse(field.annotation), names),  # noqa: S307  # our own source
            ast.literal_eval(field.value) if field.value else REQUIRED,
        )
        for field in fields
    }


def test_type_checkers_read_the_values_that_are_made() -> None:
    hints = get_type_hints(Options)
    made = {
        field.name: (hints[field.name], REQUIRED if field.required else field.default)
        for field in structs.fields(Options)
    }
    assert list(made.items()) == list(declared(values, "Options").items())
    assert list(made) == list(OPTIONS)


def bare(kind: Any) -> Any:
    """A type without what pydantic checks beside it."""
    if hasattr(kind, "__metadata__"):
        return bare(kind.__origin__)
    inner = tuple(bare(part) for part in getattr(kind, "__args__", ()))
    if not inner:
        return kind
    if getattr(kind, "__origin__", None) is tuple:
        return GenericAlias(tuple, inner)
    first, *rest = inner
    for part in rest:
        first |= part
    return first


def test_type_checkers_read_the_config_that_is_made() -> None:
    made = {
        name: (bare(field.annotation), REQUIRED if field.is_required() else field.default)
        for name, field in RolloutCompareConfig.model_fields.items()
    }
    assert list(made.items()) == list(declared(command, "RolloutCompareConfig").items())


def test_the_default_tail_is_the_library_s() -> None:
    assert OPTIONS["tail"].default == DEFAULT_TAIL


def test_every_output_option_has_a_renderer_and_every_renderer_an_option() -> None:
    assert [name for name, option in OPTIONS.items() if option.metavar == "PATH"] == list(RENDERERS)


def test_the_help_of_only_names_every_category() -> None:
    assert all(category.value in OPTIONS["only"].description for category in Category)


def test_the_readme_s_table_is_the_options() -> None:
    listed = table_of(section_of("README.md", "## Options"))
    expected = []
    for option in OPTIONS.values():
        given = " ".join(word for word in (option.flag, option.metavar) if word)
        expected.append([f"`{given}`", option.told()])
    assert listed[: len(expected)] == expected
    assert [row[0] for row in listed[len(expected) :]] == ["`-h`, `--help`", "`--version`"]


@pytest.mark.parametrize("value", ["a", ("a",), ["a"]])
def test_a_single_folder_may_stand_for_a_tuple_of_one(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []
    monkeypatch.setattr(command, "run_job", lambda options, out: asked.append(options))
    for logs_root in (value, None):
        config = RolloutCompareConfig.model_validate({"old_rollouts": "o", "new_rollouts": "n", "logs_root": logs_root})
        command.run_compare(config)
    assert [options.logs_root for options in asked] == [("a",), ()]
