"""The device meta: tensors with a shape and a type, but without elements."""

from __future__ import annotations

import copy
import resource
import threading

import pytest

import flambeau as fb
from flambeau import nn


@pytest.fixture
def x() -> fb.Tensor:
    return fb.empty(2, 3, device="meta")


def test_what_it_is(x: fb.Tensor):
    assert isinstance(x, fb.Tensor)
    assert x.device == fb.device("meta")
    assert (x.is_meta, x.is_cpu, x.data_ptr()) == (True, False, 0)
    assert (x.shape, x.stride(), x.dtype, x.numel()) == ((2, 3), (3, 1), fb.float32, 6)
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert not fb.ones(2).is_meta


@pytest.mark.parametrize(
    ("make", "shape", "dtype"),
    [
        (lambda: fb.zeros(2, 3, device="meta"), (2, 3), fb.float32),
        (lambda: fb.ones((4,), dtype=fb.int8, device="meta"), (4,), fb.int8),
        (lambda: fb.full((2,), 3, device="meta"), (2,), fb.int64),
        (lambda: fb.randn(2, generator=fb.Generator(), device="meta"), (2,), fb.float32),
        (lambda: fb.arange(5, device="meta"), (5,), fb.int64),
        (lambda: fb.tensor([1.0, 2.0], device="meta"), (2,), fb.float32),
        (lambda: fb.ones(2, 2).to("meta"), (2, 2), fb.float32),
        (lambda: fb.ones(2).to("meta", fb.float64), (2,), fb.float64),
        (lambda: fb.zeros_like(fb.ones(3), device="meta"), (3,), fb.float32),
        (lambda: fb.ones(3).new_empty(2, device="meta"), (2,), fb.float32),
    ],
)
def test_making_them(make, shape, dtype):
    made = make()
    assert made.is_meta
    assert (made.shape, made.dtype) == (shape, dtype)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: 2 * x * x,
        lambda x: x @ x.t(),
        lambda x: x.view(6),
        lambda x: x.transpose(0, 1),
        lambda x: x[0],
        lambda x: x[:, None, 1:],
        lambda x: x.sum(dim=1, keepdim=True),
        lambda x: x.half(),
        lambda x: x > 0,
        lambda x: fb.cat([x, x]),
        lambda x: x.new_zeros(7),
        lambda x: x.clone(),
        lambda x: x.expand(4, 2, 3),
        lambda x: x.max(dim=1).indices,
        lambda x: nn.functional.softmax(x, dim=1),
        lambda x: x.to(fb.float64),
    ],
)
def test_results_have_the_shape_that_elements_would_have(x: fb.Tensor, function):
    result, expected = function(x), function(fb.ones(2, 3))
    assert result.is_meta
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert result.stride() == expected.stride()


def test_changes_in_place_do_nothing(x: fb.Tensor):
    assert x.normal_() is x
    assert x.zero_() is x
    assert x.copy_(fb.ones(2, 3)) is x
    x[0] = 1
    x += 1
    assert x.is_meta


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x[0, 0].item(), RuntimeError),
        (lambda x: x.tolist(), RuntimeError),
        (lambda x: x.numpy(), RuntimeError),
        (lambda x: bool(x.sum() > 0), RuntimeError),
        (lambda x: x.nonzero(), RuntimeError),
        (lambda x: x.to("cpu"), NotImplementedError),
        (lambda x: x.cpu(), NotImplementedError),
        (lambda x: fb.ones(2, 3).copy_(x), NotImplementedError),
        (lambda x: x + fb.ones(2, 3), RuntimeError),
        (lambda x: x @ x, RuntimeError),
    ],
)
def test_what_needs_elements(x: fb.Tensor, function, error):
    with pytest.raises(error):
        function(x)


def test_numbers_go_with_them(x: fb.Tensor):
    assert (x * fb.tensor(2.0)).is_meta


def test_a_large_model_takes_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with fb.device("meta"):
        model = nn.Sequential(nn.Linear(20_000, 20_000), nn.LayerNorm(20_000))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200_000  # kilobytes; the weights alone would take 1.6 million
    assert model[0].weight.is_meta
    assert isinstance(model[0].weight, nn.Parameter)
    assert sum(each.numel() for each in model.parameters()) == 400_060_000
    assert model.half()[0].weight.dtype is fb.float16


