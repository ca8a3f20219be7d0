"""An error's text without what varies from task to task and from machine to machine: paths, numbers, ids, times.

Words stay, and so do quoted words: `No module named 'numpy'` is another error than `No module named 'torch'`. Making a
text anonymous twice changes nothing more. `docs/signatures.md` shows it by examples.
"""

import re

# One pass over the text; of the alternatives that fit at a place, the first counts. All repetitions are possessive or
# bounded, and none can begin inside what another place has already tried: the cost grows with the text's length alone.
# What may not be next to letters and digits may not be next to `<n>` either, which stood for some: so twice is once.
_VARYING = re.compile(
    r"""
      (?P<code>     (?<![\w>])(?i:(?:exit\ code|exit\ status|exited\ with|status\ code|status|http|errno|signal)
                    (?:\ code|\ status)?)[ :=]{1,2}\d{1,3}(?![\w<.]))
    | (?P<quoted>   (?<![\w>])[bru]?'[^'\n]*+'(?![\w<])
                  | (?:(?<![\w>])[bru])?"[^"\n]*+" | \u2018[^\u2018\u2019\n]*+\u2019 )
    | (?P<url>      (?<![\w>])[a-z][a-z0-9+]{1,9}+://[^\s'"<>()\[\]]++ )
    | (?P<id>       (?<![\w>-])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![\w<]) )
    | (?P<hex>      (?<![\w>])0[xX][0-9A-Fa-f]++ )
    | (?P<time>     (?<![\w>.])\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?)?
                    (?:Z|\ ?[+-]\d\d:?\d\d)?(?![\w<])
                  | (?<![\w>.:])\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?![\w<:])
                  | (?<![\w>.])(?:\d++(?:\.\d++)?+(?:h|ms|us|ns|\u00b5s|m|s))++(?![\w<]) )
    | (?P<addr>     (?<![\w>.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w<.]) )
    | (?P<path>     (?<![\w<>/.~-])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s'"`:;,()\[\]{}<>|]++(?::\d++)*+
                  | (?<![\w<>/.+@~-])[\w.+@-]++(?:/[\w.+@-]++)++(?::\d++)*+ )
    | (?P<tmp>      (?<![\w>])tmp(?:[a-z0-9_]{8}|\.[A-Za-z0-9]{6,12}+)(?![\w<]) )
    | (?P<number>   (?<![\w>.,])(?:(?<![)>\]])[-+])?\d++(?:[.,]\d++)*+(?:[eE][-+]?\d++)?+(?![\w<]) )
    | (?P<word>     [A-Za-z0-9]++ )
    """,
    re.VERBOSE,
)

# What an assertion compares is data, so there quoted words vary as well.
_ASSERTION = re.compile(r"(?<![\w>])assert(?![\w<])|AssertionError|[Aa]ssertion ")

# "<n>, <n>, <n>": how many values a list has says no more than the values do.
_SAME_AGAIN = re.compile(r"(<[a-z]+>|'<value>')(?:, (?:\1|\.\.\.))+")

_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|in)/")

# E0308, TS2304, C2065: an error's own number, which is a word of its language.
_CODE = re.compile(r"[A-Z]{1,8}\d{3,5}$")

_EXTENSION = re.compile(r"\.[A-Za-z]")

_DIGITS = re.compile(r"\d+")

_QUOTED_WORD = re.compile(r"[^\s\[\]{}'\"]+$")


def anonymous(text: str) -> str:
    """The text with each varying part replaced by what it is: `<path>`, `<n>`, `<hex>`, `<id>`, `<time>`, ..."""
    keep_quoted = not _ASSERTION.search(text)
    text = " ".join(text.split()).replace("AssertionError: assert ", "assert ")
    text = _VARYING.sub(lambda found: _replacement(found, keep_quoted=keep_quoted), text)
    return _SAME_AGAIN.sub(r"\1", text)


def _replacement(found: re.Match[str], *, keep_quoted: bool) -> str:
    kind, text = found.lastgroup, found[0]
    if kind == "quoted":
        return _quoted(text, keep_word=keep_quoted)
    if kind == "path":
        return _path(text)
    if kind == "word":
        return _word(text)
    return {"code": text, "number": "<n>"}.get(kind or "", f"<{kind}>")


def _quoted(text: str, *, keep_word: bool) -> str:
    """A quoted word stays, in plain quotes and with what varies in it replaced; a quoted sentence is a value."""
    inner = text.lstrip("bru")[1:-1]
    if inner[:1] == "/" or inner[1:3] in {":\\", ":/"}:
        return "'<path>'"
    inner = _VARYING.sub(lambda found: _replacement(found, keep_quoted=True), inner)
    return f"'{inner}'" if keep_word and _QUOTED_WORD.match(inner) else "'<value>'"


def _path(text: str) -> str:
    """`a/b/c` and `a/b.c` are paths; `and/or`, `example.com/lib` and `@scope/lib` are names."""
    first, _, rest = text.partition("/")
    is_path = "/" in rest or _EXTENSION.search(rest) or first in {"", ".", "..", "~"} or text[1:2] == ":"
    return "<path>" if is_path and not _DOMAIN.match(text) else text


def _word(text: str) -> str:
    digits = sum(map(str.isdigit, text))
    if digits == 0 or _CODE.match(text):
        return text
    if digits < len(text):
        if len(text) >= 7 and not text.lower().strip("0123456789abcdef"):
            return "<hex>"
        if len(text) >= 12 and digits >= 3:
            return "<id>"
    return _DIGITS.sub("<n>", text)
