from __future__ import annotations

import errno
import gzip
import io
import os
import resource
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.files.inputs import Input, open_input, reading
from nemo_gym.rollout_compare.files.lines import LineCount, Piece, iter_blocks, iter_lines, pieces_of
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.schema import CompareInputError, Place
from tests.compressing import KINDS
from tests.support import numbered, row_at, source_of

Line = tuple[int, int, bytes]

BOM = b"\xef\xbb\xbf"
#: A byte order mark, blank lines of all kinds, `\r\n`, what other programs take for line ends, and no end at the end.
MIXED = BOM + b'{"a":1}\n\n  \t\r\n{"b":2}\r\n{"c":"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\r"}\n\n[last]'
MIXED_LINES = [
    (1, 3, b'{"a":1}'),
    (4, 17, b'{"b":2}\r'),
    (5, 26, b'{"c":"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\r"}'),
    (7, 45, b"[last]"),
]


def file_of(folder: Path, content: bytes) -> Input:
    path = folder / "rollouts.jsonl"
    path.write_bytes(content)
    return source_of(path)


def lines_of(folder: Path, content: bytes) -> list[Line]:
    return list(iter_lines(file_of(folder, content)))


def lines_by_pieces(source: Input, piece_bytes: int, block_bytes: int) -> tuple[list[Line], int]:
    """The lines of all pieces, numbered through, and how many lines there are with the blank ones."""
    found: list[Line] = []
    before = 0
    for piece in pieces_of(source, piece_bytes):
        count = LineCount()
        for block in iter_blocks(piece, count, block_bytes):
            found += [(before + number, offset, line) for number, offset, line in numbered(block)]
        before += count.lines
    return found, before


def test_long_lines_are_not_copied_and_short_ones_are_split_at_once(tmp_path: Path) -> None:
    long, short = b"x" * 10_000, b"y" * 100
    for line, kind in ((long, memoryview), (short, bytes)):
        source = source_of(file_of(tmp_path, b"\n".join([line] * 300) + b"\n").path)
        found = [found for block in iter_blocks(Piece(source), None, 1 << 16) for found in block.lines]
        assert list(map(bytes, found)) == [line] * 300
        assert sum(isinstance(one, kind) for one in found) > 200


class TestLines:
    @pytest.mark.parametrize(
        ("content", "lines"),
        [
            (b"", []),
            (b"\n", []),
            (b"\n\n\n", []),
            (b"a", [(1, 0, b"a")]),
            (b"a\n", [(1, 0, b"a")]),
            (b"a\nb", [(1, 0, b"a"), (2, 2, b"b")]),
            (b"a\n\n\nb\n", [(1, 0, b"a"), (4, 4, b"b")]),
            (b"\na\n", [(2, 1, b"a")]),
            (b" \t\r\n a \n", [(2, 4, b" a ")]),
            (b"a\r\nb\r\n", [(1, 0, b"a\r"), (2, 3, b"b\r")]),
            (b"a\rb\n", [(1, 0, b"a\rb")]),
            (b"a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\n", [(1, 0, b"a\x0bb\x0cc\x1cd\x1de\x1ef\x85g")]),
            ("a\u2028b\u2029c\u0085d\n".encode(), [(1, 0, "a\u2028b\u2029c\u0085d".encode())]),
            (b"a\x00b\n\x00\n", [(1, 0, b"a\x00b"), (2, 4, b"\x00")]),
            (MIXED, MIXED_LINES),
        ],
    )
    def test_a_line_ends_at_a_newline_alone_and_blank_ones_are_counted_but_left_out(
        self, tmp_path: Path, content: bytes, lines: list[Line]
    ) -> None:
        assert lines_of(tmp_path, content) == lines

    @pytest.mark.parametrize(
        ("content", "lines"),
        [
            (BOM, []),
            (BOM + b"\n", []),
            (BOM + b"a", [(1, 3, b"a")]),
            (BOM + b" \r\nb", [(2, 6, b"b")]),
            (BOM + BOM + b"a\n", [(1, 3, BOM + b"a")]),
            (b"\n" + BOM + b"a\n", [(2, 1, BOM + b"a")]),
            (b"a\n" + BOM + b"b\n", [(1, 0, b"a"), (2, 2, BOM + b"b")]),
            (b"\xef\xbba\n", [(1, 0, b"\xef\xbba")]),
            (b"\xff\xfea\n", [(1, 0, b"\xff\xfea")]),
        ],
    )
    def test_a_byte_order_mark_is_dropped_at_the_start_of_the_file_alone(
        self, tmp_path: Path, content: bytes, lines: list[Line]
    ) -> None:
        assert lines_of(tmp_path, content) == lines

    @pytest.mark.parametrize(
        ("content", "begins", "unfinished"),
        [
            (b"a\n", ["a"], []),
            (b"a", ["a"], ["a"]),
            (b"a\n\n", ["a"], []),
            (b"a\n ", ["a"], []),
            (b"a\nb", ["a"], ["b"]),
            (b"\na\n", [], []),
            (b" \na", [], ["a"]),
            (BOM + b"a\nb\n", ["a"], []),
            (BOM + b"\na\nb", [], ["b"]),
            (b"", [], []),
        ],
    )
    def test_the_line_that_begins_the_file_and_the_one_that_it_ends_in_are_known(
        self, tmp_path: Path, content: bytes, begins: list[str], unfinished: list[str]
    ) -> None:
        source = file_of(tmp_path, content)
        for piece_bytes in (1, 2, 100):
            blocks = [block for piece in pieces_of(source, piece_bytes) for block in iter_blocks(piece, None, 1)]
            assert [bytes(block.lines[0]).decode() for block in blocks if block.begins_file] == begins
            ended = [bytes(block.lines[-1]).decode() for block in blocks if block.ends_unfinished and block.lines]
            assert ended == unfinished


