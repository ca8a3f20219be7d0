"""Which logs a run is of."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Input, open_input
from nemo_gym.rollout_compare.producers.contract import Run, Shard
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.inspect import ARCHIVE_ENDING, DOCUMENT_ENDING, INSPECT, is_document
from nemo_gym.rollout_compare.producers.inspect.fields import Eval
from nemo_gym.rollout_compare.producers.inspect.log import is_archive, read_eval
from nemo_gym.rollout_compare.producers.inspect.planned import PlannedSamples
from nemo_gym.rollout_compare.producers.inspect.source import LogSource
from nemo_gym.rollout_compare.schema import CompareInputError, Note, NoteKind

_MOST_LISTED = 10


class LocatedLogs(Struct, frozen=True):
    """The logs of a run.

    Attributes:
        logs: The files, in the order of their names.
    """

    logs: tuple[Path, ...]

    def files(self) -> list[Path]:
        """The files that are read."""
        return list(self.logs)

    def folders(self) -> list[Path]:
        """Where the logs lie."""
        return list(dict.fromkeys(path.parent for path in self.logs if path is not STDIN_PATH))

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the logs; of several with one `task_id`, which retries leave, only the newest counts.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            opened = [stack.enter_context(open_input(path)) for path in self.logs]
            evals = {source: read_eval(source) for source in opened}
            newest = _newest(evals)
            tasks = _tasksets({source: evals[source] for source in newest})
            parts = [(source, tasks[source], is_archive(source), len(newest) == 1) for source in newest]
            shards = [Shard(LogSource(*part), None, PlannedSamples(*part)) for part in parts]
            shards[0] = replace(shards[0], notes=_replaced(opened, newest))
            yield Run(INSPECT.name, shards, newest)


def _newest(evals: Mapping[Input, Eval]) -> list[Input]:
    """The logs that count, in their order."""
    last: dict[str, Input] = {}
    for source, one in evals.items():
        known = last.get(one.task_id or str(source.path))
        if known is None or evals[known].created <= one.created:
            last[one.task_id or str(source.path)] = source
    return [source for source in evals if source in last.values()]


def _replaced(opened: Sequence[Input], newest: Sequence[Input]) -> tuple[Note, ...]:
    """That logs are not read in whose place a retry left a later one."""
    dropped = [source.path for source in opened if source not in newest]
    if not dropped:
        return ()
    names = ", ".join(path.name for path in dropped[:_MOST_LISTED]) + ", ..." * (len(dropped) > _MOST_LISTED)
    said = f"a retry left a later log in the place of {names}, which {'is' if len(dropped) == 1 else 'are'} not read"
    return (Note(NoteKind.READER, path=str(dropped[0].parent), field=said),)


def _tasksets(evals: Mapping[Input, Eval]) -> dict[Input, str]:
    """What the samples' taskset is called: the task, with the model where a task was run with several."""
    models: dict[str, set[str | None]] = {}
    for one in evals.values():
        models.setdefault(one.task, set()).add(one.model)
    return {
        source: one.task if len(models[one.task]) == 1 else f"{one.task} ({one.model})" for source, one in evals.items()
    }


def locate_logs(named: str) -> LocatedLogs:
    """A run as the user names it: a log, a folder of logs, or a pattern of them.

    Raises:
        CompareInputError: There is no log.
    """
    if named == STDIN:
        return LocatedLogs((STDIN_PATH,))
    path = Path(named)
    if path.is_dir():
        found = _logs_in(path)
        if not found:
            raise CompareInputError(f"cannot read {named}: it is a folder without an Inspect log (*{ARCHIVE_ENDING})")
        return LocatedLogs(tuple(found))
    if not path.exists() and glob.has_magic(named):
        found = _regular(map(Path, glob.glob(named)))
        if not found:
            raise CompareInputError(f"cannot read {named}: no Inspect log matches (*, ? and [] are patterns)")
        return LocatedLogs(tuple(found))
    return LocatedLogs((path,))


def _logs_in(folder: Path) -> list[Path]:
    """The logs in a folder, else those in the folders below it."""
    here = _regular(folder.iterdir())
    return [path for path in here if _is_log(path)] or _regular(folder.rglob(f"*{ARCHIVE_ENDING}"))


def _regular(paths: Iterable[Path]) -> list[Path]:
    return sorted(path for path in paths if path.is_file())


def _is_log(path: Path) -> bool:
    if path.name.endswith(ARCHIVE_ENDING):
        return True
    return path.name.endswith(DOCUMENT_ENDING) and is_document(Glimpse(path))
