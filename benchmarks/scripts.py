"""Whole PyTorch programs, from the start of Python to its end, on either framework."""

import os
import subprocess
import sys
import time

from tests.scripts import SCRIPTS, Script

__all__ = ["SCRIPTS", "seconds"]

_RUNNERS = {"flambeau": ["-m", "flambeau.compat"], "torch": []}
BAR = 2.0  # least geometric mean of torch time / Flambeau time


def seconds(script: Script, module: str, threads: int) -> float:
    """How long a program takes when ``import torch`` gives `module`."""
    command = [sys.executable, *_RUNNERS[module], str(script.path)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return time.perf_counter() - start
