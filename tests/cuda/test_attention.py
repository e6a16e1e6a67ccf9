"""Attention on the device: results and gradients are those of the CPU."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional
from tests.cuda.moving import CUDA, to_cuda, to_host

TOLERANCE = {fb.float32: 5e-5, fb.float64: 1e-9, fb.float16: 5e-3, fb.bfloat16: 4e-2}


def gradients(tensors: list[fb.Tensor], function: Any, device: Any) -> list[fb.Tensor]:
    """Results, and gradients of all tensors that require one, on the host."""
    given = to_cuda(tensors) if device is CUDA else tensors
    leaves = [t.detach().requires_grad_(t.requires_grad) for t in given]
    out = function(*leaves)
    fb.manual_seed(1)
    weights = fb.randn(out.shape).to(out.dtype).to(device)
    wanted = [t for t in leaves if t.requires_grad]
    return list(to_host([out, *fb.autograd.grad(out, wanted, weights)]))


def compare(tensors: list[fb.Tensor], function: Any, rtol: float) -> None:
    ours = gradients(tensors, function, CUDA)
    for a, b in zip(ours, gradients(tensors, function, "cpu"), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.double().numpy(), b.double().numpy(), rtol, rtol)


def inputs(
    dtype: fb.dtype, queries: int, keys: int, features: int, value_features: int
) -> list[fb.Tensor]:
    fb.manual_seed(0)
    shapes = [(2, 1, queries, features), (2, 1, keys, features), (2, 1, keys, value_features)]
    return [fb.randn(shape).to(dtype).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_sizes(dtype: fb.dtype, causal: bool) -> None:
    for sizes in (
        (1, 1, 1, 1),
        (5, 7, 8, 3),
        (33, 31, 16, 40),
        (66, 130, 9, 33),
        (3, 70, 257, 300),
    ):
        compare(
            inputs(dtype, *sizes),
            lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=causal),
            TOLERANCE[dtype],
        )


@pytest.mark.parametrize("dtype", [fb.float32, fb.float16], ids=str)
@pytest.mark.parametrize("shape", [(33, 40), (1, 40), (2, 1, 33, 40), (3, 33, 1)])
def test_masks(dtype: fb.dtype, shape: tuple[int, ...]) -> None:
    fb.manual_seed(2)
    boolean = fb.rand(shape) < 0.6
    boolean[..., 0, :] = False
    for mask in (boolean, fb.randn(shape).to(dtype)):
        compare(
            [*inputs(dtype, 33, 40, 8, 8), mask],
            functional.scaled_dot_product_attention,
            TOLERANCE[dtype],
        )


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16], ids=str)
def test_heads_that_share_keys_and_strides(dtype: fb.dtype) -> None:
    fb.manual_seed(0)
    shapes = [(2, 20, 6, 8), (2, 20, 2, 8), (2, 20, 2, 8)]
    compare(
        [fb.randn(shape).to(dtype).transpose(1, 2).requires_grad_() for shape in shapes],
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        TOLERANCE[dtype],
    )


# Queries, keys, features, features of values: what the kernels by tensor cores tell apart.
@pytest.mark.parametrize("sizes", [(150, 40, 64, 64), (40, 150, 64, 24), (70, 35, 120, 128)])
@pytest.mark.parametrize("causal", [False, True])
def test_products_by_tensor_cores(sizes: tuple[int, ...], causal: bool) -> None:
    compare(
        inputs(fb.float16, *sizes),
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=causal),
        TOLERANCE[fb.float16],
    )


def test_long_rows_by_tensor_cores() -> None:
    compare(
        inputs(fb.bfloat16, 17, 33, 256, 250),
        functional.scaled_dot_product_attention,
        TOLERANCE[fb.bfloat16],
    )


def test_rows_that_begin_anywhere() -> None:
    tensors = inputs(fb.float16, 20, 20, 17, 17)
    for step in (1, 8):  # behind an element, and behind as many as are copied at once
        compare(
            tensors,
            lambda q, k, v, step=step: functional.scaled_dot_product_attention(
                q[..., step:], k[..., step:], v[..., step:]
            ),
            TOLERANCE[fb.float16],
        )


def test_a_mask_of_long_lines() -> None:
    fb.manual_seed(2)
    mask = fb.rand(2, 1, 70, 70) < 0.5
    mask[:, :, :3] = False
    for each in (mask, fb.randn(70, 70), fb.randn(2, 1, 1, 70)):
        compare(
            [*inputs(fb.bfloat16, 70, 70, 32, 32), each],
            functional.scaled_dot_product_attention,
            TOLERANCE[fb.bfloat16],
        )


def test_nothing_to_attend_to() -> None:
    compare(inputs(fb.float32, 4, 0, 8, 8), functional.scaled_dot_product_attention, 1e-6)
    compare(inputs(fb.float32, 0, 4, 8, 8), functional.scaled_dot_product_attention, 1e-6)


def test_gradients_are_the_same_every_time() -> None:
    first = gradients(
        inputs(fb.float32, 70, 90, 8, 8), functional.scaled_dot_product_attention, CUDA
    )
    again = gradients(
        inputs(fb.float32, 70, 90, 8, 8), functional.scaled_dot_product_attention, CUDA
    )
    assert all(bool((a == b).all()) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16], ids=str)
def test_an_encoder_layer_without_norms(dtype: fb.dtype) -> None:
    def run(device: Any) -> list[fb.Tensor]:
        fb.manual_seed(0)
        layer = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)
        layer.norm1 = layer.norm2 = nn.Identity()
        x = fb.randn(2, 7, 12)
        layer, x = layer.to(device), x.to(device).requires_grad_()
        with fb.autocast(fb.device(device).type, dtype=dtype, enabled=dtype != fb.float32):
            out = layer(x)
        out.float().square().sum().backward()
        return list(to_host([out.float(), x.grad, *(p.grad for p in layer.parameters())]))

    rtol = 2e-4 if dtype == fb.float32 else 0.1
    for a, b in zip(run(CUDA), run("cpu"), strict=True):
        scale = float(b.abs().max())
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol, rtol * max(scale, 1e-3))
