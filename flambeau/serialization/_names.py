"""PyTorch's names in checkpoints, and their meaning here.

Files are written with PyTorch's names, so that it can load them, and may hold any of these names
when they are loaded without running code. ``BY_NAME`` is that list: nothing else in the package is
reachable from such a file.
"""

from __future__ import annotations

import builtins
import collections
import re
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau.nn.parameter import Parameter
from flambeau.serialization import _rebuild

__all__: list[str] = []


class StorageKind:
    """What names like ``torch.FloatStorage`` stand for in a file: the type of the elements."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: fb.dtype | None) -> None:
        self.name = name
        self.dtype = dtype  # None: plain bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return storage_kind, (self.name,)

    @property
    def itemsize(self) -> int:
        return 1 if self.dtype is None else self.dtype.itemsize


DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        fb.bool,
        fb.uint8,
        fb.int8,
        fb.int16,
        fb.int32,
        fb.int64,
        fb.float16,
        fb.bfloat16,
        fb.float32,
        fb.float64,
        fb.complex64,
        fb.complex128,
    )
}
STORAGE_KINDS = {
    dtype: StorageKind(f"{name}Storage", dtype)
    for name, dtype in {
        "Bool": fb.bool,
        "Byte": fb.uint8,
        "Char": fb.int8,
        "Short": fb.int16,
        "Int": fb.int32,
        "Long": fb.int64,
        "Half": fb.float16,
        "BFloat16": fb.bfloat16,
        "Float": fb.float32,
        "Double": fb.float64,
        "ComplexFloat": fb.complex64,
        "ComplexDouble": fb.complex128,
    }.items()
}
UNTYPED = StorageKind("UntypedStorage", None)


def storage_kind(name: str) -> StorageKind:
    """The kind with a name: what picklers call that cannot write PyTorch's names."""
    return next(kind for kind in (UNTYPED, *STORAGE_KINDS.values()) if kind.name == name)


# Of PyTorch's element types these are missing; a file that holds one is refused with a remedy.
MISSING_TYPES = re.compile(r"u?int\d+|complex32|float[48]_\w+|bits\w+|qu?int\w+|Q\w+Storage")

_UTILS = (
    _rebuild._rebuild_tensor,
    _rebuild._rebuild_tensor_v2,
    _rebuild._rebuild_tensor_v3,
    _rebuild._rebuild_parameter,
    _rebuild._rebuild_parameter_with_state,
    _rebuild._rebuild_sparse_tensor,
    _rebuild._rebuild_meta_tensor_no_storage,
)

BY_NAME: dict[str, Any] = {
    **{f"torch._utils.{function.__name__}": function for function in _UTILS},
    "torch._tensor._rebuild_from_type_v2": _rebuild._rebuild_from_type_v2,
    "torch.serialization._get_layout": _rebuild._get_layout,
    **{f"torch.{name}": dtype for name, dtype in DTYPES.items()},
    **{f"torch.{kind.name}": kind for kind in STORAGE_KINDS.values()},
    "torch.storage.UntypedStorage": UNTYPED,
    "torch.Size": fb.Size,
    "torch.device": fb.device,
    "torch.Tensor": fb.Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "collections.OrderedDict": collections.OrderedDict,
    "collections.Counter": collections.Counter,
    "builtins.set": builtins.set,
    "builtins.bytes": builtins.bytes,
    "builtins.bytearray": builtins.bytearray,
    "builtins.complex": builtins.complex,
    "_codecs.encode": _rebuild.encode,
}
# Module and name that each of these objects, known by its id, is written under.
TORCH_NAMES: dict[int, tuple[str, str]] = {
    id(value): (name.rpartition(".")[0], name.rpartition(".")[2])
    for name, value in BY_NAME.items()
    if name.startswith("torch")
}
# Storages of CUDA tensors have types of their own, and the place beside them; so had sparse ones.
BY_NAME |= {f"torch.cuda.{kind.name}": kind for kind in STORAGE_KINDS.values()}
# What may be called, and what is called in its stead: checks of the arguments.
CONSTRUCTORS: dict[Any, Callable[..., Any]] = {
    **{function: function for function in (*_UTILS, _rebuild._rebuild_from_type_v2)},
    _rebuild._get_layout: _rebuild._get_layout,
    _rebuild.encode: _rebuild.encode,
    fb.Size: _rebuild.make_size,
    fb.device: _rebuild.make_device,
    collections.OrderedDict: _rebuild.make_ordered_dict,
    collections.Counter: _rebuild.make_counter,
    builtins.set: _rebuild.make_set,
    builtins.bytes: _rebuild.make_bytes,
    builtins.bytearray: _rebuild.make_bytearray,
    builtins.complex: _rebuild.make_complex,
}
