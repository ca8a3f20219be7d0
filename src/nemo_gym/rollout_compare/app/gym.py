"""The program `gym`: `dev compare` is ours, every other command belongs to nemo-gym where it is installed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from nemo_gym.rollout_compare.app.cli import (
    OK,
    USAGE,
    compare,
    print_or_say_why,
    status_of,
    version_text,
)
from nemo_gym.rollout_compare.app.ending import NEMO_GYM_CLI
from nemo_gym.rollout_compare.app.interrupts import raise_on_interrupt
from nemo_gym.rollout_compare.app.streams import print_error, print_lines
from nemo_gym.rollout_compare.text import close_to, did_you_mean

COMMAND = ["dev", "compare"]

_OURS = """\
  dev compare   compare two runs of the same tasks, task by task
                (see 'gym dev compare --help')"""

GYM_HELP = f"""\
usage: gym [--json] dev compare OLD NEW ...
       gym --version

{_OURS}

Every other command is nemo-gym's and needs it to be installed."""

ADDED_HELP = f"\nrollout-compare adds:\n{_OURS}"

_HELP = ("-h", "--help")
_VERSION = ("-v", "--version")


def gym(argv: list[str]) -> int:
    """Run `gym [--json] dev compare ...`, or hand the command on."""
    as_json = argv[:1] == ["--json"]
    words = argv[as_json:]
    if words[:2] == COMMAND:
        return compare("gym dev compare", words[2:], as_json=as_json)
    handed_on = _nemo_gym_main()
    if handed_on is None:
        return _alone(words)
    status = _handed_on(handed_on, argv)
    if words[:1] == COMMAND[:1] and all(word in _HELP for word in words[1:]):
        return _add_help(status)
    return status


def _nemo_gym_main() -> Callable[[], object] | None:
    """The installed nemo-gym's entry point, None where it is not installed."""
    import importlib.util

    try:
        if importlib.util.find_spec(NEMO_GYM_CLI) is None:
            return None
    except ModuleNotFoundError as error:
        if f"{NEMO_GYM_CLI}.".startswith(f"{error.name}."):
            return None
        raise  # it is installed, and something that it needs is not
    entry: Callable[[], object] = importlib.import_module(NEMO_GYM_CLI).main
    return entry


def _handed_on(entry: Callable[[], object], argv: list[str]) -> int:
    sys.argv = ["gym", *argv]
    gc.enable()
    raise_on_interrupt()
    try:
        return status_of(entry())
    except SystemExit as stop:
        return status_of(stop.code)


def _add_help(status: int) -> int:
    """Name our command under nemo-gym's help of `dev`, on the stream where that went: the usage of an error too."""
    if status == OK:
        return print_or_say_why(ADDED_HELP)
    print_lines([ADDED_HELP])
    return status


def _alone(words: list[str]) -> int:
    """Help and version where they are asked for; else say that only nemo-gym has the command."""
    if words and all(word in _VERSION for word in words):
        return print_or_say_why(version_text())
    if all(word in (COMMAND[0], *_HELP) for word in words):
        return print_or_say_why(GYM_HELP)
    hint = _meant(words) or "; commands other than dev compare need nemo-gym installed"
    print_error(f"unknown command '{' '.join(words)}'{hint}")
    return USAGE


def _meant(words: list[str]) -> str:
    """A suggestion for a mistyped command or option of `gym`, or nothing."""
    if words[0].startswith("-"):
        return did_you_mean(words[0], ["--json", "--version", "--help"])
    command = " ".join(COMMAND)
    known = {command: command, COMMAND[1]: command}
    typed = " ".join(words[:2]) if close_to(words[0], COMMAND[:1]) else words[0]
    return "".join(f"; did you mean {known[close]}?" for close in close_to(typed, list(known)))
