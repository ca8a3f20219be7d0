"""What streams of TAP and Perl's Test::More say of a failed test, several lines each.

not ok 2 - rounds
# expected 3 rows, got 2             <- or as YAML: `error: no rate`, `name: RangeError`

#   Failed test 'rounds'
#   at t/money.t line 3.
#          got: '3'
#     expected: '4'
"""

import re
from itertools import takewhile

from nemo_gym.rollout_compare.explain.triage.cursor import Cursor
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine, Weight, is_exception
from nemo_gym.rollout_compare.explain.triage.noise import is_noise

NOT_OK = re.compile(r"(?P<indent> *+)not ok\b(?: \d++)?+(?!.*# (?:TODO|SKIP))(?P<rest>.*)")
TEST_MORE = re.compile(r" *+# {1,3}Failed (?P<todo>\(TODO\) )?+test\b(?P<rest>.*)")
_PLACE = re.compile(r"at \S++ line \d++\.$")
_MOST_LINES = 16


def not_ok(lines: Cursor, begun: re.Match[str]) -> ErrorLine:
    """TAP's own explanation, in comments or YAML or as mocha has it, else the test's name."""
    previous = ""
    for line in [*lines.following(_MOST_LINES), ""]:
        text = line.strip()
        if previous.startswith(("ok ", "not ok ")):
            break
        start = next((start for start in ("# ", "error: ", "message: ") if previous.startswith(start)), "")
        said = previous.removeprefix(start).strip()
        said = said if said.startswith("got: ") else said.strip("'\"")
        said = text if said in {"|-", "|", ">-"} else said
        if start and not is_noise(said) and not said.startswith(("at ", "Failed", "Subtest: ")):
            return ErrorLine(Weight.OWN, _yaml_name(lines) + (_compared(said, text.lstrip("# ")) or said))
        previous = text
    thrown = _thrown(lines, len(begun["indent"]))
    return ErrorLine(Weight.OWN, thrown) if thrown else ErrorLine(Weight.VAGUE, f"not ok{begun['rest']}")


def _thrown(lines: Cursor, indent: int) -> str:
    """The first exception that stands further right, with its values where it ends in a colon."""
    inner = takewhile(lambda line: len(line) - len(line.lstrip()) > indent, lines.following(_MOST_LINES))
    block = [*map(str.strip, inner), ""]
    at = next((at for at, text in enumerate(block) if is_exception(text)), len(block) - 1)
    return f"{block[at]} {block[at + 1]}".strip() if block[at].endswith(":") else block[at]


def _compared(first: str, second: str = "") -> str:
    """`got: '3' expected: '4'`, which stands on two lines; "" if it is something else."""
    return f"{first} {second}" if first.startswith("got: ") and second.startswith("expected: ") else ""


def _yaml_name(lines: Cursor) -> str:
    """The exception's name, which `node --test` tells after its message."""
    for line in lines.following(_MOST_LINES):
        text = line.strip()
        if text.startswith("name: "):
            name = text.removeprefix("name: ").strip("'")
            return f"{name}: " if is_exception(name) else ""
        if text == "...":
            break
    return ""


def test_more(lines: Cursor, begun: re.Match[str]) -> ErrorLine | None:
    """What Test::More compared, else the test's name; None for a test that is still to do."""
    said: list[str] = []
    while (text := lines.peek().strip()).startswith("# ") and not TEST_MORE.match(text):
        said.append(lines.next_text().lstrip("# "))
    if begun["todo"]:
        return None
    said = [line for line in said if not _PLACE.match(line) and not is_noise(line)]
    if said:
        return ErrorLine(Weight.OWN, _compared(*said[:2]) or said[0])
    name = "" if begun["rest"].startswith(" at ") else begun["rest"].strip(" '")
    return ErrorLine(Weight.VAGUE, f"not ok - {name}" if name else "")
