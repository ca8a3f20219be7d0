"""Logs of a run that was copied here from another machine, and the reports of single tests in a logs folder."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.explain import logs as logs_module
from nemo_gym.rollout_compare.explain.logs import LogRoots, LogUnavailable, read_log, read_reports
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.support import run, write_rows

DEAD = "/home/somebody/runs/2031/logs/task-7"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run", "copied", "second", "outside"):
        Path(name).mkdir()


def put(path: str | Path, content: str | bytes = "SECRET\n") -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def roots(*logs: str, folders: tuple[str, ...] = ("run",)) -> LogRoots:
    return LogRoots(tuple(map(Path, folders)), tuple(map(Path, logs)))


def where(named: str, found_in: LogRoots) -> str:
    try:
        return read_log(named, found_in, 5).path
    except LogUnavailable as error:
        return str(error)


# A dead absolute path


def test_it_is_found_again_by_its_longest_end() -> None:
    ends = ["home/somebody/runs/2031/logs/task-7", "2031/logs/task-7", "logs/task-7", "task-7"]
    for end in reversed(ends):
        put(f"copied/{end}/test-stdout.txt", end)
        assert where(DEAD, roots("copied")) == f"copied/{end}/test-stdout.txt"


def test_the_longest_end_comes_before_the_first_root() -> None:
    put("copied/task-7/test-stdout.txt")
    put("second/logs/task-7/test-stdout.txt")
    assert where(DEAD, roots("copied", "second")) == "second/logs/task-7/test-stdout.txt"
    put("copied/logs/task-7/test-stdout.txt")
    assert where(DEAD, roots("copied", "second")) == "copied/logs/task-7/test-stdout.txt"
    assert where(DEAD, roots("second", "copied")) == "second/logs/task-7/test-stdout.txt"


def test_a_path_of_a_file_is_found_again_like_one_of_a_folder() -> None:
    put("copied/logs/a.log")
    assert where("/gone/logs/a.log", roots("copied")) == "copied/logs/a.log"


def test_a_path_that_lives_is_not_looked_for_elsewhere(tmp_path: Path) -> None:
    put("copied/logs/a.log", "another\n")
    alive = put(tmp_path / "run/logs/a.log")
    assert where(str(alive), roots("copied")) == str(alive)


def test_the_folders_of_the_runs_are_no_place_to_look_for_it() -> None:
    put("run/logs/task-7/test-stdout.txt")
    put("logs/task-7/test-stdout.txt")
    assert where(DEAD, roots()) == f"not found: {DEAD}"
    assert where(DEAD, roots("copied")).startswith(f"not found: {DEAD}, copied/home/somebody/runs/2031/logs/task-7, ")


def test_what_was_tried_is_told_in_short() -> None:
    told = where("/a/b/c/d/e/f", roots("copied", "second"))
    assert told == "not found: /a/b/c/d/e/f, copied/a/b/c/d/e/f, second/a/b/c/d/e/f, copied/b/c/d/e/f and 9 more"
    assert where("/a/b", roots("copied")) == "not found: /a/b, copied/a/b, copied/b"
    assert where("gone", roots("copied")) == "not found: gone, run/gone, copied/gone"


def test_a_path_of_thousands_of_parts_is_tried_by_its_last_ones_alone() -> None:
    put("copied/logs/a.log")
    assert where("/x" * 1000 + "/logs/a.log", roots("copied")) == "copied/logs/a.log"
    told = where("/x" * 1000, roots("copied"))
    assert int(told.rsplit(" ", 2)[1]) < 100


def test_a_file_that_is_found_again_is_judged_like_any_other() -> None:
    put("outside/secret.log")
    Path("copied/a.log").symlink_to(Path("outside/secret.log").resolve())
    put("copied/b.cfg")
    assert "lies outside" in where("/gone/a.log", roots("copied"))
    assert "is not called test-stdout.txt, *.txt, *.log or *.out" in where("/gone/b.cfg", roots("copied"))
    assert "lies outside" in where("/gone/../outside/secret.log", roots("copied"))


def test_a_log_that_is_found_again_and_cannot_be_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("copied/pipe.log")
    assert where("/gone/pipe.log", roots("copied")) == "copied/pipe.log is not read: it is not a regular file"
    Path("copied/loop.log").symlink_to("loop.log")
    assert where("/gone/loop.log", roots("copied")).startswith("cannot read ")
    assert where("/gone/a\0b.log", roots()) == "not found: /gone/a\0b.log"

    put("copied/a.log")

    def refusing(path: Any, *_: Any) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refusing)
    told = where("/gone/a.log", roots("copied"))
    assert told.startswith("cannot read ")
    assert told.endswith("/copied/a.log: Permission denied")


# Through the whole command


@pytest.fixture
def pair() -> tuple[str, str]:
    """A flip on both sides' dead paths, of one end."""
    for side, reward in (("old", 1), ("new", 0)):
        Path(side).mkdir()
        write_rows(Path(side, "r.jsonl"), [{"task_id": "t", "reward": reward, "verifier_logs_dir": DEAD}])
    return "old/r.jsonl", "new/r.jsonl"


