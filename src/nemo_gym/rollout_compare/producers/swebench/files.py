"""What the user named to a run of SWE-bench: its folder, its logs, its report, or a leaderboard's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files import Input, open_input
from nemo_gym.rollout_compare.producers.contract import LocatedRun, Run, Shard
from nemo_gym.rollout_compare.producers.documents import parse_document, parse_list_or_object, read_document
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.records import rows_in
from nemo_gym.rollout_compare.producers.swebench import (
    DETAILS,
    LOGS,
    PREDICTIONS,
    REPORT,
    RESULTS,
    is_details,
    is_instance,
    is_old_report,
    is_predictions,
    is_report,
)
from nemo_gym.rollout_compare.producers.swebench.instances import Instance, Instances
from nemo_gym.rollout_compare.producers.swebench.reports import Listed, Standing, listed_in
from nemo_gym.rollout_compare.schema import CompareInputError, Note, NoteKind
from nemo_gym.rollout_compare.text import first_of

FORMAT = "swe-bench"
_ONLY_SOME = "the report does not list the instances that failed: they count as missing"


class LocatedReport(Struct, frozen=True):
    """A run of which a report is all that is read, but for logs beside it.

    Attributes:
        report: The report.
        logs: The folder of instances' logs that it is made of, None where there is none.
        predictions: What was submitted, None where that is not known.
        reader: The name of the producer that wrote it.
    """

    report: Path
    logs: Path | None = None
    predictions: Path | None = None
    reader: str = FORMAT

    def files(self) -> list[Path]:
        """The files that are read."""
        return [self.report, *([self.predictions] if self.predictions else [])]

    def folders(self) -> list[Path]:
        """The folder of the report, and that of the logs."""
        return [self.report.parent, *([self.logs] if self.logs else [])]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Read the report.

        Raises:
            CompareInputError: It cannot be read.
        """
        with open_input(self.report) as source:
            told = document_in(source)
            found = _in_report(self.report, told, predicted(self.predictions))
            folder = RunFolder.at(self.report.parent)
            logs = _in_logs(folder, self.logs)
            instances = tuple(_together(found, logs))
            model = self.report.name.removesuffix(".json").split(".")[0] if logs or self.logs else None
            settings = (("model", model),) if model else ()
            said = Note(NoteKind.READER, path=str(self.report), field=_ONLY_SOME)
            notes = (said,) if _lists_some(told, self.predictions) else ()
            yield Run(self.reader, [Shard(Instances(folder, self.report, instances, settings), notes=notes)], [source])


class LocatedLogs(Struct, frozen=True):
    """A run of which only its instances' logs are there.

    Attributes:
        logs: The folder of the logs of each run, of one model.
        only: The only instance that is meant, None where all are.
        predictions: What was submitted, None where that is not known.
    """

    logs: tuple[Path, ...]
    only: str | None = None
    predictions: Path | None = None

    def files(self) -> list[Path]:
        """The instances' own reports."""
        return [path / name / REPORT for path in self.logs for name in RunFolder.at(path).folders()]

    def folders(self) -> list[Path]:
        """The folders of the logs."""
        return list(self.logs)

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Find the instances."""
        shards = []
        for path in self.logs:
            folder = RunFolder.at(path)
            found = {name: one for name, one in _in_logs(folder, path).items() if self.only in (None, name)}
            for name, filled in predicted(self.predictions).items():
                found.setdefault(name, Instance(name, Listed(Standing.SUBMITTED if filled else Standing.EMPTY)))
            instances = tuple(found[name] for name in sorted(found))
            shards.append(Shard(Instances(folder, None, instances, (("model", path.name),))))
        yield Run(FORMAT, shards, ())


def locate_swebench(named: str) -> LocatedRun:
    """A run as the user names it: a report, a folder of logs, or a folder that has one of them.

    Raises:
        CompareInputError: There are predictions only, or several runs.
    """
    path = Path(named)
    if not path.is_dir():
        return _file(path)
    place = Glimpse(path)
    if is_instance(place):
        whole = path.resolve()
        return LocatedLogs((whole.parent,), whole.name)
    reports = [one.path for one in place.children() if one.path.suffix == ".json" and is_report(one)]
    kept = [
        one
        for one in (place.child(DETAILS), place.child(RESULTS), place.child("results").child(RESULTS))
        if _is_kept(one)
    ]
    logs = logs_in(path)
    if len(reports) > 1:
        raise _several(path, reports, "reports")
    if reports:
        return LocatedReport(reports[0], _logs_of(reports[0], logs))
    if logs:
        models = {one.name for one in logs}
        if len(models) > 1:
            raise _several(path, logs, "runs")
        return LocatedLogs(tuple(logs), predictions=_predictions_in(path) if len(logs) == 1 else None)
    if kept:
        return LocatedReport(kept[0].path, None, _predictions_in(path))
    predictions = _predictions_in(path)
    if predictions:
        raise _only_predictions(predictions)
    raise CompareInputError(f"cannot read {named}: it is a folder without a report of SWE-bench or its logs")


def _only_predictions(path: Path) -> CompareInputError:
    return CompareInputError(
        f"cannot read {path}: predictions do not say what was resolved; name the report that their evaluation "
        f"wrote (MODEL.RUN_ID.json), or its logs ({LOGS}/RUN_ID/MODEL)"
    )


def _file(path: Path) -> LocatedRun:
    place = Glimpse(path)
    if is_predictions(place) and not is_report(place):
        raise _only_predictions(path)
    if is_report(place):
        return LocatedReport(path, _logs_of(path, logs_in(path.parent)))
    folder = path.parent.parent if path.parent.name == "results" else path.parent
    return LocatedReport(path, None, _predictions_in(folder) if is_old_report(place) else None)


def _is_kept(place: Glimpse) -> bool:
    return place.path.is_file() and (is_details(place) or is_old_report(place) or is_report(place))


def logs_in(folder: Path) -> list[Path]:
    """The folders of instances' logs in a folder: its own, or one for each run and model."""
    root = folder / LOGS if (folder / LOGS).is_dir() else folder
    for depth in range(3):
        pattern = "/".join(["*"] * depth) or "."
        found = sorted(one for one in root.glob(pattern) if one.is_dir()) if depth else [root]
        having = [one for one in found if _has_instances(one)]
        if having:
            return having
    return []


