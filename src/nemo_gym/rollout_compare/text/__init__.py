"""Text from other machines, made plain and safe.

* `terminal`: text made safe to print
* `plain`: text made plain for readers and signatures
* `folding`: many names of tests in few words
* `words`: what a row says against its own result, in words
* `sizes`: numbers of bytes in words, and back

The command line's help needs the others: `plain` and `folding` are imported when they are first asked for.
"""

from typing import TYPE_CHECKING

from nemo_gym.rollout_compare.text.sizes import MB, MOST_LINE_BYTES, PAGE_MB, bytes_of, size_text
from nemo_gym.rollout_compare.text.terminal import encodable, json_line, one_line, several_lines, without_escapes
from nemo_gym.rollout_compare.text.words import (
    MEASURES,
    close_to,
    counted,
    did_you_mean,
    first_of,
    many,
    mark_text,
    mask_text,
    masked_text,
)

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.text.folding import folded
    from nemo_gym.rollout_compare.text.plain import (
        PlainText,
        json_object,
        lines,
        plain_lines,
        safe_name,
        states_left,
        unboxed,
    )

__all__ = [
    "MB",
    "MEASURES",
    "MOST_LINE_BYTES",
    "PAGE_MB",
    "PlainText",
    "bytes_of",
    "close_to",
    "counted",
    "did_you_mean",
    "encodable",
    "first_of",
    "folded",
    "json_line",
    "json_object",
    "lines",
    "many",
    "mark_text",
    "mask_text",
    "masked_text",
    "one_line",
    "plain_lines",
    "safe_name",
    "several_lines",
    "size_text",
    "states_left",
    "unboxed",
    "without_escapes",
]

#: The modules that hold these names.
_HOMES = {
    "folding": ("folded",),
    "plain": ("PlainText", "json_object", "lines", "plain_lines", "safe_name", "states_left", "unboxed"),
}


def __getattr__(name: str) -> object:
    """A name of a module that is imported late."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
