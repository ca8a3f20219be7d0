"""Whole JSON documents and archives of them, read with a bound."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

import msgspec

from nemo_gym.rollout_compare.files import Input, cannot_read, reading
from nemo_gym.rollout_compare.producers.depth import TOO_DEEP, is_too_deep, room_for_rows, shallow_only
from nemo_gym.rollout_compare.producers.json_rows import integer
from nemo_gym.rollout_compare.schema import CompareInputError

T = TypeVar("T")

#: The most bytes of one document or of one entry of an archive.
MOST_BYTES = 1 << 30

#: An entry of an archive that is larger than this must not be more than so many times as large as what is stored.
_LARGE_BYTES, _MOST_TIMES = 64 << 20, 1000
_CHUNK_BYTES = 1 << 20

#: The archive module that knows Zstandard, method 93.
_ZIPFILE = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"

#: The first bytes of a zip archive.
ZIP_MAGIC = b"PK"


def parse_document(data: bytes, kind: type[T], around: int = 0) -> T:
    """A JSON document as what it is to be; `NaN` and `Infinity` are numbers, and bytes that are not UTF-8 are U+FFFD.

    Args:
        data: The document.
        kind: What it is to be.
        around: How many of its levels are around its rows, of which none may be deeper than a row may be.

    Raises:
        CompareInputError: It is not JSON, or not such a document; the text does not say where it is.
    """
    try:
        with shallow_only() as sure:
            if sure or not is_too_deep(data, around):
                return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass  # the plain decoder says what is wrong, if anything is
    if is_too_deep(data, around):
        raise CompareInputError(f"invalid JSON ({TOO_DEEP})")
    try:
        with room_for_rows():
            return converted(json.loads(data.decode("utf-8-sig", "replace"), parse_int=integer), kind)
    except json.JSONDecodeError as error:
        what = f"{error.msg}: line {error.lineno} column {error.colno}"
        is_cut = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        cut = "; it is cut off" if is_cut else ""
        raise CompareInputError(f"invalid JSON ({what}){cut}") from None
    except msgspec.ValidationError as error:
        raise CompareInputError(f"unexpected JSON ({error})") from None


def converted(value: Any, kind: type[T]) -> T:
    """A JSON value as what it is to be; half a pair of surrogates, which is no text, becomes a question mark.

    Raises:
        ValidationError: It is not that.
    """
    try:
        return msgspec.convert(value, kind)
    except UnicodeEncodeError:
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.convert(json.loads(whole, parse_int=integer), kind)


def parse_list_or_object(data: bytes, around: int = 0) -> dict[str, Any] | list[Any]:
    """A JSON document that is a list or an object, with so many levels around its rows.

    Raises:
        CompareInputError: It is not JSON, or is neither.
    """
    found = parse_document(data, object, around)
    if not isinstance(found, dict | list):
        raise CompareInputError("unexpected JSON (neither an object nor a list)")
    return found


def read_document(source: Input) -> bytes:
    """A whole file, decompressed.

    Raises:
        CompareInputError: It cannot be read, or is larger than a document may be.
    """
    with reading(source) as (file, _):
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise CompareInputError(f"cannot read {source.path}: a JSON document of more than {MOST_BYTES:,} bytes")
    return data


class Archive:
    """An open zip archive whose entries are read with a bound."""

    def __init__(self, source: Input, zipped: Any) -> None:
        """Of what `zipfile` opened."""
        self._source, self._zipped = source, zipped
        self.names: list[str] = [info.filename for info in zipped.infolist()]

    def __contains__(self, name: str) -> bool:
        """Whether there is an entry of that name."""
        return name in self._zipped.NameToInfo

    def read(self, name: str | int) -> bytes:
        """An entry's bytes, by its name (the last of that name) or its place in the archive.

        Raises:
            CompareInputError: It cannot be read, or is larger than an entry may be.
        """
        with _faults(self._source, f"entry {self.names[name] if isinstance(name, int) else name}: "):
            info = self._zipped.infolist()[name] if isinstance(name, int) else self._zipped.getinfo(name)
            limit = max(_LARGE_BYTES, min(MOST_BYTES, _MOST_TIMES * info.compress_size))
            chunks, size = [], 0
            with self._zipped.open(info) as entry:
                while chunk := entry.read(_CHUNK_BYTES):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > limit:
                        raise ValueError(f"it unpacks to more than {limit:,} bytes")
        return b"".join(chunks)

    def document(self, name: str | int, kind: type[T], around: int = 0) -> T:
        """An entry as a JSON document, with so many levels around its rows.

        Raises:
            CompareInputError: It cannot be read, or is not such a document.
        """
        data = self.read(name)
        with _faults(self._source, f"entry {self.names[name] if isinstance(name, int) else name}: "):
            return parse_document(data, kind, around)


@contextmanager
def open_archive(source: Input) -> Iterator[Archive]:
    """Open a zip archive.

    Raises:
        CompareInputError: It is not one, or is broken.
    """
    with _faults(source, ""):
        zipped = import_module(_ZIPFILE).ZipFile(source.file)
    with zipped:
        yield Archive(source, zipped)


@contextmanager
def _faults(source: Input, what: str) -> Iterator[None]:
    """Say of whatever an archive's module raises which file it is about, and which entry."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "BadZipFile" and not what:
            said: Exception = ValueError(f"the zip archive is cut off or broken ({error})")
        elif isinstance(error, RuntimeError) and "encrypted" in str(error):
            said = ValueError(f"{what}it is encrypted")
        elif isinstance(error, (OSError, EOFError, zlib.error, RuntimeError, ValueError, KeyError)) or type(
            error
        ).__name__ in ("BadZipFile", "ZstdError", "LZMAError", "error"):
            said = ValueError(f"{what}{_reason(error)}")
        else:
            raise
        raise cannot_read(source.path, said) from None


def _reason(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return f"its compression is not known ({error})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
