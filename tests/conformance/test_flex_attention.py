"""Programmable attention, block masks and causal biases beside torch."""

import importlib
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import flambeau

Made = Callable[[Any, Any], Any]


def both(make: Made) -> tuple[Any, Any]:
    """What `make(framework, its flex_attention)` gives in either framework."""
    results = []
    for t in (flambeau, torch):
        flex: ModuleType = importlib.import_module(f"{t.__name__}.nn.attention.flex_attention")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(make(t, flex))
    return results[0], results[1]


def inputs(t: Any, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [t.from_numpy(rng.normal(size=shape).astype(np.float32)) for shape in shapes]


def alibi(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return s + (h + 1) * 0.1 * (j - i)


def softcap(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return 2 * (s / 2).tanh()


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


def window(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i - j).abs() <= 3


def some(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (b + h + i) % 3 != j % 3


@pytest.mark.parametrize("score_mod", [None, alibi, softcap])
@pytest.mark.parametrize("mask_mod", [None, causal, window, some])
def test_flex_attention(score_mod: Any, mask_mod: Any) -> None:
    def make(t: Any, flex: Any) -> Any:
        q, k, v = inputs(t, (2, 4, 9, 8), (2, 2, 11, 8), (2, 2, 11, 6))
        mask = mask_mod and flex.create_block_mask(mask_mod, 2, 4, 9, 11, "cpu", BLOCK_SIZE=4)
        return flex.flex_attention(
            q, k, v, score_mod, block_mask=mask, enable_gqa=True, scale=0.4, return_lse=True
        )

    for ours, theirs in zip(*both(make), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mask_mod", [causal, window, some])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 300, 260, 128), (2, 3, 40, 70, (16, 32)), (2, 1, 8, 8, 4)]
)
def test_block_masks(mask_mod: Any, sizes: Any) -> None:
    *shape, block = sizes
    ours, theirs = both(
        lambda t, flex: flex.create_block_mask(mask_mod, *shape, "cpu", BLOCK_SIZE=block)
    )
    assert repr(ours) == repr(theirs)
    assert ours.shape == theirs.shape
    assert ours.numel() == theirs.numel()
    assert ours.sparsity() == pytest.approx(theirs.sparsity())
    for name in ("kv", "full_kv", "q", "full_q"):
        counts, others = (getattr(m, f"{name}_num_blocks") for m in (ours, theirs))
        assert counts.tolist() == others.tolist()
        indices, others = (getattr(m, f"{name}_indices") for m in (ours, theirs))
        assert indices.tolist() == others.tolist()
    assert ours.to_dense().tolist() == theirs.to_dense().tolist()
    assert ours[0].to_dense().tolist() == theirs[0].to_dense().tolist()


@pytest.mark.parametrize("shape", [(2, 1, 12, 12), (1, 1, 90, 70), (3, 2, 4, 4)])
def test_pictures_of_block_masks(shape: tuple[int, ...]) -> None:
    ours, theirs = both(
        lambda t, flex: str(flex.create_block_mask(causal, *shape, "cpu", BLOCK_SIZE=2))
    )
    assert ours == theirs


@pytest.mark.parametrize("name", ["and_masks", "or_masks"])
def test_masks_of_masks(name: str) -> None:
    ours, theirs = both(
        lambda t, flex: flex.create_mask(getattr(flex, name)(causal, window), 2, 2, 7, 9, "cpu")
    )
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", ["causal_upper_left", "causal_lower_right"])
@pytest.mark.parametrize("size", [(4, 4), (3, 5)])
def test_causal_biases(name: str, size: tuple[int, int]) -> None:
    results = []
    for t in (flambeau, torch):
        bias = importlib.import_module(f"{t.__name__}.nn.attention.bias")
        q, k = inputs(t, (2, 2, size[0], 8), (2, 2, size[1], 8))
        made = getattr(bias, name)(*size)
        results.append(t.nn.functional.scaled_dot_product_attention(q, k, k, made).numpy())
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
