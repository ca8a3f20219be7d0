#!/usr/bin/env python3
"""Make up a pair of rollouts files: transcripts of 50 to 66 kB a row, or short rows of about 200 bytes.

    generate.py transcripts old.jsonl new.jsonl --size 200MB
    generate.py short old.jsonl new.jsonl --rows 200000 --repeats 8

The same arguments give the same bytes. Rows come in about the order in which their tasks were started. A task has the
same input in both runs. About 1% of the tasks are in one run only, 2% of the rows are masked, 1.5% have an agent error;
a fifth of the tasks is solved sometimes, the others always or never.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import fragments

KEY = "_ng_task_id"
UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9}

_TURNS = (9, 11)  # the fewest and the most of a transcript
_POOL = 256
_WINDOW = 512  # rows within so many finish in any order

_TRANSCRIPT = (
    b'{"responses_create_params":{"input":[{"role":"system","content":"Solve the task in /app."},'
    b'{"role":"user","content":%b}],"temperature":0.6,"tools":[{"type":"function","name":"bash","parameters":'
    b'{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}]},'
    b'"response":{"id":"resp_%016x","object":"response","model":"made-up-model","output":[%b],'
    b'"parallel_tool_calls":false,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},'
    b'"output_tokens":%d,"total_tokens":%d},"metadata":{%b}},'
    b'"reward":%b%b,"test_output":%b,"verifier_metadata":{"difficulty":"medium","tests":["test_a","test_b"]},'
    b'"_ng_task_index":%d,"_ng_rollout_index":%d,"_ng_task_id":"terminal-%07d"}\n'
)
_METADATA = b'"harness":"terminus","episodes":"%d"'
_SHORT = (
    b'{"responses_create_params":{"input":"%d \xc3\x97 %d = ?"},"response":{"id":"resp_%08x",'
    b'"metadata":{%b}},"reward":%b%b,'
    b'"_ng_task_index":%d,"_ng_rollout_index":%d,"_ng_task_id":"math-%07d"}\n'
)

#: Below which of a row's random number it says something special, in its metadata and beside its reward.
_SPECIAL = (
    (0.010, b"", b',"mask_sample":true,"failure_kind":"agent_timeout"'),
    (0.015, b"", b',"instance_config":{"mask_sample":true}'),
    (0.025, b'"terminus2_error_type":"TimeoutError"', b',"mask_sample":null'),
    (0.030, b"", b',"error":"Traceback:\\n  ...\\nConnectionError: \xe2\x80\x9cgone\xe2\x80\x9d"'),
    (0.050, b"", b',"failure_kind":"max_turns"'),
)
_NO_REWARD = 0.995


class Outcome(NamedTuple):
    """How an attempt ended: JSON text for its metadata, its reward, and what stands beside it."""

    metadata: bytes
    reward: bytes
    beside: bytes


class Run(NamedTuple):
    """One of the two runs.

    Attributes:
        rows: How many rows it has.
        repeats: How many attempts at a task it makes.
        new: Whether it is the second run.
        seed: Both runs have the same.
    """

    rows: int
    repeats: int = 1
    new: bool = False
    seed: int = 1

    def rng(self) -> Random:
        """Random numbers of this run alone."""
        return Random(2 * self.seed + self.new)

    def attempts(self, rng: Random) -> Iterator[tuple[int, int]]:
        """The number of each row's task and attempt. The runs share all tasks but the first and last in a hundred."""
        first = self.rows // self.repeats // 100 if self.new else 0
        for start in range(0, self.rows, _WINDOW):
            window = list(range(start, min(start + _WINDOW, self.rows)))
            rng.shuffle(window)
            for place in window:
                yield first + place // self.repeats, place % self.repeats


def outcome(task: int, rng: Random) -> Outcome:
    """How an attempt at a task ends."""
    ability = (task * 2654435761 >> 8) % 10
    solved = ability % 2 if ability < 8 else rng.random() < 0.5
    reward = b"1.0" if solved else b"0.0" if ability else b"0.25"
    number = rng.random()
    if number > _NO_REWARD:
        return Outcome(b"", b"null", b"")
    for limit, metadata, beside in _SPECIAL:
        if number < limit:
            return Outcome(metadata, reward, beside)
    return Outcome(b"", reward, b"")


def transcripts(run: Run) -> Iterator[bytes]:
    """Rows with whole transcripts."""
    shared = Random(run.seed)
    turns = [fragments.turn(shared) for _ in range(_POOL)]
    messages = [fragments.message(shared) for _ in range(_POOL)]
    instructions = [fragments.instruction(shared) for _ in range(_POOL)]
    outputs = [fragments.verifier_output(shared) for _ in range(_POOL)]
    rng = run.rng()
    for task, attempt in run.attempts(rng):
        count = rng.randint(*_TURNS)
        steps = b",".join([*rng.choices(turns, k=count), rng.choice(messages)])
        metadata, reward, beside = outcome(task, rng)
        read, written = len(steps) // 3, len(steps) // 5
        usage = (read, written, read + written)
        said = b",".join(filter(None, [_METADATA % count, metadata]))
        response = (rng.getrandbits(64), steps, *usage, said)
        identity = (task, attempt, task)
        yield _TRANSCRIPT % (instructions[task % _POOL], *response, reward, beside, rng.choice(outputs), *identity)


def short_rows(run: Run) -> Iterator[bytes]:
    """Rows of reinforcement learning, without a transcript."""
    rng = run.rng()
    for task, attempt in run.attempts(rng):
        metadata, reward, beside = outcome(task, rng)
        question = (task, task % 89 + 11)
        yield _SHORT % (*question, rng.getrandbits(32), metadata, reward, beside, task, attempt, task)


SHAPES = {"transcripts": transcripts, "short": short_rows}


def rows_in(shape: str, size: int) -> int:
    """How many rows of a shape are about `size` bytes."""
    sample = list(SHAPES[shape](Run(rows=200)))
    return max(1, size * len(sample) // sum(map(len, sample)))


def write_rows(path: Path, rows: Iterable[bytes]) -> None:
    """Write a file, which stands under its name only when it is whole."""
    part = path.with_name(path.name + ".part")
    with part.open("wb", buffering=1 << 20) as file:
        file.writelines(rows)
    part.replace(path)


def parse_size(size: str) -> int:
    """Bytes, of a text such as `200MB`."""
    factor = UNITS.get(size[-2:])
    return int(float(size[:-2]) * factor) if factor else int(size)


def main(argv: Sequence[str] | None = None) -> None:
    """Write a pair of runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    amount = parser.add_mutually_exclusive_group(required=True)
    amount.add_argument("--size", type=parse_size, help="about how many bytes a file has: 200MB")
    amount.add_argument("--rows", type=int, help="how many rows a file has")
    parser.add_argument("--repeats", type=int, default=1, help="how many attempts a task has (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    rows = options.rows or rows_in(options.shape, options.size)
    for path, new in ((options.old, False), (options.new, True)):
        write_rows(path, SHAPES[options.shape](Run(rows, options.repeats, new, options.seed)))


if __name__ == "__main__":
    main()
