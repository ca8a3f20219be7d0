"""What the user named to files, and files to lines.

* `locate`: the files of a run: one file, a folder, a pattern of shards, standard input
* `inputs`: the only place that opens inputs, compressed or not
* `lines`: pieces of a file, and the lines in them
* `signals`: how a signal ends the program and leaves nothing behind
"""

from nemo_gym.rollout_compare.files.inputs import (
    COMPRESSED_ENDINGS,
    STDIN,
    STDIN_PATH,
    Input,
    cannot_read,
    check_unchanged,
    gone,
    open_input,
    reading,
)
from nemo_gym.rollout_compare.files.lines import BOM, Block, Line, LineCount, Piece, iter_blocks, iter_lines, pieces_of
from nemo_gym.rollout_compare.files.locate import Layout, Located, locate
from nemo_gym.rollout_compare.files.signals import ENDING, held_back, tidy_ending

__all__ = [
    "BOM",
    "COMPRESSED_ENDINGS",
    "ENDING",
    "STDIN",
    "STDIN_PATH",
    "Block",
    "Input",
    "Layout",
    "Line",
    "LineCount",
    "Located",
    "Piece",
    "cannot_read",
    "check_unchanged",
    "gone",
    "held_back",
    "iter_blocks",
    "iter_lines",
    "locate",
    "open_input",
    "pieces_of",
    "reading",
    "tidy_ending",
]
