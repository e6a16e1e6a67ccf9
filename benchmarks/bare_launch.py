"""The bare launch of `launch.c`, compiled when it is first asked for."""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("launch.c")
COMPILER = os.environ.get("CC", "cc")


@functools.cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "launch.so")
        command = [COMPILER, "-O2", "-shared", "-fPIC", str(SOURCE), "-o", path, "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        library = ctypes.CDLL(path)
    library.launch_seconds.restype = ctypes.c_double
    library.launch_problem.restype = ctypes.c_char_p
    driver = os.environ.get("FLAMBEAU_LIBCUDA", "libcuda.so.1")
    if library.launch_open(driver.encode()):
        raise RuntimeError(library.launch_problem().decode())
    return library


def launch_seconds(calls: int) -> float:
    """Host seconds of one launch, as the mean of `calls`."""
    seconds = float(_library().launch_seconds(calls))
    if seconds < 0:
        raise RuntimeError(_library().launch_problem().decode())
    return seconds
