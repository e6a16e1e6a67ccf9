"""Mixed precision on the device."""

from typing import Any

import pytest

import flambeau as fb
from flambeau import amp, nn
from flambeau.nn import functional as F
from tests.cuda.moving import CUDA


def test_regions() -> None:
    a, b = fb.ones(2, 3, device=CUDA), fb.ones(3, 2, device=CUDA)
    here = fb.ones(2, 2)
    with fb.autocast("cuda"):
        assert fb.is_autocast_enabled()
        assert not fb.is_autocast_enabled("cpu")
        assert (a @ b).dtype == fb.float16
        assert (here @ here).dtype == fb.float32
        assert (a.double() @ b.double()).dtype == fb.float64
        with fb.autocast("cuda", dtype=fb.bfloat16):
            assert (a @ b).dtype == fb.bfloat16
            with fb.autocast("cuda", enabled=False):
                assert (a @ b).dtype == fb.float32
            with fb.autocast("cpu"):
                assert (here @ here).dtype == fb.bfloat16
                assert (a @ b).dtype == fb.bfloat16
        assert (a @ b).dtype == fb.float16
    assert not fb.is_autocast_enabled()
    assert (a @ b).dtype == fb.float32
    with fb.autocast("cpu"):
        assert (a @ b).dtype == fb.float32
    with pytest.warns(FutureWarning), fb.cuda.amp.autocast():
        assert (a @ b).dtype == fb.float16
    with pytest.warns(UserWarning, match="not supported"):
        fb.autocast("cuda", dtype=fb.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.softmax(x, -1),
        lambda x: F.log_softmax(x, -1),
        lambda x: x.logsumexp(-1),
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.prod(),
        lambda x: x.exp(),
        lambda x: x.log(),
        lambda x: x.rsqrt(),
        lambda x: x.pow(2.0),
        lambda x: F.cross_entropy(x, fb.tensor([0, 1], device=CUDA)),
    ],
)
def test_what_pytorch_computes_in_float32(call: Any) -> None:
    x = fb.full((2, 3), 0.5, device=CUDA)
    expected = call(x)
    with fb.autocast("cuda"):
        found = call(x.half())
    assert found.dtype == fb.float32
    assert fb.allclose(found.cpu(), expected.cpu())
    assert call(x).dtype == fb.float32


def test_types_on_the_cpu_stay() -> None:
    x = fb.full((2, 3), 0.5, dtype=fb.bfloat16)
    for outer in ("cpu", "cuda"):
        with fb.autocast(outer):
            assert x.exp().dtype == x.softmax(-1).dtype == x.sum().dtype == fb.bfloat16


def test_parameters_are_cast_once() -> None:
    net = nn.Linear(3, 2).to(CUDA)
    x = fb.ones(4, 3, device=CUDA)
    with fb.autocast("cuda"):
        loss = (net(x) + net(x)).float().sum()
    loss.backward()
    assert net.weight.grad is not None
    assert net.weight.grad.dtype == fb.float32
    assert net.weight.grad.tolist() == [[8.0] * 3] * 2


def test_functions_of_the_user() -> None:
    class Product(fb.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cuda", cast_inputs=fb.float32)
        def forward(ctx: Any, a: fb.Tensor) -> fb.Tensor:
            assert not fb.is_autocast_enabled()
            return a @ a

        @staticmethod
        @amp.custom_bwd(device_type="cuda")
        def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
            return grad

    a = fb.ones(2, 2, device=CUDA, requires_grad=True)
    with fb.autocast("cuda"):
        assert Product.apply(a.half()).dtype == fb.float32


def test_a_scaler() -> None:
    scaler = amp.GradScaler("cuda", init_scale=4.0)
    assert scaler.is_enabled()
    weight = nn.Parameter(fb.ones(3, device=CUDA))
    optimizer = fb.optim.SGD([weight], lr=0.5)
    loss = scaler.scale((weight * 2).sum())
    assert loss.device == CUDA
    loss.backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [8.0] * 3
    try:
        scaler.unscale_(optimizer)
    except NotImplementedError as error:
        pytest.skip(str(error))
    assert weight.grad.tolist() == [2.0] * 3
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0] * 3
    assert scaler.get_scale() == 4.0
    weight.grad = fb.full((3,), float("inf"), device=CUDA)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0] * 3
    assert scaler.get_scale() == 2.0
