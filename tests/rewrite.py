"""Write anew what tests expect to be printed, for somebody to read every difference before it is believed.

python -m tests.rewrite golden [STORY ...]     the stories in tests/golden/
python -m tests.rewrite docs [DOCUMENT ...]    the output in the documents' console blocks
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.consoles import COLUMNS, EXAMPLE, run_console, run_documents, run_python, steps
from tests.documents import LEFT_OUT, ROOT, Command, shows, text_of
from tests.stories import GOLDEN, inputs_copied, reports, stories, summary_of, told
from tests.support import set_times


def rewrite_stories(names: Sequence[str]) -> Iterator[str]:
    """Rewrite golden stories; what was changed."""
    for story in names or stories():
        with TemporaryDirectory() as folder, chdir(inputs_copied(story, Path(folder))):
            done = told(story)
            texts = {"stdout": done.stdout, "stderr": done.stderr, "code": f"{done.status}\n"}
            if reports(story):
                texts["summary.json"] = f"{json.dumps(summary_of(story, Path(folder) / 'summary.json')[1], indent=1)}\n"
        for name, text in texts.items():
            path = GOLDEN / story / name
            if not path.exists() or path.read_bytes() != text.encode():
                path.write_bytes(text.encode())
                yield f"wrote {path.relative_to(ROOT)}"


def rewrite_documents(names: Sequence[str]) -> Iterator[str]:
    """Rewrite the output that documents show; what was changed, and what has to be mended by hand."""
    for document in names or run_documents():
        with TemporaryDirectory() as folder, chdir(shutil.copytree(EXAMPLE, Path(folder) / "example")):
            set_times(Path.cwd())
            wrong = list(_wrong_commands(document, Path.cwd()))
        lines = text_of(document).splitlines()
        for command, real in reversed(wrong):  # from the end: the lines before keep their numbers
            mended = elided(command.shown, real)
            if mended is None:
                yield f"mend by hand: {document}:{command.line}: {command.words}"
            else:
                lines[command.line : command.line + len(command.shown)] = mended
                yield f"rewrote {document}:{command.line}: {command.words}"
        if wrong:
            (ROOT / document).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _wrong_commands(document: str, folder: Path) -> Iterator[tuple[Command, list[str]]]:
    """The commands whose output is not the one shown, with the real one."""
    for block, _ in steps(document, folder):
        if block.info == "console":
            yield from ((command, real) for command, real in run_console(block) if not shows(command.shown, real))
        elif block.info == "python":
            run_python(document, block)  # it may write files that a later command reads


def elided(shown: list[str], real: list[str]) -> list[str] | None:
    """The real lines with those left out that are left out in what is shown; None where that cannot be told.

    What stands between two lines of dots is found by its first and its last line. If these, or most lines between
    them, are others now, a person has to choose what to show.
    """
    if LEFT_OUT not in shown:
        return real
    parts = _parts(shown)
    made: list[str] = []
    at = 0
    for number, part in enumerate(parts):
        found = _found(part, real, at, starts=number == 0, ends=number == len(parts) - 1)
        if found is None:
            return None
        made += ([LEFT_OUT] if number else []) + real[found.start : found.stop]
        at = found.stop + 1  # the dots stand for a line at least
    return made if shows(made, real) else None


def _parts(shown: list[str]) -> list[list[str]]:
    """What stands before, between and after the lines of dots."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == LEFT_OUT:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _found(part: list[str], real: list[str], at: int, *, starts: bool, ends: bool) -> range | None:
    """Where a part stands in the real lines, at or after a line; the first and last part reach to the ends."""
    if not part:  # dots come first or last
        return range(0) if starts else range(len(real), len(real))
    firsts = [0] if starts else [i for i, line in enumerate(real[at:], at) if line == part[0]]
    lasts = [len(real) - 1] if ends else [i for i, line in enumerate(real[at:], at) if line == part[-1]]
    spans = [range(first, last + 1) for first in firsts for last in lasts if first <= last]
    if not spans:
        return None
    alike = [SequenceMatcher(None, part, real[span.start : span.stop], autojunk=False).ratio() for span in spans]
    return spans[alike.index(max(alike))] if max(alike) >= 0.5 else None


WHAT: dict[str, Callable[[Sequence[str]], Iterator[str]]] = {"golden": rewrite_stories, "docs": rewrite_documents}


def main(words: Sequence[str]) -> int:
    """Rewrite and say what; 1 if something is left to be mended by hand."""
    status = 0
    for said in WHAT[words[0]](words[1:]):
        print(said)  # noqa: T201
        status |= said.startswith("mend by hand")
    return int(status)


if __name__ == "__main__":
    os.environ["COLUMNS"] = COLUMNS
    sys.exit(main(sys.argv[1:]))
