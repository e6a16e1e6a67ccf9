"""The header of a safetensors file: which tensor lies where, written as JSON.

Eight bytes give its length; behind it the tensors lie one after the other without gaps. A file is
untrusted: a header must say exactly that, or it is refused.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import flambeau as fb

__all__: list[str] = []

LONGEST = 100_000_000  # bytes of a header, as every reader of the format has it
METADATA = "__metadata__"
# From the widest to the narrowest: in this order tensors are written, so that all are aligned.
DTYPES = {
    "I64": fb.int64,
    "F64": fb.float64,
    "C64": fb.complex64,
    "F32": fb.float32,
    "I32": fb.int32,
    "BF16": fb.bfloat16,
    "F16": fb.float16,
    "I16": fb.int16,
    "I8": fb.int8,
    "U8": fb.uint8,
    "BOOL": fb.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class SafetensorError(RuntimeError):
    """A file is not what a safetensors file has to be."""


class Entry(NamedTuple):
    """One tensor of a file; ``start`` counts from the end of the header."""

    dtype_name: str
    shape: tuple[int, ...]
    start: int
    nbytes: int

    @property
    def dtype(self) -> fb.dtype:
        if self.dtype_name not in DTYPES:
            raise SafetensorError(
                f"elements of type {self.dtype_name} are not among those that Flambeau has: "
                f"{', '.join(DTYPES)}"
            )
        return DTYPES[self.dtype_name]


# Those that the format knows and this package does not, to tell apart from nonsense.
_OTHER_WIDTHS = {"U16": 2, "U32": 4, "U64": 8, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1}


class Header(NamedTuple):
    entries: dict[str, Entry]
    metadata: dict[str, str] | None
    size: int  # of the header itself, with its length in front


def write_header(entries: Mapping[str, Entry], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes in front of the tensors, padded so that the first one is aligned."""
    content: dict[str, Any] = {}
    if metadata is not None:
        if not _are_texts(metadata):
            raise TypeError("save: metadata must be a dictionary of strings")
        content[METADATA] = dict(metadata)
    for name, entry in entries.items():
        content[name] = {
            "dtype": entry.dtype_name,
            "shape": list(entry.shape),
            "data_offsets": [entry.start, entry.start + entry.nbytes],
        }
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST:
        raise SafetensorError(f"the header would have {len(text)} bytes; {LONGEST} are allowed")
    return struct.pack("<Q", len(text)) + text


def header_size(head: bytes, file_size: int) -> int:
    """The size of a header, whose first eight bytes are given, and of nothing but it."""
    if len(head) < 8:
        _refuse("the file is too short for a header")
    (size,) = struct.unpack("<Q", head)
    if size > LONGEST:
        _refuse(f"its header claims {size} bytes; {LONGEST} are allowed")
    if size + 8 > file_size:
        _refuse(f"its header claims {size} bytes; the file has {file_size}")
    return int(size)


def read_header(text: bytes, data_size: int) -> Header:
    """Parse a header in front of ``data_size`` bytes; SafetensorError if anything is wrong."""
    try:
        content = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_without_doubles,
            parse_int=_short_int,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError) as error:
        raise SafetensorError(f"its header is not valid JSON: {error}") from error
    if not text.startswith(b"{") or not isinstance(content, dict):
        _refuse("its header is not a JSON object")
    metadata = content.pop(METADATA, None)
    if metadata is not None and not _are_texts(metadata):
        _refuse("its metadata is not a dictionary of strings")
    entries = {name: _entry(name, value) for name, value in content.items()}
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].nbytes)):
        if entry.start != end:
            _refuse(f"tensor {name!r} begins at {entry.start}, the one before it ends at {end}")
        end += entry.nbytes
    if end != data_size:
        _refuse(f"its tensors have {end} bytes together, the file has {data_size}")
    return Header(entries, metadata, len(text) + 8)


def _entry(name: str, value: Any) -> Entry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        _refuse(f"the entry of tensor {name!r} must have dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or (dtype not in DTYPES and dtype not in _OTHER_WIDTHS):
        _refuse(f"the type of tensor {name!r} is unknown")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        _refuse(f"shape and data_offsets of tensor {name!r} must be lists of sizes")
    width = DTYPES[dtype].itemsize if dtype in DTYPES else _OTHER_WIDTHS[dtype]
    nbytes = math.prod(shape) * width
    if offsets[1] - offsets[0] != nbytes:
        _refuse(f"tensor {name!r} of shape {tuple(shape)} needs {nbytes} bytes, not {offsets}")
    return Entry(dtype, tuple(shape), offsets[0], nbytes)


def _are_sizes(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) <= 64
        and all(type(value) is int and value >= 0 for value in values)
    )


def _are_texts(metadata: Any) -> bool:
    return isinstance(metadata, Mapping) and all(
        isinstance(text, str) for pair in metadata.items() for text in pair
    )


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        _refuse("its header has two entries of one name")
    return made


def _short_int(digits: str) -> int:
    if len(digits) > 19:
        _refuse("a number in its header has too many digits")
    return int(digits)


def _refuse(what: str) -> NoReturn:
    raise SafetensorError(what)
