"""Gradients of convolutions by themselves, without a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flambeau import Tensor
from flambeau._C import _convolution_input, _convolution_weight
from flambeau.nn.modules.utils import _ntuple

__all__: list[str] = []

_Numbers = int | Sequence[int]


def _input_gradient(dims: int) -> Callable[..., Tensor]:
    each = _ntuple(dims)

    def gradient(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: _Numbers = 1,
        padding: _Numbers = 0,
        dilation: _Numbers = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolution_input(
            grad_output,
            weight,
            list(input_size),
            each(stride),
            each(padding),
            each(dilation),
            False,
            [0] * dims,
            groups,
        )

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_input"
    gradient.__doc__ = f"The gradient of conv{dims}d with respect to its input, of this size."
    return gradient


def _weight_gradient(dims: int) -> Callable[..., Tensor]:
    each = _ntuple(dims)

    def gradient(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: _Numbers = 1,
        padding: _Numbers = 0,
        dilation: _Numbers = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolution_weight(
            grad_output,
            input,
            list(weight_size),
            each(stride),
            each(padding),
            each(dilation),
            False,
            [0] * dims,
            groups,
        )

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_weight"
    gradient.__doc__ = f"The gradient of conv{dims}d with respect to its weight, of this size."
    return gradient


conv1d_input, conv2d_input, conv3d_input = map(_input_gradient, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_weight_gradient, (1, 2, 3))
