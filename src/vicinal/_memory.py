"""How much memory there is, and what is said before more would be asked for."""

from __future__ import annotations

import os


def available_memory() -> int:
    """Bytes that are free without swapping, or all bytes of the machine where the system does not report them."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_beyond_memory(needed: int, what: str, cure: str) -> None:
    """`what` needs so many bytes; `cure` says what to do."""
    available = available_memory()
    if needed > available:
        raise MemoryError(
            f"{what} need {needed / 1e9:.3g} GB of memory, but {available / 1e9:.3g} GB are available; {cure}."
        )
