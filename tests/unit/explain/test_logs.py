"""Logs on disk: a path in a row is a claim of somebody else's machine, so it is judged with every link resolved."""

from __future__ import annotations

import errno
import os
import select
import socket
import stat
import threading
import time
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import pytest

from nemo_gym.rollout_compare.explain.logs import LogRoots, LogUnavailable, read_found, read_log

LINES = 15


class Place(NamedTuple):
    """A run's folder and a folder outside it."""

    run: Path
    outside: Path

    def read(self, named: str | Path, *more_roots: Path) -> str:
        """The log's text, or why it is not read after `not read: `."""
        try:
            return read_log(str(named), LogRoots((self.run, *more_roots)), LINES).text
        except LogUnavailable as error:
            return f"not read: {error}"

    def is_read(self, named: str | Path) -> bool:
        text = self.read(named)
        assert text == "SECRET\n" or (text.startswith("not read: ") and "SECRET" not in text)
        return text == "SECRET\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in ("run", "outside", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Place(tmp_path / "run", tmp_path / "outside")


def put(path: Path, text: str = "SECRET\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


# Finding


def test_a_file_itself(place: Place) -> None:
    put(place.run / "logs/a.log", "here\n")
    assert place.read("logs/a.log") == "here\n"
    assert place.read(place.run / "logs/a.log") == "here\n"


def test_a_folder_that_holds_the_log(place: Place) -> None:
    put(place.run / "logs/a/test-stdout.txt", "here\n")
    put(place.run / "logs/a/other.txt", "not this\n")
    assert place.read("logs/a") == "here\n"
    assert place.read("logs/a/") == "here\n"


def test_the_path_is_told_as_it_was_looked_up(place: Place) -> None:
    path = put(place.run / "logs/a/test-stdout.txt")
    assert read_log("logs/a", LogRoots((place.run,)), LINES).path == str(path)
    put(Path("logs/a/test-stdout.txt"))
    assert read_log("logs/a", LogRoots((place.run,)), LINES).path == "logs/a/test-stdout.txt"


def test_a_relative_path_is_tried_in_order(place: Place, tmp_path: Path) -> None:
    roots = [Path(), *(tmp_path / name for name in ("first", "second", "third"))]
    for number, root in reversed(list(enumerate(roots))):
        put(root / "logs/a/test-stdout.txt", str(number))
    for number, root in enumerate(roots):
        assert read_log("logs/a", LogRoots(tuple(roots[1:])), LINES).text == str(number)
        (root / "logs/a/test-stdout.txt").unlink()  # the empty folder that stays behind holds no log
    with pytest.raises(LogUnavailable) as caught:
        read_log("logs/a", LogRoots(tuple(roots[1:])), LINES)
    where = ["logs/a/test-stdout.txt", *(str(root / "logs/a/test-stdout.txt") for root in roots[1:])]
    found = [str(caught.value).find(path) for path in where]
    assert -1 not in found


def test_an_absolute_path_is_tried_as_it_is_alone(place: Place) -> None:
    put(place.run / "gone/a.log")
    told = place.read("/gone/a.log")
    assert told.startswith("not read: ")
    assert told.endswith(": /gone/a.log")


# Safety: the name and the place, with links resolved


@pytest.mark.parametrize("name", ["test-stdout.txt", "a.txt", "a.log", "a.out", "deep/down/a.log"])
def test_logs_of_the_run_are_read(place: Place, name: str) -> None:
    put(place.run / name)
    assert place.is_read(place.run / name)
    assert place.is_read(name)


@pytest.mark.parametrize(
    "name", ["rollouts.jsonl", ".env", "id_rsa", "a.py", "a.txt.gz", "txt", "log", "alog", "a.log~"]
)
def test_other_files_of_the_run_are_not(place: Place, name: str) -> None:
    put(place.run / name)
    assert not place.is_read(place.run / name)
    assert not place.is_read(name)


@pytest.mark.parametrize("name", ["a.txt", "a.log", "a.out", "secret", "test-stdout.txt.log"])
def test_files_outside_are_not(place: Place, name: str) -> None:
    put(place.outside / name)
    assert not place.is_read(place.outside / name)
    assert not place.is_read(f"../outside/{name}")
    assert not place.is_read(f"x/../../outside/{name}")


def test_the_log_of_that_name_is_read_wherever_it_is(place: Place) -> None:
    put(place.outside / "test-stdout.txt")
    assert place.is_read(place.outside)
    assert place.is_read("../outside/test-stdout.txt")


def test_a_folder_whose_name_only_begins_like_the_runs_is_outside(place: Place) -> None:
    put(place.run.with_name("run-of-others") / "a.log")
    assert not place.is_read("../run-of-others/a.log")


def test_the_current_folder_is_no_folder_of_the_run(place: Place) -> None:
    """Relative paths are tried there, but only a log of that name is read."""
    put(Path("a.log"))
    assert not place.is_read("a.log")
    put(Path("test-stdout.txt"))
    assert place.is_read("test-stdout.txt")


def test_without_roots_only_the_log_of_that_name_is_read(place: Place) -> None:
    assert read_log(str(put(place.run / "test-stdout.txt")), LogRoots(()), LINES).text == "SECRET\n"
    with pytest.raises(LogUnavailable):
        read_log(str(put(place.run / "a.log")), LogRoots(()), LINES)


def test_every_root_counts(place: Place) -> None:
    put(place.outside / "a.log", "here\n")
    assert place.read(place.outside / "a.log", place.outside) == "here\n"


@pytest.mark.parametrize("target", ["secret", "secret.log", "secret.txt", "deep/test-stdout.txt.secret"])
@pytest.mark.parametrize("link", ["test-stdout.txt", "a.log"])
def test_a_link_out_of_the_run_is_not_followed(place: Place, link: str, target: str) -> None:
    (place.run / link).symlink_to(put(place.outside / target))
    assert not place.is_read(link)
    assert not place.is_read(place.run)


def test_a_chain_of_links_is_judged_by_its_end(place: Place) -> None:
    put(place.outside / "secret.log")
    (place.run / "b.log").symlink_to(place.outside / "secret.log")
    (place.run / "a.log").symlink_to("b.log")
    assert not place.is_read("a.log")


def test_a_linked_folder_out_of_the_run_is_not_followed(place: Place) -> None:
    put(place.outside / "a.log")
    (place.run / "logs").symlink_to(place.outside)
    assert not place.is_read("logs/a.log")


def test_a_link_to_another_file_of_the_run_is_judged_by_that(place: Place) -> None:
    put(place.run / "real.log")
    put(place.run / "rollouts.jsonl")
    (place.run / "good.log").symlink_to("real.log")
    (place.run / "bad.log").symlink_to("rollouts.jsonl")
    assert place.is_read("good.log")
    assert not place.is_read("bad.log")


def test_a_link_from_outside_into_the_run_is_judged_by_its_end(place: Place) -> None:
    put(place.run / "a.log")
    (place.outside / "link").symlink_to(place.run / "a.log")
    assert place.is_read(place.outside / "link")


def test_a_run_that_is_itself_reached_by_a_link(place: Place) -> None:
    put(place.run / "a.log")
    linked = place.outside / "linked"
    linked.symlink_to(place.run)
    assert read_log("a.log", LogRoots((linked,)), LINES).text == "SECRET\n"
    assert read_log(str(linked / "a.log"), LogRoots((linked,)), LINES).text == "SECRET\n"


def test_why_a_file_is_not_read_is_said_without_its_content(place: Place) -> None:
    put(place.outside / "a.log")
    assert place.read(place.outside / "a.log").startswith(f"not read: {place.outside / 'a.log'} is not read: ")


# Safety: only regular files


@pytest.mark.parametrize("name", ["test-stdout.txt", "a.log"])
def test_a_pipe_is_never_opened(place: Place, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(place.run / name)
    descriptor = os.open(place.run / name, os.O_RDWR)
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda *args, **_: opened.append(args))
    monkeypatch.setattr("builtins.open", lambda *args, **_: opened.append(args))
    try:
        os.write(descriptor, b"SECRET\n")
        assert not place.is_read(name)
        assert opened == []
        assert select.select([descriptor], [], [], 0)[0], "somebody has read the pipe"
    finally:
        os.close(descriptor)


def test_a_pipe_without_a_writer_keeps_nobody_waiting(place: Place) -> None:
    os.mkfifo(place.run / "test-stdout.txt")
    started = time.process_time()
    assert place.read(place.run).startswith("not read: ")
    assert time.process_time() - started < 5


def test_a_socket_is_never_opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.run)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("test-stdout.txt")
        assert not place.is_read(place.run)


