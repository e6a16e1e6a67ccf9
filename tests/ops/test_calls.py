"""Calls whose meaning samples with a NumPy reference cannot show."""

import math

import pytest

import flambeau as fb

F = fb.nn.functional


def test_bounds_of_whole_numbers_are_rounded_first() -> None:
    assert fb.arange(3.1, dtype=fb.int64).tolist() == [0, 1, 2]
    assert fb.arange(0.0, -8.000001, -4.0, dtype=fb.int64).tolist() == [0, -4]
    assert fb.arange(3.1).tolist() == [0, 1, 2, 3]
    assert fb.logspace(2, 1.2, 2, dtype=fb.int64).tolist() == [100, 10]
    with pytest.raises(ValueError, match="step must be nonzero"):
        fb.arange(0, 64, 0.5, dtype=fb.int64)


@pytest.mark.parametrize(("name", "expected"), [("max", 6), ("min", -8)])
def test_a_tensor_of_one_integer_is_compared(name: str, expected: int) -> None:
    """It is no dimension, though it would do as one."""
    result = getattr(fb, name)(fb.tensor(-8), fb.tensor(6))
    assert isinstance(result, fb.Tensor)
    assert result.item() == expected
    assert getattr(fb.tensor([1, -3]), name)(fb.tensor(0)).tolist() in ([1, 0], [0, -3])


def test_a_dimension_of_one_is_contracted_with_all() -> None:
    a, b = fb.rand(2, 1), fb.rand(3, 4)
    expected = fb.tensordot(a.expand(2, 3), b, 1)
    fb.testing.assert_close(fb.tensordot(a, b, 1), expected)
    fb.testing.assert_close(fb.tensordot(b.T, a.T, 1), expected.T)


def test_gradient_without_spacing() -> None:
    x = fb.rand(5)
    assert fb.equal(fb.gradient(x, spacing=None)[0], fb.gradient(x)[0])


def test_one_sample_has_a_loss_in_the_shape_of_its_target() -> None:
    x = fb.rand(10)
    assert F.multi_margin_loss(x, fb.tensor([3]), reduction="none").shape == (1,)
    assert F.multi_margin_loss(x, fb.tensor(3), reduction="none").shape == ()


def test_linalg_of_16_bits_is_refused() -> None:
    for call in (fb.linalg.pinv, fb.pinverse):
        with pytest.raises(RuntimeError, match="expected float32, float64"):
            call(fb.ones(0, 3, dtype=fb.float16))
    with pytest.raises(RuntimeError, match="expected float32, float64"):
        fb.linalg.vander(fb.ones(3, dtype=fb.bfloat16))
    assert fb.linalg.vander(fb.ones(3, dtype=fb.int8)).dtype == fb.int64


def test_eps_of_batch_norm() -> None:
    x = fb.rand(4, 3)
    with pytest.raises(ValueError, match="eps must be positive during training, but got 0"):
        F.batch_norm(x, None, None, training=True, eps=0)
    with pytest.raises(ValueError, match="eps must be non-negative, but got -1"):
        F.batch_norm(x, fb.zeros(3), fb.ones(3), eps=-1)


def test_statistics_of_a_group_norm_have_gradients() -> None:
    x = fb.rand(2, 6, 3, dtype=fb.float64, requires_grad=True)

    def statistics(x: fb.Tensor) -> tuple[fb.Tensor, ...]:
        return fb.native_group_norm(x, None, None, 2, 6, 3, 2, 1e-5)[1:]

    assert all(each.requires_grad for each in statistics(x))
    assert fb.autograd.gradcheck(statistics, (x,))
    assert fb.autograd.gradgradcheck(statistics, (x,))


def test_layer_norm_of_rows_of_several_dimensions_with_a_bias_alone() -> None:
    x = fb.rand(2, 2, 3, dtype=fb.float64, requires_grad=True)
    bias = fb.rand(2, 3, dtype=fb.float64, requires_grad=True)
    F.layer_norm(x, (2, 3), None, bias).sum().backward()
    assert fb.equal(bias.grad, fb.full((2, 3), 2.0, dtype=fb.float64))
    empty = F.layer_norm(x[:0], (2, 3), None, bias).sum()
    assert fb.equal(fb.autograd.grad(empty, bias)[0], fb.zeros(2, 3, dtype=fb.float64))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_circular_padding_takes_batches_and_samples(rank: int) -> None:
    layer = getattr(fb.nn, f"CircularPad{rank}d")(1)
    with pytest.raises(ValueError, match=f"expected {rank + 1}D or {rank + 2}D input"):
        layer(fb.ones([3] * (rank + 3)))


def test_conjugates_of_real_numbers_are_the_numbers() -> None:
    x = fb.rand(3, 4)[:, ::2]
    assert fb.conj_physical(x) is x
    assert x.conj_physical_() is x


def test_a_complex_tensor_cannot_take_its_sizes() -> None:
    with pytest.raises(RuntimeError, match="not supported in place for complex tensors"):
        fb.ones(2, dtype=fb.complex64).abs_()
    with pytest.raises(RuntimeError, match="float_power_: the base has dtype"):
        fb.ones(2).float_power_(2)


