"""Text from other machines, made plain and safe.

* `terminal`: text made safe to print
* `plain`: text made plain for readers and signatures
* `folding`: many names of tests in few words
* `words`: what a row says against its own result, in words
* `sizes`: numbers of bytes in words, and back
"""

from nemo_gym.rollout_compare.text.folding import folded
from nemo_gym.rollout_compare.text.plain import json_object, lines, plain_lines, safe_name, states_left, unboxed
from nemo_gym.rollout_compare.text.sizes import MOST_LINE_BYTES, bytes_of, size_text
from nemo_gym.rollout_compare.text.terminal import encodable, json_line, one_line, several_lines, without_escapes
from nemo_gym.rollout_compare.text.words import MEASURES, counted, mark_text, mask_text, masked_text

__all__ = [
    "MEASURES",
    "MOST_LINE_BYTES",
    "bytes_of",
    "counted",
    "encodable",
    "folded",
    "json_line",
    "json_object",
    "lines",
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