def sources(pair: tuple[str, str], *logs_roots: str) -> list[str | None]:
    """The file of each side's evidence."""
    done = run("--json", "dev", "compare", *pair, *(word for root in logs_roots for word in ("--logs-root", root)))
    assert (done.status, done.stderr) == (0, "")
    (flip,) = json.loads(done.stdout)["flips"]
    return [flip["old"]["path"], flip["new"]["path"]]


def test_several_roots_serve_both_sides(pair: tuple[str, str]) -> None:
    second = str(put("second/task-7/test-stdout.txt"))
    assert sources(pair, "copied", "second") == [second, second]
    copied = str(put("copied/task-7/test-stdout.txt"))
    assert sources(pair, "copied", "second") == [copied, copied]


def test_a_root_of_one_side_serves_that_side_alone(pair: tuple[str, str]) -> None:
    copied, second = (str(put(f"{root}/task-7/test-stdout.txt")) for root in ("copied", "second"))
    assert sources(pair, "old=copied") == [copied, None]
    assert sources(pair, "new=copied") == [None, copied]
    assert sources(pair, "old=copied", "new=second") == [copied, second]
    assert sources(pair, "new=second", "copied") == [copied, second]


def test_a_root_with_another_word_before_an_equals_sign_is_a_folder_of_that_name(pair: tuple[str, str]) -> None:
    found = str(put("run=3/task-7/test-stdout.txt"))
    assert sources(pair, "run=3") == [found, found]
    found = str(put("old=here/task-7/test-stdout.txt"))
    assert sources(pair, "./old=here") == [found, found]


def test_a_relative_path_is_never_found_under_the_other_sides_root() -> None:
    for side, reward in (("old", 1), ("new", 0)):
        Path(side).mkdir()
        write_rows(Path(side, "r.jsonl"), [{"task_id": "t", "reward": reward, "verifier_logs_dir": "logs/t"}])
    put("copied/logs/t/test-stdout.txt")
    assert sources(("old/r.jsonl", "new/r.jsonl"), "old=copied") == ["copied/logs/t/test-stdout.txt", None]


# Reports in the logs folder


@pytest.fixture
def folder() -> Path:
    put("run/logs/test-stdout.txt", "said\n")
    return Path("run/logs")


def reports(named: str = "logs") -> dict[str, bytes]:
    return dict(read_reports(named, roots()).files)


def read(named: str, among: LogRoots | None = None) -> tuple[list[tuple[str, bytes]], bool]:
    """The reports of a folder, and whether they are all that there is."""
    found = read_reports(named, among or roots())
    return list(found.files), found.complete


