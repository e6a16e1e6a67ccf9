"""Files as tensors of bytes."""

from __future__ import annotations

import os

import flambeau as fb
from flambeau import Tensor
from flambeau.utils._atomic import replacing

__all__ = ["Path", "check_bytes", "check_elements", "name_of", "read_file", "write_file"]

Path = str | os.PathLike[str]


def read_file(path: Path) -> Tensor:
    """Read the bytes of a file."""
    try:
        with open(path, "rb") as file:
            data = bytearray(file.read())
    except OSError as error:
        raise RuntimeError(f"{error}") from error
    return fb.frombuffer(data, dtype=fb.uint8) if data else fb.empty(0, dtype=fb.uint8)


def write_file(filename: Path, data: Tensor) -> None:
    """Write bytes to a file, which appears when it is complete."""
    if not isinstance(data, Tensor) or data.dtype != fb.uint8 or data.ndim != 1:
        raise RuntimeError(f"Input tensor must be 1-dimensional and of type uint8, got {data!r}")
    with (
        replacing(os.fspath(filename)) as descriptor,
        os.fdopen(descriptor, "wb", closefd=False) as file,
    ):
        file.write(data.numpy().tobytes())


def name_of(path: Path) -> str:
    """A file as messages show it, whatever bytes its path has."""
    return os.fsdecode(path).encode(errors="replace").decode()


def check_elements(data: Tensor) -> None:
    """Raise RuntimeError for a meta tensor, which has no elements."""
    if data.is_meta:
        raise RuntimeError(
            "images cannot be read from or written to files with meta tensors, which have no "
            "elements: make the tensor on device='cpu'"
        )


def check_bytes(data: Tensor, name: str) -> Tensor:
    """Return the bytes of an encoded image, contiguous; RuntimeError for a wrong tensor."""
    if not isinstance(data, Tensor):
        raise TypeError(f"expected a tensor of encoded bytes, got {type(data).__name__}")
    if data.dtype != fb.uint8:
        raise RuntimeError(f"{name}: Input tensor must have uint8 data type, got {data.dtype}")
    if data.ndim != 1 or data.numel() == 0:
        raise RuntimeError(
            f"{name}: Input tensor must be 1-dimensional and non-empty, "
            f"got {data.ndim} dims and {data.numel()} numels"
        )
    check_elements(data)
    return data.contiguous()
