"""The layer that mixes groups of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Channels in a new order: the first of each group, then the second, and so on."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Shuffle (N, C, ...)."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"
