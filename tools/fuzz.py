#!/usr/bin/env python3
"""Compare made-up pairs of runs, each changed a little, and check what must hold of any comparison.

    fuzz.py --seconds 20                        what CI does
    fuzz.py --seconds 3600 --also python3.13    by hand; the other Python needs the package's and jsonschema
    fuzz.py --seed 7 --only 1234                one pair again; its files stay in the folder that is named

Checked of each pair: it ends in a report or in one error line, never in an exception; the JSON is valid by its schema;
the command and the library say the same; so do any number of processes, any size of pieces, every compression, and
another Python; with the runs swapped everything is mirrored, notes too; a run against itself has no flip.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
from fuzz_runs import write_run

from nemo_gym.rollout_compare import CompareInputError, compare_files, summary_dict, summary_schema
from nemo_gym.rollout_compare.app.cli import main
from nemo_gym.rollout_compare.engine import reading

OTHERS = ("bz2", "lzma", "backports.zstd")
PIECES = (1, 2, 17, 100, 1000)
MOST_PIECES = 100
READY = "ready\n"
SCHEMA = jsonschema.Draft202012Validator(summary_schema())


class Said(NamedTuple):
    """What a comparison ended in."""

    status: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON without where it is from."""
        found: dict[str, Any] = json.loads(self.out)
        return {name: value for name, value in found.items() if name != "run"}


class Wrong(Exception):
    """Something does not hold; the text says what."""


def compare(old: Path, new: Path, *options: str) -> Said:
    """A comparison in this process."""
    out, err = StringIO(), StringIO()
    status = main(["--json", "dev", "compare", str(old), str(new), *options], out, err, prog="gym")
    return Said(status, out.getvalue(), err.getvalue())


@contextmanager
def pieces_of(size: int) -> Iterator[None]:
    """Read in pieces of so many bytes."""
    before = reading.read_tables.__defaults__
    reading.read_tables.__defaults__ = (*before[:-1], size) if before else None
    try:
        yield
    finally:
        reading.read_tables.__defaults__ = before


def check(condition: object, what: str) -> None:
    """Stop where something does not hold."""
    if not condition:
        raise Wrong(what)


def check_form(said: Said) -> None:
    """A valid summary, or one error line and nothing else."""
    if said.status == 0:
        check(not said.err, f"a report with {said.err!r}")
        problem = next(SCHEMA.iter_errors(json.loads(said.out)), None)
        check(problem is None, f"not valid by the schema: {problem and problem.message}")
    else:
        check(said.status == 1 and not said.out, f"status {said.status} with {said.out[:80]!r}")
        check(re.fullmatch(r"error: [^\n]*\n", said.err), f"not one error line: {said.err!r}")
        check("nested too deeply" not in said.err or ":" in said.err[7:], said.err)


def same(one: Said, other: Said, what: str) -> None:
    """Both say the same, wherever their files lie."""
    check(one.status == other.status, f"{what}: status {one.status} and {other.status}: {one.err}{other.err}")
    if one.status:
        check(one.err == other.err, f"{what}: {one.err!r} and {other.err!r}")
    else:
        keys = [name for name in one.summary if one.summary[name] != other.summary[name]]
        check(not keys, f"{what}: differs in {keys}")


def mirrored(value: Any) -> Any:
    """A part of a summary as it is with the runs swapped."""
    if isinstance(value, dict):
        return {swapped(name): mirrored(held) for name, held in value.items()}
    if isinstance(value, list):
        return [mirrored(held) for held in value]
    return {"old": "new", "new": "old"}.get(value, value) if isinstance(value, str) else value


def swapped(text: str) -> str:
    """A text with the words old and new swapped."""
    return re.sub(r"(?<![a-z])(old|new)(?![a-z])", lambda found: "new" if found[0] == "old" else "old", text)


def check_mirror(said: Said, back: Said) -> None:
    """With the runs swapped everything is mirrored."""
    check(said.status == back.status, f"swapped: status {said.status} and {back.status}: {said.err}{back.err}")
    if said.status:
        return
    both = mirrored(said.summary["clusters"]), back.summary["clusters"]  # those of one size stand in some order
    one, other = (sorted(json.dumps(cluster, sort_keys=True) for cluster in clusters) for clusters in both)
    check(one == other, "swapped: clusters are not mirrored")
    for part in ("counts", "join", "join_check", "tasks"):
        check(mirrored(said.summary[part]) == back.summary[part], f"swapped: {part} is not mirrored")
    there, here = said.summary["notes"], back.summary["notes"]
    check(len(there) == len(here), f"swapped: {len(there)} notes and {len(here)}: {there} {here}")
    for name in ("n", "p_value", "detectable"):
        one, other = said.summary["statistics"][name], back.summary["statistics"][name]
        check(one == other, f"swapped: {name} {one} and {other}")


