"""Loads the native module, and with it the libraries that it needs."""

from __future__ import annotations

import os


def _load() -> None:
    # OpenBLAS starts threads when it is loaded, which spin for some 50 ms and are never used: it is
    # called from Flambeau's own. NumPy has a copy that reads the same variable, perhaps later.
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        import flambeau._C  # noqa: F401
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


_load()
