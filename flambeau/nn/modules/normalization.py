"""Normalisation within a sample: of layers, of groups of channels, of neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn import init
from flambeau.nn.functional import group_norm, layer_norm, local_response_norm, rms_norm
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """Divide each channel by a power of the mean square of its neighbours.

    y_c = x_c / (k + alpha × mean of x^2 over `size` channels around c) ** beta

    Channels outside of the input count as 0.

    Args:
        size: Number of neighbouring channels.
        alpha: Factor of the mean square. Default: 1e-4.
        beta: Exponent. Default: 0.75.
        k: Added constant. Default: 1.

    Shape:
        - Input: (N, C, *).
        - Output: the shape of the input.

    Example:
        >>> nn.LocalResponseNorm(3, alpha=1.0)(torch.ones(1, 4, 1)).flatten()
        tensor([0.6817, 0.5946, 0.5946, 0.6817])

    See also:
        `nn.functional.local_response_norm`.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The number of neighbours and the constants."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """`nn.LocalResponseNorm` of images, (N, C, H, W).

    Args:
        size: Number of neighbouring channels.
        alpha: Factor of the mean square. Default: 1e-4.
        beta: Exponent. Default: 0.75.
        k: Added constant. Default: 1.

    Raises:
        ValueError: The input has not 4 dimensions.

    Example:
        >>> nn.CrossMapLRN2d(2)(torch.randn(1, 5, 4, 4)).shape
        torch.Size([1, 5, 4, 4])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: expected 4D input, got {input.dim()}D input")
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The number of neighbours and the constants."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _as_shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class _Affine(Module):
    """Weight and bias, each of which may be left out."""

    weight: Tensor | None
    bias: Tensor | None

    def _fb_make_affine(
        self,
        shape: tuple[int, ...],
        weight: bool,
        bias: bool,
        device: Any,
        dtype: flambeau.dtype | None,
    ) -> None:
        for name, wanted in (("weight", weight), ("bias", weight and bias)):
            numbers = flambeau.empty(shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if numbers is None else Parameter(numbers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Normalise the last dimensions of each sample, then scale and shift each element.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance over the last dimensions, in training and in evaluation.

    Args:
        normalized_shape: Sizes of the last dimensions, or the size of the last one.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        elementwise_affine: Whether to learn weight and bias. Default: True.
        bias: Whether `elementwise_affine` includes a bias. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Scale of shape `normalized_shape`, starting at 1, or None.
        bias: Shift of shape `normalized_shape`, starting at 0, or None.

    Shape:
        - Input: (*, normalized_shape).
        - Output: the shape of the input.

    Example:
        >>> layer = nn.LayerNorm(4)
        >>> layer(torch.tensor([[1.0, 2.0, 3.0, 4.0]])).detach()
        tensor([[-1.3416, -0.4472,  0.4472,  1.3416]])
        >>> nn.LayerNorm([3, 4])(torch.randn(2, 3, 4)).shape
        torch.Size([2, 3, 4])

    See also:
        `nn.RMSNorm`, `nn.GroupNorm`, `nn.functional.layer_norm`.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape: tuple[int, ...] = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._fb_make_affine(self.normalized_shape, elementwise_affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape and the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide the last dimensions of each sample by their root mean square, then scale each element.

    y = x / sqrt(mean of x^2 + eps) × weight

    Args:
        normalized_shape: Sizes of the last dimensions, or the size of the last one.
        eps: Added to the mean square. Default: the precision of the input's type.
        elementwise_affine: Whether to learn a weight. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Scale of shape `normalized_shape`, starting at 1, or None.

    Shape:
        - Input: (*, normalized_shape).
        - Output: the shape of the input.

    Example:
        >>> nn.RMSNorm(2)(torch.tensor([[3.0, 4.0]])).detach()
        tensor([[0.8485, 1.1314]])

    See also:
        `nn.LayerNorm`, `nn.functional.rms_norm`.
    """

    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape: tuple[int, ...] = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight",
            Parameter(flambeau.empty(self.normalized_shape, device=device, dtype=dtype))
            if elementwise_affine
            else None,
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The shape and the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Affine):
    """Normalise groups of channels of each sample, then scale and shift each channel.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each group, in training and in evaluation. One group is
    `nn.LayerNorm` over all channels; one channel per group is `nn.InstanceNorm2d`.

    Args:
        num_groups: Number of groups; must divide `num_channels`.
        num_channels: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        affine: Whether to learn weight and bias. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Attributes:
        weight: Scale of shape (num_channels,), starting at 1, or None.
        bias: Shift of shape (num_channels,), starting at 0, or None.

    Shape:
        - Input: (N, C, *).
        - Output: the shape of the input.

    Raises:
        ValueError: `num_groups` does not divide `num_channels`.

    Example:
        >>> layer = nn.GroupNorm(2, 8)
        >>> layer(torch.randn(4, 8, 5, 5)).shape
        torch.Size([4, 8, 5, 5])

    See also:
        `nn.BatchNorm2d`, `nn.LayerNorm`, `nn.functional.group_norm`.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._fb_make_affine((num_channels,), affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The numbers of groups and channels, and the options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
