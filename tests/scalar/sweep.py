"""The comparison of `units` in C++, where all inputs of a function take seconds and not minutes.

It is compiled when it is wanted, for this machine, with ``$CXX`` or ``c++``. Only the references by
vector functions see ``-ffast-math``; linking does not, which would switch subnormal numbers off.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.scalar.units import Array

HERE = Path(__file__).parent
OBJECTS = {
    "quick": ("exact.cpp", "-O3", "-march=native", "-ffast-math", "-DFIND=find_quick"),
    "careful": ("exact.cpp", "-O2", "-DFIND=find_careful"),
    "sweep": ("sweep.cpp", "-O3", "-march=native", "-fno-trapping-math"),
}
Worst = tuple[float, np.float32]


def load() -> Callable[[str, Array, Array, Worst], Worst]:
    """A function of a name, inputs, results and the worst so far: the worst with these."""
    compiler = os.environ.get("CXX", "c++")
    with tempfile.TemporaryDirectory() as folder:
        for name, (source, *flags) in OBJECTS.items():
            command = [compiler, "-std=c++20", "-fPIC", "-c", str(HERE / source), *flags]
            subprocess.run([*command, "-o", f"{folder}/{name}.o"], check=True)
        objects = [f"{folder}/{name}.o" for name in OBJECTS]
        library = f"{folder}/sweep.so"
        subprocess.run([compiler, "-shared", *objects, "-o", library, "-lm"], check=True)
        native = ctypes.CDLL(library).sweep

    def sweep(name: str, x: Array, actual: Array, so_far: Worst) -> Worst:
        error, where = ctypes.c_double(so_far[0]), ctypes.c_float(so_far[1])
        data = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, actual)]
        if not native(name.encode(), *data, x.size, ctypes.byref(error), ctypes.byref(where)):
            raise ValueError(f"exact.cpp has no function {name}")
        return error.value, np.float32(where.value)

    return sweep
