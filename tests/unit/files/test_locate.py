"""What a user may name a run by: a file, a folder, a pattern of shards, standard input; and the files beside."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.files.inputs import STDIN_PATH
from nemo_gym.rollout_compare.files.locate import Located, locate
from nemo_gym.rollout_compare.producers.gym.files import LAYOUT
from nemo_gym.rollout_compare.schema import CompareInputError

ENDINGS = ["", ".gz", ".zst", ".bz2", ".xz"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is an empty one."""
    monkeypatch.chdir(tmp_path)


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def shards_of(named: str) -> list[Located]:
    return locate(named, LAYOUT)


def located(named: str) -> list[tuple[str, str | None, str | None]]:
    """The names of the files of each shard: rollouts, failures, planned rows."""

    def name(path: Path | None) -> str | None:
        return None if path is None else str(path)

    return [(str(shard.main), name(shard.failures), name(shard.planned)) for shard in shards_of(named)]


def refused(named: str) -> str:
    with pytest.raises(CompareInputError) as caught:
        shards_of(named)
    return str(caught.value)


class TestFile:
    @pytest.mark.parametrize(
        "name", ["a.jsonl", "runs/new/a.v2.jsonl", "a.json", "a", "a.jsonl.gz", "a_failures.jsonl"]
    )
    def test_a_file_of_any_name_is_the_run(self, name: str) -> None:
        touch(name)
        assert located(name) == [(name, None, None)]

    def test_one_that_is_not_there_is_left_to_whoever_opens_it(self) -> None:
        assert located("runs/none.jsonl") == [("runs/none.jsonl", None, None)]

    @pytest.mark.parametrize("beside", ENDINGS)
    @pytest.mark.parametrize("main", ENDINGS)
    def test_the_files_beside_are_called_by_its_name_without_how_it_is_compressed(self, main: str, beside: str) -> None:
        touch(f"runs/a.v2.jsonl{main}", "runs/a_failures.jsonl", "runs/b.v2_failures.jsonl", "a.v2_failures.jsonl")
        assert located(f"runs/a.v2.jsonl{main}") == [(f"runs/a.v2.jsonl{main}", None, None)]
        touch(f"runs/a.v2_failures.jsonl{beside}")
        failures = f"runs/a.v2_failures.jsonl{beside}"
        assert located(f"runs/a.v2.jsonl{main}") == [(f"runs/a.v2.jsonl{main}", failures, None)]
        touch(f"runs/a.v2_materialized_inputs.jsonl{beside}", "runs/a.v2_reward_profiling.jsonl")
        planned = f"runs/a.v2_materialized_inputs.jsonl{beside}"
        assert located(f"runs/a.v2.jsonl{main}") == [(f"runs/a.v2.jsonl{main}", failures, planned)]

    def test_an_ending_that_is_no_compression_is_part_of_the_name(self) -> None:
        touch("a.jsonl.bak", "a_failures.jsonl", "a.jsonl_failures.jsonl")
        assert located("a.jsonl.bak") == [("a.jsonl.bak", "a.jsonl_failures.jsonl", None)]

    @pytest.mark.parametrize("kind", ["failures", "materialized_inputs"])
    @pytest.mark.parametrize("pair", [("", ".gz"), (".gz", ".xz")])
    def test_two_files_that_could_be_the_one_beside_are_an_error(self, kind: str, pair: tuple[str, str]) -> None:
        one, other = (f"a_{kind}.jsonl{ending}" for ending in pair)
        touch("runs/a.jsonl.zst", f"runs/{one}", f"runs/{other}")
        error = refused("runs/a.jsonl.zst")
        assert error.startswith("cannot read runs/a.jsonl.zst: ")
        assert f"{one} and {other}" in error

    def test_a_link_to_nowhere_lies_beside_too(self) -> None:
        touch("a.jsonl")
        Path("a_failures.jsonl.gz").symlink_to("nowhere")
        assert located("a.jsonl") == [("a.jsonl", "a_failures.jsonl.gz", None)]

    @pytest.mark.parametrize("kind", ["failures", "materialized_inputs"])
    @pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
    def test_what_lies_beside_must_be_a_regular_file(self, kind: str, make: Callable[[Path], object]) -> None:
        touch("runs/a.jsonl", "b.jsonl")
        path = Path(f"runs/a_{kind}.jsonl")
        make(path)
        assert refused("runs/a.jsonl") == f"cannot read {path}: it is not a regular file"
        Path(f"b_{kind}.jsonl").symlink_to(path)
        assert refused("b.jsonl") == f"cannot read b_{kind}.jsonl: it is not a regular file"

    @pytest.mark.parametrize("named", ["runs", "runs/*.jsonl"], ids=["in a folder", "by a pattern"])
    def test_what_is_found_must_be_a_regular_file(self, named: str) -> None:
        Path("runs").mkdir()
        os.mkfifo("runs/a.jsonl")
        assert refused(named) == "cannot read runs/a.jsonl: it is not a regular file"

    def test_what_lies_beside_what_a_link_leads_to_is_found_too(self, tmp_path: Path) -> None:
        touch("runs/7/out.jsonl", "runs/7/out_failures.jsonl", "runs/7/out_materialized_inputs.jsonl.gz")
        Path("latest.jsonl").symlink_to("runs/7/out.jsonl")
        run = tmp_path.resolve() / "runs/7"
        planned = str(run / "out_materialized_inputs.jsonl.gz")
        assert located("latest.jsonl") == [("latest.jsonl", str(run / "out_failures.jsonl"), planned)]
        touch("latest_failures.jsonl")
        assert located("latest.jsonl") == [("latest.jsonl", "latest_failures.jsonl", planned)]

    def test_every_file_of_a_shard(self) -> None:
        main, sidecar, planned = Path("a.jsonl"), Path("a_failures.jsonl"), Path("a_materialized_inputs.jsonl")
        assert Located(main).files() == [main]
        assert Located(main, planned=planned).files() == [main, planned]
        assert Located(main, sidecar, planned).files() == [main, sidecar, planned]


