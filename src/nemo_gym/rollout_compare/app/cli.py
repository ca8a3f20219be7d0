"""The command line: `gym` and `rollout-compare`, with options made from the options' table.

What compares is imported when a comparison begins: help, version and wrong usage cost no more than they need.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NoReturn, TextIO

from nemo_gym.rollout_compare import __version__
from nemo_gym.rollout_compare.app import interrupts
from nemo_gym.rollout_compare.app.interrupts import INTERRUPTED
from nemo_gym.rollout_compare.app.kinds import TYPES
from nemo_gym.rollout_compare.app.option import DESCRIPTION, SHOW_DESCRIPTION, Option
from nemo_gym.rollout_compare.app.options import OPTIONS, shown_again
from nemo_gym.rollout_compare.app.streams import forget_stdout, guarded, print_error, print_lines, write_stream
from nemo_gym.rollout_compare.compare import NO_MARGIN, asks_for_margin
from nemo_gym.rollout_compare.text import did_you_mean

OK, ERROR, USAGE = 0, 1, 2

#: The word that shows a summary again instead of comparing two runs.
SHOW = "show"

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

    _given: Sequence[str] = ()

    def parse_options(self, argv: Sequence[str]) -> dict[str, Any]:
        """The options' values by name; wrong usage ends the program."""
        self._given = argv
        found, unknown = self.parse_known_args(argv)
        if unknown:
            self.error(f"unknown argument {unknown[0]}")
        many = {name for name, option in OPTIONS.items() if option.many}
        values = {name: self._said(name, value) for name, value in vars(found).items()}
        return {name: tuple(value or ()) if name in many else value for name, value in values.items()}

    def _said(self, name: str, value: Any) -> Any:
        """The value of an option; of `--OPTION=--`, which Python 3.11 and 3.12 take for no value, what it says."""
        if isinstance(value, list):
            return [self._said(name, one) for one in value] if value else self._dashes(name)
        return value

    def _dashes(self, name: str) -> Any:
        try:
            return TYPES[OPTIONS[name].kind]("--")
        except argparse.ArgumentTypeError as error:
            self.error(f"argument {OPTIONS[name].flag}: {error}")

    def _flags(self) -> dict[str, bool]:
        """Every option as it is given, and whether a value follows it."""
        return {flag: action.nargs != 0 for action in self._actions for flag in action.option_strings}

    def _unknown(self) -> Iterator[str]:
        """The words that look like options and are none."""
        flags, before = self._flags(), ""
        for word in self._given:
            if word == "--":
                return
            is_value = flags.get(before, False) or " " in word or re.match(r"-\.?\d", word)
            if word.startswith("-") and word != "-" and not is_value and word.partition("=")[0] not in flags:
                yield word
            before = word

    def print_help(self, file: object = None) -> None:  # noqa: ARG002  # the base class's signature
        """Print the help, or say why that cannot be done."""
        self.exit(print_or_say_why(self.format_help().rstrip()))

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where the help is; an unknown option first, for what it was meant to be counts."""
        unknown = next(self._unknown(), None)
        if unknown is not None:
            message = f"unknown argument {unknown}{did_you_mean(unknown.partition('=')[0], list(self._flags()))}"
        print_error(message)
        print_lines([f"try '{self.prog} --help'"])
        self.exit(USAGE)


class _Version(argparse.Action):
    """Print the version and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(print_or_say_why(version_text()))


def compare_parser(prog: str) -> _Parser:
    """A parser whose options are `OPTIONS`."""
    return _parser(prog, DESCRIPTION, OPTIONS)


def show_parser(prog: str) -> _Parser:
    """A parser of `show`: a summary, and the options on what is shown and written."""
    summary = Option(None, "text", "input", "The JSON summary of a comparison: what --json wrote.", metavar="SUMMARY")
    return _parser(f"{prog} {SHOW}", SHOW_DESCRIPTION, {"summary": summary, **shown_again()})


def _parser(prog: str, description: str, options: Mapping[str, Option]) -> _Parser:
    parser = _Parser(
        prog=prog,
        description=description,
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    groups: dict[str, argparse._ArgumentGroup] = {}
    for name, option in options.items():
        settings: dict[str, Any] = {"help": option.told().replace("%", "%%")}
        if option.kind == "switch":
            settings["action"] = "store_true"
        else:
            settings |= {"metavar": option.metavar, "type": TYPES[option.kind]}
        if option.many:
            settings["action"] = "append"
        if option.flag:
            settings |= {"dest": name, "default": None if option.many else option.unset()}
        group = groups.get(option.group) or groups.setdefault(option.group, parser.add_argument_group(option.group))
        group.add_argument(option.flag or name, **settings)
    about = parser.add_argument_group("about")
    about.add_argument("-h", "--help", action="help", help="Show the help and exit.")
    about.add_argument(
        "--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help="Show the version and exit."
    )
    return parser


def version_text() -> str:
    """The program and its version."""
    return f"rollout-compare {__version__}"


def print_or_say_why(text: str) -> int:
    """Print on standard output, or say on standard error why that cannot be done; the exit status."""
    try:
        write_stream(sys.stdout, [text])
    except ValueError as error:  # a CompareInputError
        print_error(str(error))
        return ERROR
    return OK


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
            return _gym(list(argv)) if prog == "gym" else compare(prog, argv)
        except KeyboardInterrupt:
            return INTERRUPTED
        except SystemExit as stop:
            return status_of(stop.code)
        except BrokenPipeError:
            forget_stdout()
            return OK


def _gym(argv: list[str]) -> int:
    from nemo_gym.rollout_compare.app.gym import gym

    return gym(argv)


def status_of(code: object) -> int:
    """The exit status that `sys.exit(code)` would give, its message printed."""
    if code is None or isinstance(code, int):
        return code or OK
    print_lines([str(code)])
    return ERROR


def compare(prog: str, argv: Sequence[str], *, as_json: bool = False) -> int:
    """Run a comparison: the command `prog` with its arguments."""
    if argv[:1] == [SHOW]:
        return _show(prog, argv[1:])
    parser = compare_parser(prog)
    values = parser.parse_options(argv)
    if values["old_rollouts"] == values["new_rollouts"]:
        from nemo_gym.rollout_compare.files import STDIN

        if values["old_rollouts"] == STDIN:
            parser.error(f"{STDIN} stands for standard input, which can be one run only")
    if values["margin"] is None and asks_for_margin(values["fail_on"]):
        parser.error(NO_MARGIN)
    values["json_stdout"] |= as_json
    return guarded(lambda: _run(prog, values))


def _run(prog: str, values: dict[str, Any]) -> int:
    from nemo_gym.rollout_compare.app.job import run_job
    from nemo_gym.rollout_compare.app.values import Options

    _end_quietly()
    return run_job(Options(**values), title=prog)


def _show(prog: str, argv: Sequence[str]) -> int:
    """Show a summary again: the command `show` with its arguments."""
    values = show_parser(prog).parse_options(argv)
    return guarded(lambda: _run_show(prog, values.pop("summary"), values))


def _run_show(prog: str, summary: str, values: dict[str, Any]) -> int:
    from nemo_gym.rollout_compare.app.job import run_show
    from nemo_gym.rollout_compare.app.values import Options

    _end_quietly()
    return run_show(summary, Options(old_rollouts="", new_rollouts="", **values), title=prog)


def _end_quietly() -> None:
    """From here on a signal leaves nothing behind; in another program that uses this one its signals are left alone."""
    from nemo_gym.rollout_compare.files import end_quietly

    if interrupts.started:
        end_quietly()
