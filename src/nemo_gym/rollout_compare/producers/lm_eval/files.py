"""Which files of samples a run is of."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Input, iter_lines, open_input, reading
from nemo_gym.rollout_compare.producers.contract import Run, Shard
from nemo_gym.rollout_compare.producers.documents import parse_document, read_document
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from nemo_gym.rollout_compare.producers.lm_eval import LM_EVAL, RESULTS, SAMPLES, is_results, is_samples_name
from nemo_gym.rollout_compare.producers.lm_eval.layout import Layout, layout_of, named, task_of
from nemo_gym.rollout_compare.producers.lm_eval.results import Said, settings_of
from nemo_gym.rollout_compare.producers.lm_eval.source import SamplesFile, SamplesList, list_of
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.text import first_of


class LocatedSamples(Struct, frozen=True):
    """The files of a run.

    Attributes:
        samples: The files of samples, each with the results that lie beside it, None where there are none.
    """

    samples: tuple[tuple[Path, Path | None], ...]

    def files(self) -> list[Path]:
        """The files that are read."""
        return list(dict.fromkeys(path for pair in self.samples for path in pair if path))

    def folders(self) -> list[Path]:
        """Where the files lie."""
        return list(dict.fromkeys(path.parent for path, _ in self.samples if path is not STDIN_PATH))

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the files.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            results: dict[Path, Mapping[str, Any]] = {}
            inputs: list[Input] = []
            shards = []
            for path, beside in self.samples:
                if beside and beside not in results:
                    results[beside] = _results(beside)
                source = stack.enter_context(open_input(path))
                inputs.append(source)
                known = results[beside] if beside else {}
                main = _readable(source, known, alone=len(self.samples) == 1)
                shards.append(Shard(main, direction=Said(beside, main.layout, known) if beside else None))
            yield Run(LM_EVAL.name, shards, inputs)


def _results(path: Path) -> Mapping[str, Any]:
    """What the results say of the run. They help, and are not needed."""
    try:
        with open_input(path) as source:
            return parse_document(read_document(source), dict[str, Any])
    except CompareInputError:
        return {}


def _readable(source: Input, results: Mapping[str, Any], *, alone: bool) -> SamplesFile | SamplesList:
    with reading(source) as (file, _):
        is_list = file.read(_HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    told = results.get("results")
    of_tasks: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    task = task_of(named(source.path.name).stem, list(of_tasks))
    said = of_tasks.get(task)
    filters = [name.partition(",")[2] for name in said if "," in name] if isinstance(said, Mapping) else []
    first = next(_firsts(source, is_list=is_list), None)
    known = Layout(task, filters=tuple(dict.fromkeys(filters)), alone=alone, settings=settings_of(results, task))
    layout = known if first is None else layout_of(first, known)
    return SamplesList(source, layout) if is_list else SamplesFile(source, layout)


_HEAD_BYTES = 1 << 10


def _firsts(source: Input, *, is_list: bool) -> Iterator[Mapping[str, Any]]:
    """The rows of a file, those left out that are none: the first tells the layout."""
    if is_list:
        yield from (row for row in list_of(source) if isinstance(row, Mapping))
        return
    for _, _, line in iter_lines(source):
        try:
            yield parse_object(line)
        except InvalidLine:
            continue


def locate_samples(path_named: str) -> LocatedSamples:
    """A run as the user names it: a file of samples, a folder of them, or a pattern.

    Raises:
        CompareInputError: There are no samples, or those of several models.
    """
    if path_named == STDIN:
        return LocatedSamples(((STDIN_PATH, None),))
    path = Path(path_named)
    if path.is_dir():
        return _located(_samples_in(path))
    if not path.exists() and glob.has_magic(path_named):
        matched = sorted(one for one in map(Path, glob.glob(path_named)) if one.is_file())
        if not matched:
            raise CompareInputError(f"cannot read {path_named}: no file of samples matches (*, ? and [] are patterns)")
        return _located([one for one in matched if not one.name.startswith(f"{RESULTS}_")])
    if path.is_file() and is_results(Glimpse(path)):
        raise _no_samples(path_named)
    return _located([path])


def _no_samples(where: str) -> CompareInputError:
    return CompareInputError(
        f"cannot read {where}: it has the results of lm-eval and no samples ({SAMPLES}*.jsonl); "
        "lm-eval writes them with --log_samples"
    )


def _samples_in(folder: Path) -> list[Path]:
    """The files of samples in a folder, of each task the newest; or those in the only folder below that has some."""
    here = _files(folder)
    if here:
        return _newest(here)
    below = {one: files for one in sorted(folder.iterdir()) if one.is_dir() and (files := _files(one))}
    if len(below) > 1:
        named = first_of([one.name for one in below])
        raise CompareInputError(f"cannot read {folder}: it holds {len(below)} models; name the folder of one: {named}")
    if not below:
        raise _no_samples(str(folder))
    return _newest(next(iter(below.values())))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if is_samples_name(path.name) and path.is_file())


def _newest(paths: Iterable[Path]) -> list[Path]:
    """Of each task the newest file: the last, for the names are in order and go on with the time."""
    return list({named(path.name).stem: path for path in paths}.values())


def _located(paths: Sequence[Path]) -> LocatedSamples:
    return LocatedSamples(tuple((path, _beside(path)) for path in paths))


def _beside(path: Path) -> Path | None:
    """The results of the same time that lie beside samples, else those that have none in their name."""
    time = named(path.name).time
    names = [f"{RESULTS}_{time}.json"] * bool(time) + [f"{RESULTS}.json"]
    return next((one for one in map(path.with_name, names) if one.is_file()), None)
