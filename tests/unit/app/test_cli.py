"""The command line: options and config are one, help, suggestions, exit statuses, `gym` beside nemo-gym."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pydantic_core import PydanticUndefined

from nemo_gym.rollout_compare import RolloutCompareConfig
from nemo_gym.rollout_compare.app import cli, ending, job
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.files import signals
from tests.support import compare, run, write_rows

#: Field to option and default: the command's surface as users know it.
SURFACE: dict[str, tuple[str, Any]] = {
    "old_rollouts": ("OLD", PydanticUndefined),
    "new_rollouts": ("NEW", PydanticUndefined),
    "key": ("--key", None),
    "old_key": ("--old-key", None),
    "new_key": ("--new-key", None),
    "skip_bad_lines": ("--skip-bad-lines", False),
    "jobs": ("--jobs", None),
    "quiet": ("--quiet", False),
    "fail_on": ("--fail-on", ()),
    "rerun": ("--rerun", None),
    "tail": ("--tail", 15),
    "json_output": ("--json", None),
    "json_stdout": ("--json-stdout", False),
    "logs_root": ("--logs-root", None),
    "both_sides": ("--both-sides", False),
    "max_flips": ("--max-flips", None),
    "only": ("--only", ()),
}

#: What an option may be given; texts, numbers and switches aside.
VALUES: dict[str, list[Any]] = {
    "color": ["always", "never"],
    "table": ["a.csv", "b.jsonl"],
    "fail_on": ["worse", "lost>3"],
    "only": ["masked", "flipped_agent_error"],
    "margin": [0.02, 1.0],
    "tolerance": [0.0, 0.5],
    "sort": ["label"],
}


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch) -> list[RolloutCompareConfig]:
    """What the command line asks for, as configs, instead of comparisons."""
    asked: list[RolloutCompareConfig] = []

    def record(options: Options, title: str) -> int:
        values = structs.asdict(options)
        asked.append(RolloutCompareConfig.model_validate({**values, "logs_root": values["logs_root"] or None}))
        return 0

    monkeypatch.setattr(job, "run_job", record)
    return asked


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    old = write_rows(tmp_path / "old.jsonl", [{"task_id": "a", "reward": 1}])
    return old, write_rows(tmp_path / "new.jsonl", [{"task_id": "a", "reward": 0}])


# Options and config


def actions() -> dict[str, argparse.Action]:
    """The options of the command line, help and version aside, by the field that they set."""
    found = cli.compare_parser("x")._actions
    return {action.dest: action for action in found if not {"--help", "--version"} & set(action.option_strings)}


def test_the_config_has_the_known_fields_with_their_defaults() -> None:
    fields = RolloutCompareConfig.model_fields
    assert {name: fields[name].default for name in SURFACE} == {name: row[1] for name, row in SURFACE.items()}


def test_every_option_is_a_field_and_every_field_an_option() -> None:
    assert set(actions()) == set(RolloutCompareConfig.model_fields)
    for name, (option, *_) in SURFACE.items():
        shown: list[Any] = [*actions()[name].option_strings, actions()[name].metavar]
        assert option in shown


def test_every_field_is_described_and_its_option_says_the_same() -> None:
    for name, field in RolloutCompareConfig.model_fields.items():
        assert field.description
        assert (actions()[name].help or "").startswith(field.description.replace("%", "%%"))


@pytest.mark.parametrize("field", sorted(set(RolloutCompareConfig.model_fields) - {"old_rollouts", "new_rollouts"}))
def test_an_option_sets_its_field_alone(configs: list[RolloutCompareConfig], field: str) -> None:
    (option,) = actions()[field].option_strings
    wanted = RolloutCompareConfig.model_fields[field].annotation
    values: list[Any] = [True] if wanted is bool else [3, 8] if "int" in str(wanted) else ["3", "a b"]
    for value in VALUES.get(field, values):
        given = [[option]] if value is True else [[option, str(value)], [f"{option}={value}"]]
        lines = [line for words in given for line in (["o", "n", *words], [*words, "o", "n"])]
        assert [run(*line, prog="rollout-compare").status for line in lines] == [0] * len(lines)
        told = (value,) if OPTIONS[field].many else value
        expected = RolloutCompareConfig.model_validate({"old_rollouts": "o", "new_rollouts": "n", field: told})
        assert configs == [expected] * len(lines)
        assert expected != RolloutCompareConfig(old_rollouts="o", new_rollouts="n")
        configs.clear()


@pytest.mark.parametrize(
    ("field", "values"),
    [("fail_on", ("lost>3", "worse")), ("only", ("missing", "flipped")), ("logs_root", ("new=a", "b"))],
)
def test_an_option_that_may_be_repeated_keeps_every_value(
    configs: list[RolloutCompareConfig], field: str, values: tuple[str, str]
) -> None:
    (option,) = actions()[field].option_strings
    assert OPTIONS[field].many
    compare("o", "n", *(word for value in values for word in (option, value)))
    expected = RolloutCompareConfig.model_validate({"old_rollouts": "o", "new_rollouts": "n", field: values})
    assert configs == [expected]


def test_a_tail_of_0_is_not_the_default(configs: list[RolloutCompareConfig]) -> None:
    compare("o", "n", "--tail", "0")
    assert configs == [RolloutCompareConfig(old_rollouts="o", new_rollouts="n", tail=0)]


def test_without_options_the_config_is_the_default_one(configs: list[RolloutCompareConfig]) -> None:
    compare("o", "n")
    assert configs == [RolloutCompareConfig(old_rollouts="o", new_rollouts="n")]


def test_json_before_the_command_asks_for_json_on_stdout(configs: list[RolloutCompareConfig]) -> None:
    run("--json", "dev", "compare", "o", "n", "--tail", "2")
    assert configs == [RolloutCompareConfig(old_rollouts="o", new_rollouts="n", tail=2, json_stdout=True)]


def test_the_config_takes_no_unknown_field_and_no_negative_tail() -> None:
    for extra in ({"tial": 3}, {"tail": -1}):
        with pytest.raises(ValueError, match=next(iter(extra))):
            RolloutCompareConfig.model_validate({"old_rollouts": "o", "new_rollouts": "n", **extra})


# Help and version


@pytest.mark.parametrize("words", [["--help"], ["dev", "--help"], ["dev", "compare", "--help"], []])
def test_help_fits_80_columns(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*words)
    assert done.status == 0
    assert done.stderr == ""
    assert "dev compare" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_help_is_the_configs_docstring_and_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = re.sub(r"(?<=\w-) (?=\w)", "", " ".join(compare("--help").stdout.split()))  # lines may end in a hyphen
    assert " ".join((RolloutCompareConfig.__doc__ or "nothing").split()) in told
    for name, field in RolloutCompareConfig.model_fields.items():
        assert "".join(actions()[name].option_strings) in told
        assert (field.description or "nothing") in told
    assert "Default: 15." in told


def test_help_names_every_exit_status() -> None:
    told = compare("--help").stdout
    statuses = re.findall(r"^ +(\d+)  ", told[told.index("exit status:") :], re.MULTILINE)
    assert statuses == ["0", "1", "2", "3", "130", "143"]


def test_the_help_stands_in_groups_of_the_table() -> None:
    told = compare("--help").stdout
    headings = re.findall(r"^([a-z ]+):$", told, re.MULTILINE)
    assert headings == [*dict.fromkeys(option.group for option in OPTIONS.values()), "about", "exit status"]


def test_every_example_of_the_help_is_a_valid_command_line(configs: list[RolloutCompareConfig]) -> None:
    told = compare("--help").stdout.replace("\\\n", " ")
    examples = re.findall(r"^ +(gym dev compare .*)$", told, re.MULTILINE)
    *compared, shown = examples
    for example in compared:
        assert run(*shlex.split(example)[1:]).status == 0
    assert len(configs) == len(compared) >= 3
    done = run(*shlex.split(shown)[1:])
    assert (done.status, done.stderr) == (1, "error: cannot read compare.json: No such file or directory\n")


@pytest.mark.parametrize(
    ("prog", "words", "title"),
    [
        ("gym", ["dev", "compare"], "gym dev compare"),
        ("gym", ["--json", "dev", "compare"], "gym dev compare"),
        ("rollout-compare", [], "rollout-compare"),
        ("python -m nemo_gym.rollout_compare", [], "python -m nemo_gym.rollout_compare"),
    ],
)
def test_it_is_called_as_it_was_called(pair: tuple[Path, Path], prog: str, words: list[str], title: str) -> None:
    assert run(*words, "--help", prog=prog).stdout.startswith(f"usage: {title} ")
    assert run(*words, "--nix", prog=prog).stderr.splitlines()[1:] == [f"try '{title} --help'"]
    if "--json" not in words:
        assert run(*words, *pair, prog=prog).stdout.startswith(f"{title}: 1 task (")


@pytest.mark.parametrize(
    ("prog", "words"),
    [
        ("gym", ["--version"]),
        ("gym", ["--json", "--version"]),
        ("gym", ["-v"]),
        ("gym", ["dev", "compare", "--version"]),
        ("x", ["--version"]),
    ],
)
def test_version(prog: str, words: list[str]) -> None:
    done = run(*words, prog=prog)
    assert (done.status, done.stderr) == (0, "")
    assert version("rollout-compare") in done.stdout.split()


# Wrong usage


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["dev", "compare", "o", "n", "--tial", "3"], "--tail"),
        (["dev", "compare", "o", "n", "--logs-rot=x"], "--logs-root"),
        (["dev", "compare", "o", "n", "--jsn", "x"], "--json"),
        (["dev", "compare", "o", "n", "--kye=a"], "--key"),
        (["dev", "compar", "o", "n"], "dev compare"),
        (["dve", "compare", "o", "n"], "dev compare"),
        (["compare", "old/rollouts.jsonl", "new/rollouts.jsonl"], "dev compare"),
        (["--jsn", "dev", "compare", "o", "n"], "--json"),
        (["--verison"], "--version"),
        (["--hlep"], "--help"),
    ],
)
def test_a_mistyped_option_or_command_gets_a_suggestion(words: list[str], meant: str) -> None:
    done = run(*words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert f"did you mean {meant}?" in done.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["o"], "NEW"),
        ([], "OLD, NEW"),
        (["o", "n", "m"], "'m'|argument m"),
        (["o", "n", "--tail", "-1"], "--tail.*'-1'.* 0"),
        (["o", "n", "--tail", "many"], "--tail.*'many'.* number"),
        (["o", "n", "--tail"], "--tail"),
        (["o", "n", "--key", ""], "--key"),
        (["o", "n", "--jobs", "0"], "--jobs.*'0'.* 1"),
        (["o", "n", "--jobs", "-1"], "--jobs.*'-1'.* number"),
        (["o", "n", "--jobs", "two"], "--jobs.*'two'.* number"),
        (["-", "-"], "standard input.* one"),
        (["-", "-", "--skip-bad-lines"], "standard input.* one"),
        (["o", "n", "--tai", "1"], "--tai"),  # an abbreviation could change its meaning with the next option
        (["o", "n", "--zzzzz"], "--zzzzz"),
        (["o", "n", "m", "--zzzzz"], "unknown argument --zzzzz$"),
        (["--versoin"], "unknown argument --versoin; did you mean --version.$"),
        (["o", "--max-flps=2", "--tail", "many"], "unknown argument --max-flps=2; did you mean --max-flips.$"),
        (["o", "n", "--key", "-x"], "argument --key: expected one argument$"),  # it may well be meant as the value
        (["-.5"], "the following arguments are required: NEW$"),
        (["o", "-a b", "--tail", "x"], "argument --tail"),
        (["--tail=x", "--", "--zzzzz"], "argument --tail"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_wrong(words: list[str], told: str) -> None:
    done = compare(*words)
    assert (done.status, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert re.match(f"error: .*({told})", first)
    assert second == "try 'gym dev compare --help'"


def test_an_unlike_word_gets_no_suggestion() -> None:
    for option in ("--zzzzz", "--frobnicate", "-q"):
        assert "did you mean" not in compare("o", "n", option).stderr
    assert "did you mean" not in run("frobnicate").stderr


def test_an_interrupt_is_status_130_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: Options, title: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "run_job", interrupted)
    assert compare("o", "n") == (130, "", "")


def test_the_status_is_the_comparisons(pair: tuple[Path, Path]) -> None:
    assert compare(*pair).status == 0
    assert compare(pair[0], "missing.jsonl").status == 1


# The programs


@pytest.mark.parametrize(("script", "words"), [("gym", ["dev", "compare"]), ("rollout-compare", [])])
def test_the_installed_programs_compare(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pair: tuple[Path, Path],
    script: str,
    words: list[str],
) -> None:
    monkeypatch.setattr(signals, "end_quietly", lambda: None)  # pytest is to go on
    monkeypatch.setattr(ending, "leave", lambda status: status)
    (entry,) = [found for found in entry_points(group="console_scripts") if found.name == script]
    monkeypatch.setattr(sys, "argv", [script, *words, *map(str, pair)])
    assert entry.load()() == 0
    assert capsys.readouterr().out.startswith(f"{' '.join([script, *words])}: 1 task ")
