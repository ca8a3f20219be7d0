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
from nemo_gym.rollout_compare.files.lines import (
    BOM,
    Block,
    Line,
    LineCount,
    LongLine,
    Piece,
    iter_blocks,
    iter_lines,
    line_at,
    pieces_of,
)
from nemo_gym.rollout_compare.files.locate import Layout, Located, locate, would_be_read, would_match
from nemo_gym.rollout_compare.files.signals import end_at_once, end_quietly, held_back, nothing_to_undo, undone_at_end

__all__ = [
    "BOM",
    "COMPRESSED_ENDINGS",
    "STDIN",
    "STDIN_PATH",
    "Block",
    "Input",
    "Layout",
    "Line",
    "LineCount",
    "Located",
    "LongLine",
    "Piece",
    "cannot_read",
    "check_unchanged",
    "end_at_once",
    "end_quietly",
    "gone",
    "held_back",
    "iter_blocks",
    "iter_lines",
    "line_at",
    "locate",
    "nothing_to_undo",
    "open_input",
    "pieces_of",
    "reading",
    "undone_at_end",
    "would_be_read",
    "would_match",
]
