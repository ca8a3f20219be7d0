"""One comparison, from options to what is written."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

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
from nemo_gym.rollout_compare.compare.categories import compare_tables
from nemo_gym.rollout_compare.compare.gate import check_rules, rule_text
from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.engine.workers import default_jobs
from nemo_gym.rollout_compare.explain.findings import with_findings
from nemo_gym.rollout_compare.explain.logs import LogRoots
from nemo_gym.rollout_compare.files.inputs import STDIN
from nemo_gym.rollout_compare.producers import LocatedRun, Plan, locate_run
from nemo_gym.rollout_compare.report.rerun import tasks_to_rerun
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult, Side
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
    if options.old_rollouts == options.new_rollouts == STDIN:
        raise CompareInputError(f"{STDIN} stands for standard input, which can be one run only")
    runs = {
        Side.OLD: locate_run(options.old_rollouts, options.old_format or options.format),
        Side.NEW: locate_run(options.new_rollouts, options.new_format or options.format),
    }
    outputs = [Path(path) for path in (options.json_output, options.rerun) if path is not None]
    _check_outputs(outputs, [file for run in runs.values() for file in run.files()])
    result = _compared(options, runs)
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


def _compared(options: Options, runs: dict[Side, LocatedRun]) -> CompareResult:
    keys = {Side.OLD: options.old_key or options.key, Side.NEW: options.new_key or options.key}
    rewards = {Side.OLD: options.old_reward or options.reward, Side.NEW: options.new_reward or options.reward}
    plans = [Plan(keys[side], options.skip_bad_lines, reward=rewards[side]) for side in Side]
    roots = _log_roots(options, runs)
    with ExitStack() as stack:
        opened = [stack.enter_context(run.opened()) for run in runs.values()]
        jobs = options.jobs or default_jobs([shard.main for run in opened for shard in run.shards])
        with reading_progress(opened, quiet=options.quiet) as progress:
            tables = run_tables(opened, plans, jobs, progress)
        result = compare_tables(dict(zip(runs, tables, strict=True)))
        result = replace(result, gate=check_rules(result, options.fail_on))
        return with_findings(result, roots, options.tail, jobs)


def _log_roots(options: Options, runs: dict[Side, LocatedRun]) -> dict[Side, LogRoots]:
    """Where each side's logs are looked for: beside its own files, the other run's, and in the folders named."""
    folders = {side: _distinct(run.folders()) for side, run in runs.items()}
    roots: dict[Side, list[Path]] = {side: [] for side in Side}
    for named in options.logs_root:
        which, is_for_one, folder = named.partition("=")
        one = bool(is_for_one) and which in roots
        root = Path(folder if one else named)
        if not (folder if one else named) or not root.is_dir():
            raise CompareInputError(f"cannot read logs under '{named}': there is no such folder")
        for side in [Side(which)] if one else Side:
            roots[side].append(root)
    return {
        side: LogRoots(tuple(_distinct([*folders[side], *folders[side.other]])), tuple(roots[side])) for side in Side
    }


def _distinct(folders: Iterable[Path]) -> list[Path]:
    """The folders, of several names of one the first."""
    named: dict[str, Path] = {}
    for folder in folders:
        named.setdefault(os.path.realpath(folder), folder)
    return list(named.values())
