"""PyTorch's internal operators below the public ones: ``torch.ops.aten._softmax``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._operators.copies import sliced

__all__ = ["INNER"]


def _batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """Batch normalisation in training. The last result is a reserve that no kernel here needs."""
    results = fb.native_batch_norm(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return (*results, fb.empty(0, dtype=fb.uint8))


def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> Any:
    """``native_batch_norm``, also without running statistics."""
    statistics = (None, None) if len(rest) == 3 else ()
    return fb.native_batch_norm(input, weight, bias, *statistics, *rest)


def _chunk_cat(
    tensors: Sequence[Tensor], dim: int, num_chunks: int, *, out: Tensor | None = None
) -> Tensor:
    """The chunks of each tensor along a dimension as rows, beside those of the others."""
    tensors = list(tensors)
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat: num_chunks must be positive, got {num_chunks}")
    if not tensors:
        raise RuntimeError("_chunk_cat: expected at least one tensor")
    ranks = {each.dim() for each in tensors}
    if dim < 0 and len(ranks) > 1:
        raise RuntimeError(
            f"_chunk_cat: dim {dim} counts from the end, which tensors of {sorted(ranks)} "
            "dimensions do not share"
        )
    dim = dim + min(ranks) if dim < 0 else dim
    if not 0 <= dim < min(ranks):
        raise RuntimeError(f"_chunk_cat: no dimension {dim} in a tensor of {min(ranks)}")
    if not all(each.numel() for each in tensors):
        raise RuntimeError("_chunk_cat: a tensor has no elements")
    if len({tuple(each.shape[:dim]) for each in tensors}) > 1:
        raise RuntimeError(
            f"_chunk_cat: tensors differ in sizes before dimension {dim}: "
            f"{[tuple(each.shape) for each in tensors]}"
        )
    rows = []
    for each in tensors:
        missing = -each.shape[dim] % num_chunks
        padding = (0, 0) * (each.dim() - dim - 1) + (0, missing)
        padded = fb.nn.functional.pad(each, padding)
        rows.append(padded.reshape(*each.shape[:dim], num_chunks, -1))
    return fb.cat(rows, -1, out=out)


def _wide(tensor: Tensor) -> Tensor:
    """Convert 16-bit numbers to float32, so that results are rounded only once."""
    return tensor.float() if tensor.dtype in (fb.float16, fb.bfloat16) else tensor


def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of the input of ``log_softmax``."""
    shares = _wide(output).exp() * _wide(grad_output).sum(dim, keepdim=True)
    return (_wide(grad_output) - shares).to(input_dtype)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of the input of ``softmax``."""
    weighted = _wide(grad_output) * _wide(output)
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


def _max_pool2d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """Scatter every gradient to the position of the maximum in its plane."""
    # Of the input itself, which has a gradient: zeros, too.
    zeros = self.masked_fill(fb.ones_like(self, dtype=fb.bool), 0)
    added = zeros.flatten(-2).scatter_add(-1, indices.flatten(-2), grad_output.flatten(-2))
    result = added.reshape(self.shape)
    if self.dim() == 4 and self.is_contiguous(memory_format=fb.channels_last):
        return result.contiguous(memory_format=fb.channels_last)
    return result


def _safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """``softmax``, with zeros where everything is masked by -inf."""
    masked = (self == -float("inf")).all(dim, keepdim=True)
    return fb.softmax(self.masked_fill(masked, 0), dim, dtype=dtype).masked_fill(masked, 0)


def _within(self: Tensor, indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Clamp indices to their dimensions: masked ones may have any value."""
    return tuple(
        slice(None) if index is None else index.clamp(-size, size - 1)
        for index, size in zip(indices, self.shape, strict=False)
    )


def _unsafe_masked_index(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any
) -> Tensor:
    """Gather elements at indices where a mask is set, and a constant elsewhere."""
    return self[_within(self, indices)].masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """Add values to a copy at indices where a mask is set."""
    at, added = _within(self, indices), values.masked_fill(~mask, 0)
    result = self.clone()
    # By the operator, which adds up values at repeated indices.
    places = [
        fb.arange(size, device=self.device).reshape(-1, *(1,) * (self.dim() - 1 - dim))
        if isinstance(index, slice)
        else index
        for dim, (index, size) in enumerate(zip(at, self.shape, strict=False))
    ]
    return result.index_put(tuple(places), added, accumulate=True)


def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: Any,
    align_corners: bool,
    scale_factors: Sequence[float] | None = None,
) -> Tensor:
    """Interpolate linearly between pixels, or average with antialiasing when shrinking."""
    return fb.nn.functional.interpolate(
        input,
        output_size,
        scale_factors,
        mode="bilinear",
        align_corners=align_corners,
        antialias=True,
    )


INNER: dict[str, Callable[..., Any]] = {
    "_batch_norm_with_update": _batch_norm_with_update,
    "_chunk_cat": _chunk_cat,
    "_log_softmax": lambda self, dim, half_to_float=False: fb.log_softmax(self, dim),
    "_log_softmax_backward_data": _log_softmax_backward_data,
    "_native_batch_norm_legit": _native_batch_norm_legit,
    "_pin_memory": lambda self, device=None: self.pin_memory(),
    "_safe_softmax": _safe_softmax,
    "_softmax": lambda self, dim, half_to_float=False: fb.softmax(self, dim),
    "_softmax_backward_data": _softmax_backward_data,
    "_to_copy": lambda self, **kwargs: self.to(**kwargs, copy=True),
    "_unsafe_masked_index": _unsafe_masked_index,
    "_unsafe_masked_index_put_accumulate": _unsafe_masked_index_put_accumulate,
    "_unsafe_view": lambda self, size: self.reshape(size),
    "_upsample_bilinear2d_aa": _upsample_bilinear2d_aa,
    "_sparse_addmm": lambda self, mat1, mat2, beta=1, alpha=1: fb.sparse.addmm(
        self, mat1, mat2, beta=beta, alpha=alpha
    ),
    "alias": lambda self: self.view(self.shape),
    "index": lambda self, indices: self[
        tuple(slice(None) if index is None else index for index in indices)
    ],
    "lift_fresh": lambda self: self,
    "lift_fresh_copy": lambda self: self.clone(),
    "max_pool2d_with_indices_backward": _max_pool2d_with_indices_backward,
    "native_dropout_backward": lambda grad_output, mask, scale: grad_output * mask * scale,
    "scalar_tensor": lambda s, **kwargs: fb.tensor(s, **kwargs),
    "slice": lambda self, dim=0, start=None, end=None, step=1: sliced(self, dim, start, end, step),
    "sym_numel": lambda self: self.numel(),
    "sym_size": lambda self, dim=None: self.shape if dim is None else self.size(dim),
    "sym_stride": lambda self, dim=None: self.stride() if dim is None else self.stride(dim),
}
