"""How tensors are pickled and copied. Tensors that share memory still share it afterwards."""

from __future__ import annotations

import copy
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._storage import UntypedStorage, untyped_storage


def rebuild_tensor(
    kind: type[Tensor] | None,
    storage: UntypedStorage,
    dtype: fb.dtype,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """Make a tensor of its parts: what pickles of tensors call. ``kind`` is a subclass or None."""
    tensor = _C._tensor_on_storage(storage._bytes, dtype, offset, size, stride)
    if kind is not None:
        tensor = tensor.as_subclass(kind)
    if requires_grad:
        tensor.requires_grad_()
    if state:
        tensor.__dict__.update(state)
    return tensor


def rebuild_size(sizes: tuple[int, ...]) -> fb.Size:
    """Make a ``Size``: what pickles of sizes call."""
    return fb.Size(sizes)


def reduce_tensor(tensor: Tensor, protocol: Any) -> Any:
    """``Tensor.__reduce_ex__``."""
    parts = (
        None if type(tensor) is Tensor else type(tensor),
        untyped_storage(tensor),
        tensor.dtype,
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.requires_grad,
        getattr(tensor, "__dict__", None) or None,
    )
    return rebuild_tensor, parts


def deepcopy_tensor(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """``Tensor.__deepcopy__``: a tensor on a copy of the whole storage."""
    known: Tensor | None = memo.get(id(tensor))
    if known is not None:
        return known
    if getattr(tensor, "grad_fn", None) is not None:
        raise RuntimeError(
            "deepcopy: only tensors created by the user (leaves of the graph) can be copied; "
            "use tensor.detach() first"
        )
    build, parts = reduce_tensor(tensor, 0)
    kind, storage, *geometry, state = parts
    copied: Tensor = build(
        kind, copy.deepcopy(storage, memo), *geometry, copy.deepcopy(state, memo)
    )
    grad = getattr(tensor, "grad", None)
    if grad is not None:
        copied.grad = copy.deepcopy(grad, memo)
    memo[id(tensor)] = copied
    return copied
