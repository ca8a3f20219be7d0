"""What is named as a run of the producers whose runs are single files, through standard input too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.files.inputs import STDIN_PATH
from nemo_gym.rollout_compare.producers import PRODUCERS, locate_run
from tests.producer_support import (
    doc,
    event,
    found_in,
    record_in,
    result,
    sample,
    table_of_run,
    write_archive,
    write_events,
    write_results_document,
    write_samples,
)

NAMES = ["inspect", "lm-eval", "openai-evals", "promptfoo"]


def made(folder: Path, name: str) -> Path:
    if name == "inspect":
        return write_archive(folder / "log.eval", [sample()])
    if name == "lm-eval":
        return write_samples(folder, [doc(1)])
    if name == "openai-evals":
        return write_events(folder / "log.jsonl", [event("a", "match", correct=True)])
    return write_results_document(folder / "results.json", [result()])


@pytest.mark.parametrize("name", NAMES)
def test_standard_input_can_be_a_run_where_the_format_is_said(name: str) -> None:
    located = locate_run("-", format=name)
    assert located.files() == [STDIN_PATH]
    assert located.folders() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_recognised_as_a_file_and_as_a_folder(tmp_path: Path, name: str) -> None:
    path = made(tmp_path, name)
    for named in (path, tmp_path):
        with locate_run(str(named)).opened() as run:
            assert run.reader == name
            assert [source.path for source in run.inputs] == [path]
            assert run.shards[0].main.fields("x").said
            assert run.shards[0].main.doubt() is None


@pytest.mark.parametrize("name", NAMES)
def test_an_attempt_is_named_by_its_place(tmp_path: Path, name: str) -> None:
    path = made(tmp_path, name)
    places = {"inspect": f"{path}: sample 1", "lm-eval": f"{path}:1", "openai-evals": f"{path}:3"}
    place = table_of_run(path).place(0)
    assert place.where == places.get(name, f"{path}: result 1")
    assert len(place.source.output_fields) > 2
    assert record_in(path).output


def test_the_readers_are_not_imported_before_they_are_needed() -> None:
    """What they need costs more to import than the command itself."""
    assert set(NAMES) < set(PRODUCERS)
    import subprocess

    code = "import sys, nemo_gym.rollout_compare.producers as p; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    package = "nemo_gym.rollout_compare.producers"
    assert f"{package}.inspect" in loaded
    assert not {f"{package}.{name}" for name in ("inspect.source", "lm_eval.source", "documents", "located")} & {
        *loaded
    }


def test_a_key_of_the_users_is_asked_of_samples(tmp_path: Path) -> None:
    assert found_in(write_samples(tmp_path, [doc(1, 0.5, target="x")]), key="target") == [("x", 0.5)]
