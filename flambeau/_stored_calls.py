"""What a program in a file may call: operators of the table and properties of tensors, no more.

A file is anybody's, so what it names is looked up here and never by ``getattr``: neither the
package's own functions that read and write files, nor those that hand out memory or call back, are
to be reached from it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from flambeau import _C, Tensor

__all__: list[str] = []

# Operators of the table that reach beyond tensors: they call back, hand out or take memory and
# objects of Python, or change the graph.
_BEYOND_TENSORS = frozenset(
    (
        *("apply_", "map_", "map2_", "register_hook", "register_post_accumulate_grad_hook"),
        *("as_subclass", "data_ptr", "from_numpy", "frombuffer", "item", "numpy", "set_", "tolist"),
        *("backward", "retain_grad"),
    )
)
# Operators that functions of the package written in Python are made of, when they are recorded.
# What the native ones are made of is never seen, and has no place in a file.
_PARTS = frozenset(
    (
        *("_box_iou_rotated", "_cdist", "_convolution_input", "_convolution_weight"),
        *("_deform_conv2d", "_dirichlet_grad", "_einsum", "_euclidean_dist", "_fft_c2c"),
        *("_fft_c2r", "_fft_r2c", "_fractional_max_pool2d", "_fractional_max_pool3d", "_indices"),
        *("_linalg_pinv", "_map_bytes", "_max_unpool1d", "_max_unpool2d", "_max_unpool3d", "_nms"),
        *("_normal_divergence", "_normal_log_prob", "_pack_padded_sequence"),
        *("_pad_packed_sequence", "_pad_sequence", "_ps_roi_pool", "_resize_bytes", "_roi_align"),
        *("_roi_pool_argmax", "_sample_dirichlet", "_sparse_coo_tensor", "_sparse_mm"),
        *("_standard_gamma", "_standard_gamma_grad", "_tensordot", "_to_sparse", "_unique"),
        "_values",
    )
)
# What can be asked of a tensor: other tensors, and plain values.
PROPERTIES = frozenset(
    (
        *("H", "T", "data", "grad", "imag", "mH", "mT", "real"),
        *("device", "dtype", "itemsize", "layout", "nbytes", "ndim", "requires_grad", "shape"),
    )
)
_TWO_SIDED = (
    *("add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift", "sub"),
    *("truediv", "xor"),
)
_SYNTAX = frozenset(
    (
        *(f"__{side}{name}__" for name in _TWO_SIDED for side in ("", "r", "i")),
        *("__abs__", "__invert__", "__neg__", "__pos__", "__getitem__", "__setitem__"),
        *("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"),
    )
)


@functools.cache
def operators() -> frozenset[Callable[..., Any]]:
    """The operators that files may call, in all their forms."""
    found: set[Callable[..., Any]] = set()
    for entry in _C.op_info():
        name = entry["name"]
        if name in _PARTS or not (name.startswith("_") or name in _BEYOND_TENSORS):
            found.update(_forms(entry))
    return frozenset(found)


def _forms(entry: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    home: Any = _C
    for part in filter(None, entry["namespace"].split(".")):
        home = getattr(home, part)
    name, forms = entry["name"], entry["forms"]
    if "function" in forms:
        yield getattr(home, name)
    if "method" in forms:
        yield getattr(Tensor, name)
    if "inplace" in forms:
        for place in (home, Tensor):
            if hasattr(place, f"{name}_"):
                yield getattr(place, f"{name}_")


@functools.cache
def _accessors() -> frozenset[Callable[..., Any]]:
    """Syntax of Python on tensors, and the ways to ask for a property or to set its data."""
    properties: list[Any] = [getattr(Tensor, name) for name in PROPERTIES]
    return frozenset(
        (
            *(getattr(Tensor, name) for name in _SYNTAX if hasattr(Tensor, name)),
            *(each.__get__ for each in properties),
            Tensor.data.__set__,  # type: ignore[attr-defined]
        )
    )


def may_call(function: Callable[..., Any]) -> bool:
    """Whether a program in a file may call ``function``."""
    return function in operators() or function in _accessors()
