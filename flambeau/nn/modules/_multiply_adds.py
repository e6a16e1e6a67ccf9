"""Multiply-adds of the layers that consist of products; what others compute does not count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flambeau import Tensor
from flambeau.nn.modules._rnn_cells import RNNCellBase
from flambeau.nn.modules.activation import MultiheadAttention
from flambeau.nn.modules.conv import _ConvNd
from flambeau.nn.modules.linear import Bilinear, Linear
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.rnn import RNNBase
from flambeau.nn.utils.rnn import PackedSequence

__all__ = ["multiply_adds"]


def _linear(layer: Linear, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    return results[0].numel() * layer.in_features


def _bilinear(layer: Bilinear, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    # x1 @ W for every output, then the products with x2.
    return results[0].numel() * (layer.in1_features + 1) * layer.in2_features


def _conv(layer: _ConvNd, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    # Every element on the side of the larger kernel count meets one kernel of the other side.
    if layer.transposed:
        elements, channels = int(inputs[0].numel()), layer.out_channels
    else:
        elements, channels = results[0].numel(), layer.in_channels
    return elements * channels // layer.groups * math.prod(layer.kernel_size)


def _recurrent(layer: RNNBase | RNNCellBase, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    steps: Tensor = inputs[0].data if isinstance(inputs[0], PackedSequence) else inputs[0]
    weights = sum(p.numel() for p in layer.parameters() if p.dim() == 2)
    return steps.numel() // layer.input_size * weights


def _attention(layer: MultiheadAttention, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    query: Tensor = inputs[0]
    key: Tensor = inputs[1] if len(inputs) > 1 else query
    is_batched = query.dim() == 3
    batch = query.size(0 if layer.batch_first else 1) if is_batched else 1
    width = layer.embed_dim
    queries, keys = query.numel() // width, key.numel() // layer.kdim
    projections = width * (2 * queries * width + keys * (layer.kdim + layer.vdim))
    return projections + 2 * queries * (keys // batch) * width


_RULES: dict[type[Module], Callable[[Any, tuple[Any, ...], list[Tensor]], int]] = {
    Linear: _linear,
    Bilinear: _bilinear,
    _ConvNd: _conv,
    RNNBase: _recurrent,
    RNNCellBase: _recurrent,
    MultiheadAttention: _attention,
}


def multiply_adds(layer: Module, inputs: tuple[Any, ...], results: list[Tensor]) -> int:
    """What one call of ``layer`` with ``inputs`` took, without its children."""
    for kind, rule in _RULES.items():
        if isinstance(layer, kind) and inputs and results:
            return rule(layer, inputs, results)
    return 0
