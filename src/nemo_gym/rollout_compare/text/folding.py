"""Many names of tests said in few words, for a report."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

_PARAMETER = re.compile(r"(?P<test>[^\[]++)\[(?P<value>.*)\]$", re.DOTALL)


def folded(names: Sequence[str]) -> tuple[str, list[str]]:
    """The file that all names have in common, or "", and the names without it, parameters of one test together.

    >>> folded(["t.py::a[1]", "t.py::a[2]", "t.py::a[3]", "t.py::b"])
    ('t.py', ['a[1..3]', 'b'])
    """
    file = _common_file(names)
    rest = [name.removeprefix(f"{file}::") for name in names] if file else list(names)
    return file, list(_with_parameters_together(rest))


def _common_file(names: Sequence[str]) -> str:
    files = {name.partition("::")[0] if "::" in name else "" for name in names}
    return files.pop() if len(files) == 1 and len(names) > 1 else ""


def _with_parameters_together(names: Iterable[str]) -> Iterator[str]:
    for test, group in groupby(names, key=_test):
        some = list(group)
        if len(some) == 1 or test is None:
            yield from some
            continue
        values = [name[len(test) + 1 : -1] for name in some]
        yield f"{test}[{_range(values) or ', '.join(values)}]"


def _test(name: str) -> str | None:
    found = _PARAMETER.match(name)
    return found["test"] if found else None


def _range(values: Sequence[str]) -> str:
    """Whole numbers that follow each other, as `1..10`; "" if they are anything else."""
    if len(values) < 3 or not all(value.isdecimal() and len(value) < 10 for value in values):
        return ""
    numbers = [int(value) for value in values]
    return f"{values[0]}..{values[-1]}" if numbers == list(range(numbers[0], numbers[0] + len(numbers))) else ""