def test_from_meta_to_elements():
    model = nn.Linear(3, 2, device="meta")
    assert model(fb.empty(5, 3, device="meta")).shape == (5, 2)
    copied = copy.deepcopy(model)
    assert isinstance(copied.weight, nn.Parameter)
    state = nn.Linear(3, 2).state_dict()
    model.load_state_dict(state, assign=True)
    assert fb.equal(model.weight, state["weight"])
    assert type(model.weight) is nn.Parameter
    copied.to_empty(device="cpu")
    copied.load_state_dict(state)
    assert fb.equal(copied.bias, state["bias"])
    assert nn.Linear(3, 2).to("meta").weight.is_meta


def test_loading_into_meta_without_assigning_warns():
    with pytest.warns(UserWarning, match="no-op.*assign=True"):
        nn.Linear(3, 2, device="meta").load_state_dict(nn.Linear(3, 2).state_dict())


def test_blocks_and_the_default():
    with fb.device("meta"):
        assert fb.ones(2).is_meta
        assert not fb.ones(2, device="cpu").is_meta
        with fb.device("cpu"):
            assert not fb.ones(2).is_meta
        seen: list[bool] = []
        thread = threading.Thread(target=lambda: seen.append(fb.ones(2).is_meta))
        thread.start()
        thread.join()
        assert seen == [False]
    assert not fb.ones(2).is_meta
    fb.set_default_device("meta")
    try:
        assert fb.tensor([1]).is_meta
        assert fb.get_default_device() == fb.device("meta")
    finally:
        fb.set_default_device(None)
    assert fb.get_default_device() == fb.device("cpu")


def test_the_class_of_a_parameter_makes_parameters():
    with fb.device("meta"):
        layer = nn.Linear(3, 2)
    made = type(layer.weight)(fb.ones(2, 3), requires_grad=False)
    assert type(made) is nn.Parameter
    assert (made.device.type, made.requires_grad, made.sum().item()) == ("cpu", False, 6)
    again = type(layer.weight)(layer.weight, requires_grad=True)
    assert isinstance(again, nn.Parameter)
    assert again.is_meta


def test_attributes_that_are_tensors_are_there_too():
    p = nn.Parameter(fb.empty(2, 3, device="meta"))
    others = [p.data, p.T, p.mT, fb.empty(2, dtype=fb.complex64, device="meta").imag]
    assert [each.device.type for each in others] == ["meta"] * 4
    assert (p.data.shape, p.data.requires_grad, type(p.data)) == ((2, 3), False, type(p.detach()))
    p.data = fb.empty(4, device="meta")
    assert (p.shape, p.device.type) == ((4,), "meta")
    assert p.grad is None


@pytest.mark.parametrize(
    "make",
    [
        lambda size: fb.empty(size, device="meta"),
        lambda size: fb.zeros(size=(size,), device="meta"),
        lambda size: fb.full((size,), 1.5, device="meta"),
        lambda size: fb.empty(2, device="meta").new_ones(size),
        lambda size: fb.rand_like(fb.empty(size, device="meta")),
        lambda size: fb.empty(size, device="meta").half(),
        lambda size: fb.empty(size, device="meta").view(4, -1)[:, 1:].T.reshape(-1, 4).data,
        lambda size: nn.Linear(size >> 20, 1 << 20, device="meta").weight,
    ],
)
def test_one_tensor_may_be_larger_than_memory(make):
    size = 1 << 42  # 16 TiB in float32
    made = make(size)
    assert made.is_meta
    assert size - 4 <= made.numel() <= size


def test_what_no_address_reaches_is_refused():
    with pytest.raises(fb.OutOfMemoryError, match="bytes of addresses"):
        fb.empty(1 << 50, device="meta")


def test_the_order_of_dimensions_is_that_of_elements():
    for shape in [(2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (0, 3, 4, 5)]:
        for form in (fb.contiguous_format, fb.channels_last):
            made = fb.empty(shape, device="meta", memory_format=form)
            assert made.stride() == fb.empty(shape, memory_format=form).stride()
