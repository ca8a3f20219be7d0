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

    That takes a fifth of the time of a small comparison, and longer after a large one, and nothing depends on it.

    Returns:
        The status, where the interpreter's own end still has something to do: for a command that was handed on to
        nemo-gym, for threads to wait for, or for output that cannot be written, which it says.
    """
    if NEMO_GYM_CLI in sys.modules or threading.active_count() > 1:
        return status
    atexit._run_exitfuncs()  # noqa: SLF001  # what the interpreter's own end calls first, too
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return status
    os._exit(status)
