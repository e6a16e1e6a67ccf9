"""CIFAR's pickles: numbers, text and arrays of bytes, read without running any code."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

__all__ = ["pixels_of", "read_pickle", "words_of"]


def read_pickle(path: str) -> dict[str, Any]:
    """Read a dictionary; a RuntimeError names the file if it holds anything unusual."""
    with open(path, "rb") as file:
        try:
            # Text of Python 2 stays bytes: most of it is pixels.
            content = _Unpickler(file, encoding="bytes").load()
        except Exception as error:  # a damaged pickle can raise any exception
            raise RuntimeError(f"{path}: not a CIFAR file ({error})") from error
    if not isinstance(content, dict):
        raise RuntimeError(f"{path}: not a CIFAR file (a {type(content).__name__})")
    return {_text(key): value for key, value in content.items()}


def _text(value: Any) -> str:
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


class _Dtype:
    """The element type of an array, which must be bytes."""

    def __init__(self, code: Any, align: Any = None, copy: Any = None) -> None:
        if code not in ("u1", b"u1"):
            raise pickle.UnpicklingError(f"an array of {code!r} has no place in such a file")

    def __setstate__(self, state: Any) -> None:
        pass  # the byte order: a byte has only one


class _Array:
    """An array before and after it gets its bytes."""

    def __init__(self, *arguments: Any) -> None:
        pass

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        import numpy as np

        _, shape, _, by_columns, data = state
        data = data.encode("latin1") if isinstance(data, str) else data
        self.values = np.frombuffer(data, np.uint8).reshape(shape, order="F" if by_columns else "C")


def _reconstruct(kind: Any, shape: Any, code: Any) -> _Array:
    return _Array()


def _encode(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", b"latin1"):
        raise pickle.UnpicklingError(f"the encoding {encoding!r} has no place in such a file")
    return text.encode("latin1")


# The names in a published file, and what replaces them here.
_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    """An unpickler that finds only these replacements."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _STAND_INS:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in such a file")
        return _STAND_INS[module, name]


def pixels_of(content: dict[str, Any], path: str, width: int) -> Any:
    """Return the rows of pixels of a batch, (count, width)."""
    array = content.get("data")
    values = getattr(array, "values", None)
    if values is None or values.ndim != 2 or values.shape[1] != width:
        raise RuntimeError(f"{path}: not a CIFAR file (no rows of {width} bytes in it)")
    return values


def words_of(content: dict[str, Any], key: str, path: str) -> list[str]:
    """Return the names of the classes."""
    names = content.get(key)
    if not isinstance(names, list):
        raise RuntimeError(f"{path}: not a CIFAR file (no list {key!r} in it)")
    return [_text(name) for name in names]
