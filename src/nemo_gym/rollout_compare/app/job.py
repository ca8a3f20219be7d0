"""One comparison, from options to what is written."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

from nemo_gym.rollout_compare.app.comparison import compare_runs, locate_runs
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.outputs import check_distinct, check_output, not_printed, write_file
from nemo_gym.rollout_compare.app.progress import reading_progress, stage_names
from nemo_gym.rollout_compare.app.streams import (
    forget_stdout,
    guarded,
    is_utf8,
    print_lines,
    wants_color,
    width_of,
    write_stream,
)
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.compare import rule_text
from nemo_gym.rollout_compare.files import STDIN
from nemo_gym.rollout_compare.producers import LocatedRun, would_hold
from nemo_gym.rollout_compare.report import (
    RENDERERS,
    Shown,
    colored,
    report_lines,
    summary_dict,
    summary_lines,
    told_gate,
    wrapped,
)
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult
from nemo_gym.rollout_compare.text import one_line

OK, GATE = 0, 3

#: The output that is printed instead of written.
_PRINTED = ("markdown", STDIN)


def run_job(options: Options, out: TextIO | None = None, *, title: str = Shown().title) -> int:
    """Compare two runs and print the report, or the JSON summary; write the files that are asked for first.

    Args:
        options: What to compare, and how.
        out: Where the report goes; standard output when None.
        title: What the report calls itself.

    Returns:
        0 for a report, whatever it says; 3 for a report that breaks one of the rules of `fail_on`, after a line on
        standard error for each; 1 for an input that cannot be read or an output that cannot be written, after one line
        on standard error.
    """
    with _no_collection():
        return guarded(lambda: _run(options, _open(sys.stdout if out is None else out), title))


def run_show(summary: str, options: Options, out: TextIO | None = None, *, title: str = Shown().title) -> int:
    """Show a summary again, as `run_job` shows a comparison; the options say what is shown and written."""
    with _no_collection():
        return guarded(lambda: _run_show(summary, options, _open(sys.stdout if out is None else out), title))


def _open(out: TextIO | None) -> TextIO:
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
    return out


@contextmanager
def _no_collection() -> Iterator[None]:
    """Spare the search for garbage in cycles, of which a comparison makes none: it took a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _run(options: Options, out: TextIO, title: str) -> int:
    runs = locate_runs(options)
    outputs = _outputs(options)
    paths = list(outputs.values())
    named = zip((options.old_rollouts, options.new_rollouts), runs.values(), strict=True)
    _check_outputs(outputs, list(named), options.allow, out)
    watch = partial(reading_progress, quiet=options.quiet)
    with stage_names(quiet=options.quiet) as tell:
        result = compare_runs(runs, options, watch=watch, tell=tell, outputs=paths)
    return _written(result, options, outputs, out, title)


def _run_show(summary: str, options: Options, out: TextIO, title: str) -> int:
    outputs = _outputs(options)
    for name, path in outputs.items():
        check_output(path, [Path(summary)], out, _flag(name))
    check_distinct(list(outputs.values()))
    _written(CompareResult.from_json(summary), options, outputs, out, title, gated=False)
    return OK


def _shown(options: Options, out: TextIO, title: str) -> Shown:
    return Shown(
        categories=options.only,
        max_flips=options.max_flips,
        both_sides=options.both_sides,
        output=options.tail > 0,
        hide_noise=options.hide_noise,
        sort=options.sort,
        title=title,
        html_limit=options.html_limit,
        table=Path(options.table or ".csv").suffix.lower(),
        color=wants_color(options.color, out),
        width=width_of(out),
    )


def _written(
    result: CompareResult, options: Options, outputs: dict[str, Path], out: TextIO, title: str, *, gated: bool = True
) -> int:
    """Write the files that are asked for, then print; the exit status. A summary was gated when it was made."""
    shown = _shown(options, out, title)
    brief = result if options.transcripts else replace(result, transcripts={})  # a page has them all the same
    for name, path in outputs.items():
        write_file(path, RENDERERS[name](result if name == "html" else brief, shown))
    tripped = [rule_text(rule) for rule in told_gate(result) if rule.tripped] if gated else []
    try:
        write_stream(out, _printed(brief, shown, out, options))
        if not _other_output(options):
            write_stream(out, _confirmed(outputs.values()))
    except BrokenPipeError:  # the reader has seen enough; what the gate says still holds
        if out is sys.stdout:
            forget_stdout()
    print_lines([*(_confirmed(outputs.values()) if _other_output(options) else ()), *tripped])
    return GATE if tripped else OK


def _outputs(options: Options) -> dict[str, Path]:
    """Where each renderer that is asked for writes, by the name of its option.

    Raises:
        CompareInputError: One that is never printed is to go to standard output, or two are.
    """
    if options.json_stdout and options.markdown == STDIN:
        raise CompareInputError(
            "the JSON summary and --markdown - cannot both go to standard output: give --markdown the name of a file"
        )
    asked = {name: getattr(options, name) for name in RENDERERS}
    for name, path in asked.items():
        if path == STDIN and (name, path) != _PRINTED:
            raise not_printed(path, _flag(name))
    return {name: Path(path) for name, path in asked.items() if path is not None and (name, path) != _PRINTED}


def _other_output(options: Options) -> bool:
    """Whether something else than the report goes to standard output."""
    return options.json_stdout or options.markdown == STDIN


def _check_outputs(
    outputs: Mapping[str, Path], runs: Sequence[tuple[str, LocatedRun]], allow: str | None, out: TextIO
) -> None:
    inputs = [*(file for _, run in runs for file in run.files()), *([Path(allow)] if allow else ())]
    for name, path in outputs.items():
        check_output(path, inputs, out, _flag(name))
        if any(would_hold(run, named, path) for named, run in runs):
            raise CompareInputError(f"cannot write {path}: it would be read as a file of the run")
    check_distinct(list(outputs.values()))


def _flag(name: str) -> str:
    """How an output is asked for on the command line."""
    flag = OPTIONS[name].flag
    assert flag is not None
    return flag


def _printed(result: CompareResult, shown: Shown, out: TextIO, options: Options) -> Iterable[str]:
    if options.json_stdout:
        return summary_lines(summary_dict(result), ascii_only=not is_utf8(out))
    if options.markdown == STDIN:
        rendered = RENDERERS["markdown"](result, shown)
        assert not isinstance(rendered, bytes)
        return rendered
    lines = report_lines(result, shown)
    lines = colored(lines) if shown.color else lines
    return wrapped(lines, shown.width) if shown.width else lines


def _confirmed(outputs: Iterable[Path]) -> list[str]:
    return [f"wrote {one_line(str(path))}" for path in outputs]
