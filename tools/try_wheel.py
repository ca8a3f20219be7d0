#!/usr/bin/env python3
"""Install a built wheel into fresh environments and use it as a user would.

    try_wheel.py dist/rollout_compare-VERSION-py3-none-any.whl

First alone, then beside a stand-in for nemo-gym in every way that the two can be installed. Prints a line for each
check and stops with status 1 at the first that fails, saying what differed. Needs nothing but the standard library and
pip.
"""

import json
import sys
import tempfile
import zipfile
from pathlib import Path

from beside_nemo_gym import try_beside
from environment import Environment, check

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "terminal-bench"
INPUTS = [str(EXAMPLE / "old" / "rollouts.jsonl"), str(EXAMPLE / "new" / "rollouts.jsonl")]
PACKAGE = "nemo_gym/rollout_compare"
BESIDE = ["_rollout_compare_beside.pth", "_rollout_compare_beside.py", "nemo_gym/rollout_compare.txt"]

FIND_FILES = """
import importlib.resources
from nemo_gym.rollout_compare import summary_schema

package = importlib.resources.files("nemo_gym.rollout_compare")
print(package.joinpath("py.typed").is_file())
print(bool(summary_schema()))
"""


def check_reports(env: Environment) -> None:
    """All ways to start the comparison give one and the same report, but for its title."""
    ways = {
        "gym dev compare": ["gym", "dev", "compare"],
        "rollout-compare": ["rollout-compare"],
        "python -m nemo_gym.rollout_compare": ["python", "-m", "nemo_gym.rollout_compare"],
    }
    reports = set()
    for way, command in ways.items():
        title, _, report = env.output(*command, *INPUTS).partition(":")
        check(f"{way} calls itself so", title, way)
        reports.add(report)
    check("all of them give one report", len(reports), 1)


def check_contents(wheel: Path) -> None:
    """The wheel holds the namespace portion and, outside it, what makes that work beside nemo-gym."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    outside = [name for name in names if not name.startswith(f"{PACKAGE}/") and ".dist-info/" not in name]
    check("the wheel holds little outside nemo_gym.rollout_compare", sorted(outside), BESIDE)
    check("the wheel holds the license", any(name.endswith("/LICENSE") for name in names), True)


def try_alone(wheel: Path, home: Path) -> None:
    """The wheel in an environment that has nothing else."""
    env = Environment(home)
    env.pip("install", str(wheel))
    version = wheel.name.split("-")[1]
    check("gym --version", version in env.output("gym", "--version").split(), True)
    check("package data: py.typed, schema", env.output("python", "-c", FIND_FILES).split(), ["True", "True"])
    check_reports(env)
    summary = json.loads(env.output("gym", "--json", "dev", "compare", *INPUTS))
    check("gym --json dev compare", {"counts", "join", "notes", "tasks"} - set(summary), set())
    check("gym with an unknown command is wrong usage", env.run("gym", "env", "list").returncode, 2)
    check("nothing was left in the current folder", list(env.cwd.iterdir()), [])


def main() -> None:
    """Try the wheel named on the command line."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(sys.argv[0]).name} WHEEL")
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        homes = [Path(tmp) / name for name in ("alone", "beside")]
        for home in homes:
            home.mkdir()
        check_contents(wheel)
        try_alone(wheel, homes[0])
        try_beside(wheel, homes[1])


if __name__ == "__main__":
    main()
