"""How much memory there is."""

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
