"""Padding layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau.nn import functional as F
from flambeau.nn.modules._norm_base import check_dims
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _ntuple

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _PadNd(Module):
    """Pads the last `_fb_rank` dimensions by pairs from the last one on, or all by one width."""

    _fb_mode: str
    _fb_rank: int

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding: tuple[int, ...] = _ntuple(2 * self._fb_rank)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._fb_mode)

    def extra_repr(self) -> str:
        """The widths."""
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    _fb_mode = "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The widths and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad a signal with a constant.

    Args:
        padding: Widths: one int, or (left, right).
        value: The constant.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), larger by the widths.

    Example:
        >>> nn.ConstantPad1d(1, 9.0)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[9., 1., 2., 3., 9.]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad an image with a constant.

    Args:
        padding: Widths: one int, or (left, right, top, bottom).
        value: The constant.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ConstantPad2d(1, 9.0)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[9., 9., 9., 9.],
                 [9., 1., 2., 9.],
                 [9., 3., 4., 9.],
                 [9., 9., 9., 9.]]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad a volume with a constant.

    Args:
        padding: Widths: one int, or (left, right, top, bottom, front, back).
        value: The constant.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ConstantPad3d(1, 9.0)(torch.randn(1, 3, 4, 4, 4)).shape
        torch.Size([1, 3, 6, 6, 6])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 3


class _Zeros(_PadNd):
    """Shown without the value, which is always the same."""

    extra_repr = _PadNd.extra_repr


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Pad a signal with zeros.

    Args:
        padding: Widths: one int, or (left, right).

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), larger by the widths.

    Example:
        >>> nn.ZeroPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 1., 2., 3., 0.]])

    See also:
        `nn.functional.pad`.
    """

    def __init__(self, padding: int | tuple[int, int]) -> None:
        super().__init__(padding, 0.0)


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Pad an image with zeros.

    Args:
        padding: Widths: one int, or (left, right, top, bottom).

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ZeroPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[0., 0., 0., 0.],
                 [0., 1., 2., 0.],
                 [0., 3., 4., 0.],
                 [0., 0., 0., 0.]]])

    See also:
        `nn.functional.pad`.
    """

    def __init__(self, padding: int | tuple[int, int, int, int]) -> None:
        super().__init__(padding, 0.0)


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Pad a volume with zeros.

    Args:
        padding: Widths: one int, or (left, right, top, bottom, front, back).

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ZeroPad3d(1)(torch.randn(1, 3, 4, 4, 4)).shape
        torch.Size([1, 3, 6, 6, 6])

    See also:
        `nn.functional.pad`.
    """

    def __init__(self, padding: int | tuple[int, int, int, int, int, int]) -> None:
        super().__init__(padding, 0.0)


class _ReflectionPadNd(_PadNd):
    _fb_mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad a signal with its reflection, without repeating the border.

    Args:
        padding: Widths: one int, or (left, right).

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), larger by the widths.

    Example:
        >>> nn.ReflectionPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 1., 2., 3., 2.]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad an image with its reflection, without repeating the border.

    Args:
        padding: Widths: one int, or (left, right, top, bottom).

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ReflectionPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[4., 3., 4., 3.],
                 [2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad a volume with its reflection, without repeating the border.

    Args:
        padding: Widths: one int, or (left, right, top, bottom, front, back).

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ReflectionPad3d(1)(torch.randn(1, 3, 4, 4, 4)).shape
        torch.Size([1, 3, 6, 6, 6])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 3


class _ReplicationPadNd(_PadNd):
    _fb_mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad a signal with copies of its border.

    Args:
        padding: Widths: one int, or (left, right).

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), larger by the widths.

    Example:
        >>> nn.ReplicationPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2., 3., 3.]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad an image with copies of its border.

    Args:
        padding: Widths: one int, or (left, right, top, bottom).

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ReplicationPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[1., 1., 2., 2.],
                 [1., 1., 2., 2.],
                 [3., 3., 4., 4.],
                 [3., 3., 4., 4.]]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad a volume with copies of its border.

    Args:
        padding: Widths: one int, or (left, right, top, bottom, front, back).

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), larger by the widths.

    Example:
        >>> nn.ReplicationPad3d(1)(torch.randn(1, 3, 4, 4, 4)).shape
        torch.Size([1, 3, 6, 6, 6])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 3


class _CircularPadNd(_PadNd):
    _fb_mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        check_dims(self, input, self._fb_rank + 1, self._fb_rank + 2)
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pad a signal with elements of its opposite end.

    Args:
        padding: Widths: one int, or (left, right).

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), larger by the widths.

    Example:
        >>> nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 1


class CircularPad2d(_CircularPadNd):
    """Pad an image with elements of its opposite end.

    Args:
        padding: Widths: one int, or (left, right, top, bottom).

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), larger by the widths.

    Example:
        >>> nn.CircularPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[4., 3., 4., 3.],
                 [2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 2


class CircularPad3d(_CircularPadNd):
    """Pad a volume with elements of its opposite end.

    Args:
        padding: Widths: one int, or (left, right, top, bottom, front, back).

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), larger by the widths.

    Example:
        >>> nn.CircularPad3d(1)(torch.randn(1, 3, 4, 4, 4)).shape
        torch.Size([1, 3, 6, 6, 6])

    See also:
        `nn.functional.pad`.
    """

    _fb_rank = 3
