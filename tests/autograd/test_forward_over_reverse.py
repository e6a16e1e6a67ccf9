"""Tangents of gradients: backward carries them whether or not it is recorded."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau.autograd import forward_ad
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import LAYERS, Layer
from tests.ops.check import assert_values, to_numpy
from tests.ops.gradients import calls, is_differentiable
from tests.ops.registry import all_samples
from tests.ops.table import operators

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

TABLE = operators()
DIFFERENTIABLE = [
    name for name in sorted(set(TABLE) & set(all_samples())) if is_differentiable(TABLE[name])
]


def tangents(
    call: Callable[..., tuple[Any, ...]], leaves: Sequence[Any], create_graph: bool
) -> list[Any]:
    """How the gradients by `leaves` change when those move; None: not at all."""
    rng = np.random.default_rng(7)
    moves = [torch.from_numpy(rng.normal(size=tuple(x.shape))).to(x.dtype) for x in leaves]
    with forward_ad.dual_level():
        moving = [forward_ad.make_dual(x, move) for x, move in zip(leaves, moves, strict=True)]
        results = call(*moving)
        if not results:
            return []
        total = sum((result * result.conj()).real.sum() for result in results)
        gradients = torch.autograd.grad(total, moving, create_graph=create_graph, allow_unused=True)
        return [
            None if each is None else forward_ad.unpack_dual(each).tangent for each in gradients
        ]


def check(call: Callable[..., tuple[Any, ...]], leaves: Sequence[Any], what: str) -> None:
    try:
        recorded = tangents(call, leaves, True)
    except NotImplementedError:  # ctc_loss has no second derivative: that must not pass unnoticed
        with pytest.raises(NotImplementedError, match="derivative"):
            tangents(call, leaves, False)
        return
    for plain, right in zip(tangents(call, leaves, False), recorded, strict=True):
        if plain is None and right is None:
            continue
        shape = (right if plain is None else plain).shape
        ours, theirs = (
            np.zeros(tuple(shape)) if each is None else to_numpy(each.detach())
            for each in (plain, right)
        )
        scale = max(1.0, float(np.abs(theirs).max(initial=0)))
        # The recorded backward may be composed of other operators than the fused one.
        assert_values(ours / scale, theirs / scale, (1e-7, 1e-7), what)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_operators(name: str) -> None:
    for call in calls(torch, TABLE[name], "float64"):
        check(call, call.leaves(), f"{name}{call.sample!r}")


@pytest.mark.parametrize("config", [c for c in LAYERS if c.double and c.gradients], ids=str)
def test_layers(config: Layer) -> None:
    call, leaves = run.as_function(torch, config, "float64", training="train" in config.modes)
    if leaves:
        check(call, leaves, str(config))
