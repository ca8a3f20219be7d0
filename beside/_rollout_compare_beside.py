"""Lets `nemo_gym` be nemo-gym's own package and hold `nemo_gym.rollout_compare` too, wherever the two are installed.

Two distributions share the name. Nemo-gym's folder has an `__init__.py`, this one's has none and counts only where
Python finds no other. An editable nemo-gym may be found by a finder that is asked after all folders of the path: this
folder would then hide it. And where it is found, Python looks for `nemo_gym.rollout_compare` inside it alone.

A path file beside this module installs the finder below whenever Python starts. It acts on one name and changes nothing
where nemo-gym is not installed.

It also lets an interrupt end this project's own commands without a traceback as soon as Python reads path files, long
before their own modules are loaded. No other program is touched.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_NAME = "nemo_gym"


class NemoGymFinder:
    """Finds nemo-gym's own package before any folder without an `__init__.py`, and adds this one's folder to it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Where `nemo_gym` is; None for every other name, and where nemo-gym is not installed."""
        if name != _NAME:
            return None
        for finder in sys.meta_path:
            ask = None if finder is NemoGymFinder else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = ask(name, path, target) if ask else None
            if spec is None or spec.origin is None or spec.submodule_search_locations is None:
                continue
            spec.submodule_search_locations += _ours(spec.submodule_search_locations)
            return spec
        return None


def _ours(known: list[str]) -> list[str]:
    """The folders on the path that hold `nemo_gym.rollout_compare`, those that are known aside."""
    folders = [os.path.abspath(os.path.join(folder, _NAME)) for folder in sys.path]
    held = [folder for folder in folders if os.path.isfile(os.path.join(folder, "rollout_compare", "__init__.py"))]
    return [folder for folder in dict.fromkeys(held) if folder not in known]


def _is_our_command(words: list[str]) -> bool:
    """Whether Python was started, by these words, for `gym dev compare`, `rollout-compare` or their module."""
    if words[1:3] == ["-m", "nemo_gym.rollout_compare"]:
        return True
    program = os.path.basename(words[1]) if len(words) > 1 else ""
    rest = words[3:] if words[2:3] == ["--json"] else words[2:]
    return program == "rollout-compare" or (program == "gym" and rest[:2] == ["dev", "compare"])


def _end(_number: int, _frame: object) -> None:
    os._exit(130)


def _end_on_interrupt() -> None:
    # The part of `signal` in C: the whole loads `enum`, and an interrupt may come meanwhile.
    import _signal  # type: ignore[import-not-found]  # no stubs

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def install() -> None:
    """Ask the finder first from now on; end our own commands quietly."""
    if _is_our_command(sys.orig_argv):
        _end_on_interrupt()
    if NemoGymFinder not in sys.meta_path:
        sys.meta_path.insert(0, NemoGymFinder)
