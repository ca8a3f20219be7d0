"""Whole JSON documents, and archives of them."""

from __future__ import annotations

import math
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.files.inputs import open_input
from nemo_gym.rollout_compare.producers import documents
from nemo_gym.rollout_compare.producers.documents import open_archive, parse_document, parse_list_or_object
from nemo_gym.rollout_compare.producers.scores import last_line, shown
from nemo_gym.rollout_compare.schema import CompareInputError


def test_what_only_the_plain_decoder_knows_is_read_too() -> None:
    (number, digits, text) = parse_document(b"[NaN, 1" + b"0" * 5000 + b', "\xff"]', list)
    assert math.isnan(number)
    assert digits == "1" + "0" * 5000
    assert text == "\ufffd"
    assert parse_document(b"\xef\xbb\xbf[1]", list) == [1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": [1', "invalid JSON (Expecting ',' delimiter: line 1 column 9); it is cut off"),
        (b'{"a": [}', "invalid JSON (Expecting value: line 1 column 8)"),
        (b"[1]", "unexpected JSON (Expected `object`, got `array`)"),
        (b"[" * 200_000, "invalid JSON (nested too deeply)"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(data: bytes, said: str) -> None:
    with pytest.raises(CompareInputError) as caught:
        parse_document(data, dict)
    assert str(caught.value) == said


def test_what_has_nothing_to_do_with_the_archive_is_not_blamed_on_it(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a", "x" * 1000)
    with open_input(path) as source, open_archive(source) as archive:
        assert "a" in archive
        assert "b" not in archive
        with pytest.raises(CompareInputError, match="entry b: "):
            archive.read("b")

        class Odd:
            compress_size = "?"

        archive._zipped.filelist[0] = Odd()
        with pytest.raises(TypeError):
            archive.read(0)


def test_an_archive_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a", "x")
    with open_input(path) as source:
        path.unlink()
        said = f"cannot read {path}: No such file or directory"
        with pytest.raises(CompareInputError, match=said), open_archive(source):
            pass


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\nb", r"'a\nb'"), ("x" * 100, "'" + "x" * 59 + "... (102 characters)"), ([1], "[1]")],
)
def test_a_value_is_shown_on_one_line(value: Any, text: str) -> None:
    assert shown(value) == text


def test_a_value_that_python_does_not_show_is_called_by_its_type() -> None:
    assert shown(10**5000) == "int value"


def test_the_last_line_of_an_error_is_what_is_said() -> None:
    assert last_line("Traceback\n  ValueError: x\n\n") == "ValueError: x"
    assert last_line(" \n") == "(blank)"
    assert last_line("x" * 500) == "x" * 120


@pytest.mark.parametrize("sure", [True, False])
def test_the_depth_is_measured_where_the_decoder_does_not_stop_at_it(
    monkeypatch: pytest.MonkeyPatch, sure: bool
) -> None:
    """Which it does depends on the Python; the answer does not."""
    if not sure:
        monkeypatch.setattr(documents, "shallow_only", lambda: nullcontext(False))
    shallow, deep = (b"[" * depth + b"]" * depth for depth in (500, 501))
    assert parse_document(shallow, list)
    assert parse_document(deep, list, 1)
    with pytest.raises(CompareInputError, match="nested too deeply"):
        parse_document(deep, list)


def test_a_document_that_is_neither_an_object_nor_a_list_is_refused() -> None:
    assert parse_list_or_object(b"[1]") == [1]
    with pytest.raises(CompareInputError, match="neither an object nor a list"):
        parse_list_or_object(b"3")
