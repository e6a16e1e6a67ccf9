"""Normalisation on the device beside the CPU: odd sizes, every type, statistics that run."""

from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional as F
from tests.cuda.gradients import assert_same_gradients
from tests.cuda.moving import CUDA

DTYPES = [fb.float32, fb.float64, fb.float16, fb.bfloat16]


def numbers(*sizes: int, dtype: Any = fb.float32) -> Any:
    fb.manual_seed(sum(sizes))
    return (fb.randn(*sizes) * 2 + 1).to(dtype).requires_grad_(True)


def affine(n: int, dtype: Any = fb.float32) -> tuple[Any, Any]:
    return numbers(n, dtype=dtype), numbers(n, 1, dtype=dtype).detach()[:, 0].requires_grad_(True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("rows", "n"), [(3, 1), (300, 4), (5, 31), (4, 33), (40, 64), (3, 257), (2, 1032), (1, 5000)]
)
def test_rows(dtype: Any, rows: int, n: int) -> None:
    x = numbers(rows, n, dtype=dtype)
    weight, bias = affine(n, dtype)
    if n > 1:
        assert_same_gradients(lambda *t: F.layer_norm(t[0], (n,), t[1], t[2]), x, weight, bias)
    assert_same_gradients(lambda *t: F.rms_norm(t[0], (n,), t[1]), x, weight)


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16])
def test_rows_that_no_registers_hold(dtype: Any) -> None:
    x = numbers(2, 9008, dtype=dtype)
    weight, bias = affine(9008, dtype)
    assert_same_gradients(lambda *t: F.layer_norm(t[0], (9008,), t[1], t[2]), x, weight, bias)
    assert_same_gradients(lambda *t: F.rms_norm(t[0], (9008,), t[1]), x, weight)


def test_rows_in_other_forms() -> None:
    x, (weight, bias) = numbers(6, 4, 10), affine(10)
    assert_same_gradients(lambda t: F.layer_norm(t, (4, 10)), x)
    assert_same_gradients(lambda t: F.layer_norm(t.transpose(0, 1), (10,)), x)
    assert_same_gradients(lambda t: F.layer_norm(t[:, 1:, 1:], (9,)), x)
    assert_same_gradients(lambda *t: F.layer_norm(t[0][:0], (10,), t[1], t[2]), x, weight, bias)
    half = numbers(6, 10, dtype=fb.bfloat16)
    assert_same_gradients(lambda *t: F.layer_norm(t[0], (10,), t[1], t[2]), half, weight, bias)
    far = numbers(2, 5000).detach() + 1e4  # what differs is small beside the mean
    assert_same_gradients(lambda t: F.layer_norm(t, (5000,)), far, tolerance=2e-3)


SHAPES = [(2, 3, 1), (2, 4, 31), (3, 5, 7, 5), (2, 8, 16, 16), (1, 2, 5000), (70, 6, 4), (2, 64, 3)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("last", [False, True])
def test_channels(dtype: Any, shape: tuple[int, ...], last: bool) -> None:
    x = numbers(*shape, dtype=dtype).detach()
    if last:
        if len(shape) != 4:
            x = x.unsqueeze(-1)
        x = x.to(memory_format=fb.channels_last)
    x.requires_grad_(True)
    weight, bias = affine(shape[1], dtype)
    running = fb.zeros(shape[1]), fb.ones(shape[1])

    def batch_norm(training: bool) -> Any:
        return lambda x, w, b, m, v: F.batch_norm(x, m.clone(), v.clone(), w, b, training)

    for training in (True, False):
        assert_same_gradients(batch_norm(training), x, weight, bias, *running)
    groups = 2 if shape[1] % 2 == 0 else 1
    assert_same_gradients(lambda *t: F.group_norm(t[0], groups, t[1], t[2]), x, weight, bias)
    if shape[2:] != (1,):
        assert_same_gradients(
            lambda *t: F.instance_norm(t[0], weight=t[1], bias=t[2]), x, weight, bias
        )


def test_many_small_sets_and_few_large_ones() -> None:
    assert_same_gradients(lambda t: F.instance_norm(t), numbers(300, 5, 4))
    assert_same_gradients(lambda t: F.group_norm(t, 1), numbers(1, 300, 3, 3))
    assert_same_gradients(lambda t: F.group_norm(t, 2), numbers(2, 2, 9000))
    x, (weight, bias) = numbers(2000, 40), affine(40)
    assert_same_gradients(
        lambda *t: F.batch_norm(t[0], None, None, t[1], t[2], True), x, weight, bias
    )
    empty = numbers(0, 3, 4)
    assert F.group_norm(empty.detach().to(CUDA), 3).shape == (0, 3, 4)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.BatchNorm1d(5), (6, 5)),
        (lambda: nn.BatchNorm2d(4), (3, 4, 5, 5)),
        (lambda: nn.BatchNorm2d(4, momentum=None), (3, 4, 5, 5)),
        (lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (3, 4, 5, 5)),
        (lambda: nn.LayerNorm(7), (9, 7)),
        (lambda: nn.GroupNorm(2, 4), (3, 4, 5, 5)),
        (lambda: nn.RMSNorm(7), (9, 7)),
    ],
)
def test_layers_learn(make: Any, shape: tuple[int, ...]) -> None:
    def learn(device: Any) -> list[Any]:
        fb.manual_seed(0)
        layer = make().to(device)
        optimizer = fb.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        x, goal = fb.randn(*shape).to(device), fb.randn(*shape).to(device)
        for _ in range(3):
            optimizer.zero_grad()
            ((layer(x) - goal) ** 2).mean().backward()
            optimizer.step()
        layer.eval()
        return [layer(x), *layer.state_dict().values()]

    for ours, theirs in zip(learn(CUDA), learn("cpu"), strict=True):
        assert ours.device == CUDA
        assert fb.allclose(ours.cpu(), theirs, rtol=1e-4, atol=1e-5)


def test_sums_do_not_change() -> None:
    x = numbers(64, 8, 32).detach().to(CUDA).requires_grad_(True)
    found = []
    for _ in range(2):
        weight = fb.ones(8, device=CUDA, requires_grad=True)
        F.batch_norm(x, None, None, weight, None, True).square().sum().backward()
        found.append(weight.grad.tolist())  # type: ignore[union-attr]
    assert found[0] == found[1]
