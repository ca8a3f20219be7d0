"""Signatures that are a mere form: an assertion that says what was compared, and not what went wrong."""

import re

_PLACEHOLDER = re.compile(r"<[a-z]+>")
_WORD = re.compile(r"[^\W\d_]+")

#: What an assertion says of any values. Whatever else it says is about this one failure.
_SAYS_NOTHING = frozenset(
    "assert assertion assertionerror assertionfailederror asserting failed expect expected received actual got want was "
    "were but is are be to that not in and or of the value values equal equals strictly identical strictequal "
    "deepstrictequal tobe toequal tostrictequal left right true false none null".split()
)


def is_mere_form(signature: str) -> bool:
    """Whether a signature is only the form of a comparison, such as `assert <n> == <n>`: flips that share it may have
    nothing else in common.
    """
    words = _WORD.findall(_PLACEHOLDER.sub(" ", signature))
    return all(word.lower() in _SAYS_NOTHING for word in words)
