"""The command's options, and everything that it does but parse the command line."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

from pydantic import BaseModel, ConfigDict, Field

from nemo_gym.rollout_compare.compare import compare_tables
from nemo_gym.rollout_compare.evidence import with_evidence
from nemo_gym.rollout_compare.outputs import check_output, forget_stdout, print_error, write_file, write_stream
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines
from nemo_gym.rollout_compare.report.text import report_lines
from nemo_gym.rollout_compare.run import open_run, run_files, run_tables
from nemo_gym.rollout_compare.safe_text import one_line
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, CompareInputError, CompareResult, Side


class RolloutCompareConfig(BaseModel):
    r"""Compare two rollout JSONL files task by task.

    Counts identical, flipped, masked and missing tasks and prints the losing
    side's verifier output for every flip. A report, not a gate: the exit code is
    0 for a report and 1 when an input cannot be read or an output cannot be
    written.

    Examples:
      # Old server vs Harbor path on the same tasks
      gym dev compare old/rollouts.jsonl new/rollouts.jsonl

      # Resolve relative verifier_logs_dir paths against the Harbor server's
      # folder, keep 30 log lines per flip, and also write a machine-readable
      # summary
      gym dev compare old.jsonl new.jsonl \
          --logs-root environment_servers/harbor --tail 30 --json compare.json

      # Join on an explicit field when auto-detection picks the wrong one
      gym dev compare old.jsonl new.jsonl --key verifier_metadata.instance_id
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    old_rollouts: str = Field(description="Rollouts of the reference: JSON Lines, one attempt at a task a line.")
    new_rollouts: str = Field(description="Rollouts of the system that is compared with it.")
    key: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="Field that holds the task's id, as a dotted path; found for each side by itself if not given.",
    )
    tail: int = Field(
        DEFAULT_TAIL, ge=0, description="How many lines of verifier output to show for each flip; 0 for none."
    )
    json_output: str | None = Field(None, description="Write a JSON summary to this file as well.")
    json_stdout: bool = Field(False, description="Print the JSON summary to standard output instead of the report.")
    logs_root: str | None = Field(
        None, description="Folder under which relative `verifier_logs_dir` paths are looked for as well."
    )


def run_compare(config: RolloutCompareConfig, out: TextIO | None = None) -> int:
    """Compare two runs and print the report, or the JSON summary; write the JSON file first when asked.

    Args:
        config: The options.
        out: Where the report goes; standard output when None.

    Returns:
        0 for a report, whatever it says; 1 for an input that cannot be read or an output that cannot be written,
        after one line on standard error.
    """
    try:
        _run(config, sys.stdout if out is None else out)
    except CompareInputError as error:
        print_error(str(error))
        return 1
    except BrokenPipeError:
        forget_stdout()
    return 0


def _run(config: RolloutCompareConfig, out: TextIO | None) -> None:
    if out is None:
        raise CompareInputError("cannot write standard output: it is closed")
    paths = {Side.OLD: Path(config.old_rollouts), Side.NEW: Path(config.new_rollouts)}
    json_path = None if config.json_output is None else Path(config.json_output)
    if json_path:
        check_output(json_path, [file for path in paths.values() for file in run_files(path)])
    result = _compared(config, paths)
    if json_path:
        write_file(json_path, summary_lines(summary_dict(result)))
    write_stream(out, summary_lines(summary_dict(result)) if config.json_stdout else report_lines(result))
    if json_path:
        write_stream(sys.stderr if config.json_stdout else out, [f"wrote {one_line(str(json_path))}"])


def _compared(config: RolloutCompareConfig, paths: dict[Side, Path]) -> CompareResult:
    roots = [paths[Side.NEW].parent, paths[Side.OLD].parent, *([Path(config.logs_root)] if config.logs_root else [])]
    with ExitStack() as stack:
        runs = {side: stack.enter_context(open_run(path)) for side, path in paths.items()}
        tables = run_tables(list(runs.values()), config.key)
        result = compare_tables(dict(zip(runs, tables, strict=True)))
        return with_evidence(result, roots, config.tail)