class TestPieces:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "content",
        [
            MIXED,
            MIXED + b"\n",
            BOM + b"a\nb\n",
            b"a\n" + BOM + b"b\n",
            b"\n\n\na\n\n",
            b"long" * 9 + b"\n" + b"x",
            b"\n" * 5,
            b"aa\n" * 7,
            b"",
        ],
        ids=range(9),
    )
    def test_pieces_of_any_size_give_the_lines_of_the_whole_file(self, tmp_path: Path, content: bytes) -> None:
        source = file_of(tmp_path, content)
        whole = list(iter_lines(source))
        count = content.count(b"\n") + (content[-1:] not in {b"", b"\n"})
        for piece_bytes in range(1, len(content) + 2):
            for block_bytes in range(1, len(content) + 2):
                assert lines_by_pieces(source, piece_bytes, block_bytes) == (whole, count), (piece_bytes, block_bytes)

    def test_pieces_cover_the_file_without_overlap(self, tmp_path: Path) -> None:
        pieces = pieces_of(file_of(tmp_path, b"0123456789"), 4)
        assert [(piece.start, piece.stop) for piece in pieces] == [(0, 4), (4, 8), (8, None)]

    def test_a_line_belongs_to_the_piece_that_it_begins_in(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"aaa\nbbb\nccc\n")
        cut = {
            stop: [[line for block in iter_blocks(Piece(source, *span)) for line in block.lines] for span in spans]
            for stop in (3, 4, 5)
            for spans in [[(0, stop), (stop, None)]]
        }
        assert cut == {
            3: [[b"aaa"], [b"bbb", b"ccc"]],
            4: [[b"aaa"], [b"bbb", b"ccc"]],
            5: [[b"aaa", b"bbb"], [b"ccc"]],
        }

    def test_what_is_written_after_the_file_was_opened_belongs_to_the_last_piece(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\nb\n")
        with source.path.open("ab") as file:
            file.write(b"c\nd\n")
        assert lines_by_pieces(source, 2, 1) == ([(1, 0, b"a"), (2, 2, b"b"), (3, 4, b"c"), (4, 6, b"d")], 4)

    def test_a_file_that_has_become_shorter_gives_the_lines_that_are_left(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\nb\nc\nd\n")
        os.truncate(source.path, 4)
        assert lines_by_pieces(source, 2, 1) == ([(1, 0, b"a"), (2, 2, b"b")], 2)

    def test_a_line_that_spans_many_pieces_is_not_read_again_for_each(self, tmp_path: Path) -> None:
        content = b"x" * (4 << 20) + b"\n" + b"y\n"
        read = [0]
        source = file_of(tmp_path, content)
        counted = Input(source.path, CountingPath(source.file, read), source.size, source.magic, source.version)
        lines, count = lines_by_pieces(counted, 64 << 10, 64 << 10)
        assert ([(number, offset, len(line)) for number, offset, line in lines], count) == (
            [(1, 0, 4 << 20), (2, (4 << 20) + 1, 1)],
            2,
        )
        assert read[0] < 3 * len(content)


class CountingPath(type(Path())):  # type: ignore[misc]  # the class of paths on this system
    """A path whose file counts the bytes that are read from it."""

    def __new__(cls, path: Path, read: list[int]) -> CountingPath:
        made: CountingPath = super().__new__(cls, path)
        return made

    def __init__(self, path: Path, read: list[int]) -> None:
        if sys.version_info >= (3, 12):
            super().__init__(path)
        self.read = read

    def open(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(CountingFile(str(self), self.read))


class CountingFile(io.FileIO):
    def __init__(self, name: str, count: list[int]) -> None:
        super().__init__(name)
        self.count = count

    def readinto(self, buffer: Any) -> int:
        got = super().readinto(buffer) or 0
        self.count[0] += got
        return got

    def readall(self) -> bytes:
        data = super().readall() or b""
        self.count[0] += len(data)
        return data


EVERY_KIND = pytest.mark.parametrize("compress", KINDS.values(), ids=KINDS)


class TestCompressed:
    """Told by content, not by name; read as one piece."""

    @EVERY_KIND
    def test_lines_are_those_of_the_content(self, tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
        source = file_of(tmp_path, compress(MIXED))
        assert list(iter_lines(source)) == MIXED_LINES
        assert len(pieces_of(source, 5)) == 1
        assert lines_by_pieces(source, 5, 3) == (MIXED_LINES, 7)
        assert row_at(Place(RowsFile(source, ROLLOUTS), 4, 17)) == {"b": 2}

    @EVERY_KIND
    def test_content_that_is_cut_off_or_broken_cannot_be_read(
        self, tmp_path: Path, compress: Callable[[bytes], bytes]
    ) -> None:
        whole = compress(b"".join(b"%d\n" % i for i in range(9999)))
        for content in (whole[: len(whole) // 2], whole[:20] + bytes(20) + whole[40:], whole[:10]):
            source = file_of(tmp_path, content)
            with pytest.raises(CompareInputError, match=f"^cannot read {source.path}: ."):
                list(iter_lines(source))

    @EVERY_KIND
    def test_several_members_are_one_content(self, tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
        for cut in (0, 1, 20, len(MIXED)):
            source = file_of(tmp_path, compress(MIXED[:cut]) + compress(b"") + compress(MIXED[cut:]))
            assert list(iter_lines(source)) == MIXED_LINES
            assert row_at(Place(RowsFile(source, ROLLOUTS), 4, 17)) == {"b": 2}

    @EVERY_KIND
    def test_a_second_member_that_is_cut_off_cannot_be_read(
        self, tmp_path: Path, compress: Callable[[bytes], bytes]
    ) -> None:
        whole = compress(MIXED)
        source = file_of(tmp_path, whole + whole[:-5])
        with pytest.raises(CompareInputError, match=f"^cannot read {source.path}: ."):
            list(iter_lines(source))

    @EVERY_KIND
    def test_nothing_compressed_is_an_empty_file(self, tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
        assert list(iter_lines(file_of(tmp_path, compress(b"")))) == []

    def test_an_error_of_the_reader_stays_what_it_is(self, tmp_path: Path) -> None:
        with pytest.raises(KeyError), reading(file_of(tmp_path, gzip.compress(MIXED))):
            raise KeyError

    def test_a_name_alone_does_not_make_a_file_compressed(self, tmp_path: Path) -> None:
        path = tmp_path / "rollouts.jsonl.gz"
        path.write_bytes(b"a\n")
        assert list(iter_lines(source_of(path))) == [(1, 0, b"a")]


class TestCannotRead:
    def refused(self, path: Path) -> str:
        with pytest.raises(CompareInputError) as caught, open_input(path) as source:
            list(iter_lines(source))
        return str(caught.value)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "none.jsonl"
        assert self.refused(path) == f"cannot read {path}: No such file or directory"

    def test_a_folder(self, tmp_path: Path) -> None:
        assert self.refused(tmp_path) == f"cannot read {tmp_path}: Is a directory"

    def test_a_path_through_a_file(self, tmp_path: Path) -> None:
        path = file_of(tmp_path, b"").path / "none.jsonl"
        assert self.refused(path) == f"cannot read {path}: Not a directory"

    def test_a_link_to_itself(self, tmp_path: Path) -> None:
        path = tmp_path / "loop.jsonl"
        path.symlink_to(path)
        assert self.refused(path).startswith(f"cannot read {path}: ")

    def test_a_name_that_no_file_can_have(self) -> None:
        assert self.refused(Path("a\0b")).startswith("cannot read a\0b: ")

    def test_a_socket(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s")
            assert self.refused(Path("s")).startswith("cannot read s: ")

    def test_a_file_without_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = file_of(tmp_path, b"a\n")
        source.path.chmod(0)
        if os.access(source.path, os.R_OK):  # the administrator may read anything

            def refuse(path: Path, *_: Any, **__: Any) -> None:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

            monkeypatch.setattr(Path, "open", refuse)
        assert self.refused(source.path) == f"cannot read {source.path}: Permission denied"

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens but cannot be read")
    def test_a_file_that_opens_but_cannot_be_read(self) -> None:
        path = Path("/proc/self/mem")
        assert self.refused(path) == f"cannot read {path}: Input/output error"

    def test_a_file_that_is_removed_after_it_was_opened(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\n")
        source.path.unlink()
        error = f"^cannot read {source.path}: No such file or directory$"
        with pytest.raises(CompareInputError, match=error):
            list(iter_lines(source))


class TestPipes:
    @pytest.fixture
    def copies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The folder in which temporary files are made."""
        folder = tmp_path / "copies"
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        return folder

    @contextmanager
    def pipe(self, folder: Path, content: bytes) -> Iterator[Path]:
        """A named pipe that delivers the content once."""
        path = folder / "pipe.jsonl"
        os.mkfifo(path)

        def deliver() -> None:
            with suppress(BrokenPipeError):
                path.write_bytes(content)

        writer = threading.Thread(target=deliver)
        writer.start()
        yield path
        writer.join()

    def test_what_a_pipe_delivers_can_be_read_from_any_offset_as_often_as_wanted(
        self, tmp_path: Path, copies: Path
    ) -> None:
        with self.pipe(tmp_path, MIXED) as path, open_input(path) as source:
            assert source.path == path
            assert source.size == len(MIXED)
            assert [list(iter_lines(source)) for _ in range(2)] == [MIXED_LINES] * 2
            assert lines_by_pieces(source, 5, 3)[0] == MIXED_LINES
            assert row_at(Place(RowsFile(source, ROLLOUTS), 4, 17)) == {"b": 2}
            assert source.unchanged()

    def test_the_copy_is_removed_in_the_end(self, tmp_path: Path, copies: Path) -> None:
        with self.pipe(tmp_path, b"a\n") as path, open_input(path):
            assert len(list(copies.iterdir())) == 1
        assert list(copies.iterdir()) == []

    def test_the_copy_is_removed_after_an_error(self, tmp_path: Path, copies: Path) -> None:
        with self.pipe(tmp_path, b"a\n") as path, pytest.raises(KeyError), open_input(path):
            raise KeyError
        assert list(copies.iterdir()) == []

    def test_a_copy_that_does_not_fit_is_an_error_and_is_removed(self, tmp_path: Path, copies: Path) -> None:
        with (
            self.pipe(tmp_path, b"x" * (3 << 20)) as path,
            files_no_larger_than(1 << 20),
            pytest.raises(CompareInputError, match=f"^cannot read {path}: File too large$"),
            open_input(path),
        ):
            pass
        assert list(copies.iterdir()) == []

    def test_an_empty_device_is_an_empty_file(self, copies: Path) -> None:
        with open_input(Path(os.devnull)) as source:
            assert list(iter_lines(source)) == []

    def test_no_copy_is_made_of_a_regular_file(self, tmp_path: Path, copies: Path) -> None:
        with open_input(file_of(tmp_path, b"a\n").path) as source:
            assert source.file == source.path
            assert list(copies.iterdir()) == []
        assert source.path.read_bytes() == b"a\n"


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestUnchanged:
    def test_a_file_that_nobody_touches_is_unchanged(self, tmp_path: Path) -> None:
        assert file_of(tmp_path, b"a\n").unchanged()

    def test_a_file_that_grows_has_changed(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\n")
        with source.path.open("ab") as file:
            file.write(b"b\n")
        assert not source.unchanged()

    def test_a_file_that_is_written_again_has_changed_even_at_the_same_size(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\n")
        later = source.path.stat().st_mtime_ns + 10_000_000
        source.path.write_bytes(b"b\n")
        os.utime(source.path, ns=(later, later))
        assert not source.unchanged()

    def test_another_file_under_its_name_is_a_change_even_with_the_same_size_and_time(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\n")
        time = source.path.stat().st_mtime_ns
        other = tmp_path / "other"
        other.write_bytes(b"b\n")
        os.utime(other, ns=(time, time))
        other.replace(source.path)
        assert not source.unchanged()

    def test_a_file_that_is_gone_has_changed(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, b"a\n")
        source.path.unlink()
        assert not source.unchanged()