def _has_instances(folder: Path) -> bool:
    return any(is_instance(one) for one in Glimpse(folder).children())


def _logs_of(report: Path, logs: Sequence[Path]) -> Path | None:
    """The logs that a report is made of: of its run and model, or the only ones."""
    stem = report.name.removesuffix(".json")
    named = [one for one in logs if stem == f"{one.name}.{one.parent.name}"]
    return named[0] if named else logs[0] if len(logs) == 1 else None


def _several(path: Path, found: Sequence[Path], what: str) -> CompareInputError:
    names = first_of([str(one.relative_to(path)) for one in found])
    return CompareInputError(f"cannot read {path}: it holds {len(found)} {what}; name one of them: {names}")


def document_in(source: Input) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        return parse_document(read_document(source), dict[str, Any])
    except CompareInputError as error:
        raise CompareInputError(f"{source.path}: {str(error).removeprefix(f'{source.path}: ')}") from None


def _in_report(report: Path, told: Mapping[str, Any], submitted: Mapping[str, bool]) -> dict[str, Instance]:
    """The instances that a report tells of, and those that were submitted and that it says nothing of."""
    if report.name == DETAILS or all(isinstance(one, Mapping) and "resolved" in one for one in told.values()):
        return {name: Instance(name, details=json.dumps(one)) for name, one in sorted(told.items())}
    try:
        listed = listed_in(told)
    except CompareInputError as error:
        raise CompareInputError(f"cannot read {report}: {error}") from None
    for name, filled in submitted.items():
        listed.setdefault(name, Listed(Standing.UNRESOLVED if filled else Standing.EMPTY))
    return {name: Instance(name, one) for name, one in sorted(listed.items())}


def _lists_some(told: Mapping[str, Any], predictions: Path | None) -> bool:
    """Whether a report does not tell what failed from what was not run."""
    whole = {"generated", "applied", "with_logs", "submitted_ids", "unresolved_ids", "completed_ids"}
    return predictions is None and isinstance(told.get("resolved"), list) and not whole & told.keys()


def _in_logs(folder: RunFolder, logs: Path | None) -> dict[str, Instance]:
    """The instances that have logs, their places as seen from the run's folder."""
    if logs is None:
        return {}
    prefix = "" if logs == folder.path else f"{logs.relative_to(folder.path)}/"
    names = [name for name in RunFolder.at(logs).folders() if is_instance(Glimpse(logs / name))]
    return {
        name: Instance(name, folder=f"{prefix}{name}", size=folder.size_of(f"{prefix}{name}/{REPORT}"))
        for name in names
    }


def _together(listed: Mapping[str, Instance], logs: Mapping[str, Instance]) -> Iterator[Instance]:
    """What the run's report and the logs tell of each instance; one of the logs alone was run all the same."""
    for name in sorted(listed.keys() | logs.keys()):
        one, other = listed.get(name, Instance(name)), logs.get(name, Instance(name))
        yield Instance(name, one.listed, other.folder, other.size, one.details)


def _predictions_in(folder: Path) -> Path | None:
    inside = RunFolder.at(folder)
    return next((found for name in PREDICTIONS if (found := inside.file(name))), None)


def predicted(path: Path | None) -> dict[str, bool]:
    """The instances that were submitted, and for each whether its patch has anything in it."""
    if path is None:
        return {}
    with open_input(path) as source:
        return {name: bool(str(patch or "").strip()) for name, patch in _predictions(source)}


def _predictions(source: Input) -> Iterator[tuple[str, Any]]:
    """Predictions are one a line, a list, or an object with one for each instance."""
    rows: Iterable[Any] = rows_in(source)
    if source.path.suffix != ".jsonl":
        whole = parse_list_or_object(read_document(source))
        rows = whole if isinstance(whole, list) else whole.values()
    for row in rows:
        if isinstance(row, Mapping) and isinstance(row.get("instance_id"), str):
            yield row["instance_id"], row.get("model_patch")
