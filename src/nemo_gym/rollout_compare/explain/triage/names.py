"""One test under two names: run from another folder, or reported in another format.

../tests/test_a.py::test_x        tests/test_a.py::test_x         another folder
test_a.py::TestT::test_x          tests.test_a.TestT.test_x       CTRF and JUnit XML
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

# What stands between the parts of a name: folders, classes, suites. An extension is no part of its own.
_BETWEEN = re.compile(r"::|/|\\| > | \u203a |#|\.(?:py|[cm]?[jt]sx?|rb|go|rs|php|java|t)(?=$|::|/|#| )|\.")

#: Longer endings are compared by so many parts.
_MOST_PARTS = 12


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a test's name. A parameter, in brackets, belongs to the last one, whatever is in it."""
    bracket = name.find("[")
    head, parameter = (name, "") if bracket < 0 else (name[:bracket], name[bracket:])
    parts = [part.strip() for part in _BETWEEN.split(head) if part.strip()]
    return (*parts[:-1], f"{parts[-1]}{parameter}") if parts else (parameter,)


def same_names(old: Iterable[str], new: Iterable[str]) -> Mapping[str, str] | None:
    """For each new name the old name that ends alike, where the longest common ending of parts is one to one.

    None if the endings do not tell which name is whose.
    """
    rest_old, rest_new = ({name: parts_of(name)[-_MOST_PARTS:] for name in names} for names in (old, new))
    matched: dict[str, str] = {}
    for length in range(_MOST_PARTS, 0, -1):
        ends_old, ends_new = _by_ending(rest_old, length), _by_ending(rest_new, length)
        for ending in ends_old.keys() & ends_new.keys():
            ones, others = ends_old[ending], ends_new[ending]
            if len(ones) > 1 or len(others) > 1:
                return None
            matched[others[0]] = ones[0]
            del rest_old[ones[0]], rest_new[others[0]]
    return matched


def _by_ending(names: Mapping[str, tuple[str, ...]], length: int) -> Mapping[tuple[str, ...], list[str]]:
    found: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, parts in names.items():
        if len(parts) >= length:
            found[parts[-length:]].append(name)
    return found