def test_a_copy_with_another_tensor_in_its_memory() -> None:
    x = fb.zeros(3, 4)
    result = fb.as_strided_scatter(x, fb.ones(2, 2), (2, 2), (4, 1), 1)
    assert result.tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert not x.any()
    window = x[:, 1:]  # places are counted from the beginning of the memory
    assert window.as_strided_scatter(fb.ones(1), (1,), (1,), 1)[0].tolist() == [1, 0, 0]


def test_views_are_copied_into_out() -> None:
    x, out = fb.arange(6).reshape(2, 3), fb.empty(3, 2, dtype=fb.int64)
    assert fb.permute_copy(x, (1, 0), out=out) is out
    assert fb.equal(out, x.T)
    rows = [fb.empty(3, dtype=fb.int64) for _ in range(2)]
    assert fb.unbind_copy(x, out=rows) is None
    assert fb.equal(fb.stack(rows), x)
    with pytest.raises(RuntimeError, match="unbind_copy: out must have 2 tensors, got 1"):
        fb.unbind_copy(x, out=rows[:1])
    assert fb.equal(x.narrow_copy(1, 1, 2), x[:, 1:])
    with pytest.warns(UserWarning, match="was resized"):
        fb.t_copy(x, out=fb.ones(2, dtype=fb.int64))
    for copy in (fb.t_copy, fb.alias_copy, lambda x, out: fb.unbind_copy(x, out=[out, out])):
        with pytest.raises(RuntimeError, match="result's type"):
            copy(x, out=fb.empty(0))
    whole = fb.arange(6).reshape(2, 3)
    fb.t_copy(whole, out=whole.view(3, 2))  # what was there is copied first
    assert whole.flatten().tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_of_two_elements_for_one_place_the_last_counts(rank: int) -> None:
    """Forwards as in the values; backwards, as in PyTorch, both have the gradient of the place."""
    shape = (1, 1, *(1,) * (rank - 1), 2)
    x = fb.tensor([1.0, 2.0], dtype=fb.float64).reshape(shape)
    where = fb.ones(shape, dtype=fb.int64)
    unpool = getattr(F, f"max_unpool{rank}d")
    size = (1,) * (rank - 1) + (4,)

    def call(tensor):
        return unpool(tensor, where, (1,) * (rank - 1) + (2,), output_size=size)

    tangent = fb.tensor([3.0, 5.0], dtype=fb.float64).reshape(shape)
    result, moved = fb.func.jvp(call, (x,), (tangent,))
    assert result.flatten().tolist() == [0, 2, 0, 0]
    assert moved.flatten().tolist() == [0, 5, 0, 0]
    y = x.clone().requires_grad_()
    assert fb.autograd.grad(call(y).sum(), y)[0].flatten().tolist() == [1, 1]


def test_sums_of_masked_powers_of_whole_numbers_are_whole() -> None:
    x, mask = fb.arange(4), fb.tensor([True, False, True, True])
    assert fb.equal(fb.masked.logsumexp(x, 0, mask=mask), fb.tensor(3))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 300), ("int8", -129), ("uint8", 300), ("float16", 1e10), ("float32", -1e39)],
)
def test_numbers_that_elements_cannot_be_are_refused(dtype: str, number: float) -> None:
    """Instead of what is left of them after a conversion: 44, or infinity."""
    x = fb.ones(3, dtype=getattr(fb, dtype))
    mask, places = fb.tensor([True, False, True]), fb.tensor([1])
    for call in (
        lambda: x.masked_fill(mask, number),
        lambda: x.masked_fill_(mask, number),
        lambda: x.index_fill(0, places, number),
        lambda: x.scatter(0, places, number),
        lambda: x.clamp(max=number),
        lambda: x.clamp(min=number),
        lambda: x.clamp(0, number),
        lambda: x.clamp_min(number),
        lambda: x.clamp_max_(number),
        lambda: x.add(x, alpha=number),
        lambda: x.addcmul(x, x, value=number),
        lambda: F.pad(x, (1, 1), value=number),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()
    assert x.tolist() == [1, 1, 1]
    if not x.is_floating_point():
        with pytest.raises(RuntimeError, match="without overflow"):
            fb.where(mask, x, number)
    if x.is_floating_point():
        assert x.masked_fill(mask, -math.inf).tolist() == [-math.inf, 1, -math.inf]
        assert x.clamp(max=math.inf).tolist() == [1, 1, 1]


def test_limits_are_a_range_or_for_clamp_only() -> None:
    with pytest.raises(ValueError, match="cannot be greater"):
        F.hardtanh(fb.ones(2), 1, 0)
    assert fb.tensor([0.0, 3.0]).clamp(2, 1).tolist() == [1, 1]


def test_powers_have_no_modulus() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(fb.arange(3), 2, 3)
    assert pow(fb.arange(3), 2, None).tolist() == [0, 1, 4]


def test_strides_of_new_dimensions() -> None:
    x = fb.ones(3, 4)
    assert x.expand(1, 3, 4).stride() == (12, 4, 1)
    assert x.expand(1, 2, 3, 4).stride() == (0, 0, 4, 1)
    assert x.expand(2, 1, 3, 4).stride() == (0, 12, 4, 1)
    assert fb.ones(()).expand(1).stride() == (0,)


def test_tensors_of_several_elements_are_no_elements() -> None:
    with pytest.raises(ValueError, match="single element"):
        fb.tensor([fb.ones(2), fb.ones(2)])
