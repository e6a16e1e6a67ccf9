"""Attention with functions of the caller's."""

import math

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor
from flambeau.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)


def causal(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return q >= k


def three(*shape: int) -> tuple[Tensor, Tensor, Tensor]:
    fb.manual_seed(0)
    q, k, v = (fb.randn(*shape, requires_grad=True) for _ in range(3))
    return q, k, v


def test_without_functions_it_is_attention() -> None:
    q, k, v = three(2, 3, 5, 4)
    expected = F.scaled_dot_product_attention(q, k, v)
    fb.testing.assert_close(flex_attention(q, k, v), expected)


def test_scores_are_changed() -> None:
    q, k, v = three(2, 3, 5, 4)
    slopes = fb.randn(3, requires_grad=True)

    def alibi(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + slopes[h] * (j - i)

    distance = fb.arange(5) - fb.arange(5)[:, None]
    actual = flex_attention(q, k, v, score_mod=alibi)
    expected = F.scaled_dot_product_attention(q, k, v, slopes[:, None, None] * distance)
    fb.testing.assert_close(actual, expected)
    inputs = (q, k, v, slopes)
    for a, b in zip(
        fb.autograd.grad(actual.square().sum(), inputs),
        fb.autograd.grad(expected.square().sum(), inputs),
        strict=True,
    ):
        fb.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_block_masks() -> None:
    q, k, v = three(2, 3, 9, 4)
    mask = create_block_mask(causal, None, None, 9, 9, BLOCK_SIZE=4)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    fb.testing.assert_close(flex_attention(q, k, v, block_mask=mask), expected)
    assert mask.shape == (1, 1, 9, 9)
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.full_kv_num_blocks is not None
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.kv_indices[0, 0, 1].tolist() == [1, 0, 2]
    assert math.isclose(mask.sparsity(), 100 * (1 - 6 * 16 / 81))
    assert "mask_mod=causal" in repr(mask)
    assert str(mask).splitlines()[2] == "██    "


def test_parts_of_block_masks() -> None:
    def first_only(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return (b == 0) & (q >= k)

    mask = create_block_mask(first_only, 2, 1, 8, 8, BLOCK_SIZE=4)
    assert mask[0].to_dense().tolist() == [[[[1, 0], [1, 1]]]]
    assert mask[1].to_dense().tolist() == [[[[0, 0], [0, 0]]]]
    assert mask._adjust(4, 8).shape == (2, 1, 4, 8)
    again = BlockMask.from_kv_blocks(mask.kv_num_blocks, mask.kv_indices, BLOCK_SIZE=4)
    assert again.q_num_blocks is not None
    assert again.q_num_blocks.tolist() == [[[1, 1]], [[0, 0]]]


def test_masks_of_functions() -> None:
    def near(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return (q - k).abs() < 2

    both = create_mask(and_masks(causal, near), 1, 1, 4, 4)
    assert both[0, 0].sum() == 7
    either = create_mask(or_masks(causal, near), None, None, 4, 4)
    assert either[0, 0].sum() == 13
    assert create_mask(noop_mask, 2, 3, 4, 5).all()
    seen = create_mask(lambda s, b, h, q, k: fb.where(q >= k, s, -math.inf), 1, 1, 3, 3)
    assert seen[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_grouped_heads_and_log_sum_exp() -> None:
    q, k, v = fb.randn(1, 4, 5, 8), fb.randn(1, 2, 5, 8), fb.randn(1, 2, 5, 8)
    result, lse = flex_attention(q, k, v, enable_gqa=True, return_lse=True)
    expected = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    fb.testing.assert_close(result, expected)
    scores = q @ k.repeat_interleave(2, 1).transpose(-2, -1) / math.sqrt(8)
    fb.testing.assert_close(lse, scores.logsumexp(-1))
    _, aux = flex_attention(q, k, v, enable_gqa=True, return_aux=AuxRequest(lse=True))
    fb.testing.assert_close(aux.lse, lse)


def test_bad_input() -> None:
    q = fb.zeros(1, 2, 3, 4)
    with pytest.raises(NotImplementedError, match="must be 4D tensors"):
        flex_attention(q[0], q[0], q[0])
    with pytest.raises(ValueError, match="same number of heads but got Hq=2 and Hkv=1"):
        flex_attention(q, q[:, :1], q[:, :1])
    with pytest.raises(ValueError, match="block_mask was created for"):
        flex_attention(q, q, q, block_mask=create_block_mask(causal, 1, 1, 8, 8))
    with pytest.raises(TypeError, match="mask_mod must be a function"):
        create_block_mask(3, 1, 1, 2, 2)  # type: ignore[arg-type]
