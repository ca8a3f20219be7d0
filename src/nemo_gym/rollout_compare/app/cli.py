"""The command line: `gym` and `rollout-compare`, with options made from the options' table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NoReturn, TextIO

from msgspec import structs

from nemo_gym.rollout_compare.app.job import run_job
from nemo_gym.rollout_compare.app.options import DESCRIPTION, OPTIONS, Options
from nemo_gym.rollout_compare.app.outputs import forget_stdout, print_error, print_lines, write_stream
from nemo_gym.rollout_compare.compare.gate import is_rule
from nemo_gym.rollout_compare.files.inputs import STDIN
from nemo_gym.rollout_compare.files.signals import tidy_ending
from nemo_gym.rollout_compare.schema import Category, CompareInputError
from nemo_gym.rollout_compare.text.terminal import one_line

OK, ERROR, USAGE, INTERRUPTED = 0, 1, 2, 130

_MOST_DIGITS = 19

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
  0    a report was made, whatever it says
  1    an input is unreadable or not rollouts, or an output cannot be written
  2    wrong usage
  3    the report was made, and it breaks a rule of --fail-on
  130  interrupted
  143  terminated by a signal (129: its terminal was closed)
"""


class _Parser(argparse.ArgumentParser):
    """A parser that knows what a mistyped option was meant to be."""

    def parse_options(self, argv: Sequence[str]) -> Options:
        """The options' values; wrong usage ends the program."""
        found, unknown = self.parse_known_args(argv)
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            self.error(f"unknown argument {unknown[0]}{did_you_mean(unknown[0].partition('=')[0], known)}")
        if found.old_rollouts == found.new_rollouts == STDIN:
            self.error(f"{STDIN} stands for standard input, which can be one run only")
        values: dict[str, Any] = {
            name: tuple(value or ()) if OPTIONS[name].many else value for name, value in vars(found).items()
        }
        return Options(**values)

    def print_help(self, file: object = None) -> None:  # noqa: ARG002  # the base class's signature
        """Print the help, or say why that cannot be done."""
        write_stream(sys.stdout, [self.format_help().rstrip()])

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and how the command is used."""
        self.exit(USAGE, f"error: {one_line(message)}\n{self.format_usage()}try '{self.prog} --help'\n")


class _Version(argparse.Action):
    """Print the version and end: it is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        write_stream(sys.stdout, [version_text()])
        parser.exit(OK)


def compare_parser(prog: str) -> _Parser:
    """A parser whose options are `OPTIONS`."""
    parser = _Parser(
        prog=prog,
        description=DESCRIPTION,
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for name, option in OPTIONS.items():
        settings: dict[str, Any] = {"help": option.description.replace("%", "%%")}
        if option.kind == "switch":
            settings["action"] = "store_true"
        else:
            settings |= {"metavar": option.metavar, "type": _TYPES[option.kind]}
        if option.default is not None and option.kind == "count":
            settings["help"] += f" Default: {option.default}."
        if option.many:
            settings |= {"action": "append", "help": settings["help"] + " May be given several times."}
        if option.flag:
            settings |= {"dest": name, "default": option.default}
        parser.add_argument(option.flag or name, **settings)
    parser.add_argument(
        "--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help="Show the version and exit."
    )
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS):
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a whole number, 0 or more")
    return int(text)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS and int(text)):
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a whole number, 1 or more")
    return int(text)


def _text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _rule(text: str) -> str:
    if not is_rule(text):
        known = ["flipped", "lost", "agent-error", "masked", "missing", "worse"]
        name = text.partition(">")[0]
        hint = did_you_mean(name, known) or f"; rules are {', '.join(known)}"
        if name in known:
            hint = "; worse takes no number" if name == "worse" else f"; it is {name} or {name}>N, N a whole number"
        raise argparse.ArgumentTypeError(f"{text!r} is no rule{hint}")
    return text


def _category(text: str) -> str:
    known = [category.value for category in Category]
    if text not in known:
        meant = did_you_mean(text, known)
        raise argparse.ArgumentTypeError(f"{text!r} is no category{meant or '; categories are ' + ', '.join(known)}")
    return text


_TYPES = {"text": _text, "count": _count, "number": _number, "rule": _rule, "category": _category}


def version_text() -> str:
    """The program and its version."""
    from importlib.metadata import version

    return f"rollout-compare {version('rollout-compare')}"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A suggestion for a mistyped word, or nothing."""
    return "".join(f"; did you mean {close}?" for close in _close(word, known))


def _close(word: str, known: Sequence[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(word, known, n=1)


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
            return _status(stop.code)
        except CompareInputError as error:  # the help or the version cannot be written
            print_error(str(error))
            return ERROR
        except BrokenPipeError:
            forget_stdout()
            return OK


def _status(code: object) -> int:
    """The exit status that `sys.exit(code)` would give, its message printed."""
    if code is None or isinstance(code, int):
        return code or OK
    print_lines([str(code)])
    return ERROR


def _compare(prog: str, argv: Sequence[str], *, as_json: bool = False) -> int:
    options = compare_parser(prog).parse_options(argv)
    with tidy_ending():
        return run_job(structs.replace(options, json_stdout=options.json_stdout or as_json))


def _gym(argv: list[str]) -> int:
    """`gym [--json] dev compare ...`; every other command is nemo-gym's."""
    as_json = argv[:1] == ["--json"]
    words = argv[as_json:]
    if words[:2] == COMMAND:
        return _compare("gym dev compare", words[2:], as_json=as_json)
    if words[:1] == ["--version"]:
        write_stream(sys.stdout, [version_text()])
        return OK
    handed_on = _nemo_gym_main()
    if handed_on:
        sys.argv = ["gym", *argv]
        return _status(handed_on())
    return _gym_alone(words)


def _nemo_gym_main() -> Callable[[], object] | None:
    """The installed nemo-gym's entry point, None where it is not installed."""
    import importlib.util

    try:
        if importlib.util.find_spec(NEMO_GYM_CLI) is None:
            return None
    except ModuleNotFoundError:
        return None
    entry: Callable[[], object] = importlib.import_module(NEMO_GYM_CLI).main
    return entry


def _gym_alone(words: list[str]) -> int:
    """Help where it is asked for; else say that only nemo-gym has the command."""
    if all(word in ("dev", "-h", "--help") for word in words):
        write_stream(sys.stdout, [GYM_HELP])
        return OK
    hint = _meant(words) or "; commands other than dev compare need nemo-gym installed"
    print_error(f"unknown command '{' '.join(words)}'{hint}")
    return USAGE


def _meant(words: list[str]) -> str:
    """A suggestion for a mistyped command or option of `gym`, or nothing."""
    if words[0].startswith("-"):
        return did_you_mean(words[0], ["--json", "--version", "--help"])
    command = " ".join(COMMAND)
    known = {command: command, COMMAND[1]: command}
    typed = " ".join(words[:2]) if _close(words[0], COMMAND[:1]) else words[0]
    return "".join(f"; did you mean {known[close]}?" for close in _close(typed, list(known)))


def gym_main() -> int:
    """The `gym` program."""
    return main(sys.argv[1:])


def compare_main(prog: str = "rollout-compare") -> int:
    """The `rollout-compare` program."""
    return main(sys.argv[1:], prog=prog)
