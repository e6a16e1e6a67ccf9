"""How this build was made, and what it computes with."""

from __future__ import annotations

import os

import flambeau as fb
from flambeau._C import _build, _isa, _thread_limits

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The compiler, the libraries and the instruction set in use, one to a line."""
    build = _build()
    lines = [build["compiler"]]
    for name, key in (("oneDNN", "onednn"), ("OpenBLAS", "openblas"), ("libjpeg-turbo", "jpeg")):
        library = build[key]
        lines.append(f"{name} {library['version']}" if library else f"without {name}")
    lines.append(f"CPU kernels for {', '.join(build['levels'])}; in use: {_isa()}")
    return "Flambeau built with:\n" + "".join(f"  - {line}\n" for line in lines)


def parallel_info() -> str:
    """How many threads compute, and what decides on it."""
    limits = _thread_limits()
    quota = f"{limits['quota']:g} processors" if limits["quota"] else "[none]"
    lines = {
        "get_num_threads()": fb.get_num_threads(),
        "get_num_interop_threads()": fb.get_num_interop_threads(),
        "processors by affinity": limits["affinity"],
        "quota of the control groups": quota,
        "MKL_NUM_THREADS": os.environ.get("MKL_NUM_THREADS", "[not set]"),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "[not set]"),
    }
    return "Threads of a pool of its own:\n" + "".join(
        f"  {key}: {value}\n" for key, value in lines.items()
    )
