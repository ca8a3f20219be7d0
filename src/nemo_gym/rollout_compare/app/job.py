"""One comparison, from options to what is written."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from nemo_gym.rollout_compare.app.comparison import compare_runs, locate_runs
from nemo_gym.rollout_compare.app.options import Options
from nemo_gym.rollout_compare.app.outputs import (
    check_output,
    forget_stdout,
    is_utf8,
    print_error,
    print_lines,
    write_file,
    write_stream,
)
from nemo_gym.rollout_compare.app.progress import reading_progress
from nemo_gym.rollout_compare.compare.gate import rule_text
from nemo_gym.rollout_compare.report.rerun import tasks_to_rerun
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult
from nemo_gym.rollout_compare.text.terminal import one_line

OK, ERROR, GATE = 0, 1, 3


def run_job(options: Options, out: TextIO | None = None) -> int:
    """Compare two runs and print the report, or the JSON summary; write the JSON file first when asked.

    Args:
        options: What to compare, and how.
        out: Where the report goes; standard output when None.

    Returns:
        0 for a report, whatever it says; 3 for a report that breaks one of the rules of `fail_on`, after a line on
        standard error for each; 1 for an input that cannot be read or an output that cannot be written, after one line
        on standard error.
    """
    try:
        with _no_collection():
            return _run(options, sys.stdout if out is None else out)
    except CompareInputError as error:
        print_error(str(error))
        return ERROR


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


def _run(options: Options, out: TextIO | None) -> int:
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
    runs = locate_runs(options)
    outputs = [Path(path) for path in (options.json_output, options.rerun) if path is not None]
    _check_outputs(outputs, [file for run in runs.values() for file in run.files()])
    result = compare_runs(runs, options, watch=partial(reading_progress, quiet=options.quiet))
    if options.json_output is not None:
        write_file(Path(options.json_output), summary_lines(summary_dict(result)))
    if options.rerun is not None:
        write_file(Path(options.rerun), tasks_to_rerun(result))
    tripped = [rule_text(rule) for rule in result.gate if rule.tripped]
    try:
        write_stream(out, _printed(options, result, out))
        if not options.json_stdout:
            write_stream(out, _confirmed(outputs))
    except BrokenPipeError:  # the reader has seen enough; what the gate says still holds
        if out is sys.stdout:
            forget_stdout()
    print_lines([*(_confirmed(outputs) if options.json_stdout else ()), *tripped])
    return GATE if tripped else OK


def _check_outputs(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    for path in outputs:
        check_output(path, inputs)
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise CompareInputError(f"cannot write {outputs[0]}: it is named for two outputs")


def _printed(options: Options, result: CompareResult, out: TextIO) -> Iterator[str]:
    if options.json_stdout:
        return summary_lines(summary_dict(result), ascii_only=not is_utf8(out))
    return report_lines(result, Shown(options.only, options.max_flips, options.both_sides, options.tail > 0))


def _confirmed(outputs: Sequence[Path]) -> list[str]:
    return [f"wrote {one_line(str(path))}" for path in outputs]
