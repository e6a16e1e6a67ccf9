"""Which files this process has open, and which lie behind its memory."""

import contextlib
import gc
import os

from flambeau.utils.data._workers import processes


def open_files() -> set[tuple[int, str]]:
    """Descriptors and what they lead to, without those of objects that nobody has any more."""
    gc.collect()
    # Workers that took long to end keep a descriptor until the next loader sees them off.
    processes._see_off()
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # that of the listing itself
            found.add((int(name), os.readlink(f"/proc/self/fd/{name}")))
    return found


def file_behind(address: int) -> str:
    """The name of the file that is mapped to an address; empty where there is none."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            area, _, _, _, _, *name = line.split(maxsplit=5)
            start, end = (int(bound, 16) for bound in area.split("-"))
            if start <= address < end:
                return name[0].strip() if name else ""
    raise ValueError(f"nothing is mapped to {address:#x}")
