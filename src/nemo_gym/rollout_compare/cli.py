"""The command line: `gym` and `rollout-compare`, with options made from the config's fields."""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn, TextIO

from pydantic import ValidationError

from nemo_gym.rollout_compare.command import RolloutCompareConfig, run_compare
from nemo_gym.rollout_compare.outputs import flushed, print_error, write_stream

OK, ERROR, USAGE, INTERRUPTED = 0, 1, 2, 130

#: The options whose name is not the field's name.
OPTION_NAMES = {"json_output": "--json"}
_METAVARS = {
    "old_rollouts": "OLD",
    "new_rollouts": "NEW",
    "key": "FIELD",
    "tail": "N",
    "json_output": "PATH",
    "logs_root": "DIR",
}
NEMO_GYM_CLI = "nemo_gym.cli.main"
COMMAND = ["dev", "compare"]

GYM_HELP = """\
usage: gym [--json] dev compare OLD NEW ...
       gym --version

  dev compare   compare two runs of the same tasks, task by task
                (see 'gym dev compare --help')

Every other command is nemo-gym's and needs it to be installed."""

EXIT_STATUS = """\
exit status:
  0  a report was made, whatever it says
  1  an input cannot be read or is not rollouts, or an output cannot be written
  2  wrong usage
"""


def option_name(field: str) -> str:
    """The option of a config field."""
    return OPTION_NAMES.get(field) or "--" + field.replace("_", "-")


class _Parser(argparse.ArgumentParser):
    """A parser that knows what a mistyped option was meant to be."""

    def parse_config(self, argv: Sequence[str]) -> RolloutCompareConfig:
        """The options as a config; wrong usage ends the program."""
        found, unknown = self.parse_known_args(argv)
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            self.error(f"unknown argument {unknown[0]}{did_you_mean(unknown[0].partition('=')[0], known)}")
        try:
            return RolloutCompareConfig(**{name: value for name, value in vars(found).items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            field = str(first["loc"][0])
            self.error(f"argument {option_name(field)}: {first['msg'].lower()}, got {first['input']!r}")

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"error: {message}\n{self.format_usage()}try '{self.prog} --help'\n")


def compare_parser(prog: str) -> _Parser:
    """A parser whose options are the config's fields, each with the field's description."""
    parser = _Parser(
        prog=prog,
        description=inspect.getdoc(RolloutCompareConfig),
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for name, field in RolloutCompareConfig.model_fields.items():
        settings: dict[str, Any] = {"help": (field.description or "").replace("%", "%%")}
        if field.annotation is bool:
            parser.add_argument(option_name(name), dest=name, action="store_true", default=None, **settings)
        elif field.is_required():
            parser.add_argument(name, metavar=_METAVARS[name], **settings)
        else:
            if field.default is not None:
                settings["help"] += f" Default: {field.default}."
            parser.add_argument(option_name(name), dest=name, metavar=_METAVARS[name], **settings)
    parser.add_argument("--version", action="version", version=version_text())
    return parser


def version_text() -> str:
    """The program and its version."""
    return f"rollout-compare {version('rollout-compare')}"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A suggestion for a mistyped word, or nothing."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None, *, prog: str = "gym") -> int:
    """Run a command line and give its exit status.

    Args:
        argv: The arguments, without the program's name.
        stdout: Where reports go; standard output when None.
        stderr: Where errors go; standard error when None.
        prog: The program: `gym` takes `dev compare` first, any other name the two runs at once.
    """
    with redirect_stdout(stdout or sys.stdout), redirect_stderr(stderr or sys.stderr):
        try:
            return _gym(list(argv)) if prog == "gym" else _compare(prog, argv)
        except KeyboardInterrupt:
            return INTERRUPTED
        except SystemExit as stop:
            return flushed(stop.code if isinstance(stop.code, int) else OK)


def _compare(prog: str, argv: Sequence[str], *, as_json: bool = False) -> int:
    config = compare_parser(prog).parse_config(argv)
    return run_compare(config.model_copy(update={"json_stdout": True}) if as_json else config)


def _gym(argv: list[str]) -> int:
    """`gym [--json] dev compare ...`; every other command is nemo-gym's."""
    as_json = argv[:1] == ["--json"]
    words = argv[as_json:]
    if words[:2] == COMMAND:
        return _compare("gym dev compare", words[2:], as_json=as_json)
    if words[:1] == ["--version"]:
        write_stream(sys.stdout, [version_text()])
        return flushed(OK)
    handed_on = _nemo_gym_main()
    if handed_on:
        sys.argv = ["gym", *argv]
        status = handed_on()
        return status if isinstance(status, int) else OK
    return _gym_alone(words)


def _nemo_gym_main() -> Callable[[], object] | None:
    """The installed nemo-gym's entry point, None where it is not installed."""
    try:
        if importlib.util.find_spec(NEMO_GYM_CLI) is None:
            return None
    except ModuleNotFoundError:
        return None
    entry: Callable[[], object] = import_module(NEMO_GYM_CLI).main
    return entry


def _gym_alone(words: list[str]) -> int:
    """Help where it is asked for; else say that only nemo-gym has the command."""
    if all(word in ("dev", "-h", "--help") for word in words):
        write_stream(sys.stdout, [GYM_HELP])
        return flushed(OK)
    command = " ".join(words)
    hint = did_you_mean(" ".join(words[:2]), [" ".join(COMMAND)])
    print_error(f"unknown command '{command}'{hint or '; commands other than dev compare need nemo-gym installed'}")
    return USAGE


def gym_main() -> int:
    """The `gym` program."""
    return main(sys.argv[1:])


def compare_main(prog: str = "rollout-compare") -> int:
    """The `rollout-compare` program."""
    return main(sys.argv[1:], prog=prog)
