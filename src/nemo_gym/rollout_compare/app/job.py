"""One comparison, from options to what is written."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from nemo_gym.rollout_compare.app.comparison import compare_runs, locate_runs
from nemo_gym.rollout_compare.app.outputs import check_distinct, check_output, check_unquoted, write_file
from nemo_gym.rollout_compare.app.progress import reading_progress
from nemo_gym.rollout_compare.app.streams import forget_stdout, guarded, is_utf8, print_lines, write_stream
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.compare import rule_text
from nemo_gym.rollout_compare.producers import LocatedRun, would_hold
from nemo_gym.rollout_compare.report import RENDERERS, Shown, report_lines, summary_dict, summary_lines
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult
from nemo_gym.rollout_compare.text import one_line

OK, GATE = 0, 3


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
        return guarded(lambda: _run(options, sys.stdout if out is None else out, title))


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


def _run(options: Options, out: TextIO | None, title: str) -> int:
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
    runs = locate_runs(options)
    outputs = _outputs(options)
    _check_outputs(list(outputs.values()), runs.values(), out)
    result = compare_runs(runs, options, watch=partial(reading_progress, quiet=options.quiet))
    for path in outputs.values():
        check_unquoted(path, _quoted(result))
    shown = Shown(
        categories=options.only,
        max_flips=options.max_flips,
        both_sides=options.both_sides,
        output=options.tail > 0,
        hide_noise=options.hide_noise,
        sort=options.sort,
        title=title,
    )
    for name, path in outputs.items():
        write_file(path, RENDERERS[name](result, shown))
    tripped = [rule_text(rule) for rule in result.gate if rule.tripped]
    try:
        write_stream(out, _printed(result, shown, out, as_json=options.json_stdout))
        if not options.json_stdout:
            write_stream(out, _confirmed(outputs.values()))
    except BrokenPipeError:  # the reader has seen enough; what the gate says still holds
        if out is sys.stdout:
            forget_stdout()
    print_lines([*(_confirmed(outputs.values()) if options.json_stdout else ()), *tripped])
    return GATE if tripped else OK


def _outputs(options: Options) -> dict[str, Path]:
    """Where each renderer that is asked for writes, by the name of its option."""
    asked = {name: getattr(options, name) for name in RENDERERS}
    return {name: Path(path) for name, path in asked.items() if path is not None}


def _check_outputs(outputs: Sequence[Path], runs: Collection[LocatedRun], out: TextIO) -> None:
    inputs = [file for run in runs for file in run.files()]
    for path in outputs:
        check_output(path, inputs, out)
        if any(would_hold(run, path) for run in runs):
            raise CompareInputError(f"cannot write {path}: it would be read as a file of the run")
    check_distinct(outputs)


def _quoted(result: CompareResult) -> Iterator[str]:
    """The files that the report quotes."""
    for flip in result.flips:
        for said in (flip.old, flip.new):
            if said and said.source == "file" and said.path:
                yield said.path


def _printed(result: CompareResult, shown: Shown, out: TextIO, *, as_json: bool) -> Iterator[str]:
    if as_json:
        return summary_lines(summary_dict(result), ascii_only=not is_utf8(out))
    return report_lines(result, shown)


def _confirmed(outputs: Iterable[Path]) -> list[str]:
    return [f"wrote {one_line(str(path))}" for path in outputs]
