"""One comparison, from options to what is written."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from nemo_gym.rollout_compare.compare import compare_tables
from nemo_gym.rollout_compare.evidence import with_evidence
from nemo_gym.rollout_compare.options import Options
from nemo_gym.rollout_compare.outputs import check_output, forget_stdout, print_error, write_file, write_stream
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines
from nemo_gym.rollout_compare.report.text import report_lines
from nemo_gym.rollout_compare.run import open_run, run_files, run_tables
from nemo_gym.rollout_compare.safe_text import one_line
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult, Side


def run_job(options: Options, out: TextIO | None = None) -> int:
    """Compare two runs and print the report, or the JSON summary; write the JSON file first when asked.

    Args:
        options: What to compare, and how.
        out: Where the report goes; standard output when None.

    Returns:
        0 for a report, whatever it says; 1 for an input that cannot be read or an output that cannot be written,
        after one line on standard error.
    """
    try:
        _run(options, sys.stdout if out is None else out)
    except CompareInputError as error:
        print_error(str(error))
        return 1
    except BrokenPipeError:
        forget_stdout()
    return 0


def _run(options: Options, out: TextIO | None) -> None:
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
    paths = {Side.OLD: Path(options.old_rollouts), Side.NEW: Path(options.new_rollouts)}
    json_path = None if options.json_output is None else Path(options.json_output)
    if json_path:
        check_output(json_path, [file for path in paths.values() for file in run_files(path)])
    result = _compared(options, paths)
    if json_path:
        write_file(json_path, summary_lines(summary_dict(result)))
    write_stream(out, summary_lines(summary_dict(result)) if options.json_stdout else report_lines(result))
    if json_path:
        write_stream(sys.stderr if options.json_stdout else out, [f"wrote {one_line(str(json_path))}"])


def _compared(options: Options, paths: dict[Side, Path]) -> CompareResult:
    roots = [paths[Side.NEW].parent, paths[Side.OLD].parent, *([Path(options.logs_root)] if options.logs_root else [])]
    with ExitStack() as stack:
        runs = {side: stack.enter_context(open_run(path)) for side, path in paths.items()}
        tables = run_tables(list(runs.values()), options.key)
        result = compare_tables(dict(zip(runs, tables, strict=True)))
        return with_evidence(result, roots, options.tail)
