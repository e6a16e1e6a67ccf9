"""Dimensions merged and split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor
from flambeau.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Merge a range of dimensions into one; by default, all but the batch.

    Args:
        start_dim: First dimension to merge. Default: 1.
        end_dim: Last dimension to merge. Default: -1.

    Shape:
        - Input: (*, S_start, ..., S_end, *).
        - Output: (*, S_start × ... × S_end, *).

    Example:
        >>> nn.Flatten()(torch.randn(8, 3, 4, 4)).shape
        torch.Size([8, 48])
        >>> nn.Flatten(0, 1)(torch.randn(8, 3, 4, 4)).shape
        torch.Size([24, 4, 4])

    See also:
        `nn.Unflatten`, `Tensor.flatten`.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Which dimensions are merged."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split one dimension into several.

    Args:
        dim: Dimension to split.
        unflattened_size: Sizes to split it into, a tuple or list of ints; one of them may be -1.

    Shape:
        - Input: (*, S_dim, *).
        - Output: (*, U_1, ..., U_n, *), where U_1 × ... × U_n = S_dim.

    Raises:
        TypeError: `unflattened_size` is not a tuple or list of ints.

    Example:
        >>> nn.Unflatten(1, (3, 4))(torch.randn(2, 12)).shape
        torch.Size([2, 3, 4])

    See also:
        `nn.Flatten`, `Tensor.unflatten`.
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        _check_sizes(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Which dimension is split, and how."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _check_sizes(sizes: Any) -> None:
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(
            f"unflattened_size must be a tuple or list, but found type {type(sizes).__name__}"
        )
    for i, size in enumerate(sizes):
        if not isinstance(size, int):
            raise TypeError(
                "unflattened_size must be tuple of ints, "
                f"but found element of type {type(size).__name__} at pos {i}"
            )
