"""The memory order of convolution weights."""

from __future__ import annotations

from typing import Any, TypeVar

from flambeau.nn.modules import conv
from flambeau.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound=Module)


def convert_conv2d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Convert the weights of all Conv2d and ConvTranspose2d within a module to a memory format."""
    return _convert(module, (conv.Conv2d, conv.ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Convert the weights of all Conv3d and ConvTranspose3d within a module to a memory format."""
    return _convert(module, (conv.Conv3d, conv.ConvTranspose3d), memory_format)


def _convert(module: _M, kinds: tuple[type, ...], memory_format: Any) -> _M:
    for each in module.modules():
        if isinstance(each, kinds):
            weight: Any = each.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
