"""However a file is cut into pieces and blocks, and whoever reads them, it says what `json.loads` says line by line."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nemo_gym.rollout_compare.files.lines import LineCount, iter_blocks, iter_lines, pieces_of
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.properties import PROPERTY
from tests.support import alone, facts, numbered, places, read_files, source_of

BOM = b"\xef\xbb\xbf"
CUT_OFF = ": the last line is cut off; the run may still be writing, or was killed"

TEXTS = st.sampled_from(["a", "b", "", "\u2028", "\u0085\u2029", "\r", "caf\u00e9", "\U0001f600", "x" * 40, "1"])
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "task_id": TEXTS | st.integers(-1, 2) | st.none(),
        "task_name": TEXTS,
        "reward": st.sampled_from([0, 1, 0.5, -1e300, math.nan, math.inf, None, 2**60]),
        "mask_sample": st.sampled_from([True, False, None, 0, 1]),
        "error": TEXTS,
        "_ng_task_index": st.sampled_from([0, 1, "x", 2**70, None]),
        "_ng_rollout_index": st.integers(0, 2),
        "junk": st.lists(TEXTS, max_size=2),
    },
)
VALID = st.tuples(ROWS, st.booleans()).map(
    lambda drawn: json.dumps(drawn[0], ensure_ascii=drawn[1]).encode("utf-8", "surrogatepass")
)
NAMED = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from([0, 1, 0.5])).map(
    lambda drawn: b'{"task_id": "%s", "reward": %s}' % (drawn[0].encode(), str(drawn[1]).encode())
)
BLANK = st.sampled_from([b"", b" ", b"\t\r", b"\r"])
PADDED = st.tuples(st.sampled_from([b"", b" ", b"\t"]), VALID, st.sampled_from([b"", b"\r", b"  "])).map(b"".join)
JUNK = st.sampled_from(
    [
        *[b"{", b"}", b"null", b"[]", b'"x"', b"{}{}", b'{"task_id": "a"', b"\xff", b"\x00", BOM + b"{}", b"{'a': 1}"],
        *[b'{"task_id": "a", "reward": "x"}', b'{"reward": true}', b'{"reward": 1, "mask_sample": 2}'],
    ]
)


@st.composite
def files(draw: st.DrawFn, *, junk: bool = True) -> bytes:
    """A file of lines, with a byte order mark or not, with an end or not."""
    kinds = [NAMED, VALID, PADDED, BLANK] if draw(st.booleans()) else [NAMED, BLANK]
    lines = draw(st.lists(st.one_of(*kinds), max_size=9))
    if junk:
        for line in draw(st.lists(JUNK, max_size=2)):
            lines.insert(draw(st.integers(0, len(lines))), line)
    content = draw(st.sampled_from([b"", BOM])) + b"\n".join(lines) + draw(st.sampled_from([b"", b"\n", b"\n\n"]))
    if junk and draw(st.integers(0, 3)) == 0:
        content = content[: draw(st.integers(0, len(content)))]
    return content


def plain_lines(content: bytes) -> list[tuple[int, int, bytes]]:
    """The lines that are not blank, with their numbers and offsets."""
    found = []
    offset = 0
    for number, whole in enumerate(content.split(b"\n"), 1):
        mark = len(BOM) if number == 1 and whole.startswith(BOM) else 0
        line = whole[mark:]
        if line.strip(b" \t\r"):
            found.append((number, offset + mark, line))
        offset += len(whole) + 1
    return found


def plain_reader(content: bytes) -> list[dict[str, Any]] | tuple[int, str]:
    """The rows, or the number of the first line that is none and a pattern of what is wrong with it."""
    rows = []
    lines = plain_lines(content)
    for number, offset, line in lines:
        cut_off = re.escape(CUT_OFF) if offset + len(line) == len(content) else ""
        if number == lines[0][0] or offset <= len(
            BOM
        ):  # may say what the file seems to be; only what begins like a row must be cut off
            seems = "(; the file (seems to be|does not seem to hold) .+)?"
            cut_off = f"{seems}{cut_off}{seems}" if line.strip().startswith(b"{") else f"({cut_off})?{seems}"
        try:
            row = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            return number, r"invalid JSON \(.+\)" + cut_off
        if not isinstance(row, dict):
            return number, "expected a JSON object per line" + f"({cut_off})?"
        names = [row[name] for name in ("task_name", "task_id") if row.get(name) is not None]
        label = re.escape(str(names[0]) if names else "unknown")
        for name, values, what in (
            ("reward", (int, float, type(None)), "a number"),
            ("mask_sample", (bool, int, type(None)), "true or false"),
        ):
            value = row.get(name)
            if type(value) not in values or (name == "mask_sample" and value not in {0, 1, None}):
                return number, re.escape(f"{name} {value!r} is not {what} (task ") + label + r"\)"
        rows.append(row)
    return rows


def outcome(path: Path, jobs: int, piece_bytes: int) -> Any:
    """What a file says, or why it says nothing."""
    try:
        [table] = read_files(path, jobs=jobs, piece_bytes=piece_bytes)
    except CompareInputError as error:
        return str(error)
    return [facts(table), places(table)]


def check_pieces(content: bytes, piece_bytes: int, block_bytes: int, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollouts.jsonl"
        path.write_bytes(content)
        source = source_of(path)
        expected_lines = plain_lines(content)
        assert list(iter_lines(source)) == expected_lines
        found, before = [], 0
        for piece in pieces_of(source, piece_bytes):
            count = LineCount()
            for block in iter_blocks(piece, count, block_bytes):
                found += [(before + number, offset, line) for number, offset, line in numbered(block)]
            before += count.lines
        assert found == expected_lines
        check_rows(path, content, outcome(path, jobs, piece_bytes))
        assert outcome(path, jobs, piece_bytes) == outcome(path, 1, 1 << 20)


def check_rows(path: Path, content: bytes, got: Any) -> None:
    expected = plain_reader(content)
    if isinstance(expected, tuple):
        number, pattern = expected
        assert isinstance(got, str)
        assert re.fullmatch(re.escape(f"{path}:{number}: ") + pattern, got), got
        return
    said, where = got
    assert where == [[f"{path}:{number}", offset] for number, offset, _ in plain_lines(content)]
    assert len(said["rows"]) == len(expected)
    for row, (reward, masked, error, _, named) in zip(expected, said["rows"], strict=True):
        given_reward = math.nan if row.get("reward") is None else float(row["reward"])
        finite = math.isfinite(given_reward)
        assert reward == (repr(given_reward) if finite else "nan")
        assert bool(masked) == (bool(row.get("mask_sample")) or not finite)
        assert bool(error) == bool(row.get("error"))
        assert named == {path: str(row[path]) for path in named}
    for name in ("task_id", "task_name"):
        standing = [row.get(name) is not None for row in expected]
        assert said["keys"][name] == (standing.index(False) if not all(standing) else None)
    halves = [(row.get("_ng_task_index"), row.get("_ng_rollout_index")) for row in expected]
    assert said["attempts"] == sorted(map(repr, {pair for pair in halves if None not in pair}))


SIZES = st.integers(1, 12) | st.integers(1, 200) | st.just(1 << 20)


@PROPERTY
@given(files(), SIZES, SIZES)
def test_pieces_and_blocks_of_any_size_say_what_json_loads_says(
    content: bytes, piece_bytes: int, block_bytes: int
) -> None:
    check_pieces(content, piece_bytes, block_bytes, jobs=1)


@PROPERTY
@given(files(junk=False), SIZES, SIZES)
def test_valid_rows_are_read_whatever_the_pieces(content: bytes, piece_bytes: int, block_bytes: int) -> None:
    assert isinstance(plain_reader(content), list)
    check_pieces(content, piece_bytes, block_bytes, jobs=1)


def test_two_processes_say_the_same() -> None:
    assert alone(check_two_processes) == "checked"


def check_two_processes() -> str:
    """In a process of its own: not every program may start others."""

    @settings(PROPERTY, max_examples=60)
    @given(files(), st.integers(3, 60))
    def check(content: bytes, piece_bytes: int) -> None:
        check_pieces(content, piece_bytes, 1 << 20, jobs=2)

    check()
    return "checked"
