"""The layer that mixes groups of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Interleave groups of channels: the first of each group, then the second, and so on.

    Args:
        groups: Number of groups; must divide the number of channels.

    Shape:
        - Input: (N, C, *).
        - Output: the shape of the input.

    Example:
        >>> nn.ChannelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1)).flatten()
        tensor([0., 2., 1., 3.])

    See also:
        `nn.functional.channel_shuffle`.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"
