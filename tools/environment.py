"""A virtual environment in which a wheel is tried, and the checks' one way to say how they ended."""

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path


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

    def pip(self, *words: str) -> None:
        """Run pip."""
        self.output("python", "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", *words)

    def files(self, distribution: str) -> dict[str, str]:
        """Checksums of the `nemo_gym` files that a distribution installed, by name."""
        listing = f"""
import importlib.metadata, json
files = importlib.metadata.files({distribution!r})
print(json.dumps({{str(f): str(f.locate()) for f in files if f.parts[0] == "nemo_gym" and f.suffix != ".pyc"}}))
"""
        found: dict[str, str] = json.loads(self.output("python", "-c", listing))
        return {name: hashlib.sha256(Path(path).read_bytes()).hexdigest() for name, path in found.items()}
