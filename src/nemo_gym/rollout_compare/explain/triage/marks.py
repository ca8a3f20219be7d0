"""Texts one of which every line has that says anything of a cause: most lines are spared a closer look.

Whoever adds a pattern to `errors` or `causes` adds here, in lower case, what each of its finds has.
"""

_CAUSES = (
    *("docker", "container", "such image", "access denied", "manifest for", "memory", "oom", "bad_alloc"),
    *("array size", "resolve", "service not known", "name resolution", "no address assoc", "nodename nor"),
    *("failed to lookup", "no such host", "getaddrinfo", "enotfound", "eai_again", "unknownhost", "nameresolution"),
    *("bad hostname", "cert", "local issuer", "connect to", "http", "status", "response code", "bad request"),
    *("unauthorized", "forbidden", "not allowed", "request timeout", "conflict", "gone", "too many requests"),
    *("bad gateway", "unavailable", "gateway time", "provid", "no module named", "cannot find", "cannot load such"),
    *("can't locate", "noclassdef", "timed out", "timeout", "timeoutexpired", "expired", "segmentation fault"),
    *("segfault", "addresssanitizer", "crashed while", "aborted"),
)
_SYSTEM = (
    *("no space left", "permission", "no such file", "connection", "already in use", "too many open", "a directory"),
    *("read-only file", "disk quota", "exec format", "broken pipe", "argument list", "not permitted", "unreachable"),
    *("no route", "input/output", "not empty", "text file busy"),
    *("enospc", "eacces", "enoent", "econnrefused", "etimedout", "econnreset", "eaddrinuse", "emfile", "eisdir"),
    *("enotdir", "erofs", "edquot", "enoexec", "epipe", "e2big", "eperm", "enetunreach", "ehostunreach", "eio"),
    *("enotempty", "etxtbsy", "not exist", "n't exist", "not found", "is missing", "where false = "),
    *("killed", "bus error", "illegal instruction", "floating point", "terminated"),
)
_LINES = (
    *("error", "fail", "exception", "fatal", "panic", "fault", "exit", "interrupt", "refused", "group", "warning"),
    *("notfound", ".go:", ":[", ":in ", "undefined", "assertion", "terminate called", "(): ", "stack smashing", "***"),
    *("no solution found", "missing", "could not", "curl: (", "is not a ", "unterminated", "unbound", "subroutine"),
    *("denied", "cannot", "can't", "unable to", "invalid", "unexpected", "mismatch", "incorrect", "wrong", "expected"),
    *("differ", "not ok", " line "),
)
_ALL = {*_CAUSES, *_SYSTEM, *_LINES}
#: A text that holds another one of them adds nothing.
_MARKS = sorted(mark for mark in _ALL if not any(other in mark for other in _ALL - {mark}))


def has_mark(line: str) -> bool:
    """Whether a line may say something. What ignores case takes some letters beyond ASCII for others."""
    return not line.isascii() or any(map(line.lower().__contains__, _MARKS))
