"""Causes that every program words in its own way: one cause, one signature.

Each row of the tables is a pattern and the words that stand for what it finds. No pattern tries a text twice:
repetitions are possessive (`*+`) or bounded, or end the pattern.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from nemo_gym.rollout_compare.explain.triage.noise import REMEMBERED

_Words = str | Callable[[re.Match[str]], str]

OUT_OF_MEMORY = "out of memory or killed"
TIMED_OUT = "timed out"
SEGMENTATION_FAULT = "segmentation fault (SIGSEGV)"
ABORTED = "aborted (SIGABRT)"
_NO_HOST = "host name not resolved"
_REFUSED = "connection refused"

# What the operating system says: its words, and the name that runtimes give to the error.
_SYSTEM = {
    "no space left on device": "ENOSPC",
    "permission denied": "EACCES",
    "no such file or directory": "ENOENT",
    _REFUSED: "ECONNREFUSED",
    "connection timed out": "ETIMEDOUT",
    "connection reset": "ECONNRESET",
    "address already in use": "EADDRINUSE",
    "too many open files": "EMFILE",
    "is a directory": "EISDIR",
    "not a directory": "ENOTDIR",
    "read-only file system": "EROFS",
    "disk quota exceeded": "EDQUOT",
    "exec format error": "ENOEXEC",
    "broken pipe": "EPIPE",
    "argument list too long": "E2BIG",
    "operation not permitted": "EPERM",
    "network is unreachable": "ENETUNREACH",
    "no route to host": "EHOSTUNREACH",
    "input/output error": "EIO",
    "directory not empty": "ENOTEMPTY",
    "text file busy": "ETXTBSY",
}
_NAMED = {name: words for words, name in _SYSTEM.items()}
_SYSTEM_WORDS = re.compile("|".join(map(re.escape, _SYSTEM)))
_SYSTEM_NAMES = re.compile(r"(?<![\w])(?:" + "|".join(_NAMED) + r")(?![\w])")

# What exit codes say that a shell gives for a signal, and `timeout` for its own doing.
_EXIT_CODES = {
    124: TIMED_OUT,
    132: "illegal instruction (SIGILL)",
    134: ABORTED,
    135: "bus error (SIGBUS)",
    136: "floating point exception (SIGFPE)",
    137: OUT_OF_MEMORY,
    139: SEGMENTATION_FAULT,
    143: "terminated (SIGTERM)",
}
_SIGNALS = {
    "SIGKILL": OUT_OF_MEMORY,
    "signal: killed": OUT_OF_MEMORY,
    "SIGSEGV": SEGMENTATION_FAULT,
    "SIGABRT": ABORTED,
    "SIGFPE": _EXIT_CODES[136],
    "SIGILL": _EXIT_CODES[132],
    "SIGBUS": _EXIT_CODES[135],
    "SIGTERM": _EXIT_CODES[143],
}
_EXIT = re.compile(
    r"(?i:\b(?:exit(?:ed)?|status|code|returned|rc)\b[^\d\n]{0,24}|\*\*\* \[[^\]\n]{0,200}\] error )"
    r"(?P<code>1[234]\d)(?![\w.])"
)
_DIED = re.compile(r"(?<!\w)(?P<signal>SIG(?:KILL|SEGV|ABRT|FPE|ILL|BUS|TERM)|signal: killed)(?!\w)")
_SHELL_DIED = re.compile(
    r"(?:[^\s:]*+: line \d++: *+)?+(?:\d++ +)?+(?:make: \*\*\* \[[^\]]{0,200}\] +)?+"
    r"(?P<what>Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Terminated)"
    r"(?: \(core dumped\))?+(?=$|: \d| {2,})"
)
_DEATHS = {
    "Killed": OUT_OF_MEMORY,
    "Segmentation fault": SEGMENTATION_FAULT,
    "Aborted": ABORTED,
    "Bus error": _EXIT_CODES[135],
    "Illegal instruction": _EXIT_CODES[132],
    "Floating point exception": _EXIT_CODES[136],
    "Terminated": _EXIT_CODES[143],
}


def _quoted(prefix: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{prefix} '{found['name']}'"


_STATUS_WORDS = (
    "Bad Request|Unauthorized|Forbidden|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone|Too Many Requests"
    "|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out|Client Error|Server Error"
)

_TABLE: tuple[tuple[re.Pattern[str], _Words], ...] = (
    (
        re.compile(
            r"(?i:cannot connect to the docker daemon|failed to connect to the docker api)|docker\.sock: connect:"
        ),
        "docker daemon not reachable",
    ),
    (re.compile(r"No such container: \S++"), "No such container"),
    (re.compile(r"No such image: \S++"), "No such image"),
    (re.compile(r"pull access denied for \S++"), "pull access denied for the image"),
    (re.compile(r"manifest for \S++ not found"), "manifest for the image not found"),
    (re.compile(r"CUDA.{0,40}out of memory|CUDA_ERROR_OUT_OF_MEMORY"), "CUDA out of memory"),
    (
        re.compile(
            r"(?i:\bout of memory\b|\bcannot allocate memory\b|\boomkilled\b|\boom-kill|memory exhausted)"
            r"|\bMemoryError\b|\bbad_alloc\b|\bOutOfMemoryError\b|\bNoMemoryError\b|Allowed memory size of \d++ bytes"
            r"|memory allocation of \d++ bytes failed|Requested array size exceeds"
        ),
        OUT_OF_MEMORY,
    ),
    (
        re.compile(
            r"(?i:could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution"
            r"|no address associated with|unable to resolve host|nodename nor servname|name does not resolve"
            r"|failed to lookup address|no such host\b|getaddrinfo.{0,20}failed|failure in name resolution)"
            r"|\bENOTFOUND\b|\bEAI_AGAIN\b|\bUnknownHostException\b|\bgaierror\b|\bNameResolutionError\b"
            r"|\bBad hostname\b"
        ),
        _NO_HOST,
    ),
    (re.compile(r"(?i:certificate has expired)|CERT_HAS_EXPIRED"), "certificate has expired"),
    (
        re.compile(
            r"(?i:certificate[_ ]verify failed|unable to get local issuer|unable to verify the first certif"
            r"|self[- ]signed certificate|certificate verification failed"
            r"|certificate of \S++ (?:is not trusted|doesn't))"
            r"|DEPTH_ZERO_SELF_SIGNED_CERT"
        ),
        "certificate not trusted",
    ),
    (
        re.compile(r"(?i:couldn't connect to server|could not connect to server|failed to connect to \S++ port)"),
        _REFUSED,
    ),
    (
        re.compile(
            r"(?:(?i:returned error:|HTTP Error|ERROR|response code:|status(?: code)?:?|HTTP(?:/[\d.]{1,3})?"
            r"|npm error code)"
            r" ?E?|(?<![\w.:/])(?=[45]\d\d (?:" + _STATUS_WORDS + r")))(?P<code>[45]\d\d)(?![\w.])"
        ),
        lambda found: f"HTTP {found['code']}",
    ),
    (re.compile(r"FileNotFoundException: https?://"), "HTTP 404"),
    (
        re.compile(r"(?:providing \"Find|configuration file provided by \")(?P<name>\w++)(?:\.cmake)?+\""),
        _quoted("CMake package not found:"),
    ),
    (
        re.compile(r"No module named ['\"]?(?P<name>[\w.]++)['\"]?"),
        _quoted("ModuleNotFoundError: No module named"),
    ),
    (
        re.compile(r"Cannot find (?:module|package) ['\"](?P<name>[^'\"]++)['\"]"),
        _quoted("Cannot find module"),
    ),
    (
        re.compile(r"(?:Failed to resolve import|Can't resolve) ['\"](?P<name>[^'\"]++)['\"]"),
        _quoted("Cannot find module"),
    ),
    (
        re.compile(r"cannot load such file -- (?P<name>[^\s()]++)"),
        lambda found: f"cannot load such file -- {found['name']}",
    ),
    (re.compile(r"Can't locate (?P<name>\S++) in @INC"), lambda found: f"Can't locate {found['name']} in @INC"),
    (
        re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): (?P<name>[\w.$/]++)"),
        lambda found: f"ClassNotFoundException: {found['name'].replace('/', '.')}",
    ),
    (
        re.compile(
            r"(?i:(?<!connection )(?<!connect )\btimed out\b(?! connecting)|exceeded timeout of"
            r"|\btimeout of \d++ ?ms exceeded|\*\*\*timeout|execution expired)"
            r"|Failed: Timeout|timeout: sending signal|\bTimeoutError\b|\bTimeoutExpired\b|Timeout(?: [(>]|: )"
        ),
        TIMED_OUT,
    ),
    (re.compile(r"(?i:segmentation fault|\*\*\*exception: segfault|AddressSanitizer: SEGV)"), SEGMENTATION_FAULT),
    (re.compile(r"worker 'gw\d++' crashed while running"), "worker crashed while running a test"),
    (re.compile(r"Subprocess aborted|Fatal Python error: Aborted"), ABORTED),
)

# A message that tells more than the system's words in it.
_MORE_THAN_SYSTEM = re.compile(
    r"\.(?:h|hh|hpp|hxx)['\"]?: No such file|cannot find -l|package\.json|publickey|Permission denied \("
)
_MISSING_FILE = re.compile(
    r"(?i)(?:\b(?:file|directory|folder|path)\b.{0,80}|[/.][\w./-]{2,200}['\"]?:? )"
    r"(?:does not exist|doesn't exist|was not found|is missing|not found)"
    r"|where False = (?:<function )?(?:is_?file|is_?dir|exists)\b|where False = .{0,80}\.(?:exists|is_file|is_dir)\b"
)
_NO_SUCH_FILE = "no such file or directory"

#: What somebody's time limit does to a process, too.
KILLED = (OUT_OF_MEMORY, _EXIT_CODES[143])
#: What is missing because something could not be fetched.
MISSING = (
    *("command not found: ", "ModuleNotFoundError: ", "Cannot find module ", "cannot load such file", "Can't locate "),
    _NO_SUCH_FILE,
)
#: Why it could not be.
FETCHING = (
    *(_NO_HOST, _REFUSED, "HTTP ", "certificate not trusted", "certificate has expired", "connection timed out"),
    *("network is unreachable", "No matching distribution", "Could not find a version", "Unable to locate package"),
    *("No solution found", "has no installation candidate", "Failed to fetch"),
)


@lru_cache(maxsize=REMEMBERED)
def known_cause(message: str) -> str | None:
    """The words for the cause that a message tells, if it is one of those that every program words differently."""
    for pattern, words in _TABLE:
        if found := pattern.search(message):
            return words if isinstance(words, str) else words(found)
    return _system_cause(message) or _death(message)


def exit_cause(line: str) -> str | None:
    """What an exit code or a signal's name in a line says; whoever waited for the program tells it second-hand."""
    if found := _EXIT.search(line):
        return _EXIT_CODES.get(int(found["code"]))
    found = _DIED.search(line)
    return _SIGNALS[found["signal"]] if found else None


def _system_cause(message: str) -> str | None:
    if _MORE_THAN_SYSTEM.search(message):
        return None
    found = _SYSTEM_WORDS.search(message.lower())
    if found:
        return found[0]
    named = _SYSTEM_NAMES.search(message)
    if named:
        return _NAMED[named[0]]
    return _NO_SUCH_FILE if _MISSING_FILE.search(message) else None


def _death(message: str) -> str | None:
    found = _SHELL_DIED.match(message)
    return _DEATHS[found["what"]] if found else None