def test_they_are_told_by_their_names_ctrf_first(folder: Path) -> None:
    for name in ("TEST-b.xml", "a.xml", "CTRF.json", "report.json", "b.xml.gz", "c.txt", "xml", "x.ctrf.json"):
        put(folder / name, name)
    assert list(read_reports("logs", roots()).files) == [
        ("CTRF.json", b"CTRF.json"),
        ("TEST-b.xml", b"TEST-b.xml"),
        ("a.xml", b"a.xml"),
        ("report.json", b"report.json"),
        ("x.ctrf.json", b"x.ctrf.json"),
    ]


def test_beside_a_log_that_is_named_itself_there_are_none(folder: Path, tmp_path: Path) -> None:
    put(folder / "a.xml", "x")
    put(folder / "ctrf.json", "{}")
    put(folder / "a.log", "said\n")
    for named in ("logs/test-stdout.txt", "logs/a.log"):
        assert read(named) == read(str(tmp_path / "run" / named)) == ([], True)


def test_a_folder_without_a_log_has_its_reports_all_the_same() -> None:
    put("run/silent/a.xml", "x")
    assert reports("silent") == {"a.xml": b"x"}


def test_reports_that_are_read_whole_are_complete(folder: Path) -> None:
    assert read("logs") == ([], True)
    put(folder / "a.xml", "x")
    assert read("logs") == ([("a.xml", b"x")], True)


def test_without_a_log_there_are_none() -> None:
    assert reports("logs/gone") == {}
    assert reports("a\0b") == {}


def test_a_link_out_of_the_run_is_not_followed_and_one_within_it_is(folder: Path) -> None:
    put("outside/secret.xml")
    put("run/elsewhere.xml", "within")
    (folder / "a.xml").symlink_to(Path("outside/secret.xml").resolve())
    (folder / "b.xml").symlink_to(Path("run/elsewhere.xml").resolve())
    (folder / "c.xml").symlink_to("c.xml")
    (folder / "ctrf.json").symlink_to("/proc/self/environ")
    assert reports() == {"b.xml": b"within"}


def test_a_log_of_the_right_name_outside_is_read_but_no_report_beside_it() -> None:
    put("outside/test-stdout.txt", "said\n")
    put("outside/ctrf.json")
    outside = str(Path("outside").resolve())
    assert where(outside, roots()).endswith("outside/test-stdout.txt")
    assert read(outside) == ([], False)
    assert read(outside, roots(outside)) == ([("ctrf.json", b"SECRET\n")], True)


