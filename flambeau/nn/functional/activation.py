"""Activation functions."""

from __future__ import annotations

import warnings

import flambeau as fb
from flambeau import Tensor
from flambeau._C import (
    celu_,
    relu_,
    rrelu_,
    selu_,
    sigmoid,
    tanh,
    threshold_,
)
from flambeau._C.nn.functional import (
    celu,
    elu,
    elu_,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
)
from flambeau._core.overriding import overridable

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]


@overridable
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Samples of the Gumbel-softmax distribution: differentiable draws of a class.

    y = softmax((logits + Gumbel noise) / tau)

    Args:
        logits: Unnormalised log-probabilities.
        tau: Temperature; small values come near one-hot vectors. Default: 1.
        hard: Whether the result is one-hot, with the gradient of the soft samples. Default: False.
        eps: Deprecated; without effect.
        dim: Dimension of the classes. Default: -1.

    Returns:
        A tensor of the shape of `logits`.

    Example:
        >>> y = F.gumbel_softmax(torch.zeros(5, 3), hard=True)
        >>> y.sum(1)
        tensor([1., 1., 1., 1., 1.])

    See also:
        `nn.functional.softmax`, `distributions.RelaxedOneHotCategorical`.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -fb.empty_like(logits, memory_format=fb.contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return fb.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft
