"""How tensors are pickled and copied. Tensors that share memory still share it afterwards."""

from __future__ import annotations

import copy
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._core.storage import UntypedStorage, untyped_storage, window_on


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
    """Rebuild a tensor from its parts, for pickles. ``kind`` is a subclass or None."""
    tensor = window_on(storage._bytes, dtype, offset, size, stride)
    return _finished(tensor, kind, requires_grad, state)


def rebuild_sparse_tensor(
    kind: type[Tensor] | None,
    indices: Tensor,
    values: Tensor,
    size: tuple[int, ...],
    is_coalesced: bool,
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """Rebuild a sparse tensor from its parts, for pickles."""
    tensor = _C._sparse_coo_tensor(indices, values, size, is_coalesced)
    return _finished(tensor, kind, requires_grad, state)


def _finished(
    tensor: Tensor,
    kind: type[Tensor] | None,
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """Set the attributes of a new tensor."""
    if kind is not None:
        tensor = tensor.as_subclass(kind)
    if requires_grad:
        tensor.requires_grad_()
    if state:
        tensor.__dict__.update(state)
    return tensor


def rebuild_size(sizes: tuple[int, ...]) -> fb.Size:
    """Rebuild a ``Size``, for pickles."""
    return fb.Size(sizes)


def reduce_tensor(tensor: Tensor, protocol: Any) -> Any:
    """``Tensor.__reduce_ex__``."""
    kind = None if type(tensor) is Tensor else type(tensor)
    rest = tensor.requires_grad, getattr(tensor, "__dict__", None) or None
    size = tuple(tensor.shape)
    if tensor.is_sparse:
        parts = tensor._indices(), tensor._values(), size, tensor.is_coalesced()
        return rebuild_sparse_tensor, (kind, *parts, *rest)
    storage, offset = untyped_storage(tensor), tensor.storage_offset()
    return rebuild_tensor, (kind, storage, tensor.dtype, offset, size, tensor.stride(), *rest)


def deepcopy_tensor(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """``Tensor.__deepcopy__``: a tensor on a copy of the whole storage, or of its sparse parts."""
    known: Tensor | None = memo.get(id(tensor))
    if known is not None:
        return known
    if getattr(tensor, "grad_fn", None) is not None:
        raise RuntimeError(
            "deepcopy: only tensors created by the user (leaves of the graph) can be copied; "
            "use tensor.detach() first"
        )
    build, (kind, *parts) = reduce_tensor(tensor, 0)
    copied: Tensor = build(kind, *copy.deepcopy(parts, memo))
    grad = getattr(tensor, "grad", None)
    if grad is not None:
        copied.grad = copy.deepcopy(grad, memo)
    memo[id(tensor)] = copied
    return copied
