"""The failed tests that mocha lists at its end, whichever reporter is at work. Some (dot, min) name no others.

...!,!

3 passing (39ms)
2 failing

1) money                        <- suites, each further right, then the title and a colon
     rounding
       rounds half up:
    AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
2) stands alone:
"""

import re
from collections.abc import Iterator

from nemo_gym.rollout_compare.text import lines

_FAILING = re.compile(r" {0,9}\d{1,9}+ failing$")
_NUMBERED = re.compile(r"( {1,9})[1-9]\d{0,8}+\) (\S.*)")
_MOST_TITLES = 20


def failed_titles(text: str) -> Iterator[list[str]]:
    """The suites and the title of each."""
    if " failing" not in text:
        return
    listed, titles, indent = False, list[str](), 0
    for line in lines(text):
        if not listed:
            listed = _FAILING.match(line) is not None
            continue
        depth = len(line) - len(line.lstrip())
        found = _NUMBERED.match(line)
        if found:
            titles = [found[2]]
        elif titles and depth > indent and len(titles) < _MOST_TITLES:
            titles.append(line.strip())
        else:
            titles = []
        indent = depth
        if titles and titles[-1].endswith(":"):
            yield [*titles[:-1], titles[-1].removesuffix(":")]
            titles = []
