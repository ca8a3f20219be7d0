"""The end of a program, once all is written."""

from __future__ import annotations

import atexit
import os
import sys
import threading

#: The module of nemo-gym's own commands.
NEMO_GYM_CLI = "nemo_gym.cli.main"


def leave(status: int) -> int:
    """End the process: what is registered for its end is done, but the interpreter is not taken apart.

    That takes a fifth of the time of a small comparison, and longer after a large one.

    Returns:
        The status, where the interpreter's own end still has something to do: for a command that was handed on to
        nemo-gym, for a profiler, for threads to wait for, or for output that cannot be written, which it says.
    """
    if NEMO_GYM_CLI in sys.modules or is_watched() or threading.active_count() > 1:
        return status
    atexit._run_exitfuncs()  # noqa: SLF001  # what the interpreter's own end calls first, too
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return status
    os._exit(status)


def is_watched() -> bool:
    """Whether a profiler, a debugger or a measure of coverage watches the program, and may write what it saw."""
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    tools = map(monitoring.get_tool, range(_MOST_TOOLS)) if monitoring else ()
    return sys.getprofile() is not None or sys.gettrace() is not None or any(tools)


_MOST_TOOLS = 6
