"""Regions of autocast: types of results, nesting, threads, backward, cached casts."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import nn
from flambeau.utils.checkpoint import checkpoint

BF16, F16, F32, F64 = fb.bfloat16, fb.float16, fb.float32, fb.float64


@pytest.fixture(autouse=True)
def switched_off() -> Iterator[None]:
    """No test leaves autocast on."""
    yield
    assert not fb.is_autocast_enabled("cpu")
    assert fb.get_autocast_dtype("cpu") == BF16
    assert fb.is_autocast_cache_enabled()
    assert fb.autocast_increment_nesting() == 1
    assert fb.autocast_decrement_nesting() == 0


def square(dtype: fb.dtype = F32) -> fb.Tensor:
    return fb.ones(4, 4, dtype=dtype)


# --- types


@pytest.mark.parametrize("dtype", [BF16, F16])
@pytest.mark.parametrize(
    "product",
    [
        lambda x: x @ x,
        lambda x: x.mm(x),
        lambda x: fb.bmm(x[None], x[None]),
        lambda x: fb.addmm(x, x, x),
        lambda x: fb.einsum("ij,jk->ik", x, x),
        lambda x: F.linear(x, x, x[0]),
        lambda x: F.conv1d(x[None], x[:, :, None]),
        lambda x: F.scaled_dot_product_attention(x, x, x),
        lambda x: F.prelu(x, x[0, :1]),
    ],
)
def test_products_run_in_the_type_of_the_region(product: Any, dtype: fb.dtype) -> None:
    with fb.autocast("cpu", dtype=dtype):
        for given in (F32, BF16, F16):
            assert product(square(given)).dtype == dtype
        assert product(square(F64)).dtype == F64
    assert product(square()).dtype == F32


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.mse_loss(x, x),
        lambda x: F.cross_entropy(x, fb.tensor([0, 1, 2, 3])),
        lambda x: F.binary_cross_entropy_with_logits(x, x),
        lambda x: F.triplet_margin_loss(x, x + 1, x + 2),
        lambda x: x.prod(),
        lambda x: fb.cdist(x, x),
        lambda x: fb.quantile(x, 0.5),
        lambda x: fb.linalg.svdvals(x),
        lambda x: F.avg_pool3d(x[None, None, None], (1, 2, 2)),
        lambda x: F.pad(x[None], (1, 1), mode="reflect"),
    ],
)
def test_some_functions_run_in_float32(function: Any) -> None:
    with fb.autocast("cpu"):
        assert function(square(BF16)).dtype == F32
        assert function(square(F32)).dtype == F32
        assert function(square(F64)).dtype == F64


def test_inputs_of_several_types_are_promoted() -> None:
    with fb.autocast("cpu"):
        assert fb.cat([square(BF16), square(F32)]).dtype == F32
        assert fb.stack([square(BF16), square(BF16)]).dtype == BF16
        assert fb.cat([square(BF16), square(F16)]).dtype == F32
        place = fb.tensor([0])
        assert fb.index_copy(square(BF16), 0, place, square()[:1]).dtype == F32


def test_operators_with_a_rule_take_mixed_types() -> None:
    x, y = square(BF16), square()
    with fb.autocast("cpu"):
        assert (x @ y).dtype == fb.addmm(x, y, x).dtype == F.linear(y, x).dtype == BF16
        assert fb.einsum("ij,jk,kl->il", x, y, x).dtype == BF16
        assert fb.einsum("ij,k->ijk", x, y[0]).dtype == F32  # no product of matrices
        assert F.mse_loss(x, y).dtype == F.smooth_l1_loss(y, x).dtype == F32
        grid = fb.zeros(1, 4, 4, 2)
        assert F.grid_sample(x[None, None], grid, align_corners=False).dtype == F32
    with pytest.raises(RuntimeError, match="dtype"):
        fb.einsum("ij,jk->ik", x, y)


def test_gradients_go_through_chains_of_mixed_types() -> None:
    operands = [fb.rand(3, 3, requires_grad=True) for _ in range(3)]
    with fb.autocast("cpu"):
        fb.einsum("ij,jk,kl->il", *operands).float().sum().backward()
    assert all(each.grad is not None and each.grad.dtype == F32 for each in operands)


def test_everything_else_computes_as_always() -> None:
    with fb.autocast("cpu"):
        x = square()
        assert (x + x).dtype == x.softmax(0).dtype == F.layer_norm(x, (4,)).dtype == F32
        assert square(BF16).exp().dtype == BF16
        assert fb.mv(x, x[0]).dtype == F32
        integers = fb.ones(2, 2, dtype=fb.int64)
        assert (integers @ integers).dtype == fb.int64
        numbers = fb.ones(2, 2, dtype=fb.complex64)
        assert (numbers @ numbers).dtype == fb.complex64


def test_forms_that_write_are_not_cast() -> None:
    x = fb.rand(8, 8)
    with fb.autocast("cpu"):
        out = fb.empty(8, 8)
        fb.mm(x, x, out=out)
        changed = fb.zeros(8, 8).addmm_(x, x)
        kernels = fb.fft.fft(x[0], out=fb.empty(8, dtype=fb.complex64))
    assert out.equal(x @ x)
    assert changed.equal(x @ x)
    assert kernels.equal(fb.fft.fft(x[0]))


def test_a_mask_and_a_bias_are_cast_too() -> None:
    with fb.autocast("cpu"):
        x = square(BF16)
        assert F.scaled_dot_product_attention(x, x, x, attn_mask=square()).dtype == BF16
        assert F.linear(x, square(), square()[0]).dtype == BF16


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("given", [F32, BF16])
def test_recurrent_networks(given: fb.dtype, bias: bool) -> None:
    """PyTorch composes all but unpacked LSTMs, so that the state keeps its type."""
    x = fb.rand(5, 2, 3, dtype=given)
    packed = nn.utils.rnn.pack_sequence([fb.rand(4, 3, dtype=given), fb.rand(2, 3, dtype=given)])
    with fb.autocast("cpu"):
        y, (h, c) = nn.LSTM(3, 4, bias=bias)(x)
        assert y.dtype == h.dtype == c.dtype == BF16
        y, (h, c) = nn.LSTM(3, 4, bias=bias, proj_size=2)(x)
        assert (y.dtype, h.dtype, c.dtype) == (BF16, BF16, given)
        assert nn.LSTM(3, 4, bias=bias)(packed)[0].data.dtype == given
        assert nn.GRU(3, 4, bias=bias)(x)[0].dtype == given
        assert nn.GRU(3, 4, bias=bias)(packed)[0].data.dtype == given
        assert nn.RNN(3, 4, bias=bias)(x)[0].dtype == BF16
        assert nn.LSTMCell(3, 4, bias=bias)(x[0])[0].dtype == given
        assert nn.GRUCell(3, 4, bias=bias)(x[0]).dtype == given
        assert nn.RNNCell(3, 4, bias=bias)(x[0]).dtype == BF16


@pytest.mark.parametrize("training", [True, False])
def test_layers_of_transformers(training: bool) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).train(training)
    attention = nn.MultiheadAttention(8, 2, batch_first=True).train(training)
    x = fb.rand(2, 5, 8)
    with fb.autocast("cpu"), fb.set_grad_enabled(training):
        assert layer(x).dtype == F32
        y, weights = attention(x, x, x)
        assert y.dtype == weights.dtype == BF16
        assert attention(x, x, x, need_weights=False)[0].dtype == BF16


def test_norms_take_16_bit_inputs_with_float32_parameters() -> None:
    x = fb.rand(2, 3, 4, 4, dtype=BF16)
    for norm in (nn.BatchNorm2d(3), nn.GroupNorm(3, 3), nn.LayerNorm(4), nn.InstanceNorm2d(3)):
        with fb.autocast("cpu"):
            y = norm(x)
        assert y.dtype == BF16
        if y.requires_grad:
            y.sum().backward()
        assert all(p.grad is not None and p.grad.dtype == F32 for p in norm.parameters())


# --- regions


def test_regions_nest() -> None:
    x = square()
    with fb.autocast("cpu") as outer:
        assert isinstance(outer, fb.autocast)
        assert fb.is_autocast_enabled("cpu")
        with fb.autocast("cpu", dtype=F16):
            assert (x @ x).dtype == F16
        assert (x @ x).dtype == BF16
        with fb.autocast("cpu", enabled=False):
            assert (x @ x).dtype == F32
        with outer:  # once more, before it was left
            assert (x @ x).dtype == BF16
        assert (x @ x).dtype == BF16
    assert (x @ x).dtype == F32


def test_an_exception_leaves_the_region() -> None:
    with pytest.raises(ZeroDivisionError), fb.autocast("cpu"):
        raise ZeroDivisionError
    assert not fb.is_autocast_enabled("cpu")


def test_decorated_functions_and_methods() -> None:
    @fb.autocast("cpu")
    def multiply(x: fb.Tensor) -> fb.Tensor:
        """Of functions."""
        return x @ x

    class Net(nn.Module):
        @fb.autocast("cpu", dtype=F16)
        def forward(self, x: fb.Tensor) -> fb.Tensor:
            return x @ x

        @fb.autocast("cpu", enabled=False)
        def plain(self, x: fb.Tensor) -> fb.Tensor:
            return x @ x

    assert multiply(square()).dtype == BF16
    assert (multiply.__name__, multiply.__doc__) == ("multiply", "Of functions.")
    assert Net()(square()).dtype == F16
    with fb.autocast("cpu"):
        assert Net().plain(square()).dtype == F32


def test_threads_have_regions_of_their_own() -> None:
    seen = []

    def run() -> None:
        seen.append((square() @ square()).dtype)
        with fb.autocast("cpu", dtype=F16):
            seen.append((square() @ square()).dtype)

    with fb.autocast("cpu"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert (square() @ square()).dtype == BF16
    assert seen == [F32, F16]


def test_a_parameter_is_cast_once_in_a_region() -> None:
    weight = nn.Parameter(fb.rand(4, 4))

    def cast_of(y: fb.Tensor) -> Any:
        return y.grad_fn.next_functions[1][0]

    x = square()
    with fb.autocast("cpu"):
        with fb.autocast("cpu"):
            first = cast_of(x @ weight)
        assert cast_of(x @ weight) is first
        assert type(first).__name__ == "ToCopyBackward0"
        fb.clear_autocast_cache()
        second = cast_of(x @ weight)
        assert second is not first
    with fb.autocast("cpu"):
        assert cast_of(x @ weight) is not second
    with fb.autocast("cpu", cache_enabled=False):
        assert not fb.is_autocast_cache_enabled()
        assert cast_of(x @ weight) is not cast_of(x @ weight)


def test_gradients_are_in_the_types_of_the_parameters() -> None:
    weight = nn.Parameter(fb.rand(4, 4))
    x = fb.rand(3, 4, requires_grad=True)
    with fb.autocast("cpu"):
        loss = ((x @ weight) @ weight).float().sum()
    loss.backward()
    assert weight.grad.dtype == x.grad.dtype == F32
    rounded = weight.detach().bfloat16().float()
    expected = fb.ones(3, 4) @ rounded.t() @ rounded.t()
    fb.testing.assert_close(x.grad, expected, rtol=2e-2, atol=2e-2)


def test_a_cast_without_history_does_not_serve_where_gradients_are_wanted() -> None:
    weight = nn.Parameter(fb.rand(4, 4))
    with fb.autocast("cpu"):
        with fb.no_grad():
            square() @ weight
        loss = (square() @ weight).sum()
    loss.backward()
    assert weight.grad is not None


def test_a_cast_of_another_value_does_not_serve() -> None:
    weight = nn.Parameter(fb.zeros(2, 2))
    with fb.autocast("cpu"):
        assert not (fb.ones(2, 2) @ weight).any()
        with fb.no_grad():
            weight.fill_(1)
        assert (fb.ones(2, 2) @ weight).eq(2).all()
        for value in (2.0, 3.0):
            weight.data = fb.full((2, 2), value)
            assert (fb.ones(2, 2) @ weight).eq(2 * value).all()


def test_backward_runs_in_the_region_that_it_is_called_in() -> None:
    seen = []

    class Watch(fb.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: fb.Tensor) -> fb.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
            seen.append(fb.is_autocast_enabled("cpu"))
            return grad

    with fb.autocast("cpu"):
        y = Watch.apply(fb.ones(2, requires_grad=True))
    y.sum().backward()
    with fb.autocast("cpu"):
        Watch.apply(fb.ones(2, requires_grad=True)).sum().backward()
    assert seen == [False, True]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpoint_runs_again_in_the_same_region(use_reentrant: bool) -> None:
    seen = []

    def run(x: fb.Tensor) -> fb.Tensor:
        y = (x @ x).tanh()
        seen.append((y.dtype, fb.is_autocast_cache_enabled()))
        return y.float().sum()

    x = fb.rand(4, 4, requires_grad=True)
    with fb.autocast("cpu", dtype=F16, cache_enabled=False):
        loss = checkpoint(run, x, use_reentrant=use_reentrant, early_stop=False)
    loss.backward()
    plain = checkpoint(run, x, use_reentrant=use_reentrant, early_stop=False)
    with fb.autocast("cpu"):
        plain.backward()
    assert seen == [(F16, False), (F16, False), (F32, True), (F32, True)]


def test_transforms_of_functions() -> None:
    x, weight = fb.rand(5, 3), fb.rand(3, 4)
    with fb.autocast("cpu"):
        mapped = fb.vmap(lambda row: F.linear(row, weight.t()))(x)
        assert mapped.dtype == BF16
        fb.testing.assert_close(mapped, x @ weight, rtol=2e-2, atol=2e-2)
        gradient = fb.func.grad(lambda w: (x @ w).float().sum())(weight)
        assert gradient.dtype == F32
        _, tangent = fb.func.jvp(lambda w: x @ w, (weight,), (weight,))
        assert tangent.dtype == BF16


# --- functions with a backward of their own


@pytest.mark.parametrize("cast_inputs", [None, F32, F16])
def test_custom_functions(cast_inputs: fb.dtype | None) -> None:
    seen: list[Any] = []

    class Custom(fb.autograd.Function):
        @staticmethod
        @fb.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx: Any, x: fb.Tensor, more: Any) -> fb.Tensor:
            kept = more["a"][0]
            seen.append((x.dtype, kept.dtype, fb.is_autocast_enabled("cpu")))
            return x.clone()

        @staticmethod
        @fb.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: fb.Tensor) -> Any:
            seen.append((fb.is_autocast_enabled("cpu"), fb.get_autocast_dtype("cpu")))
            return grad, None

    x, more = fb.ones(2, requires_grad=True), {"a": (fb.ones(2, dtype=F64),)}
    with fb.autocast("cpu", dtype=F16):
        y = Custom.apply(x, more)
    y.sum().backward()
    plain = cast_inputs is None
    assert seen == [(F32 if plain else cast_inputs, F64, plain), (plain, F16)]
    assert x.grad.dtype == F32
    Custom.apply(x, more)
    assert seen[-1] == (F32, F64, False)


# --- switches


def test_switches() -> None:
    fb.set_autocast_enabled("cpu", True)
    assert (square() @ square()).dtype == BF16
    fb.set_autocast_enabled("cpu", False)
    fb.set_autocast_dtype("cuda", BF16)
    assert fb.get_autocast_dtype("cuda:0") == BF16
    fb.set_autocast_dtype("cuda", F16)
    fb.set_autocast_enabled(True)
    assert fb.is_autocast_enabled()
    assert not fb.is_autocast_enabled("cpu")
    fb.set_autocast_enabled("cuda", False)
    assert not fb.is_autocast_enabled("cuda")
    assert [fb.amp.is_autocast_available(d) for d in ("cpu", "cuda", "meta")] == [True, True, False]


def test_older_switches_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"is_autocast_enabled\('cpu'\)"):
        assert fb.is_autocast_cpu_enabled() is False
    with pytest.warns(DeprecationWarning, match=r"get_autocast_dtype\('cpu'\)"):
        assert fb.get_autocast_cpu_dtype() == BF16
    with pytest.warns(DeprecationWarning, match=r"get_autocast_dtype\('cuda'\)"):
        assert fb.get_autocast_gpu_dtype() == F16
    with pytest.warns(DeprecationWarning, match="set_autocast_enabled"):
        fb.set_autocast_cpu_enabled(False)
    with pytest.warns(DeprecationWarning, match="set_autocast_dtype"):
        fb.set_autocast_cpu_dtype(BF16)
    with pytest.warns(DeprecationWarning, match="set_autocast_dtype"):
        fb.set_autocast_gpu_dtype(F16)


def test_cuda_without_cuda_warns_and_stays_off() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        region = fb.autocast("cuda")
    with region:
        assert (square() @ square()).dtype == F32
    with fb.autocast("cuda", enabled=False):
        pass
    with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="CUDA is not available"):
        fb.cuda.amp.autocast(enabled=True, dtype=F16)
    with pytest.warns(FutureWarning, match=r"torch.amp.autocast\('cpu', args...\)"):
        older = fb.cpu.amp.autocast(dtype=BF16)
    with older:
        assert (square() @ square()).dtype == BF16


def test_other_types_warn_and_stay_off() -> None:
    with pytest.warns(UserWarning, match="the target dtype is not supported"):
        region = fb.autocast("cpu", dtype=F32)
    with region:
        assert (square() @ square()).dtype == F32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fb.autocast("gpu"), RuntimeError, "'gpu'"),
        (lambda: fb.autocast(3), ValueError, "of type `str`"),
        (lambda: fb.autocast("meta"), RuntimeError, "'meta'"),
        (lambda: fb.autocast(), TypeError, "device_type"),
        (lambda: fb.is_autocast_enabled(1), TypeError, "must be str, not int"),
        (lambda: fb.set_autocast_dtype("cpu", 1), TypeError, "must be torch.dtype, not int"),
        (lambda: fb.set_autocast_enabled("cpu", 1), TypeError, "must be bool, not int"),
        (lambda: fb.get_autocast_dtype("meta"), RuntimeError, "no autocast"),
        (lambda: fb.amp.custom_fwd(lambda x: x), TypeError, "device_type"),
        (lambda: fb.amp.custom_fwd(device_type=1), ValueError, "of type `str`"),
        (lambda: fb.amp.custom_bwd(device_type=1), ValueError, "of type `str`"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
