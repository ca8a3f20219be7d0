"""Make the example's page and the README's pictures anew: python tools/pictures.py, with Chromium installed.

They are made from the example as the documents' tests see it, so that they stay true.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "terminal-bench"
PICTURES = ROOT / "docs" / "pictures"

#: When the files were last changed, as far as the pictures tell: 2026-11-02 14:10 UTC.
CHANGED = 1_793_628_600

_LINES = 42
_COMMAND = [sys.executable, "-m", "nemo_gym.rollout_compare", "old/rollouts.jsonl", "new/rollouts.jsonl"]
_BROWSER = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --window-size=1280,800 --virtual-time-budget=2000"
)


def main() -> None:
    """Make the page, then a picture of it and one of the terminal."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(EXAMPLE, Path(folder) / "example", ignore=shutil.ignore_patterns("*.html"))
        for path in copy.rglob("*"):
            os.utime(path, (CHANGED, CHANGED))
        words = ["--html", "compare.html", "--color", "always"]
        done = subprocess.run([*_COMMAND, *words], cwd=copy, capture_output=True, text=True, check=True)
        page = EXAMPLE / "compare.html"
        shutil.copy(copy / "compare.html", page)
        profile = f"--user-data-dir={folder}/profile"
        shot = f"--screenshot={PICTURES / 'page.png'}"
        subprocess.run(["chromium", *_BROWSER.split(), profile, shot, page.as_uri()], capture_output=True, check=True)
    (PICTURES / "terminal.svg").write_text(terminal(done.stdout), "utf-8")


def terminal(report: str) -> str:
    """The head of a report as a terminal shows it."""
    console = Console(record=True, width=100, file=StringIO(), force_terminal=True)
    for line in report.splitlines()[:_LINES]:
        console.print(Text.from_ansi(line), no_wrap=True, overflow="crop")
    picture = console.export_svg(title="gym dev compare old/rollouts.jsonl new/rollouts.jsonl", unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\n?", "", picture, flags=re.DOTALL)  # no font is fetched


if __name__ == "__main__":
    main()
