"""`gym` beside an installed nemo-gym, played by a stand-in: every command but `dev compare` is handed on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nemo_gym.rollout_compare
from nemo_gym.rollout_compare.__main__ import gym_main
from nemo_gym.rollout_compare.app import gym
from tests.support import compare, run, write_rows

MAIN = """\
import sys


def main():
    print("stand-in:", sys.argv)
    {ending}
"""


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    rows = [{"task_id": "a", "reward": 1}]
    return [str(write_rows(tmp_path / name, rows)) for name in ("old.jsonl", "new.jsonl")]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is another portion of the namespace `nemo_gym`, and on the path."""
    monkeypatch.setattr(sys, "argv", ["gym"])
    site = tmp_path / "site"
    (site / "nemo_gym").mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    yield site / "nemo_gym"
    for name in ("nemo_gym.cli", "nemo_gym.cli.main"):
        sys.modules.pop(name, None)


def add_cli(package: Path, ending: str) -> None:
    (package / "cli").mkdir()
    (package / "cli" / "__init__.py").touch()
    (package / "cli" / "main.py").write_text(MAIN.format(ending=ending), "utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["run", "--verbose", "x"],
        ["dev", "other"],
        ["dev", "other", "--help"],
        ["--json", "list"],
        ["--help"],
        [],
        ["--version"],
        ["--json", "--version"],
        ["-v"],
        ["compare", "a", "b"],
        ["dev", "--version"],
    ],
)
def test_every_other_command_is_handed_on_whole(stand_in: Path, words: list[str]) -> None:
    add_cli(stand_in, "return 0")
    assert run(*words) == (0, f"stand-in: {['gym', *words]}\n", "")


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("return 0", 0),
        ("return None", 0),
        ("return 7", 7),
        ("sys.exit(7)", 7),
        ("sys.exit()", 0),
        ("raise KeyboardInterrupt", 130),
    ],
)
def test_its_exit_status_is_ours(stand_in: Path, ending: str, status: int) -> None:
    add_cli(stand_in, ending)
    assert run("list").status == status


def test_a_message_that_it_exits_with_is_an_error(stand_in: Path) -> None:
    """As when Python itself runs it: the text on standard error, status 1."""
    add_cli(stand_in, "sys.exit('no such server')")
    assert run("list") == (1, "stand-in: ['gym', 'list']\n", "no such server\n")


@pytest.mark.parametrize("words", [["dev"], ["dev", "--help"], ["dev", "-h"], ["--json", "dev", "--help"]])
@pytest.mark.parametrize("ending", ["return 0", "sys.exit()"])
def test_under_its_help_of_dev_stands_ours(stand_in: Path, words: list[str], ending: str) -> None:
    add_cli(stand_in, ending)
    status, told, complained = run(*words)
    assert (status, complained) == (0, "")
    assert told.startswith(f"stand-in: {['gym', *words]}\n\nrollout-compare adds:\n  dev compare   compare two runs")


def test_where_it_calls_dev_wrong_usage_ours_stands_under_that(stand_in: Path) -> None:
    add_cli(stand_in, "sys.exit(2)")
    status, told, complained = run("dev")
    assert (status, told) == (2, "stand-in: ['gym', 'dev']\n")
    assert complained.startswith("\nrollout-compare adds:\n  dev compare   compare two runs")


def test_what_it_needs_and_lacks_is_not_hidden(stand_in: Path) -> None:
    """An installed nemo-gym that does not work is not the same as none."""
    (stand_in / "cli").mkdir()
    (stand_in / "cli" / "__init__.py").write_text("import nemo_gym_needs_this", "utf-8")
    with pytest.raises(ModuleNotFoundError, match="nemo_gym_needs_this"):
        run("list")


def test_dev_compare_stays_ours(stand_in: Path, pair: list[str]) -> None:
    add_cli(stand_in, "return 7")
    for words in (["dev", "compare"], ["--json", "dev", "compare"]):
        done = run(*words, *pair)
        assert done.status == 0
        assert "stand-in" not in done.stdout
        assert "identical" in done.stdout


@pytest.mark.parametrize("has_cli", [False, True])
def test_a_nemo_gym_without_that_module_is_wrong_usage(stand_in: Path, pair: list[str], has_cli: bool) -> None:
    if has_cli:
        (stand_in / "cli").mkdir()
        (stand_in / "cli" / "__init__.py").touch()
    done = run("list", "servers")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "'list servers'" in done.stderr
    assert "nemo-gym" in done.stderr
    assert compare(*pair).status == 0


def test_beside_a_regular_package_that_owns_the_name(tmp_path: Path, pair: list[str]) -> None:
    site = tmp_path / "site"
    package = site / "nemo_gym"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("OWNER = 'stand-in'\n", "utf-8")
    add_cli(package, "return 7")
    (package / "rollout_compare").symlink_to(Path(nemo_gym.rollout_compare.__file__).parent)
    program = "import sys, nemo_gym; from nemo_gym.rollout_compare.__main__ import gym_main; print(nemo_gym.OWNER); "
    program += "sys.stdout.flush(); sys.exit(gym_main())"

    def gym(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(site)}
        return subprocess.run(
            [sys.executable, "-c", program, *words], env=env, capture_output=True, text=True, check=False
        )

    done = gym("list")
    assert (done.returncode, done.stdout, done.stderr) == (7, "stand-in\nstand-in: ['gym', 'list']\n", "")
    done = gym("dev", "compare", *pair)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("stand-in\ngym dev compare: 1 task ")


def test_garbage_is_searched_for_in_a_command_that_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym, "_nemo_gym_main", lambda: lambda: 4 + gc.isenabled())
    monkeypatch.setattr(sys, "argv", ["gym", "list"])
    assert gym_main() == 5


def test_python_m(pair: list[str]) -> None:
    words = [sys.executable, "-m", "nemo_gym.rollout_compare", *pair]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*pair, prog="python -m nemo_gym.rollout_compare").stdout


def test_this_project_does_not_own_the_name() -> None:
    package = Path(nemo_gym.rollout_compare.__file__).parent
    assert (package / "__init__.py").exists()
    assert not (package.parent / "__init__.py").exists()
