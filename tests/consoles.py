"""What the documents show, run: their console and Python blocks, in a folder that is a copy of the example."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from tests.documents import ROOT, Block, Command, blocks_of, commands_of
from tests.support import Done, run, set_times

EXAMPLE = ROOT / "examples" / "terminal-bench"
#: How wide the documents' terminal is.
COLUMNS = "80"


def run_documents() -> list[str]:
    """The documents whose blocks are run."""
    return ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]


def steps(document: str, folder: Path) -> Iterator[tuple[Block, Block | None]]:
    """Each block of a document with the one after it; a block that is a file is written into the folder instead, and
    doctests are left out."""
    blocks = blocks_of(document)
    for number, block in enumerate(blocks, 1):
        if block.info.startswith("jsonl "):
            path = folder / block.info.split()[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, "utf-8")
            set_times(path.parent)
        elif not block.text.startswith(">>> "):
            yield block, blocks[number] if number < len(blocks) else None


def run_console(block: Block) -> Iterator[tuple[Command, list[str]]]:
    """Each command of a block with the lines that it really prints, in the current folder."""
    status: int | None = None
    for command in commands_of(block):
        program, *words = shlex.split(command.words)
        if program == "echo":
            assert words == ["$?"]
            yield command, [str(status)]
            continue
        known = ("gym", "rollout-compare", "gzip", "gunzip", "cat")
        assert program in known, f"line {command.line}: {command.words}"
        own = program in known[:2] and "|" not in words
        done = run(*words, prog=program) if own else run_by_shell(command.words)
        status = done.status
        yield command, (done.stdout + done.stderr).splitlines()


def run_by_shell(command: str) -> Done:
    """Run a command line as a user types it, with the programs of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def run_python(document: str, block: Block) -> str:
    """What a block of Python prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(block.text, f"{document}:{block.line}", "exec"), {"__name__": "document"})  # noqa: S102
    return printed.getvalue()
