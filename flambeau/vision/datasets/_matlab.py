"""MATLAB files, read with SciPy."""

from __future__ import annotations

import importlib
import os
from typing import Any

__all__ = ["read_matlab"]


def read_matlab(path: str | os.PathLike[str], *names: str, **options: Any) -> list[Any]:
    """Return variables of a file; a RuntimeError names the file if it is damaged."""
    name = os.fspath(path)
    try:
        scipy_io = importlib.import_module("scipy.io")
    except ImportError as error:
        raise ImportError(f"SciPy is needed to read {name}: pip install scipy") from error
    try:
        content = scipy_io.loadmat(name, **options)
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file can raise any exception
        raise RuntimeError(f"{name}: damaged, or not a MATLAB file ({error})") from error
    missing = [each for each in names if each not in content]
    if missing:
        raise RuntimeError(f"{name}: has no variable {', '.join(missing)}")
    return [content[each] for each in names]
