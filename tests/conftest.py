"""What holds for all tests: how examples are drawn, what started programs find, what `make quick` leaves out."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Examples are made up anew at each run by hand, and are the same ones at each run of CI. Ten times as many:
# `make test ARGS='--hypothesis-profile thorough tests/property'`.
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", max_examples=1000)
settings.register_profile("quick", max_examples=5)
settings.register_profile("few", settings.get_profile("ci"), max_examples=15)  # on the second Python
if os.environ.get("CI"):
    settings.load_profile("ci")

# A program that was started to run on without its terminal (`nohup`) hands on to others that signals are ignored.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)

# Tests start hundreds of programs: each module is compiled once for all of them, as where the package is installed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: What starts programs, by the names under which test files use it.
STARTS_PROGRAMS = {"subprocess", "alone", "alone_command", "run_by_shell"}


@pytest.fixture(autouse=True)
def process_as_it_was() -> Iterator[None]:
    """What a test does to the handling of signals, or to the search for garbage, ends with it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler and handler is not None:
            signal.signal(number, handler)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what takes long; few examples for each property")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes long by its nature; left out by --quick")
    if config.getoption("--quick"):
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Importing scipy and statsmodels takes as long as hundreds of tests."""
    if config.getoption("--quick") and collection_path.name.startswith("test_"):
        return "scipy" in collection_path.read_text("utf-8") or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        left_out = [item for item in items if item.get_closest_marker("slow") or starts_programs(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def starts_programs(item: pytest.Item) -> bool:
    """Whether a test starts programs, itself or by a function of its file."""
    function = getattr(item, "function", None)
    hypothesis: Any = getattr(function, "hypothesis", None)
    return not STARTS_PROGRAMS.isdisjoint(names_used(hypothesis.inner_test if hypothesis else function, set()))


def names_used(function: object, seen: set[object]) -> Iterator[str]:
    """The names that a function uses, and those that other functions of its file use for it."""
    if isinstance(function, FunctionType) and function not in seen:
        seen.add(function)
        for name in names_in(function.__code__):
            yield name
            other = function.__globals__.get(name)
            if getattr(other, "__module__", None) == function.__module__:
                yield from names_used(other, seen)


def names_in(code: CodeType) -> Iterator[str]:
    """The global names and attributes in some code, functions within it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
