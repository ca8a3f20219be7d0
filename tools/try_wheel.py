#!/usr/bin/env python3
"""Install a built wheel into fresh environments and use it as a user would.

    try_wheel.py dist/rollout_compare-VERSION-py3-none-any.whl

First alone, then beside a stand-in for nemo-gym that owns the package `nemo_gym`. Prints a line for each check and
stops with status 1 at the first that fails, saying what differed. Needs nothing but the standard library and pip.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "terminal-bench"
INPUTS = [str(EXAMPLE / "old" / "rollouts.jsonl"), str(EXAMPLE / "new" / "rollouts.jsonl")]
HEADLINE = "gym dev compare:"
PACKAGE = "nemo_gym/rollout_compare"

STAND_IN = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "nemo-gym-stand-in"
version = "1.0"

[project.scripts]
gym = "nemo_gym.cli.main:main"

[tool.hatch.build.targets.wheel]
packages = ["nemo_gym"]
""",
    "nemo_gym/__init__.py": 'OWNER = "stand-in"\n',
    "nemo_gym/cli/__init__.py": "",
    "nemo_gym/cli/main.py": """\
import sys


def main():
    print("stand-in main:", sys.argv[1:])
    return 0
""",
}

FIND_FILES = """
import importlib.resources
package = importlib.resources.files("nemo_gym.rollout_compare")
print(package.joinpath("py.typed").is_file())
print(bool(summary_schema()))
"""


def check(what: str, got: object, right: object) -> None:
    """Say that a check held, or end the program with what differed."""
    if got != right:
        sys.exit(f"FAILED  {what}\n  got:   {got!r}\n  right: {right!r}")
    print(f"ok      {what}")


class Environment:
    """A virtual environment of its own, with an empty current folder."""

    def __init__(self, home: Path) -> None:
        venv.create(home / "venv", with_pip=True)
        self.scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.cwd = home / "empty"
        self.cwd.mkdir()
        # Nothing of the caller's Python may shine through.
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}

    def run(self, script: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's commands, with both streams kept."""
        command = [str(self.scripts / script), *args]
        return subprocess.run(
            command,
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def output(self, script: str, *args: str) -> str:
        """Run a command that must succeed, and give back its stdout."""
        done = self.run(script, *args)
        if done.returncode:
            shown = " ".join([script, *args])
            sys.exit(f"FAILED  {shown}\n  status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, what: Path) -> None:
        """Install a wheel or a source folder with pip."""
        self.output("python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(what))

    def files(self, distribution: str) -> dict[str, str]:
        """Checksums of the `nemo_gym` files that a distribution installed, by name."""
        listing = f"""
import importlib.metadata, json
files = importlib.metadata.files({distribution!r})
print(json.dumps({{str(f): str(f.locate()) for f in files if f.parts[0] == "nemo_gym" and f.suffix != ".pyc"}}))
"""
        found: dict[str, str] = json.loads(self.output("python", "-c", listing))
        return {name: hashlib.sha256(Path(path).read_bytes()).hexdigest() for name, path in found.items()}


def check_reports(env: Environment) -> None:
    """All ways to start the comparison give one and the same report."""
    report = env.output("gym", "dev", "compare", *INPUTS)
    check("gym dev compare", report[: len(HEADLINE)], HEADLINE)
    check("rollout-compare", env.output("rollout-compare", *INPUTS), report)
    check("python -m nemo_gym.rollout_compare", env.output("python", "-m", "nemo_gym.rollout_compare", *INPUTS), report)


def check_contents(wheel: Path) -> None:
    """The wheel holds the namespace portion and nothing outside it."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    outside = [name for name in names if not name.startswith(f"{PACKAGE}/") and ".dist-info/" not in name]
    check("the wheel holds nothing outside nemo_gym.rollout_compare", outside, [])
    check("the wheel holds the license", any(name.endswith("/LICENSE") for name in names), True)


def try_alone(wheel: Path, home: Path) -> None:
    """The wheel in an environment that has nothing else."""
    env = Environment(home)
    env.install(wheel)
    version = wheel.name.split("-")[1]
    check("gym --version", version in env.output("gym", "--version").split(), True)
    check("package data: py.typed, schema", env.output("python", "-c", FIND_FILES).split(), ["True", "True"])
    check_reports(env)
    summary = json.loads(env.output("gym", "--json", "dev", "compare", *INPUTS))
    check("gym --json dev compare", {"counts", "join", "notes", "tasks"} - set(summary), set())
    check("gym with an unknown command is wrong usage", env.run("gym", "env", "list").returncode, 2)
    check("nothing was left in the current folder", list(env.cwd.iterdir()), [])


def try_beside_nemo_gym(wheel: Path, home: Path) -> None:
    """The wheel in an environment where `nemo_gym` is another distribution's regular package."""
    source = home / "stand-in"
    for name, text in STAND_IN.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    env = Environment(home)
    env.install(source)
    before = env.files("nemo-gym-stand-in")
    check("beside nemo-gym: the stand-in is there", len(before), 3)
    env.install(wheel)
    check("beside nemo-gym: its files are unchanged", env.files("nemo-gym-stand-in"), before)
    both = "import nemo_gym, nemo_gym.rollout_compare; print(nemo_gym.OWNER)"
    check("beside nemo-gym: both packages can be imported", env.output("python", "-c", both).strip(), "stand-in")
    handed_on = env.output("gym", "env", "list").strip()
    check("beside nemo-gym: gym env list is handed on", handed_on, "stand-in main: ['env', 'list']")
    report = env.output("gym", "dev", "compare", *INPUTS)
    check("beside nemo-gym: gym dev compare", report[: len(HEADLINE)], HEADLINE)


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
        try_beside_nemo_gym(wheel, homes[1])


if __name__ == "__main__":
    main()
