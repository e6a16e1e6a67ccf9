"""Operators below the ones that programs know: by what they are the gradients or parts of."""

import pytest

import flambeau as fb

aten = fb.ops.aten
F = fb.nn.functional


@pytest.mark.parametrize("channels_last", [False, True])
def test_gradient_of_the_largest(channels_last: bool) -> None:
    x = fb.rand(2, 3, 6, 7, requires_grad=True)
    if channels_last:
        x = x.detach().to(memory_format=fb.channels_last).requires_grad_()
    result, where = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    grad = fb.rand(result.shape)
    (expected,) = fb.autograd.grad(result, x, grad)
    actual = aten.max_pool2d_with_indices_backward(grad, x, 3, 2, 1, 1, False, where)
    fb.testing.assert_close(actual.detach(), expected)
    assert actual.stride() == x.stride()
    assert not fb.autograd.grad(actual.sum(), x)[0].any()


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradient_of_shares(name: str) -> None:
    x = fb.rand(3, 5, requires_grad=True)
    result = getattr(fb, name)(x, 1)
    grad = fb.rand(3, 5)
    (expected,) = fb.autograd.grad(result, x, grad)
    actual = getattr(aten, f"_{name}_backward_data")(grad, result.detach(), 1, fb.float32)
    fb.testing.assert_close(actual, expected)


def test_shares_of_what_is_masked_are_zeros() -> None:
    x = fb.tensor([[1.0, 2.0], [-fb.inf, -fb.inf]], requires_grad=True)
    shares = aten._safe_softmax(x, 1)
    assert shares[1].tolist() == [0, 0]
    fb.testing.assert_close(shares[0], fb.softmax(x[0], 0))
    assert fb.autograd.grad(shares.square().sum(), x)[0][1].tolist() == [0, 0]


def test_chunks_beside_chunks() -> None:
    a, b = fb.arange(5), fb.arange(10, 13)
    assert aten._chunk_cat([a, b], 0, 2).tolist() == [[0, 1, 2, 10, 11], [3, 4, 0, 12, 0]]
    out = fb.empty(0, dtype=fb.int64)
    assert aten._chunk_cat([a, b], 0, 2, out=out) is out
    for tensors, dim, chunks in (([], 0, 2), ([a], 0, 0), ([a], 1, 2), ([a[:0]], 0, 2)):
        with pytest.raises(RuntimeError, match=r"^_chunk_cat: "):
            aten._chunk_cat(tensors, dim, chunks)


def test_elements_behind_a_mask() -> None:
    x, mask = fb.arange(6.0).reshape(2, 3), fb.tensor([True, False])
    at = [None, fb.tensor([1, 99])]
    assert aten._unsafe_masked_index(x, mask, at, -1).tolist() == [[1, -1], [4, -1]]
    put = aten._unsafe_masked_index_put_accumulate
    assert put(x, mask, at, fb.ones(2, 2)).tolist() == [[0, 2, 2], [3, 5, 5]]


def test_normalised_batches() -> None:
    x, mean, var = fb.rand(4, 3), fb.zeros(3), fb.ones(3)
    expected = fb.native_batch_norm(x, None, None, mean.clone(), var.clone(), True, 0.1, 1e-5)
    *actual, reserve = aten._batch_norm_with_update(x, None, None, mean, var, 0.1, 1e-5)
    alone = aten._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5)
    for one, other, third in zip(expected, actual, alone, strict=True):
        assert fb.equal(one, other)
        assert fb.equal(one, third)
    assert reserve.numel() == 0
    assert mean.all()


def test_gradient_of_what_was_dropped() -> None:
    grad, mask = fb.tensor([1.0, 2.0]), fb.tensor([True, False])
    assert aten.native_dropout_backward(grad, mask, 2.0).tolist() == [2, 0]


def test_smaller_images_are_averaged() -> None:
    x = fb.rand(1, 1, 8, 8)
    expected = F.interpolate(x, (4, 4), mode="bilinear", antialias=True)
    fb.testing.assert_close(aten._upsample_bilinear2d_aa(x, (4, 4), False), expected)
    fb.testing.assert_close(aten._upsample_bilinear2d_aa(x, None, False, [0.5, 0.5]), expected)
