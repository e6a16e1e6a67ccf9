"""Sliding windows of images as columns, and their sum back into an image."""

from __future__ import annotations

from flambeau import Tensor
from flambeau.nn.functional import fold, unfold
from flambeau.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Add up sliding windows, given as columns, to an image.

    Each pixel is the sum of all window elements that fall on it: the transpose of `nn.Unfold`.

    Args:
        output_size: Size of the image, one int or (height, width).
        kernel_size: Size of a window, one int or (height, width).
        dilation: Distance between two pixels of a window. Default: 1.
        padding: Zeros cut from both sides of each dimension. Default: 0.
        stride: Step between two windows. Default: 1.

    Shape:
        - Input: (N, C × kernel elements, L) or (C × kernel elements, L), with L windows.
        - Output: (N, C, H, W) or (C, H, W).

    Example:
        >>> columns = torch.ones(1, 4, 4)
        >>> nn.Fold(output_size=3, kernel_size=2)(columns).shape
        torch.Size([1, 1, 3, 3])
        >>> nn.Fold(output_size=3, kernel_size=2)(columns)[0, 0]
        tensor([[1., 2., 1.],
                [2., 4., 2.],
                [1., 2., 1.]])

    See also:
        `nn.Unfold`, `nn.functional.fold`.
    """

    def __init__(
        self,
        output_size: int | tuple[int, ...],
        kernel_size: int | tuple[int, ...],
        dilation: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        stride: int | tuple[int, ...] = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """All arguments."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """Take the sliding windows of an image as columns.

    Args:
        kernel_size: Size of a window, one int or (height, width).
        dilation: Distance between two pixels of a window. Default: 1.
        padding: Zeros added at both sides of each dimension. Default: 0.
        stride: Step between two windows. Default: 1.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C × kernel elements, L) or (C × kernel elements, L), with L windows.

    Example:
        >>> image = torch.arange(12.0).reshape(1, 1, 3, 4)
        >>> nn.Unfold(kernel_size=2)(image)[0, :, 0]
        tensor([0., 1., 4., 5.])
        >>> nn.Unfold(kernel_size=2)(image).shape
        torch.Size([1, 4, 6])

    See also:
        `nn.Fold`, `nn.functional.unfold`.
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, ...],
        dilation: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        stride: int | tuple[int, ...] = 1,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """All arguments."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )
