"""A message brought into the shape in which it is compared: without what the program around it adds."""

import re

from nemo_gym.rollout_compare.explain.triage.anonymous import anonymous
from nemo_gym.rollout_compare.explain.triage.causes import known_cause
from nemo_gym.rollout_compare.explain.triage.errors import missing_command, uncut, without_place
from nemo_gym.rollout_compare.text import safe_name

#: A signature is read in a list, so it has an end.
SIGNATURE_LIMIT = 160

_QUALIFIER = re.compile(r"\A(?:[A-Za-z_$][\w$]*+(?:\.|::|\\)|<locals>\.)++(?=[A-Z][\w$]*+(?: \[\w++\])?+(?::|$))")
_GENERAL = re.compile(r"\A(?:Uncaught |(?:Sorry|docker|Error|Exception|error|fatal|fatal error): ++)++(?=\S)")
_ERROR_CODE = re.compile(r"(?<=Error) \[ERR_\w++\]")
_ENDINGS = (
    re.compile(r" \[recovered.*$"),
    re.compile(r"(?<=\S) in [^\s:]++(?: on line |:)\d++$"),  # PHP
    re.compile(r" in Command line code on line \d++$"),
    re.compile(r" // (?:Object\.is|deep) equality$"),
    re.compile(r" for (?:#<|main:Object|an instance of ).*$"),  # Ruby
    re.compile(r" at \S++ line \d++\.?$"),  # Perl
    re.compile(r" at [^\s:]++:\d++:\d++\)?$"),
    re.compile(r"[.;]? ?Did you mean:? .*$"),  # Python
    re.compile(r"\. Perhaps you forgot .*$|\. Maybe you meant .*$"),
    re.compile(r" \((?:most recent call last|core dumped)\)$"),
    re.compile(r" \(from versions: .*$"),
    re.compile(r" ==> expected: .*$"),
    re.compile(r" \([^\s,()]++, line \d++\)$"),
    re.compile(
        r",? (?:repository does not exist or may require|we can conclude|so we can|Is the docker daemon running).*$"
    ),
    re.compile(r"\. Is the docker daemon running\?$"),
)
_RUBY = re.compile(r"(?P<message>.*) \((?P<name>[A-Z][\w:]*?(?:Error|Exception|Errno::\w++|Interrupt))\)$")
# What is left of a message that was data alone says nothing.
_WORDS = re.compile(r"(?<![<\w])[^\W\d_]{2,}+(?!>)")
_ANY_ERROR = {"RuntimeError", "StandardError"}
_LOCALS = re.compile(r"\b\w++\.<locals>\.")
_ASSERTION = re.compile(r"assert\b|AssertionError: assert\b|Failed asserting|expect\(")
_EXISTS = re.compile(r"assert (?:False|not True|None)\b.*\bwhere ")
_REQUIREMENT = re.compile(
    r"(?:No matching distribution found for|Could not find a version that satisfies the requirement) (?P<name>[\w.-]++)"
)


def shown(message: str) -> str | None:
    """The message as a signature: the words for its cause, or itself with all that varies taken out; None if blank."""
    message = uncut(safe_name(message)).replace("AssertionError: assert ", "assert ")
    command = missing_command(message)
    if command:
        return f"command not found: {command}"
    if found := _REQUIREMENT.search(message):
        return f"No matching distribution found for {found['name']}"
    compares = _ASSERTION.match(message) and not _EXISTS.match(message)
    known = None if compares else known_cause(message)
    text = anonymous(known or _bare(message)).replace("<<n>>", "<n>").strip()
    if not _WORDS.search(text):
        return None
    if len(text) <= SIGNATURE_LIMIT:
        return text or None
    cut = text[:SIGNATURE_LIMIT]
    return (cut.rpartition(" ")[0] or cut) + " \N{HORIZONTAL ELLIPSIS}"


def _bare(message: str) -> str:
    """The message without places, qualifiers and what a runtime adds at its end."""
    message = without_place(message)
    if found := _RUBY.match(message):
        message = found["message"] if found["name"] in _ANY_ERROR else f"{found['name']}: {found['message']}"
    for ending in _ENDINGS:
        message = ending.sub("", message)
    message = message.replace("java.lang.", "").replace("expected:<", "expected: <").replace("was:<", "was: <")
    message = _QUALIFIER.sub("", _GENERAL.sub("", message, count=1), count=1) if message[:1] else message
    return _LOCALS.sub("", _ERROR_CODE.sub("", message))
