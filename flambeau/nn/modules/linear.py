"""Linear maps of the last dimension."""

from __future__ import annotations

import math
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn import init
from flambeau.nn.functional import bilinear, linear
from flambeau.nn.modules.lazy import LazyModuleMixin
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Return the input unchanged.

    A placeholder for a layer that some variant of a network leaves out.

    Args:
        *args: Any arguments; they are ignored.
        **kwargs: Any keyword arguments; they are ignored.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> layer = nn.Identity(4, anything=True)
        >>> layer(torch.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """Affine map of the last dimension: y = x W^T + b.

    Args:
        in_features: Size of the last dimension of the input.
        out_features: Size of the last dimension of the output.
        bias: Whether to add the learned vector b. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: W, of shape (out_features, in_features).
        bias: b, of shape (out_features,), or None.

    Both start uniform on (-k, k) with k = 1 / sqrt(in_features).

    Shape:
        - Input: (*, in_features), with any number of leading dimensions.
        - Output: (*, out_features).

    Example:
        >>> layer = nn.Linear(12, 4)
        >>> layer(torch.randn(8, 12)).shape
        torch.Size([8, 4])
        >>> layer.weight.shape, layer.bias.shape
        (torch.Size([4, 12]), torch.Size([4]))

    See also:
        `nn.LazyLinear`, which finds `in_features` itself; `nn.Bilinear`; `nn.functional.linear`.
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(
            flambeau.empty(out_features, in_features, device=device, dtype=dtype)
        )
        self.register_parameter(
            "bias",
            Parameter(flambeau.empty(out_features, device=device, dtype=dtype)) if bias else None,
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly from +-1 / sqrt(in_features).

        Example:
            >>> layer = nn.Linear(4, 2)
            >>> _ = layer.weight.data.fill_(5)
            >>> layer.reset_parameters()
            >>> bool(layer.weight.abs().max() <= 0.5)
            True
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes, and whether there is a bias."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear that a quantiser must leave alone, as the last one of MultiheadAttention."""


class Bilinear(Module):
    """Bilinear map of two inputs: y_k = x1^T W_k x2 + b_k.

    Args:
        in1_features: Size of the last dimension of the first input.
        in2_features: Size of the last dimension of the second input.
        out_features: Size of the last dimension of the output.
        bias: Whether to add the learned vector b. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: W, of shape (out_features, in1_features, in2_features).
        bias: b, of shape (out_features,), or None.

    Both start uniform on (-k, k) with k = 1 / sqrt(in1_features).

    Shape:
        - Inputs: (*, in1_features) and (*, in2_features), with the same leading dimensions.
        - Output: (*, out_features).

    Example:
        >>> layer = nn.Bilinear(4, 5, 6)
        >>> layer(torch.randn(8, 4), torch.randn(8, 5)).shape
        torch.Size([8, 6])
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        sizes = (out_features, in1_features, in2_features)
        self.weight = Parameter(flambeau.empty(sizes, device=device, dtype=dtype))
        self.register_parameter(
            "bias",
            Parameter(flambeau.empty(out_features, device=device, dtype=dtype)) if bias else None,
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly from +-1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes, and whether there is a bias."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """Linear layer that takes `in_features` from its first input.

    After the first call it is an ordinary `nn.Linear`.

    Args:
        out_features: Size of the last dimension of the output.
        bias: Whether to add a learned vector. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyLinear(3)
        >>> layer(torch.randn(2, 5)).shape
        torch.Size([2, 3])
        >>> layer
        Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become: type[Any] = Linear
    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        # Made without elements, then waiting for the size.
        super().__init__(0, 0, bias=False, device=device, dtype=dtype)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters once their sizes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the sizes that the input asks for."""
        if not self.has_uninitialized_params():
            return
        with flambeau.no_grad():
            self.in_features: int = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
