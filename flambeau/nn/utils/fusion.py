"""Fusion of batch normalisation with the layer before it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

_M = TypeVar("_M", bound=Module)


def _check_modes(layer: Module, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval! Call eval() on both modules first")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs a normalisation that tracks running statistics")


def fuse_conv_bn_eval(conv: _M, bn: Any, transpose: bool = False) -> _M:
    """Copy of a convolution fused with the batch normalisation after it, for evaluation.

    Args:
        conv: Convolution, in evaluation mode.
        bn: Batch normalisation, in evaluation mode.
        transpose: Whether it is a transposed convolution. Default: False.

    Example:
        >>> conv, bn = nn.Conv2d(3, 4, 3).eval(), nn.BatchNorm2d(4).eval()
        >>> fused = nn.utils.fuse_conv_bn_eval(conv, bn)
        >>> x = torch.randn(1, 3, 8, 8)
        >>> torch.allclose(fused(x), bn(conv(x)), atol=1e-5)
        True
    """
    _check_modes(conv, bn)
    fused: Any = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused  # type: ignore[no-any-return]


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution followed by a normalisation with these statistics."""
    dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    bias = flambeau.zeros_like(bn_rm) if conv_b is None else conv_b
    scale = (bn_rv + bn_eps).rsqrt()
    if bn_w is not None:
        scale = scale * bn_w
    per_output = [1] * conv_w.ndim
    per_output[1 if transpose else 0] = -1
    weight = (conv_w * scale.reshape(per_output)).to(conv_w.dtype)
    shifted = (bias - bn_rm) * scale
    if bn_b is not None:
        shifted = shifted + bn_b
    return (
        Parameter(weight, conv_w.requires_grad),
        Parameter(shifted.to(dtype), bias.requires_grad),
    )


def fuse_linear_bn_eval(linear: _M, bn: Any) -> _M:
    """Copy of a linear layer fused with the batch normalisation after it, for evaluation.

    Args:
        linear: Linear layer, in evaluation mode.
        bn: Batch normalisation, in evaluation mode.

    Example:
        >>> linear, bn = nn.Linear(3, 4).eval(), nn.BatchNorm1d(4).eval()
        >>> fused = nn.utils.fuse_linear_bn_eval(linear, bn)
        >>> x = torch.randn(5, 3)
        >>> torch.allclose(fused(x), bn(linear(x)), atol=1e-5)
        True
    """
    _check_modes(linear, bn)
    fused: Any = copy.deepcopy(linear)
    if bn.num_features not in (fused.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1: "
            f"{fused.out_features} and {bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused  # type: ignore[no-any-return]


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer followed by a normalisation with these statistics."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
