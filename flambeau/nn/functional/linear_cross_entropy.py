"""A linear map to scores, and their cross entropy, in one."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import flambeau
from flambeau import Tensor
from flambeau._core.overriding import overridable
from flambeau.nn.functional.linear import linear
from flambeau.nn.functional.loss import cross_entropy

if TYPE_CHECKING:
    from flambeau.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

__all__ = ["linear_cross_entropy"]


@overridable
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """Cross entropy of `linear(input, linear_weight, linear_bias)`, with less memory.

    With `options` the scores, which may need more memory than anything else, are computed for a
    part of the batch at a time, and again for the backward pass.

    Args:
        input: Features, (N, in_features).
        linear_weight: Weight, (C, in_features).
        target: Class indices (N,), or probabilities (N, C).
        linear_bias: Bias, (C,). Default: none.
        weight: Weight of each class. Default: all 1.
        reduction: `"mean"` weighted by class (the default), `"sum"` or `"none"`.
        ignore_index: Target that counts for nothing. Default: none.
        label_smoothing: Share of the target probability that is spread evenly over all classes.
            Default: 0.
        options: How many samples are computed at a time. Default: all.

    Example:
        >>> x, w = torch.zeros(4, 8), torch.zeros(10, 8)
        >>> F.linear_cross_entropy(x, w, torch.tensor([0, 1, 2, 3]))
        tensor(2.3026)

    See also:
        `nn.LinearCrossEntropyLoss`, `nn.functional.cross_entropy`.
    """
    scores = _scores_shape(input, linear_weight, linear_bias)
    if target.shape == scores and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        if target.dtype == flambeau.int64 and linear_weight.dim() == 2 and label_smoothing == 0:
            return _chunked_cross_entropy(
                input, linear_weight, target, linear_bias, weight, reduction, ignored, options
            )
        warnings.warn(
            "linear_cross_entropy: options are ignored; they are for class numbers, a matrix of "
            f"weights and no label smoothing, not for target.dtype={target.dtype}, "
            f"linear_weight of shape {tuple(linear_weight.shape)}, "
            f"label_smoothing={label_smoothing}",
            stacklevel=2,
        )
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    flat = linear(input, linear_weight.reshape(-1, input.shape[-1]), bias)
    return cross_entropy(
        flat.reshape(scores),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignored,
        label_smoothing=label_smoothing,
    )


def _scores_shape(
    input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None
) -> tuple[int, ...]:
    """The shape of the scores, once the arguments fit each other."""
    if input.dim() not in (1, 2):
        raise RuntimeError(
            f"linear_cross_entropy: expected input with dimensionality 1 or 2, got {input.dim()}"
        )
    if linear_weight.dim() < 2:
        raise RuntimeError(
            "linear_cross_entropy: expected linear_weight with dimensionality at least 2, "
            f"got {linear_weight.dim()}"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "linear_cross_entropy: expected equal input and linear_weight last dimensions, "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(
            f"linear_cross_entropy: expected linear_bias shape {outputs}, "
            f"got {tuple(linear_bias.shape)}"
        )
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"linear_cross_entropy: linear_weight of shape {tuple(linear_weight.shape)} requires "
            f"batched input, got shape {tuple(input.shape)}"
        )
    return (*input.shape[:-1], *outputs)


def _chunked_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    options: LinearCrossEntropyOptions,
) -> Tensor:
    from flambeau.func._functions import is_batched
    from flambeau.utils.checkpoint import checkpoint

    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    single = input.dim() == 1
    samples = input.unsqueeze(0) if single else input
    targets = target.reshape(1) if single else target
    acc_dtype = options.acc_dtype or (
        flambeau.float32 if input.dtype in (flambeau.float16, flambeau.bfloat16) else input.dtype
    )

    def losses(part: Tensor, numbers: Tensor) -> Tensor:
        scores = linear(part, linear_weight, linear_bias)
        each = cross_entropy(
            scores,
            numbers,
            weight=weight,
            ignore_index=ignore_index,
            reduction="none" if reduction == "none" else "sum",
        )
        return each.to(acc_dtype)

    size = options.chunk_size(samples.shape[0], samples.shape[1], linear_weight.shape[0])
    # Under vmap there is nothing to compute anew: what a region saves has no batch of its own.
    tensors = (input, linear_weight, target, linear_bias, weight)
    mapped = any(map(is_batched, tensors))
    parts = [
        losses(part, numbers) if mapped else checkpoint(losses, part, numbers, use_reentrant=False)
        for part, numbers in zip(samples.split(size), targets.split(size), strict=True)
    ]
    if reduction == "none":
        result = flambeau.cat(parts)
        return (result[0] if single else result).to(input.dtype)
    total = flambeau.stack(parts).sum()
    if reduction == "mean":
        counted = targets != ignore_index
        if weight is None:
            total = total / counted.sum()
        else:
            classes = targets.where(counted, 0)
            total = total / (weight[classes].to(acc_dtype) * counted).sum()
    return total.to(input.dtype)
