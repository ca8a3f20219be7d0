"""The programs: `gym`, `rollout-compare` and `python -m nemo_gym.rollout_compare`.

Nothing is imported before an interrupt is provided for. Garbage in cycles is not searched for: neither loading modules
nor a comparison leaves any worth the search, which takes a twentieth of the time of a small one.
"""

import gc
import os
import sys
from contextlib import suppress

ERROR, INTERRUPTED = 1, 130  # said here too: the modules that say it may be those that cannot be loaded


def gym_main() -> int:
    """The `gym` program."""
    return _program("gym")


def compare_main() -> int:
    """The `rollout-compare` program."""
    return _program("rollout-compare")


def module_main() -> int:
    """The program of `python -m`."""
    return _program("python -m nemo_gym.rollout_compare")


def gym() -> int:
    """The `gym` program as it is installed: it ends the process."""
    return _leave(gym_main())


def compare() -> int:
    """The `rollout-compare` program as it is installed: it ends the process."""
    return _leave(compare_main())


def _leave(status: int) -> int:
    """End the process with a status."""
    from nemo_gym.rollout_compare.app.ending import leave

    return leave(status)


def _program(prog: str) -> int:
    gc.disable()  # `gym` enables it again for commands that are not ours
    try:
        from nemo_gym.rollout_compare.app.interrupts import end_on_interrupt

        end_on_interrupt()
        from nemo_gym.rollout_compare.app.cli import main
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, MemoryError, RecursionError, ImportError) as error:
        return _cannot_start(error)
    return main(sys.argv[1:], prog=prog)


def _cannot_start(error: Exception) -> int:
    """Say that the surroundings have too little of something for the program to be loaded."""
    reason = " ".join(str(error).split()) or type(error).__name__
    with suppress(OSError):  # where nobody reads it, the exit status says the same
        os.write(2, f"error: cannot start: {reason}\n".encode("utf-8", "backslashreplace"))
    return ERROR


if __name__ == "__main__":
    sys.exit(_leave(module_main()))
