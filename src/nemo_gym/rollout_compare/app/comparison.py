"""Two runs on disk to a finished result: the whole road, for the command and for scripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, TypedDict, Unpack

from msgspec.structs import replace

from nemo_gym.rollout_compare.app.direction import direction_of
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.provenance import provenance
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.compare import (
    NO_MARGIN,
    Questions,
    allowed_of,
    asks_for_margin,
    check_gate,
    compare_tables,
    no_longer_needed,
)
from nemo_gym.rollout_compare.engine import Progress, check_metric, default_jobs, run_tables, same_file_notes
from nemo_gym.rollout_compare.explain import LogRoots, with_findings, with_steps, with_transcripts
from nemo_gym.rollout_compare.files import STDIN
from nemo_gym.rollout_compare.producers import LocatedRun, Plan, Run, check_keys, locate_run
from nemo_gym.rollout_compare.report import by_size
from nemo_gym.rollout_compare.schema import CompareInputError, CompareResult, Note, NoteKind, Side
from nemo_gym.rollout_compare.table import Table
from nemo_gym.rollout_compare.text import MB, one_line

Watch = Callable[[Sequence[Run]], AbstractContextManager[Progress | None]]
"""Something that shows how far the reading of open runs has got."""


Tell = Callable[[str], object]
"""Something that is told what is done after the reading."""


class ComparisonOptions(TypedDict, total=False):
    """The options of the command that say what is compared and how; see `rollout-compare --help`."""

    key: str | None
    old_key: str | None
    new_key: str | None
    format: str | None
    old_format: str | None
    new_format: str | None
    reward: str | None
    old_reward: str | None
    new_reward: str | None
    lower_is_better: bool
    skip_bad_lines: bool
    max_line: int
    jobs: int | None
    logs_root: str | Sequence[str]
    tail: int
    fail_on: Sequence[str]
    allow: str | None
    margin: float | None
    tolerance: float
    count_measured: bool
    by: Sequence[str]
    cluster: str | None


def compare_files(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    explain: bool = False,
    **options: Unpack[ComparisonOptions],
) -> CompareResult:
    """Compare two runs on disk, as the command does: with its memory, and with what lies beside the rollouts.

    Args:
        old: The reference run: a file, a folder, or a pattern of shards.
        new: The run that is compared with it.
        explain: Look up why tasks flipped: verifier output of both sides, single tests, signatures, clusters.
        **options: The command's options, by the names of the config's fields.

    Raises:
        CompareInputError: An input cannot be read, is not a run, or has no field that tells its tasks apart; or an
            option's value is not one.
        TypeError: There is no such option.
    """
    known = ComparisonOptions.__annotations__
    unknown = ", ".join(sorted(options.keys() - known.keys()))
    if unknown:
        raise TypeError(f"compare_files has no option {unknown}; it takes {', '.join(known)}")
    values = {name: _checked(name, value) for name, value in options.items()}
    if values.get("margin") is None and asks_for_margin(values.get("fail_on", ())):
        raise CompareInputError(NO_MARGIN)
    chosen = Options(old_rollouts=os.fspath(old), new_rollouts=os.fspath(new), **values)
    return compare_runs(locate_runs(chosen), chosen, explain=explain)


def _checked(name: str, value: Any) -> Any:
    """An option's value as the command line would have it."""
    from argparse import ArgumentTypeError

    from nemo_gym.rollout_compare.app.kinds import TYPES

    option = OPTIONS[name]
    if option.kind == "switch" or (value is None and not option.many):
        return value
    one = not option.many or isinstance(value, (str, os.PathLike))
    try:
        made = tuple(TYPES[option.kind](str(word)) for word in ([value] if one else value))
    except ArgumentTypeError as error:
        raise CompareInputError(f"{name}: {error}") from None
    return made if option.many else made[0]


def locate_runs(options: Options) -> dict[Side, LocatedRun]:
    """The two runs that the options name.

    Raises:
        CompareInputError: It is not clear which files are meant.
    """
    if options.old_rollouts == options.new_rollouts == STDIN:
        raise CompareInputError(f"{STDIN} stands for standard input, which can be one run only")
    return {
        Side.OLD: locate_run(options.old_rollouts, options.old_format or options.format),
        Side.NEW: locate_run(options.new_rollouts, options.new_format or options.format),
    }


