"""The finder that lets both distributions share the name `nemo_gym`; every way to install is tried on the wheel."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import put

BESIDE = Path(__file__).parents[3] / "beside"

#: Finds a nemo-gym that lies on no path, and is asked after all others: as setuptools' finder does.
EDITABLE = """
import sys
from importlib.util import spec_from_file_location
class Editable:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return spec_from_file_location(name, "away/nemo_gym/__init__.py") if name == "nemo_gym" else None
sys.meta_path.append(Editable)
"""

BOTH = "from nemo_gym import ROOT; import nemo_gym.rollout_compare as ours; print(ROOT, ours.OURS)"


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours in `site`, nemo-gym in `away`."""
    monkeypatch.chdir(tmp_path)
    put("site/nemo_gym/rollout_compare/__init__.py", "OURS = 'ours'\n")
    put("away/nemo_gym/__init__.py", "ROOT = 'theirs'\n")


def said(*lines: str, path: str = "site", install: bool = True) -> str:
    """What a program prints whose Python has the finder and these folders on its path, and no others'."""
    begin = ["import sys", f"sys.path[:0] = {path.split()!r}", f"sys.path.append({str(BESIDE)!r})"]
    if install:
        begin.append("import _rollout_compare_beside; _rollout_compare_beside.install()")
    command = [sys.executable, "-I", "-S", "-c", "\n".join([*begin, *lines])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.splitlines()[-1]


def test_without_it_ours_hides_an_editable_nemo_gym_or_is_hidden() -> None:
    assert said(EDITABLE, BOTH, install=False).startswith("ImportError: cannot import name 'ROOT'")
    assert said(BOTH, path="site away", install=False).startswith("ModuleNotFoundError: No module named 'nemo_gym.roll")


def test_both_are_there_wherever_they_lie() -> None:
    assert said(EDITABLE, BOTH) == "theirs ours"
    for path in ("site away", "away site"):
        assert said(BOTH, path=path) == "theirs ours"


def test_both_are_there_where_they_lie_in_one_folder() -> None:
    put("site/nemo_gym/__init__.py", "ROOT = 'theirs'\n")
    assert said(BOTH, "import nemo_gym; print(len(nemo_gym.__path__))").split() == ["theirs", "ours", "1"]


def test_alone_nemo_gym_stays_a_namespace() -> None:
    assert said("import nemo_gym, nemo_gym.rollout_compare; print(nemo_gym.__file__)") == "None"
    assert said("import nemo_gym", path="nowhere") == "ModuleNotFoundError: No module named 'nemo_gym'"


def test_a_folder_that_does_not_hold_ours_is_not_added() -> None:
    put("other/nemo_gym/thing.py", "")
    path = "site away other"
    assert said("import nemo_gym; print(*nemo_gym.__path__)", path=path).split()[1:] == [
        str(Path("site/nemo_gym").absolute())
    ]


def test_the_path_file_installs_it_once_and_for_one_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("_rollout_compare_beside", BESIDE / "_rollout_compare_beside.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "_rollout_compare_beside", module)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for _ in range(2):
        exec((BESIDE / "_rollout_compare_beside.pth").read_text("utf-8"))  # noqa: S102  # as Python does with it
    finder = module.NemoGymFinder
    assert sys.meta_path.index(finder) == 0
    assert sys.meta_path.count(finder) == 1
    assert [finder.find_spec(name) for name in ("json", "nemo_gym.rollout_compare", "nemo", "")] == [None] * 4


#: A program of these words, interrupted when its path file has been read.
INTERRUPTED = """
import _signal, os, sys
sys.orig_argv = ["python", *sys.argv[1:]]
{before}
import _rollout_compare_beside; _rollout_compare_beside.install()
print("signal" in sys.modules, flush=True)
try:
    os.kill(os.getpid(), _signal.SIGINT)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""

OURS = [
    "/bin/gym dev compare a b",
    "/bin/gym --json dev compare a b",
    "/x/rollout-compare",
    "-m nemo_gym.rollout_compare",
]
OTHERS = ["/bin/gym eval run", "/bin/gym", "-m nemo_gym.other", "compare.py gym dev compare", ""]


def interrupted(words: str, before: str = "") -> tuple[int, str, str]:
    """How a program ends that is started by these words: its status and what it prints."""
    script = f"import sys; sys.path.append({str(BESIDE)!r})\n{INTERRUPTED.format(before=before)}"
    command = [sys.executable, "-I", "-S", "-c", script, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", OURS)
def test_an_interrupt_ends_our_commands_quietly_before_anything_else_is_loaded(words: str) -> None:
    assert interrupted(words) == (130, "False\n", "")


@pytest.mark.parametrize("words", OTHERS)
def test_an_interrupt_of_another_program_is_as_it_was(words: str) -> None:
    assert interrupted(words) == (0, "False\nKeyboardInterrupt\n", "")


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    assert interrupted(OURS[0], "_signal.signal(_signal.SIGINT, _signal.SIG_IGN)") == (0, "False\n", "")


def test_the_path_file_is_read_before_those_of_most_packages() -> None:
    (path_file,) = BESIDE.glob("*.pth")
    assert path_file.name < min("a1_coverage.pth", "distutils-precedence.pth")