class TestFolder:
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_the_one_rollouts_file_in_it_is_the_run(self, ending: str) -> None:
        touch("run/notes.txt", "run/config.json", "run/.hidden.jsonl", "run/inner/other.jsonl", "run/a.jsonl.bak")
        for name in ("failures", "materialized_inputs", "reward_profiling"):
            touch(f"run/out_{name}.jsonl")
        touch("run/more_failures.jsonl.gz", f"run/out.jsonl{ending}")
        expected = [(f"run/out.jsonl{ending}", "run/out_failures.jsonl", "run/out_materialized_inputs.jsonl")]
        assert located("run") == located("run/") == expected

    def test_the_current_one_may_be_meant(self) -> None:
        touch("a.jsonl")
        assert located(".") == [("a.jsonl", None, None)]

    @pytest.mark.parametrize("others", [[], ["a_failures.jsonl", "b_reward_profiling.jsonl.gz", "notes.txt", "a.gz"]])
    def test_without_one_it_cannot_be_read(self, others: list[str]) -> None:
        Path("run").mkdir()
        touch(*(f"run/{name}" for name in others))
        assert re.fullmatch(r"cannot read run: .*without a rollouts file.*\.jsonl.*", refused("run"))

    def test_with_several_all_are_listed(self) -> None:
        touch("run/b.jsonl", "run/a.jsonl", "run/a.jsonl.gz", "run/a_failures.jsonl")
        error = refused("run")
        assert error.startswith("cannot read run: ")
        assert "3 rollouts files" in error
        assert error.endswith(": a.jsonl, a.jsonl.gz, b.jsonl")

    def test_with_very_many_the_first_ten_are_listed(self) -> None:
        touch(*(f"run/{number:02}.jsonl" for number in range(11)))
        error = refused("run")
        assert "11 rollouts files" in error
        assert error.endswith("08.jsonl, 09.jsonl and 1 more")
        Path("run/10.jsonl").unlink()
        assert refused("run").endswith("08.jsonl, 09.jsonl")

    def test_one_that_may_not_be_listed_cannot_be_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def denied(folder: Path) -> Iterator[Path]:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))

        Path("run").mkdir()
        monkeypatch.setattr(Path, "iterdir", denied)
        assert refused("run") == "cannot read run: Permission denied"

    def test_one_that_seems_to_be_none_has_no_files_beside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        touch("_failures.jsonl")
        monkeypatch.setattr(Path, "is_dir", lambda _: False)
        assert located(".") == [(".", None, None)]


