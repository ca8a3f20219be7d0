"""The report's lines on where each run's rows are from."""

from __future__ import annotations

from time import gmtime, strftime

from nemo_gym.rollout_compare.report.terminal.words import label
from nemo_gym.rollout_compare.schema import RunSource
from nemo_gym.rollout_compare.text import counted

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def source_text(source: RunSource) -> str:
    """The files of a run, what read them, their size, and when the newest was changed, in UTC."""
    first, *others = source.files
    more = f" and {counted(len(others), 'more file')}" if others else ""
    told = [source.reader, size_text(sum(file.size for file in source.files))]
    changed = [file.modified for file in source.files if file.modified is not None]
    if changed:
        told.append(strftime("%Y-%m-%d %H:%M UTC", gmtime(max(changed))))
    return f"{label(first.path)}{more} ({', '.join(told)})"


def size_text(size: int) -> str:
    """A number of bytes, to one decimal in the largest unit of which there is one."""
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{counted(size, 'byte')}" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"