def compare_runs(
    runs: Mapping[Side, LocatedRun],
    options: Options,
    *,
    explain: bool = True,
    watch: Watch = lambda _: nullcontext(),
    tell: Tell = lambda _: None,
    outputs: Sequence[Path] = (),
) -> CompareResult:
    """Compare two runs that were found.

    Args:
        runs: The runs.
        options: How they are compared.
        explain: Whether it is looked up why tasks flipped.
        watch: Shows how far the reading has got.
        tell: Is told what is done after that.
        outputs: What is written afterwards.

    Raises:
        CompareInputError: An input cannot be read, is not a run, or has no field that tells its tasks apart; or an
            output is what a flip quotes.
    """
    roots = log_roots_of(runs, options.logs_root, outputs)
    keys = {Side.OLD: options.old_key or options.key, Side.NEW: options.new_key or options.key}
    rewards = {Side.OLD: options.old_reward or options.reward, Side.NEW: options.new_reward or options.reward}
    check_keys(keys.values())
    with ExitStack() as stack:
        opened = [stack.enter_context(runs[side].opened()) for side in Side]
        jobs = options.jobs or default_jobs([shard.main for run in opened for shard in run.shards])
        plans = [
            Plan(keys[side], options.skip_bad_lines, max_line=options.max_line, reward=rewards[side]) for side in Side
        ]
        tables = [_tables(opened, plans, jobs, watch, tell)]
        lower, directed = direction_of(tables[0], options.lower_is_better)
        result = compare_tables(tables.pop(), _questions(options, lower_is_better=lower))
        result = replace(
            result,
            run=provenance(options, opened, [result.old_rows, result.new_rows]),
            notes=(*same_file_notes(*opened), *directed, *(_naming(note, rewards) for note in result.notes)),
        )
        result = _gated(result, options.fail_on, options.allow)
        if not explain:
            return result
        tell("reading output")
        result = with_findings(with_transcripts(result), roots, options.tail, jobs)
        if options.html is None and not options.transcripts:
            return result
        return with_steps(result, sorted(result.flips, key=by_size), options.html_limit * MB)


def _naming(note: Note, rewards: Mapping[Side, str | None]) -> Note:
    """A note on a run without rewards, with the name of the one that the user chose."""
    chosen = rewards[note.side] if note.kind is NoteKind.NO_REWARD and note.side else None
    return replace(note, field=chosen) if chosen else note


def _questions(options: Options, *, lower_is_better: bool) -> Questions:
    return Questions(
        tolerance=options.tolerance,
        lower_is_better=lower_is_better,
        count_measured=options.count_measured,
        margin=options.margin,
        by=options.by,
        cluster=options.cluster,
    )


def _gated(result: CompareResult, rules: Sequence[str], allow: str | None) -> CompareResult:
    """The result held against rules, with a note on allowed tasks that need it no longer."""
    if allow is None:
        return replace(result, gate=check_gate(result, rules))
    try:
        read = Path(allow).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CompareInputError(f"cannot read {one_line(allow)}: {why}") from None
    if b"\0" in read:
        raise CompareInputError(f"cannot read {one_line(allow)}: it is not text in UTF-8; UTF-16 has to be converted")
    allowed = allowed_of(read.decode("utf-8-sig", "replace"), {task.task for task in result.tasks})
    needless = no_longer_needed(result, allowed)
    note = (Note(NoteKind.NO_LONGER_FLIPS, tasks=needless),) if needless else ()
    return replace(result, gate=check_gate(result, rules, allowed), notes=(*result.notes, *note))


def _tables(runs: Sequence[Run], plans: Sequence[Plan], jobs: int, watch: Watch, tell: Tell) -> dict[Side, Table]:
    """Each side's table, which nobody but the caller holds."""
    with watch(runs) as progress:
        tables = dict(zip(Side, run_tables(runs, plans, jobs, progress), strict=True))
    for table, plan in zip(tables.values(), plans, strict=True):
        if plan.reward is not None:
            check_metric(table, plan.reward)
    tell("comparing")
    return tables


def log_roots_of(
    runs: Mapping[Side, LocatedRun], named: Sequence[str], outputs: Sequence[Path] = ()
) -> dict[Side, LogRoots]:
    """Where each side's logs are looked for: beside its own files, the other run's, and in the folders named.

    Raises:
        CompareInputError: A folder that was named is not there.
    """
    folders = {side: _distinct(runs[side].folders()) for side in Side}
    roots: dict[Side, list[Path]] = {side: [] for side in Side}
    for name in named:
        which, is_for_one, folder = name.partition("=")
        one = bool(is_for_one) and which in roots
        root = Path(folder if one else name)
        if not (folder if one else name) or not os.path.isdir(root):
            raise CompareInputError(f"cannot read logs under '{name}': there is no such folder")
        for side in [Side(which)] if one else Side:
            roots[side].append(root)
    return {
        side: LogRoots(
            tuple(_distinct([*folders[side], *folders[side.other]])),
            tuple(roots[side]),
            tuple(folders[side]),
            tuple(outputs),
        )
        for side in Side
    }


def _distinct(folders: Iterable[Path]) -> list[Path]:
    """The folders, of several names of one the first."""
    named: dict[str, Path] = {}
    for folder in folders:
        named.setdefault(os.path.realpath(folder), folder)
    return list(named.values())
