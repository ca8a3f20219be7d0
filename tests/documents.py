"""The project's documents, taken apart: blocks, sections, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = "..."


class Block(NamedTuple):
    """A fenced block of a document: what stands after the fence, and the lines in it."""

    line: int
    info: str
    lines: list[str]

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


def text_of(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def blocks_of(document: str) -> list[Block]:
    blocks: list[Block] = []
    inside: Block | None = None
    for number, line in enumerate(text_of(document).splitlines(), 1):
        if inside is None and line.startswith("```"):
            inside = Block(number, line.removeprefix("```").strip(), [])
        elif inside is not None and line == "```":
            blocks.append(inside)
            inside = None
        elif inside is not None:
            inside.lines.append(line)
    assert inside is None, f"{document}: a block is not closed"
    return blocks


class Command(NamedTuple):
    """A command of a console block: its line, and the output that is shown for it."""

    line: int
    words: str
    shown: list[str]


def commands_of(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    command: Command | None = None
    for line, text in enumerate(block.lines, block.line + 1):
        if text.startswith("$ "):
            if command:
                yield command
            command = Command(line, text.removeprefix("$ "), [])
        else:
            assert command, f"line {block.line}: a console block without a command"
            command.shown.append(text)
    assert command, f"line {block.line}: a console block without a command"
    yield command


def prose_of(document: str) -> list[str]:
    """The lines outside of blocks."""
    text = re.sub(r"^```.*?^```$", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
    return text.splitlines()


def section_of(document: str, heading: str) -> list[str]:
    """The lines under a heading, up to the next one of its level or above."""
    lines = prose_of(document)
    start = lines.index(heading) + 1
    level = heading.split(" ", maxsplit=1)[0]
    ends = (i for i, line in enumerate(lines[start:], start) if re.match(rf"#{{1,{len(level)}}} ", line))
    return lines[start : next(ends, len(lines))]


def table_of(lines: list[str]) -> list[list[str]]:
    """The rows of all tables in these lines, headings left out."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]
    return [row for i, row in enumerate(rows) if not (is_rule(row) or (i + 1 < len(rows) and is_rule(rows[i + 1])))]


def is_rule(row: list[str]) -> bool:
    return set("".join(row)) <= set("-: |")


def shows(shown: list[str], real: list[str]) -> bool:
    """Whether lines are the real ones, where a line of three dots stands for one or more that are left out."""
    patterns = (r"([^\n]*\n)+?" if line == LEFT_OUT else re.escape(f"{line}\n") for line in shown)
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in real)) is not None