class TestPattern:
    def test_what_matches_are_the_shards_in_name_order_each_with_its_own_files(self) -> None:
        touch(
            "run/s10.jsonl", "run/s2.jsonl.gz", "run/s1.jsonl", "run/other.jsonl", "s0.jsonl", "run/s1_failures.jsonl"
        )
        touch("run/s2_failures.jsonl.xz", "run/s10_materialized_inputs.jsonl", "run/s1_reward_profiling.jsonl.zst")
        assert located("run/s*") == [
            ("run/s1.jsonl", "run/s1_failures.jsonl", None),
            ("run/s10.jsonl", None, "run/s10_materialized_inputs.jsonl"),
            ("run/s2.jsonl.gz", "run/s2_failures.jsonl.xz", None),
        ]

    @pytest.mark.parametrize("pattern", ["s?.jsonl", "s[12].jsonl", "*.jsonl"])
    def test_any_pattern_of_the_shell_will_do(self, pattern: str) -> None:
        touch("s1.jsonl", "s2.jsonl")
        assert [main for main, *_ in located(pattern)] == ["s1.jsonl", "s2.jsonl"]

    @pytest.mark.parametrize("pattern", ["none*.jsonl", "a*", "none/*"])
    def test_one_that_matches_no_rollouts_cannot_be_read(self, pattern: str) -> None:
        touch("a_failures.jsonl", "a_materialized_inputs.jsonl.gz", "b.jsonl")
        assert refused(pattern).startswith(f"cannot read {pattern}: ")

    def test_a_folder_that_matches_too_is_named(self) -> None:
        touch("run/s1.jsonl", "run/logs/x.txt")
        error = "cannot read run/*: it matches the folder run/logs; a pattern of files is wanted"
        assert refused("run/*") == error
        assert [main for main, *_ in located("run/*.jsonl")] == ["run/s1.jsonl"]

    @pytest.mark.parametrize("pair", [("s1.jsonl", "s1.jsonl.gz"), ("s1.jsonl.gz", "s1.jsonl.zst")])
    def test_a_shard_that_matches_plain_and_compressed_is_an_error(self, pair: tuple[str, str]) -> None:
        touch("run/s0.jsonl", "run/s1_b.jsonl", "run/s2.jsonl", *(f"run/{name}" for name in pair))
        assert refused("run/s*") == f"cannot read run/s*: run/{pair[0]} and run/{pair[1]} are one shard twice"
        assert [main for main, *_ in located("run/s[02].jsonl")] == ["run/s0.jsonl", "run/s2.jsonl"]

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_failures_that_match_without_their_rollouts_are_an_error(self, ending: str) -> None:
        touch("run/s1.jsonl", f"run/s2_failures.jsonl{ending}")
        error = refused("run/s*")
        assert error.startswith(f"cannot read run/s*: run/s2_failures.jsonl{ending} has no rollouts beside it; ")
        assert [main for main, *_ in located("run/s?.jsonl")] == ["run/s1.jsonl"]
        touch("run/s2.jsonl")
        assert located("run/s*")[1] == ("run/s2.jsonl", f"run/s2_failures.jsonl{ending}", None)

    def test_a_name_that_is_there_is_no_pattern(self) -> None:
        touch("s[1].jsonl", "s1.jsonl")
        assert located("s[1].jsonl") == [("s[1].jsonl", None, None)]
        Path("s[1].jsonl").unlink()
        assert located("s[1].jsonl") == [("s1.jsonl", None, None)]


def test_a_hyphen_is_standard_input_which_nothing_lies_beside() -> None:
    touch("-", "-_failures.jsonl", "standard input", "standard input_failures.jsonl")
    [shard] = shards_of("-")
    assert shard.main is STDIN_PATH
    assert shard.files() == [STDIN_PATH]
    assert located("./-") == [("-", "-_failures.jsonl", None)]