def check_pair(old: Path, new: Path, chance: random.Random, other: Other | None) -> int:
    """Everything that must hold of a pair of runs; the status."""
    said = compare(old, new, "--jobs", "1")
    check_form(said)
    check_mirror(said, compare(new, old, "--jobs", "1"))
    itself = compare(old, old, "--jobs", "1")
    check_form(itself)
    check(itself.status or not itself.summary["flips"], "a run against itself has flips")
    size = sum(path.stat().st_size for run in (old, new) for path in run.iterdir())
    with pieces_of(max(chance.choice(PIECES), size // MOST_PIECES)):
        same(said, compare(old, new, "--jobs", chance.choice("1123")), "pieces")
    check_library(said, old, new)
    check_compressed(said, old, new, chance)
    if other:
        same(said, other.compare(old, new), "another Python")
    return said.status


def check_library(said: Said, old: Path, new: Path) -> None:
    """The library says what the command says."""
    try:
        result = summary_dict(compare_files(old, new, explain=True))
    except CompareInputError as error:
        check(said.status == 1, f"library: {error}")
    else:
        check(said.status == 0, "library: no error")
        result.pop("run")
        check(json.loads(json.dumps(result)) == said.summary, "library: another summary")


def check_compressed(said: Said, old: Path, new: Path, chance: random.Random) -> None:
    """Compressed files say the same; their errors name other files, and no run of them can be read from its middle."""
    with tempfile.TemporaryDirectory() as folder:
        there = []
        for side, run in (("old", old), ("new", new)):
            there.append(Path(folder, side))
            there[-1].mkdir()
            for path in run.iterdir():
                packed = gzip.compress(path.read_bytes(), 1)
                if chance.random() < 0.5:
                    packed = importlib.import_module(chance.choice(OTHERS)).compress(path.read_bytes())
                (there[-1] / f"{path.name}.gz").write_bytes(packed)
        found = compare(there[0], there[1], "--jobs", "1")
    check(said.status == found.status, f"compressed: status {said.status} and {found.status}: {found.err}")
    if not said.status:
        one, two = (re.sub(r"[^ \"]*/(old|new)/", r"\1/", one.out).replace(".gz", "") for one in (said, found))
        one, two = (json.dumps({**json.loads(text), "run": 0, "notes": 0}) for text in (one, two))
        check(one == two, "compressed: another summary")


class Other:
    """Another Python that compares, one pair after the other."""

    def __init__(self, python: str) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [python, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        assert self._process.stdout
        if self._process.stdout.readline() != READY:
            raise SystemExit(f"error: {python} cannot compare; it needs this package's dependencies and jsonschema")

    def compare(self, old: Path, new: Path) -> Said:
        """What it says of a pair."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(old), str(new)]), file=self._process.stdin, flush=True)
        return Said(*json.loads(self._process.stdout.readline()))


def serve() -> None:
    """Be the other Python."""
    print(READY, end="", flush=True)
    for line in sys.stdin:
        old, new = json.loads(line)
        print(json.dumps(compare(Path(old), Path(new), "--jobs", "1")), flush=True)


def try_pair(seed: int, number: int, folder: Path, other: Other | None) -> int:
    """Make a pair and check it; the status that the comparison ended in."""
    chance = random.Random(f"{seed}-{number}")
    old, new = folder / "old", folder / "new"
    write_run(old, chance, random.Random(f"{seed}-{number}-run"))
    write_run(new, chance, random.Random(f"{seed}-{number}-run"))
    return check_pair(old, new, chance, other)


def fuzz(options: argparse.Namespace) -> int:
    """Try pairs until the time is over; the exit status."""
    other = Other(options.also) if options.also else None
    ended: Counter[int] = Counter()
    wrong = 0
    end = time.monotonic() + options.seconds
    number = options.only or 0
    while wrong < options.most and (time.monotonic() < end or not ended):
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            ended[try_pair(options.seed, number, folder, other)] += 1
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            wrong += 1
            told = str(error) if isinstance(error, Wrong) else traceback.format_exc()
            print(f"--seed {options.seed} --only {number}: {told} ({folder})", flush=True)
        else:
            if options.only is None:
                for path in sorted(folder.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                folder.rmdir()
        if options.only is not None:
            print(folder)
            break
        number += 1
    print(f"{number} pairs: {ended[0]} reports, {ended[1]} errors, {wrong} findings (--seed {options.seed})")
    return int(wrong > 0)


def parse_options() -> argparse.Namespace:
    """The options' values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="how long (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="which pairs (default: 0)")
    parser.add_argument("--only", type=int, help="this pair alone")
    parser.add_argument("--also", metavar="PYTHON", help="another Python, which must say the same")
    parser.add_argument("--most", type=int, default=5, help="stop after so many findings (default: 5)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(serve() if chosen.serve else fuzz(chosen))
