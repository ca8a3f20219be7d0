"""Signatures that are a mere form: an assertion that says what was compared, and not what went wrong."""

import re

_PLACEHOLDER = re.compile(r"<[a-z]+>")
_WORD = re.compile(r"[^\W\d_]+")

#: What an assertion says of any values. Whatever else it says is about this one failure.
_SAYS_NOTHING = re.compile(
    r"assert(?:ion|ing|ionerror|ionfailederror)?|failed|expect(?:ed)?|received|actual|got|want|was|were|but|is|are|be"
    r"|to|that|not|in|and|or|of|the|values?|equals?|strictly|identical|(?:deep)?strictequal|to(?:be|equal|strictequal)"
    r"|left|right|true|false|none|null|equality|these|structures|begin|differing|at",
    re.IGNORECASE,
)


def is_mere_form(signature: str) -> bool:
    """Whether a signature is only the form of a comparison, such as `assert <n> == <n>`.

    Flips that share it may have nothing else in common.
    """
    words = _WORD.findall(_PLACEHOLDER.sub(" ", signature))
    return all(map(_SAYS_NOTHING.fullmatch, words))