@pytest.fixture
def listening(folder: Path) -> Iterator[None]:
    """A socket called like a report; its address is relative, because those have a short limit."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.xml")
        Path("s.xml").rename(folder / "s.xml")
        yield


@pytest.mark.usefixtures("listening")
def test_folders_pipes_and_sockets_are_never_opened(folder: Path) -> None:
    (folder / "a.xml").mkdir()
    os.mkfifo(folder / "ctrf.json")
    put(folder / "z.xml", "read")
    assert reports() == {"z.xml": b"read"}


def test_of_a_huge_report_the_beginning_is_read(folder: Path) -> None:
    path = put(folder / "a.xml", "<begin>")
    os.truncate(path, 10 << 30)
    found = read_reports("logs", roots())
    ((_, data),) = found.files
    assert found.complete is False
    assert data.startswith(b"<begin>")
    assert len(data) == logs_module._REPORT_BYTES


def test_of_very_many_reports_so_many_are_read(folder: Path) -> None:
    for number in range(logs_module._MOST_REPORTS + 20):
        put(folder / f"{number:04}.xml", "x")
    put(folder / "ctrf.json", "{}")
    found = read_reports("logs", roots())
    assert not found.complete
    names = [f"{number:04}.xml" for number in range(logs_module._MOST_REPORTS - 1)]
    assert [name for name, _ in found.files] == ["ctrf.json", *names]


def test_a_report_that_cannot_be_read_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder / "a.xml", "x")
    put(folder / "b.xml", "y")
    opened = os.open

    def refusing(path: Any, *rest: Any) -> int:
        if str(path).endswith("a.xml"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", refusing)
    assert read("logs") == ([("b.xml", b"y")], False)


def test_all_reports_of_a_folder_are_bounded_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs_module, "_REPORTS_BYTES", 10)
    for name in "abcd":
        put(folder / f"{name}.xml", name * 4)
    assert read("logs") == ([("a.xml", b"aaaa"), ("b.xml", b"bbbb"), ("c.xml", b"cc")], False)


def test_a_report_with_many_names_counts_once(folder: Path) -> None:
    put(folder / "a.xml", "x")
    for number in range(49):
        (folder / f"{number}.xml").symlink_to("a.xml")
    assert read("logs") == ([("0.xml", b"x")], True)


def test_what_was_made_of_a_folder_is_remembered_until_it_changes(folder: Path) -> None:
    put(folder / "a.xml", "x")
    asked: list[bytes] = []

    def parse(_name: str, data: bytes) -> int:
        asked.append(data)
        return len(asked)

    assert [read_reports("logs", roots()).parsed(parse) for _ in range(3)] == [[("a.xml", 1)]] * 3
    put(folder / "a.xml", "xy")
    assert read_reports("logs", roots()).parsed(parse) == [("a.xml", 2)]
    assert asked == [b"x", b"xy"]


def test_no_more_than_a_few_folders_are_remembered(folder: Path) -> None:
    for number in range(20):
        put(folder.parent / f"many/{number}/a.xml", "x")
        assert read_reports(f"many/{number}", roots()).parsed(lambda _name, data: data) == [("a.xml", b"x")]
    assert len(logs_module._remembered) <= logs_module._MOST_REMEMBERED


def test_a_log_with_another_name_is_read_under_the_runs_own_folder_alone(folder: Path) -> None:
    put("outside/test-stdout.txt", "said\n")
    assert where(str(Path("outside").resolve()), roots()).endswith("outside/test-stdout.txt")
    (folder / "other.txt").hardlink_to("outside/test-stdout.txt")
    assert where("logs/other.txt", roots()) == "run/logs/other.txt"
    assert where(str(Path("outside").resolve()), roots()).endswith(
        "it has another name, and lies outside its run's folder"
    )


def test_a_file_with_another_name_is_not_read_under_the_other_runs_folder(folder: Path) -> None:
    put("outside/test-stdout.txt", "said\n")
    (folder / "test-stdout.txt").unlink(missing_ok=True)
    (folder / "test-stdout.txt").hardlink_to("outside/test-stdout.txt")
    (folder / "a.xml").hardlink_to("outside/test-stdout.txt")
    own, others = LogRoots((Path("run"),), own=(Path("run"),)), LogRoots((Path("run"),), own=(Path("mine"),))
    assert where("logs", own) == "run/logs/test-stdout.txt"
    assert read_reports("logs", own).parsed(lambda _, data: data) == [("a.xml", b"said\n")]
    assert where("logs", others).endswith("it has another name, and lies outside its run's folder")
    assert read_reports("logs", others).parsed(lambda _, data: data) == []


@pytest.mark.parametrize("name", ["test-stdout.txt", "ctrf.json", "a.xml"])
def test_an_output_is_never_read(folder: Path, name: str) -> None:
    put(folder / "test-stdout.txt", "said\n")
    put(folder / name, "said\n")
    put("elsewhere", "")
    Path("hard").hardlink_to(folder / name)
    for output in (folder / name, Path("hard")):
        read_by = LogRoots((Path("run"),), outputs=(Path("elsewhere"), Path("nowhere"), Path("nul\0"), output))
        with pytest.raises(CompareInputError, match=f"^cannot write {output}: the report quotes it$"):
            _ = [read_log("logs", read_by, 5).text, *read_reports("logs", read_by).files]
