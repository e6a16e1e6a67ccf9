"""Attention: the fused kernel against its definition, masks, layouts, several heads."""

import math

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor, nn
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.nn.attention import SDPBackend, sdpa_kernel
from flambeau.nn.attention.bias import causal_lower_right, causal_upper_left

attention = F.scaled_dot_product_attention


def by_definition(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if is_causal:
        scores = scores.masked_fill(fb.ones(scores.shape[-2:]).tril() == 0, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == fb.bool else scores + mask
    return scores.softmax(-1) @ v


def three(*shape: int, dtype: fb.dtype = fb.float32) -> tuple[Tensor, Tensor, Tensor]:
    fb.manual_seed(0)
    q, k, v = (fb.randn(*shape, dtype=dtype, requires_grad=True) for _ in range(3))
    return q, k, v


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (1, 2, 64, 16), (3, 129, 7), (200, 33), (2, 1, 3)])
def test_values_and_gradients(shape: tuple[int, ...], is_causal: bool) -> None:
    inputs = three(*shape)
    actual = attention(*inputs, is_causal=is_causal)
    expected = by_definition(*inputs, is_causal=is_causal)
    fb.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
    back = fb.randn(*actual.shape)
    for a, b in zip(
        fb.autograd.grad(actual, inputs, back),
        fb.autograd.grad(expected, inputs, back),
        strict=True,
    ):
        fb.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_queries_and_keys_of_other_lengths_and_widths() -> None:
    q, k, v = fb.randn(2, 70, 8), fb.randn(2, 130, 8), fb.randn(2, 130, 20)
    fb.testing.assert_close(attention(q, k, v), by_definition(q, k, v), atol=1e-5, rtol=1e-5)
    causal = attention(q, k, v, is_causal=True)
    fb.testing.assert_close(causal, by_definition(q, k, v, is_causal=True), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", [(6, 9), (2, 1, 1, 9), (2, 3, 6, 9), (1, 3, 6, 1)])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks_broadcast(shape: tuple[int, ...], kind: str) -> None:
    q, k, v = fb.randn(2, 3, 6, 4), fb.randn(2, 3, 9, 4), fb.randn(2, 3, 9, 4)
    mask = fb.randn(*shape)
    if kind == "bool":
        mask = (mask > -1) | (mask == mask.amax(-1, keepdim=True))  # a key for every query
    fb.testing.assert_close(attention(q, k, v, mask), by_definition(q, k, v, mask))


def test_a_query_without_keys_gives_zeros_and_no_gradient() -> None:
    q, k, v = three(2, 3, 4)
    mask = fb.tensor([[True, True, True], [False, False, False], [True, False, True]])
    result = attention(q, k, v, mask)
    assert result[:, 1].abs().sum() == 0
    result.sum().backward()
    assert q.grad is not None
    assert q.grad[:, 1].abs().sum() == 0
    assert q.grad.isfinite().all()


def test_heads_cut_out_of_a_projection_are_joined_again_without_a_copy() -> None:
    projected = fb.randn(2, 10, 3 * 12)
    q, k, v = (t.view(2, 10, 3, 4).transpose(1, 2) for t in projected.split(12, -1))
    result = attention(q, k, v)
    assert result.transpose(1, 2).is_contiguous()
    expected = by_definition(q.contiguous(), k.contiguous(), v.contiguous())
    fb.testing.assert_close(result, expected)


def test_any_strides() -> None:
    q, k, v = (fb.randn(2, 8, 20).transpose(-2, -1) for _ in range(3))
    expected = by_definition(q, k, v)
    fb.testing.assert_close(attention(q, k, v), expected)
    shared = attention(q, k[:1].expand(2, 20, 8), v)
    fb.testing.assert_close(shared, by_definition(q, k[:1].expand(2, 20, 8), v))


def test_derivatives() -> None:
    q, k, v = three(2, 3, 4, dtype=fb.float64)
    mask = fb.randn(3, 3, dtype=fb.float64, requires_grad=True)
    assert gradcheck(attention, (q, k, v))
    assert gradgradcheck(attention, (q, k, v))
    assert gradcheck(attention, (q, k, v, mask))
    assert gradgradcheck(lambda *t: attention(*t, is_causal=True), (q, k, v))


def test_grouped_heads() -> None:
    q, k, v = fb.randn(2, 6, 5, 4), fb.randn(2, 2, 7, 4), fb.randn(2, 2, 7, 4)
    many_k, many_v = (t.repeat_interleave(3, 1) for t in (k, v))
    actual = attention(q, k, v, enable_gqa=True)
    fb.testing.assert_close(actual, by_definition(q, many_k, many_v))
    with pytest.raises(RuntimeError, match="must be a multiple"):
        attention(fb.randn(2, 5, 5, 4), k, v, enable_gqa=True)


def test_dropout_repeats_with_its_seed() -> None:
    q, k, v = three(2, 8, 4)
    fb.manual_seed(3)
    first = attention(q, k, v, dropout_p=0.5)
    fb.manual_seed(3)
    assert fb.equal(attention(q, k, v, dropout_p=0.5), first)
    assert not fb.equal(first, attention(q, k, v))
    assert attention(q, k, v, dropout_p=1.0).abs().sum() == 0


@pytest.mark.parametrize("dtype", [fb.bfloat16, fb.float16])
def test_16_bit_floats(dtype: fb.dtype) -> None:
    wide = three(2, 20, 8)
    inputs = [t.detach().to(dtype).requires_grad_() for t in wide]
    result = attention(*inputs)
    assert result.dtype == dtype
    # The inputs are rounded, by as much as 2^-9 of bfloat16.
    fb.testing.assert_close(result.float(), attention(*wide), atol=1e-2, rtol=1e-2)
    result.sum().backward()
    assert all(t.grad is not None and t.grad.dtype == dtype for t in inputs)


def test_no_matrix_of_all_weights_is_made() -> None:
    length = 2048
    q, k, v = three(1, length, 16)
    fb.empty_cache()  # what is freed from here on is found in the cache
    before = fb.memory_stats()["allocated_bytes"]
    attention(q, k, v, is_causal=True).sum().backward()
    stats = fb.memory_stats()
    used = stats["allocated_bytes"] + stats["cached_bytes"] - before
    assert used < length * length * 4 / 4


def test_nothing_to_attend_to() -> None:
    assert attention(fb.zeros(2, 0, 4), fb.zeros(2, 3, 4), fb.zeros(2, 3, 4)).shape == (2, 0, 4)
    assert attention(fb.zeros(0, 2, 4), fb.zeros(0, 3, 4), fb.zeros(0, 3, 4)).shape == (0, 2, 4)
    q, k, v = (fb.zeros(3, n, 4, requires_grad=True) for n in (0, 2, 2))
    attention(q, k, v).sum().backward()
    assert k.grad is not None
    assert k.grad.tolist() == fb.zeros(3, 2, 4).tolist()
    nothing = attention(fb.ones(1, 2, 4), fb.zeros(1, 0, 4), fb.zeros(1, 0, 4))
    assert nothing.tolist() == fb.zeros(1, 2, 4).tolist()


def test_maps_of_samples() -> None:
    q, k, v = three(3, 2, 5, 4)
    fb.testing.assert_close(fb.vmap(attention)(q, k, v), attention(q, k, v))
    mask = fb.rand(5, 5) > 0.3
    shared = fb.vmap(attention, in_dims=(0, None, 0, None))(q, k[0], v, mask)
    fb.testing.assert_close(shared, attention(q, k[0].expand(3, 2, 5, 4), v, mask))
    each = fb.rand(3, 5, 5) > 0.3
    masked = fb.vmap(attention)(q, k, v, each)
    fb.testing.assert_close(masked, attention(q, k, v, each[:, None]))


def test_causal_biases() -> None:
    assert causal_upper_left(2, 3).tolist() == [[True, False, False], [True, True, False]]
    assert causal_lower_right(2, 3).tolist() == [[True, True, False], [True, True, True]]
    q, k, v = three(1, 4, 8)
    fb.testing.assert_close(
        attention(q, k, v, causal_lower_right(4, 4)), attention(q, k, v, is_causal=True)
    )


def test_choosing_a_kernel() -> None:
    q, k, v = three(1, 4, 8)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert fb.equal(attention(q, k, v), attention(q, k, v))
    with pytest.raises(AssertionError, match="sdpa_kernel: Backend"), sdpa_kernel(3):  # type: ignore[arg-type]
        pass


# --- several heads


@pytest.mark.parametrize("batch_first", [False, True])
def test_with_and_without_weights(batch_first: bool) -> None:
    fb.manual_seed(0)
    net = nn.MultiheadAttention(12, 3, batch_first=batch_first)
    x, memory = fb.randn(4, 5, 12), fb.randn(4, 5, 12)
    with_weights, weights = net(x, memory, memory)
    without, nothing = net(x, memory, memory, need_weights=False)
    assert nothing is None
    fb.testing.assert_close(with_weights, without)
    assert weights is not None
    assert weights.shape == ((4, 5, 5) if batch_first else (5, 4, 4))
    fb.testing.assert_close(weights.sum(-1), fb.ones(weights.shape[:2]))
    _, every = net(x, memory, memory, average_attn_weights=False)
    assert every is not None
    fb.testing.assert_close(every.mean(1), weights)


def test_either_order_of_batch_and_length() -> None:
    fb.manual_seed(0)
    one = nn.MultiheadAttention(8, 2)
    other = nn.MultiheadAttention(8, 2, batch_first=True)
    other.load_state_dict(one.state_dict())
    x = fb.randn(5, 3, 8)
    fb.testing.assert_close(one(x, x, x)[0].transpose(0, 1), other(*[x.transpose(0, 1)] * 3)[0])
    alone, weights = one(x[:, 0], x[:, 0], x[:, 0])
    fb.testing.assert_close(alone, one(x, x, x)[0][:, 0])
    assert weights is not None
    assert weights.shape == (5, 5)


def test_padded_keys_change_nothing() -> None:
    fb.manual_seed(0)
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x, memory = fb.randn(2, 3, 8), fb.randn(2, 6, 8)
    padding = fb.tensor([[False] * 4 + [True] * 2] * 2)
    short = net(x, memory[:, :4], memory[:, :4])[0]
    for need_weights in (True, False):
        whole = net(x, memory, memory, key_padding_mask=padding, need_weights=need_weights)[0]
        fb.testing.assert_close(whole, short)


def test_causal_masks() -> None:
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = fb.randn(2, 5, 8)
    mask = fb.full((5, 5), -math.inf).triu(1)
    expected = net(x, x, x, attn_mask=mask)[0]
    hinted = net(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]
    fb.testing.assert_close(hinted, expected)
    by_bools = net(x, x, x, attn_mask=mask.isinf())[0]
    fb.testing.assert_close(by_bools, expected)
    by_head = net(x, x, x, attn_mask=mask.expand(4, 5, 5))[0]
    fb.testing.assert_close(by_head, expected)
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        net(x, x, x, is_causal=True)


def test_names_of_the_state() -> None:
    assert list(nn.MultiheadAttention(4, 2).state_dict()) == [
        "in_proj_weight",
        "in_proj_bias",
        "out_proj.weight",
        "out_proj.bias",
    ]
    net = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, bias=False)
    assert list(net.state_dict()) == [
        "q_proj_weight",
        "k_proj_weight",
        "v_proj_weight",
        "bias_k",
        "bias_v",
        "out_proj.weight",
    ]


