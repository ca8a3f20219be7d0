"""Both distributions that share the name `nemo_gym` in one environment: every way to install them, both orders."""

import shutil
from itertools import product
from pathlib import Path

from environment import Environment, check

SOURCE = Path(__file__).resolve().parent.parent
OURS, THEIRS = "rollout-compare", "nemo-gym-stand-in"

#: What stands for nemo-gym: built with setuptools, and found by it in the project's own folder, as nemo-gym is.
STAND_IN = {
    "pyproject.toml": """\
[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "nemo-gym-stand-in"
version = "1.0"

[project.scripts]
gym = "nemo_gym.cli.main:main"

[tool.setuptools.packages.find]
include = ["nemo_gym*"]
""",
    "nemo_gym/__init__.py": 'ROOT = "stand-in"\n',
    "nemo_gym/cli/__init__.py": "",
    "nemo_gym/cli/main.py": """\
import sys


def main():
    print("stand-in main:", sys.argv[1:])
    return 0
""",
}

THEIRS_WORKS = "from nemo_gym import ROOT; import nemo_gym.cli.main; print(ROOT)"
OURS_WORKS = "from nemo_gym.rollout_compare import Category; print(Category.MISSING)"
ALONE = "import importlib.util as u; print(u.find_spec('nemo_gym'))"

#: How pip is told to install the stand-in from its source. Editable: by a finder, by a path file, by links.
EDITABLE = {
    "as a wheel": [],
    "editable (finder)": ["--editable"],
    "editable (compat)": ["--config-settings", "editable_mode=compat", "--editable"],
    "editable (strict)": ["--config-settings", "editable_mode=strict", "--editable"],
}


def try_beside(wheel: Path, home: Path) -> None:
    """The wheel, and the checkout as an editable install, beside the stand-in."""
    env = Environment(home)
    env.pip("install", str(wheel), "setuptools>=64", "wheel", "hatchling", "editables")  # and what the wheel needs
    env.pip("uninstall", "--yes", OURS)
    ours = {"a wheel": ["install", "--no-deps", str(wheel)]}
    ours["editable"] = ["install", "--no-deps", "--no-build-isolation", "--editable", str(SOURCE)]
    for (mine, how), (yours, options), ours_first in product(ours.items(), EDITABLE.items(), (True, False)):
        source = home / "stand-in"
        shutil.rmtree(source, ignore_errors=True)
        for name, text in STAND_IN.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        theirs = ["install", "--no-deps", "--no-build-isolation", *options, str(source)]
        first, last = (mine, f"nemo-gym {yours}") if ours_first else (f"nemo-gym {yours}", mine)
        _try(env, f"{first}, then {last}", [how, theirs], ours_first=ours_first)


def _try(env: Environment, what: str, installs: list[list[str]], *, ours_first: bool) -> None:
    steps = installs if ours_first else installs[::-1]
    env.pip(*steps[0])
    files = env.files(THEIRS) if not ours_first else {}
    env.pip(*steps[1])
    check(f"{what}: nemo-gym's own", said(env, THEIRS_WORKS), "stand-in")
    check(f"{what}: ours", said(env, OURS_WORKS), "missing")
    check(f"{what}: rollout-compare", env.output("rollout-compare", "--version").split()[0], "rollout-compare")
    check(f"{what}: gym env list", env.output("gym", "env", "list").strip(), "stand-in main: ['env', 'list']")
    if not ours_first:
        check(f"{what}: nemo-gym's files are unchanged", env.files(THEIRS), files)
        check(f"{what}: gym dev --help names ours", "dev compare" in env.output("gym", "dev", "--help"), True)
        check(f"{what}: gym --version is nemo-gym's", env.output("gym", "--version")[:13], "stand-in main")
    removed, left = (OURS, THEIRS_WORKS) if ours_first else (THEIRS, OURS_WORKS)
    env.pip("uninstall", "--yes", removed)
    check(f"{what}: without {removed}", said(env, left), "stand-in" if ours_first else "missing")
    env.pip("uninstall", "--yes", THEIRS if ours_first else OURS)
    check(f"{what}: nothing is left", said(env, ALONE), "None")


def said(env: Environment, code: str) -> str:
    """What a line of Python prints."""
    return env.output("python", "-c", code).strip()
