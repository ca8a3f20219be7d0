"""Files are written whole or not at all; links stay links, pipes stay pipes, modes stay modes."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nemo_gym.rollout_compare import CompareInputError
from nemo_gym.rollout_compare.app.outputs import check_output, write_file
from nemo_gym.rollout_compare.app.streams import print_error, print_lines, write_stream

LINES = ["first", "second \u2717"]
TEXT = "first\nsecond \u2717\n"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def lines_then(error: BaseException) -> Iterator[str]:
    yield "half"
    raise error


# Writing files


def test_a_new_file_is_written_alone_and_whole(tmp_path: Path) -> None:
    write_file(tmp_path / "out", LINES)
    assert (tmp_path / "out").read_bytes() == TEXT.encode()
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_user_wants(tmp_path: Path, mask: int, mode: int) -> None:
    with umask(mask):
        write_file(tmp_path / "out", LINES)
        assert os.umask(mask) == mask
    assert mode_of(tmp_path / "out") == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "out"
    path.write_text("before", "utf-8")
    path.chmod(mode)
    write_file(path, LINES)
    assert (path.read_text("utf-8"), mode_of(path)) == (TEXT, mode)


def test_a_reader_of_the_old_content_keeps_it_whole(tmp_path: Path) -> None:
    """The new file is renamed into place: nobody ever sees half of it."""
    path = tmp_path / "out"
    path.write_text("before", "utf-8")
    with path.open("rb") as reader:
        write_file(path, LINES)
        assert reader.read() == b"before"
    assert path.read_text("utf-8") == TEXT


@pytest.mark.parametrize("existing", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path, existing: bool) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    if existing:
        target.write_text("before", "utf-8")
    link.symlink_to("there/target")
    write_file(link, LINES)
    assert link.is_symlink()
    assert target.read_text("utf-8") == TEXT
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "target", "there"]


def test_another_name_of_the_old_content_keeps_it(tmp_path: Path) -> None:
    path, other = tmp_path / "out", tmp_path / "other"
    other.write_text("before", "utf-8")
    path.hardlink_to(other)
    write_file(path, LINES)
    assert (path.read_text("utf-8"), other.read_text("utf-8")) == (TEXT, "before")


def test_a_pipe_stays_a_pipe_and_gets_everything(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_file(pipe, LINES)
    reader.join(10)
    assert read == [TEXT.encode()]
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("before", [None, "before"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_a_failure_half_way_leaves_things_as_they_were(
    tmp_path: Path, before: str | None, error: BaseException
) -> None:
    path = tmp_path / "out"
    if before:
        path.write_text(before, "utf-8")
    expected = CompareInputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_file(path, lines_then(error))
    assert [(found.name, found.read_text("utf-8")) for found in tmp_path.iterdir()] == (
        [("out", before)] if before else []
    )


def test_an_error_names_the_path_and_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(CompareInputError, match=f"^cannot write {path}: No space left on device$"):
        write_file(path, lines_then(OSError(errno.ENOSPC, "No space left on device")))


@pytest.mark.parametrize("name", ["x" * 255, "\U0001f600" * 62 + ".json", "\u6f22" * 85], ids=["ascii", "emoji", "cjk"])
def test_any_name_that_a_file_can_have_will_do(tmp_path: Path, name: str) -> None:
    write_file(tmp_path / name, LINES)
    assert names(tmp_path) == [name]


def test_lone_surrogates_are_written_as_escapes(tmp_path: Path) -> None:
    write_file(tmp_path / "out", ["a\ud800b"])
    assert (tmp_path / "out").read_bytes() == b"a\\ud800b\n"


# Refusing outputs


@pytest.mark.parametrize("way", ["itself", "symbolic link", "hard link", "link to a link"])
def test_an_output_that_is_an_input_is_refused_by_name(tmp_path: Path, way: str) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("x", "utf-8")
    if way == "itself":
        output = source
    elif way == "hard link":
        output.hardlink_to(source)
    elif way == "symbolic link":
        output.symlink_to(source)
    else:
        (tmp_path / "between").symlink_to(source)
        output.symlink_to("between")
    with pytest.raises(CompareInputError, match=rf"{output}: .*input {source}$"):
        check_output(output, [tmp_path / "another", source])


def test_an_output_that_is_no_input_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("same", "utf-8")
    (tmp_path / "out").write_text("same", "utf-8")
    for output in (tmp_path / "out", tmp_path / "new", Path(os.devnull)):
        check_output(output, [tmp_path / "in", tmp_path / "gone"])


def test_where_no_file_can_be_is_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "astray").symlink_to("no/where")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "plain").symlink_to("here")
    refused = {
        "no/out": errno.ENOENT,
        "astray": errno.ENOENT,
        "file/out": errno.ENOTDIR,
        "": errno.EISDIR,
        "circle": errno.ELOOP,
    }
    for name, number in refused.items():
        path = tmp_path / name
        with pytest.raises(CompareInputError, match=f"^cannot write {path}: {os.strerror(number)}$"):
            check_output(path, [tmp_path / "file"])
    with pytest.raises(CompareInputError, match=r"^cannot write .*: .*embedded null (?:byte|character).*$"):
        check_output(tmp_path / "a\0b", [tmp_path / "file"])
    check_output(tmp_path / "plain", [])  # a link to what does not exist yet, in a folder that does
    assert names(tmp_path) == ["astray", "circle", "file", "plain"]


@contextmanager
def somebody_else() -> Iterator[None]:
    """The superuser is never refused anything: be another user meanwhile."""
    if os.geteuid():
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("locked", ["file", "folder", "folder of a new file"])
def test_what_may_not_be_written_is_refused_beforehand_in_the_system_s_words(locked: str) -> None:
    with TemporaryDirectory() as name:  # others can come here, as they cannot to `tmp_path`
        folder, path = Path(name), Path(name, "out")
        if locked != "folder of a new file":
            path.write_text("kept", "utf-8")
            path.chmod(0o444 if locked == "file" else 0o666)
        folder.chmod(0o777 if locked == "file" else 0o555)
        with somebody_else(), pytest.raises(CompareInputError, match=f"^cannot write {path}: Permission denied$"):
            check_output(path, [])
        assert names(folder) == ([] if locked == "folder of a new file" else ["out"])
        folder.chmod(0o777)


def test_a_pipe_is_not_opened_beforehand(tmp_path: Path) -> None:
    """It would wait for a reader, who would see its end."""
    os.mkfifo(tmp_path / "pipe")
    check_output(tmp_path / "pipe", [])


def test_a_whole_file_is_written_as_it_is(tmp_path: Path) -> None:
    write_file(tmp_path / "out", b"\xff\x00")
    assert (tmp_path / "out").read_bytes() == b"\xff\x00"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev//stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_no_file_to_write(name: str) -> None:
    said = "the report goes to standard output; --json-stdout prints the summary there in its place"
    with pytest.raises(CompareInputError, match=f"^cannot write /.+: {said}$"):
        check_output(Path(name), [])


# Streams


def test_a_stream_that_is_not_there_is_an_error() -> None:
    with pytest.raises(CompareInputError, match=r"^cannot write standard output: it is closed$"):
        write_stream(None, LINES)


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(errno.ENOSPC, "No space left on device"), ValueError()])
def test_nobody_has_to_read_standard_error(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    class Lost(StringIO):
        def write(self, text: str) -> int:
            raise error

    for stream in (Lost(), None):
        monkeypatch.setattr("sys.stderr", stream)
        print_lines(LINES)
        print_error("gone")


def test_a_stream_gets_every_line(tmp_path: Path) -> None:
    out = StringIO()
    write_stream(out, (str(number) for number in range(5001)))
    assert out.getvalue() == "".join(f"{number}\n" for number in range(5001))


def test_a_stream_is_flushed() -> None:
    screen = BytesIO()
    with TextIOWrapper(screen, "utf-8") as out:
        write_stream(out, LINES)
        assert screen.getvalue() == TEXT.encode()


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", b"second \\u2717"), ("utf-8", "second \u2717".encode())])
def test_a_stream_gets_what_its_encoding_can_carry(encoding: str, shown: bytes) -> None:
    screen = BytesIO()
    with TextIOWrapper(screen, encoding) as out:
        write_stream(out, LINES)
        assert screen.getvalue() == b"first\n" + shown + b"\n"


def test_a_stream_whose_reader_has_gone_is_not_an_error_of_the_input() -> None:
    class Gone(StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        write_stream(Gone(), LINES)


def test_a_stream_that_fails_at_the_last_flush_is_an_error() -> None:
    class Full(StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CompareInputError, match=r"^cannot write standard output: No space left on device$"):
        write_stream(Full(), LINES)
