"""The page, put together: parts of the package, and a result as data. No text of a run stands anywhere else in it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from nemo_gym.rollout_compare.report.html import safe
from nemo_gym.rollout_compare.report.html.contents import contents, transcripts_by_size
from nemo_gym.rollout_compare.report.terminal.decision import decision_text
from nemo_gym.rollout_compare.schema import CompareResult
from nemo_gym.rollout_compare.text import counted

STYLES = ("base", "head", "list", "task")
SCRIPTS = ("dom", "state", "words", "plots", "list", "transcript", "task", "head", "keys", "start")


def page(result: CompareResult, title: str, limit: int) -> bytes:
    """The page as a file.

    Args:
        result: A comparison.
        title: What the report calls itself.
        limit: How many bytes of data it should have at most: transcripts are left out for it first, then evidence.
    """
    title = safe.name(title)
    script = "\n".join(["'use strict';", *(_part(f"script/{name}.js") for name in SCRIPTS)])
    style = "\n".join(_part(f"style/{name}.css") for name in STYLES)
    decision = safe.name(decision_text(result) or counted(len(result.tasks), "task"))
    parts = {
        "policy": _policy(script, style),
        "title": escape(f"{decision.partition(';')[0]} - {title}"),
        "decision": escape(decision),
        "style": style,
        "data": _within(result, title, limit),
        "script": script,
    }
    pieces = re.split(r"\{\{(\w+)\}\}", _part("page.html"))  # split once: no part is looked into
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces)).encode(
        "utf-8", "backslashreplace"
    )


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(script: str, style: str) -> str:
    """The security policy: the page's own script and style, told by their hashes, and nothing else."""
    allowed = {
        name: b64encode(sha256(text.encode()).digest()).decode()
        for name, text in (("script", script), ("style", style))
    }
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{allowed['script']}'",
            f"style-src 'sha256-{allowed['style']}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _within(result: CompareResult, title: str, limit: int) -> str:
    """The data, in so many bytes as far as that is possible; what was left out is told in it."""
    told = contents(result, title)
    room = limit - len(safe.as_json(told).encode())
    told["left_out"] = _without_evidence(told, room) if room < 0 else []
    given: dict[str, Any] = {}
    both = transcripts_by_size(result)
    for number, transcripts in both:
        room -= len(safe.as_json(transcripts).encode()) + len(number) + 4
        if room < 0:
            break
        given[number] = transcripts
    told["transcripts"] = given
    if len(given) < len(both):
        missing = counted(len(both) - len(given), "flip")
        told["left_out"].append(
            f"The transcripts of {missing} were left out to keep the page small; --html-limit keeps more."
        )
    return safe.as_json(told)


def _without_evidence(told: dict[str, Any], room: int) -> list[str]:
    """Empty the evidence of flips from the last one on until there is room; what that left out."""
    emptied = 0
    flips: Sequence[dict[str, Any]] = list(told["flips"].values())
    for flip in reversed(flips):
        if room >= 0:
            break
        told_by = [flip[side] for side in ("old", "new") if flip[side] and flip[side]["lines"]]
        for evidence in told_by:
            room += len(safe.as_json(evidence["lines"]).encode())
            evidence["lines"] = []
            evidence["why"] = "left out to keep the page small"
        emptied += bool(told_by)
    return (
        [f"The verifier output of {counted(emptied, 'flip')} was left out to keep the page small."] if emptied else []
    )
