"""The kinds of compression that inputs may have, by the endings of their names."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _zstd(data: bytes) -> bytes:
    """As the program of that name does: with a checksum, which this module leaves out unless it is asked for."""
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    compressed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return compressed


#: What compresses, by the ending; how well does not matter.
KINDS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": _gzip,
    ".zst": _zstd,
    ".bz2": bz2.compress,
    ".xz": partial(lzma.compress, preset=0),
}


def write_compressed(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON Lines, compressed as the path's ending says; the path again."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.write_bytes(KINDS[path.suffix](text.encode("utf-8")))
    return path