def test_bad_input_of_several_heads() -> None:
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(7, 2)
    with pytest.raises(ValueError, match="must be greater than 0"):
        nn.MultiheadAttention(0, 2)
    net = nn.MultiheadAttention(8, 2)
    x = fb.zeros(3, 2, 8)
    with pytest.raises(AssertionError, match="expecting embedding dimension of 8, but got 6"):
        net(fb.zeros(3, 2, 6), x, x)
    with pytest.raises(AssertionError, match=r"key shape \(3, 2, 8\) does not match value shape"):
        net(x, x, fb.zeros(4, 2, 8))
    with pytest.raises(RuntimeError, match=r"2D attn_mask is \(2, 2\), but should be \(3, 3\)"):
        net(x, x, x, attn_mask=fb.zeros(2, 2))
    with pytest.raises(AssertionError, match="unbatched 2D or batched 3D tensor but received 4-D"):
        net(x[None], x, x)
    with pytest.raises(AssertionError, match="only bool and floating types of attn_mask"):
        net(x, x, x, attn_mask=fb.zeros(3, 3, dtype=fb.int64))


def test_one_mask_at_a_time():
    x = fb.ones(1, 2, 2)
    with pytest.raises(RuntimeError, match="attn_mask must be None"):
        F.scaled_dot_product_attention(x, x, x, attn_mask=fb.ones(2, 2), is_causal=True)
