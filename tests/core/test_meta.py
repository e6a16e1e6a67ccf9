"""The device meta: tensors with a shape and a type, but without elements."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import resource
import threading
from collections.abc import Callable

import numpy as np
import pytest

import flambeau as fb
import flambeau.nn.functional as F
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
        (lambda x: x.numpy(), TypeError),
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


def test_more_elements_than_addresses():
    x = fb.empty(1 << 50, device="meta")
    assert (x.numel(), x.data_ptr(), x.untyped_storage().nbytes()) == (1 << 50, 0, 1 << 52)
    assert x.view(1 << 25, -1)[3:, ::2].T.shape == (1 << 24, (1 << 25) - 3)
    assert (x[:5] + 1).shape == (5,)  # few elements, yet no memory behind them
    layers = nn.ModuleList(nn.Linear(1 << 20, 1 << 20, device="meta") for _ in range(60))
    assert sum(each.numel() for each in layers.parameters()) == 60 * ((1 << 40) + (1 << 20))
    with pytest.raises(RuntimeError):
        fb.empty(1 << 61, device="meta")


def test_no_memory_is_read_where_there_is_none():
    x = fb.empty(1 << 50, device="meta")
    for read in (memoryview, np.asarray, fb.tensor, lambda x: fb.as_tensor(x, dtype=fb.float64)):
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            read(x)
    with pytest.raises(RuntimeError):
        x.storage()[3]
    assert fb.func.vmap(fb.sin)(x.view(2, -1)).shape == (2, 1 << 49)
    p = nn.Parameter(x)
    p.grad = fb.empty_like(p)
    for make in (fb.optim.SGD, fb.optim.AdamW, fb.optim.Adadelta):
        make([p], lr=0.1).step()
    assert nn.utils.clip_grad_norm_([p], 1.0).is_meta


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.as_subclass(fb.Tensor)[:10].sum(),
        lambda x: fb.Tensor._make_subclass(fb.Tensor, x).tolist(),
        lambda x: fb.ones(1).set_(x.untyped_storage()).sum(),
        lambda x: x.clone()[:2].as_subclass(fb.Tensor).add_(1),
    ],
    ids=["as_subclass", "_make_subclass", "set_", "in place"],
)
def test_no_memory_is_read_behind_the_back_of_the_class(read: Callable[[fb.Tensor], object]):
    with pytest.raises(RuntimeError, match="no elements"):
        read(fb.empty(1 << 50, device="meta"))


def test_numpy_gets_no_zeros_of_a_small_one(x: fb.Tensor):
    for read in (memoryview, np.asarray, fb.tensor):
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            read(x)


HUGE = 1 << 40
LARGE: dict[str, tuple[Callable[[Callable[..., fb.Tensor]], fb.Tensor], tuple[int, ...]]] = {
    "pointwise": (lambda e: e(HUGE) * 2 + e(HUGE), (HUGE,)),
    "broadcasting": (lambda e: e(1 << 30, 1) + e(1, 1 << 29), (1 << 30, 1 << 29)),
    "sum": (lambda e: e(1 << 20, 1 << 22).sum(1, keepdim=True), (1 << 20, 1)),
    "max": (lambda e: e(1 << 20, 1 << 22).max(0).indices, (1 << 22,)),
    "topk": (lambda e: e(1 << 20, 1 << 22).topk(200)[0], (1 << 20, 200)),
    "matmul": (lambda e: e(1 << 20, 1 << 21) @ e(1 << 21, 1 << 22), (1 << 20, 1 << 22)),
    "einsum": (lambda e: fb.einsum("bij,bjk->bik", e(9, HUGE, 99), e(9, 99, 88)), (9, HUGE, 88)),
    "cat": (lambda e: fb.cat([e(HUGE), e(HUGE + 7)]), (2 * HUGE + 7,)),
    "index": (lambda e: e(1 << 30, 1 << 10)[e(5, 6).long()], (5, 6, 1 << 10)),
    "reshape": (lambda e: e(1 << 20, 1 << 22).t().reshape(1 << 21, -1), (1 << 21, 1 << 21)),
    "contiguous": (lambda e: e(1 << 20, 1 << 22).t().contiguous(), (1 << 22, 1 << 20)),
    "repeat": (lambda e: e(HUGE).repeat(2, 3), (2, 3 * HUGE)),
    "pad": (lambda e: F.pad(e(HUGE), (1, 2)), (HUGE + 3,)),
    "rfft": (lambda e: fb.fft.rfft(e(HUGE)), (HUGE // 2 + 1,)),
    "max_pool2d": (lambda e: F.max_pool2d(e(9, 4096, 5001, 5002), 3, 2), (9, 4096, 2500, 2500)),
    "interpolate": (lambda e: F.interpolate(e(9, 9, HUGE), scale_factor=2.0), (9, 9, 2 * HUGE)),
    "softmax": (lambda e: F.softmax(e(1 << 20, 1 << 22), -1), (1 << 20, 1 << 22)),
    "mse_loss": (lambda e: F.mse_loss(e(HUGE), e(HUGE)), ()),
    "linear": (lambda e: nn.Linear(1 << 20, 1 << 21, device="meta")(e(7, 1 << 20)), (7, 1 << 21)),
    "conv": (
        lambda e: nn.Conv2d(4096, 8192, 16, stride=16, device="meta")(e(1024, 4096, 1024, 1025)),
        (1024, 8192, 64, 64),
    ),
    "lstm": (lambda e: nn.LSTM(4096, 8192, device="meta")(e(999, 99, 4096))[0], (999, 99, 8192)),
    "attention": (
        lambda e: nn.MultiheadAttention(8192, 64, device="meta")(*[e(999, 99, 8192)] * 3)[0],
        (999, 99, 8192),
    ),
    "arange": (lambda e: fb.arange(5, 3 * HUGE, 3, device="meta"), (HUGE - 1,)),
    "arange of reals": (lambda e: fb.arange(0, 1e13, 0.5, device="meta"), (2 * 10**13,)),
    "eye": (lambda e: fb.eye(1 << 25, device="meta"), (1 << 25, 1 << 25)),
    "randint": (lambda e: fb.randint(5, (HUGE,), device="meta"), (HUGE,)),
    "full_like": (lambda e: fb.full_like(e(HUGE), 3.0), (HUGE,)),
    "empty_strided": (lambda e: fb.empty_strided((HUGE, 2), (2, 1), device="meta"), (HUGE, 2)),
    "adjoint": (lambda e: e(1 << 20, 1 << 21, dtype=fb.complex64).mH, (1 << 21, 1 << 20)),
    "deepcopy": (lambda e: copy.deepcopy(e(HUGE)), (HUGE,)),
}


@pytest.mark.parametrize("name", LARGE)
def test_operators_on_more_than_memory_holds(name: str):
    function, shape = LARGE[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = function(functools.partial(fb.empty, device="meta"))
    assert made.is_meta
    assert made.shape == shape
    # Four gigabytes: the stand-ins of a convolution are small, but every thread has memory for it.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 << 20


@pytest.mark.parametrize(
    "function",
    [
        lambda e: e(1 << 20, 1 << 20) @ e(1 << 19, 1 << 20),
        lambda e: e(HUGE) + e(2 * HUGE),
        lambda e: e(128, HUGE) + e(128 + 12, HUGE),  # sizes that leave the same remainder
        lambda e: e(1 << 20, 1 << 22).t().view(-1),
    ],
)
def test_large_shapes_that_do_not_fit_are_refused(function):
    with pytest.raises(RuntimeError):
        function(functools.partial(fb.empty, device="meta"))


def test_what_grows_otherwise_is_refused_not_guessed():
    x = fb.empty(1 << 30, device="meta")
    with pytest.raises(NotImplementedError, match="cannot be told"):
        fb.kron(x, x)


def test_changes_in_place_have_to_fit(x: fb.Tensor):
    for change in (
        lambda: x.add_(fb.empty(4, device="meta")),
        lambda: x.copy_(fb.ones(4)),
        lambda: x.__setitem__(0, fb.empty(4, device="meta")),
    ):
        with pytest.raises(RuntimeError):
            change()
    assert x.resize_(4, 5).shape == (4, 5)
    assert x.is_meta


FACTORIES: dict[str, tuple[object, ...]] = {
    "arange": (3,),
    "empty": (2, 3),
    "eye": (3,),
    "full": ((2, 3), 1.5),
    "linspace": (0, 1, 5),
    "logspace": (0, 1, 5),
    "normal": (0.0, 1.0, (2, 3)),
    "ones": ((2, 3),),
    "rand": (2, 3),
    "randint": (5, (2, 3)),
    "randn": (2, 3),
    "randperm": (4,),
    "zeros": (3,),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_write_to_out(name: str):
    make, args = getattr(fb, name), FACTORIES[name]
    expected = make(*args, out=fb.empty(0, dtype=fb.float64))
    for size in (0, (7, 7)):
        out = fb.empty(size, dtype=fb.float64, device="meta")
        assert make(*args, out=out) is out
        assert (out.is_meta, out.shape, out.dtype) == (True, expected.shape, fb.float64)
    here, elsewhere = fb.empty(0), fb.empty(0, device="meta")
    for out, device in ((here, "meta"), (elsewhere, "cpu")):
        with pytest.raises(RuntimeError, match="device"):
            make(*args, out=out, device=device)
    assert (here.numel(), elsewhere.numel()) == (0, 0)


def test_operators_write_to_out(x: fb.Tensor):
    out = fb.empty(5, device="meta")
    with pytest.warns(UserWarning, match="was resized"):
        assert fb.add(x, 1, out=out) is out
    assert (out.is_meta, out.shape) == (True, (2, 3))
    outs = fb.empty(0, device="meta"), fb.empty(0, dtype=fb.int64, device="meta")
    values, indices = fb.sort(fb.empty(1 << 20, 1 << 12, device="meta"), out=outs)
    assert (values is outs[0], indices is outs[1]) == (True, True)
    assert indices.shape == (1 << 20, 1 << 12)
    for out in (fb.ones(2, 3), fb.empty(2, 3, dtype=fb.int64, device="meta")):
        with pytest.raises(RuntimeError):
            fb.add(x, 1, out=out)
    with pytest.raises(RuntimeError, match="two devices"):
        fb.add(fb.ones(2, 3), 1, out=fb.empty(2, 3, device="meta"))


def test_zeros_are_not_what_operators_judge():
    square = fb.empty(4, 3, 3, device="meta")
    for function in (fb.linalg.inv, fb.linalg.cholesky, fb.linalg.det, fb.linalg.qr):
        expected = function(fb.eye(3).expand(4, 3, 3))
        result = function(square)
        for made, like in zip(
            result if isinstance(result, tuple) else [result],
            expected if isinstance(expected, tuple) else [expected],
            strict=True,
        ):
            assert (made.is_meta, made.shape, made.dtype) == (True, like.shape, like.dtype)
    assert fb.linalg.solve(square, square).shape == (4, 3, 3)
    assert fb.multinomial(fb.empty(5, device="meta"), 2).shape == (2,)


def test_taking_another_ones_shape_or_place(x: fb.Tensor):
    assert x.view_as(fb.ones(6)).is_meta
    assert not fb.ones(6).view_as(x).is_meta
    assert x[fb.tensor([0, 0, 1])].shape == (3, 3)
    assert x.resize_as_(fb.ones(4, 5)).shape == (4, 5)
    assert x.set_(fb.empty(7, device="meta")).shape == (7,)
    assert x.set_().shape == (0,)
    for source in (fb.ones(3), fb.empty(3, dtype=fb.int64, device="meta")):
        with pytest.raises(RuntimeError, match="set_"):
            x.set_(source)
    with pytest.raises(RuntimeError, match="two devices"):
        fb.empty(4, 3, device="meta").index_add_(0, fb.tensor([0]), fb.ones(1, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x > 0],
        lambda x: fb.where(x > 0),
        lambda x: fb.argwhere(x),
        lambda x: fb.unique_consecutive(x),
        lambda x: fb.combinations(x[0]),
        lambda x: fb.bincount(x[0].long()),
        lambda x: F.one_hot(x.long()),
        lambda x: x.repeat_interleave(x[:, 0].long(), dim=0),
        lambda x: x.tensor_split(x[0].long()),
        lambda x: x[: x[0, 0].long()],
        lambda x: x.topk(x[0, 0].long()),
        lambda x: F.pad(x, (x[0, 0].long(), 0)),
        lambda x: fb.arange(x[0, 0]),
        lambda x: fb.empty(1 << 25, device="meta").topk(x[0, 0].long()),
        lambda x: 1 in x,
    ],
)
def test_no_shape_follows_from_elements(x: fb.Tensor, function):
    with pytest.raises(RuntimeError, match="no elements"):
        function(x)


def test_shapes_that_are_told_do_not_need_them(x: fb.Tensor):
    assert F.one_hot(x.long(), 5).shape == (2, 3, 5)
    counts = fb.empty(2, dtype=fb.int64, device="meta")
    assert x.repeat_interleave(counts, dim=0, output_size=7).shape == (7, 3)
    assert x[fb.tensor([True, False])].shape == (1, 3)


def test_files_keep_them():
    model = nn.Linear(1 << 20, 1 << 20, device="meta")
    model.weight.note = "large"
    for loaded in (
        pickle.loads(pickle.dumps(model.state_dict())),
        pickle.loads(pickle.dumps(dict(model.named_parameters()))),
        _through_a_file(model.state_dict()),
        _through_a_file(dict(model.named_parameters())),
    ):
        assert loaded["weight"].is_meta
        assert loaded["weight"].shape == (1 << 20, 1 << 20)
    assert isinstance(loaded["weight"], nn.Parameter)
    assert loaded["weight"].note == "large"


def _through_a_file(value: object) -> dict[str, fb.Tensor]:
    file = io.BytesIO()
    fb.save(value, file)
    assert len(file.getvalue()) < 4096
    file.seek(0)
    return fb.load(file)


def test_the_order_of_dimensions_is_that_of_elements():
    for shape in [(2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (0, 3, 4, 5)]:
        for form in (fb.contiguous_format, fb.channels_last):
            made = fb.empty(shape, device="meta", memory_format=form)
            assert made.stride() == fb.empty(shape, memory_format=form).stride()


@pytest.mark.parametrize("place", ["meta", fb.device("meta"), {"cpu": "meta"}])
@pytest.mark.parametrize("is_zip", [True, False])
def test_checkpoints_are_loaded_without_elements(place, is_zip: bool):
    file = io.BytesIO()
    fb.save(nn.Linear(3, 2).state_dict(), file, _use_new_zipfile_serialization=is_zip)
    file.seek(0)
    loaded = fb.load(file, map_location=place)
    assert {name: (each.is_meta, each.shape) for name, each in loaded.items()} == {
        "weight": (True, (2, 3)),
        "bias": (True, (2,)),
    }