@pytest.mark.parametrize("named", ["/dev/zero", "/dev/stdin", "/dev/fd/0", "/proc/self/environ", "/proc/self/fd/0"])
def test_devices_are_never_opened(place: Place, named: str) -> None:
    (place.run / "test-stdout.txt").symlink_to(named)
    assert place.read(named).startswith("not read: ")
    assert place.read("test-stdout.txt").startswith("not read: ")


def test_a_device_with_the_name_of_a_log_is_never_opened(place: Place) -> None:
    path = place.run / "test-stdout.txt"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # as /dev/zero
    except (OSError, AttributeError):
        pytest.skip("this user may not make devices")
    assert not place.is_read(path)


def test_a_folder_of_that_name_is_no_log(place: Place) -> None:
    (place.run / "test-stdout.txt").mkdir()
    assert not place.is_read("test-stdout.txt")
    (place.run / "a" / "test-stdout.txt").mkdir(parents=True)
    assert not place.is_read("a")


# What cannot be read


def test_an_unreadable_file_is_told_with_its_reason(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(place.run / "a.log")

    def denied(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr("builtins.open", denied)
    assert place.read("a.log") == f"not read: cannot read {path}: Permission denied"


def test_a_loop_of_links_is_told(place: Place) -> None:
    (place.run / "a.log").symlink_to("a.log")
    assert place.read("a.log").startswith("not read: cannot read ")


def test_a_link_to_nothing_is_told(place: Place) -> None:
    (place.run / "a.log").symlink_to("gone.log")
    assert place.read("a.log").startswith("not read: cannot read ")
    assert place.read("a.log").endswith("No such file or directory")


@pytest.mark.parametrize("named", ["a\0b.log", "logs/\0", "/\0", "x" * 5000, "\ud800.log", "caf\udce9", "\x1b[2J.log"])
def test_a_path_that_no_file_can_have_is_told(place: Place, named: str) -> None:
    assert place.read(named).startswith("not read: ")


def test_a_root_that_no_folder_can_have_is_told(place: Place) -> None:
    with pytest.raises(LogUnavailable, match=r"^cannot read .*a\.log: "):
        read_log(str(put(place.run / "a.log")), LogRoots((Path("\0"),)), LINES)


def test_a_file_that_changed_into_a_link_since_it_was_judged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    put(place.outside / "secret")
    path = put(place.run / "a.log", "harmless\n")
    really_open = os.open

    def replaced_before(name: str, flags: int, *rest: int) -> int:
        path.unlink()
        path.symlink_to(place.outside / "secret")
        return really_open(name, flags, *rest)

    monkeypatch.setattr(os, "open", replaced_before)
    assert place.read("a.log").startswith("not read: ")


def test_a_file_that_changed_into_a_pipe_since_it_was_judged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(place.run / "a.log", "harmless\n")
    really_open = os.open

    def replaced_before(name: str, flags: int, *rest: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return really_open(name, flags, *rest)

    monkeypatch.setattr(os, "open", replaced_before)
    told: list[str] = []
    reader = threading.Thread(target=lambda: told.append(place.read("a.log")), daemon=True)
    reader.start()
    reader.join(5)
    assert told, "the reader waits for somebody to write"
    assert told[0].startswith("not read: ")


# Only the end


def test_invalid_bytes_are_replaced(place: Place) -> None:
    (place.run / "a.log").write_bytes(b"caf\xe9 \xff\nok\n")
    assert place.read("a.log") == "caf\ufffd \ufffd\nok\n"


@pytest.mark.parametrize(("lines", "end"), [(1, ["2999"]), (3, ["2997", "2998", "2999"])])
def test_of_a_large_file_no_more_is_read_than_the_lines_need(place: Place, lines: int, end: list[str]) -> None:
    put(place.run / "a.log", "".join(f"{n:0>999}\n" for n in range(3000)))  # 3 MB
    log = read_log("a.log", LogRoots((place.run,)), lines)
    assert [line[-4:] for line in log.text.splitlines()[-lines:]] == end
    assert len(log.text) < 2 << 20
    assert not log.whole


def test_as_many_lines_as_are_wanted_are_read_however_long_they_are(place: Place) -> None:
    put(place.run / "a.log", "".join(f"{n:0>999}\n" for n in range(6000)))  # 6 MB
    read = read_log("a.log", LogRoots((place.run,)), 5000).text.splitlines()
    assert read[-5000:] == [f"{n:0>999}" for n in range(1000, 6000)]


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb\nc"])
def test_a_small_file_is_read_whole(place: Place, text: str) -> None:
    put(place.run / "a.log", text)
    log = read_log("a.log", LogRoots((place.run,)), 1)
    assert (log.text, log.whole) == (text, True)


def test_of_ten_gigabytes_only_the_end_is_read(place: Place) -> None:
    path = place.run / "a.log"
    with path.open("wb") as file:
        file.truncate(10 << 30)  # a hole: it takes no place on the disk
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast but one\nlast\n")
    tracemalloc.start()
    try:
        started = time.process_time()
        text = place.read("a.log")
        took, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert text.endswith("\nlast but one\nlast\n")
    assert len(text) < 10 << 20
    assert took < 2
    assert peak < 50 << 20


# What a reader found


def test_a_log_that_a_reader_found_is_read_whatever_its_name(place: Place) -> None:
    log = read_found(put(place.run / "verifier.stdout", "a\nb\n"), LogRoots((place.run,)), LINES)
    assert (log.path, log.text, log.whole) == (str(place.run / "verifier.stdout"), "a\nb\n", True)


def test_one_that_is_gone_by_now_is_unavailable(place: Place) -> None:
    path = place.run / "gone.log"
    with pytest.raises(LogUnavailable, match=f"^cannot read {path}: No such file or directory$"):
        read_found(path, LogRoots((place.run,)), LINES)
