"""Safetensors files: tensors by name, and nothing else, so that loading cannot run code.

The functions and the file format are those of the ``safetensors`` package.
"""

from __future__ import annotations

import io
import itertools
import math
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.serialization._safetensors_header import (
    NAMES,
    Entry,
    Header,
    SafetensorError,
    header_size,
    read_header,
    write_header,
)
from flambeau.serialization._sink import FileSink, Sink
from flambeau.serialization._source import MappedSource, Source
from flambeau.utils._atomic import replacing

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "SafetensorError",
    "load",
    "load_file",
    "load_model",
    "safe_open",
    "save",
    "save_file",
    "save_model",
]

Path = str | os.PathLike[str]


def save_file(
    tensors: Mapping[str, Tensor], filename: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file.

    The file appears when it is complete; until then an older one stays as it was.

    Args:
        tensors: Tensors by name; contiguous, without shared memory.
        filename: Path of the file.
        metadata: Texts by name, kept in the file. Default: none.

    Example:
        >>> from flambeau.serialization.safetensors import load_file, save_file
        >>> save_file({"weight": torch.ones(2)}, "model.safetensors")
        >>> load_file("model.safetensors")
        {'weight': tensor([1., 1.])}

    See also:
        `torch.save`.
    """
    entries = _plan(tensors)
    with replacing(os.fspath(filename)) as descriptor:
        _write(FileSink(descriptor), tensors, entries, metadata)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes that `save_file` writes.

    Args:
        tensors: Tensors by name; contiguous, without shared memory.
        metadata: Texts by name, kept in the file. Default: none.

    Example:
        >>> from flambeau.serialization.safetensors import load, save
        >>> load(save({"weight": torch.ones(2)}))
        {'weight': tensor([1., 1.])}
    """
    file = io.BytesIO()
    _write(Sink(file), tensors, _plan(tensors), metadata)
    return file.getvalue()


def load_file(filename: Path, device: Any = "cpu") -> dict[str, Tensor]:
    """Read all tensors of a file."""
    with safe_open(filename, framework="pt", device=device) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def load(data: bytes) -> dict[str, Tensor]:
    """Read all tensors of a file that is given as bytes."""
    source = Source(io.BytesIO(data), "the given bytes")
    header = _read_header(source)
    return {name: _read(source, header, entry) for name, entry in header.entries.items()}


def save_model(
    model: fb.nn.Module,
    filename: Path,
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Write the state dict of a module. Of tensors that are the same one, the first is written.

    The names of the others are recorded in the metadata, each with the name of the written one.
    """
    notes = dict(metadata or {})
    kept: dict[str, Tensor] = {}
    seen: dict[tuple[Any, ...], str] = {}
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        first = seen.setdefault(place, name) if tensor.numel() else name
        if first != name:
            notes.setdefault(name, first)
            continue
        kept[name] = tensor.contiguous() if force_contiguous else tensor
    save_file(kept, filename, notes or None)


def load_model(
    model: fb.nn.Module, filename: Path, strict: bool = True, device: Any = "cpu"
) -> tuple[list[str], list[str]]:
    """Copy the tensors of a file into a module; returns the names that are missing and unknown."""
    with safe_open(filename, framework="pt", device=device) as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        notes = file.metadata() or {}
    for name in model.state_dict():
        if name not in state and notes.get(name) in state:
            state[name] = state[notes[name]]
    missing, unknown = model.load_state_dict(state, strict=strict)
    return missing, unknown


class safe_open:
    """A file whose tensors are read one by one, or in part, when they are asked for."""

    def __init__(self, filename: Path, framework: str = "pt", device: Any = "cpu") -> None:
        if framework not in ("pt", "torch", "pytorch", "flambeau"):
            raise SafetensorError(f"safe_open: framework {framework!r} is not 'pt'")
        self._device = fb.device(device) if isinstance(device, str) else device
        self._file = open(filename, "rb")  # noqa: SIM115
        try:
            name = os.fspath(filename)
            self._source = Source(self._file, name)
            self._header = _read_header(self._source)
            self._file.seek(0)
            self._mapped = MappedSource(self._file, name, is_shared=False)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def keys(self) -> list[str]:
        """Return the names of the tensors, sorted."""
        return sorted(self._header.entries)

    def offset_keys(self) -> list[str]:
        """Return the names of the tensors in the order in which they lie in the file."""
        entries = self._header.entries
        return sorted(entries, key=lambda name: (entries[name].start, entries[name].nbytes))

    def metadata(self) -> dict[str, str] | None:
        """Return the texts that were saved beside the tensors."""
        return self._header.metadata

    def get_tensor(self, name: str) -> Tensor:
        """Read one tensor."""
        return _read(self._source, self._header, self._entry(name)).to(self._device)

    def get_slice(self, name: str) -> TensorSlice:
        """Return a tensor that is read when it is indexed, and only the part that is needed."""
        return TensorSlice(self._mapped, self._header, self._entry(name), self._device)

    def _entry(self, name: str) -> Entry:
        entry = self._header.entries.get(name)
        if entry is None:
            raise SafetensorError(f"File does not contain tensor {name}")
        return entry


class TensorSlice:
    """What `safe_open.get_slice` returns."""

    def __init__(self, source: Source, header: Header, entry: Entry, device: fb.device) -> None:
        self._source = source
        self._header = header
        self._entry = entry
        self._device = device

    def get_shape(self) -> list[int]:
        """Return the shape of the whole tensor."""
        return list(self._entry.shape)

    def get_dtype(self) -> str:
        """Return the format's name of the element type."""
        return self._entry.dtype_name

    def __getitem__(self, index: Any) -> Tensor:
        return _read(self._source, self._header, self._entry)[index].clone().to(self._device)


def _read(source: Source, header: Header, entry: Entry) -> Tensor:
    dtype = entry.dtype
    start = header.size + entry.start
    memory = source.tensor(start, entry.nbytes)
    if memory.data_ptr() % dtype.itemsize:
        memory = memory.clone()  # of a mapped file in which the tensor is not aligned
    return _C._tensor_on_storage(memory, dtype, 0, entry.shape, _strides(entry.shape))


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(max(size, 1) for size in shape[dim + 1 :]) for dim in range(len(shape)))


def _read_header(source: Source) -> Header:
    try:
        size = header_size(source.read(0, min(8, source.size)), source.size)
        return read_header(source.read(8, size), source.size - 8 - size)
    except SafetensorError as error:
        raise SafetensorError(
            f"Error while deserializing header of {source.name}: {error}"
        ) from error.__cause__


def _plan(tensors: Mapping[str, Tensor]) -> dict[str, Entry]:
    """Return where each tensor will lie, in the order in which they are written."""
    _check(tensors)
    ranks = {dtype: rank for rank, dtype in enumerate(NAMES)}
    entries: dict[str, Entry] = {}
    start = 0
    for name in sorted(tensors, key=lambda name: (ranks[tensors[name].dtype], name)):
        tensor = tensors[name]
        nbytes = tensor.numel() * tensor.element_size()
        entries[name] = Entry(NAMES[tensor.dtype], tuple(tensor.shape), start, nbytes)
        start += nbytes
    return entries


def _write(
    sink: Sink,
    tensors: Mapping[str, Tensor],
    entries: Mapping[str, Entry],
    metadata: Mapping[str, str] | None,
) -> None:
    sink.write(write_header(entries, metadata))
    for name in entries:
        sink.write_tensor(_bytes_of(tensors[name].cpu()))
    sink.flush()


def _bytes_of(tensor: Tensor) -> Tensor:
    width = tensor.element_size()
    whole = _C._storage_bytes(tensor)
    start, count = tensor.storage_offset() * width, tensor.numel() * width
    return whole[start : start + count]


def _check(tensors: Any) -> None:
    if not isinstance(tensors, Mapping):
        raise ValueError(f"save: expected a dictionary of tensors, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"save: names must be strings, got {type(name).__name__}")
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"Key `{name}` is invalid, expected a tensor but received {type(tensor).__name__}"
            )
        if tensor.dtype not in NAMES:
            raise ValueError(f"save: tensor {name!r} has type {tensor.dtype}, not in the format")
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. "
                "Save tensor.contiguous() instead."
            )
    shared = list(_overlaps(tensors))
    if shared:
        raise RuntimeError(
            f"Some tensors share memory, this will lead to duplicate memory on disk and potential "
            f"differences when loading them again: {shared}. Save one of them, or its clone(); "
            "save_model() does the former."
        )


def _overlaps(tensors: Mapping[str, Tensor]) -> Iterable[tuple[str, str]]:
    """Pairs of tensors of which the second begins inside the first."""
    places = sorted(
        (tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size(), name)
        for name, tensor in tensors.items()
        if tensor.numel()
    )
    for (_, end, first), (start, _, second) in itertools.pairwise(places):
        if start < end:
            yield first, second
