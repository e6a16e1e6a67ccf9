"""What is picked by position and added up by position: values, gradients, errors."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional
from tests.cuda.moving import CUDA, to_cuda

FLOATS = [fb.float32, fb.float64, fb.bfloat16, fb.float16]
TOLERANCE = {fb.float64: 1e-12, fb.bfloat16: 4e-2, fb.float16: 6e-3, fb.complex64: 1e-5}
SIZES = [1, 31, 33, 257]


def assert_close(ours: Any, theirs: Any, dtype: fb.dtype) -> None:
    assert ours.device.type == "cuda"
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    a, b = (t.detach().cpu() for t in (ours, theirs))
    if dtype in (fb.bfloat16, fb.float16):
        a, b = a.float(), b.float()
    tolerance = TOLERANCE.get(dtype, 2e-5)
    np.testing.assert_allclose(a.numpy(), b.numpy(), tolerance, tolerance)


def assert_same(function: Callable[..., Any], *given: Any, gradients: bool = True) -> None:
    """On the device as on the CPU; gradients of what is floating."""
    dtype = given[0].dtype
    wants = [t.requires_grad_() if gradients and t.is_floating_point() else t for t in given]
    there = to_cuda(wants)
    expected, found = function(*wants), function(*there)
    assert_close(found, expected, dtype)
    if not gradients:
        return
    weights = fb.linspace(0.5, 1.5, max(expected.numel(), 1))[: expected.numel()]
    weights = weights.reshape(expected.shape).to(expected.dtype)
    expected.backward(weights)
    found.backward(weights.to(CUDA))
    for a, b in zip(there, wants, strict=True):
        if b.grad is not None:
            assert_close(a.grad, b.grad, dtype)


def repeated(n: int, size: int) -> fb.Tensor:
    """Positions of which some occur often, at a distance, and some never."""
    numbers = (fb.arange(n) * 7919) % max(size // 2, 1)
    return fb.where(fb.arange(n) % 3 == 0, fb.tensor(size - 1), numbers)


def numbers(*sizes: int, dtype: fb.dtype = fb.float32) -> fb.Tensor:
    """Small, so that sums of few bits do not differ by much."""
    fb.manual_seed(sum(sizes))
    if dtype.is_floating_point or dtype.is_complex:
        return (fb.rand(*sizes) * 0.25).to(dtype)
    return fb.randint(0, 5, sizes).to(dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, fb.complex64, fb.int64, fb.int16, fb.bool])
@pytest.mark.parametrize("width", SIZES)
def test_rows_are_accumulated(width: int, dtype: fb.dtype) -> None:
    x, index = numbers(9, width, dtype=dtype), repeated(70, 9)
    values = numbers(70, width, dtype=dtype)
    assert_same(
        lambda x, i, v: x.index_put((i,), v, accumulate=True), x, index, values, gradients=False
    )
    if dtype.is_floating_point:
        x, values = x.clone(), values.clone()
        assert_same(lambda x, i, v: x.index_put((i,), v, accumulate=True), x, index, values)


@pytest.mark.parametrize("n", [0, 1, 31, 257, 1300])
@pytest.mark.parametrize("width", [1, 40])
def test_one_place_gets_everything(n: int, width: int) -> None:
    x, values = numbers(5, width), numbers(n, width)
    index = fb.full((n,), 3, dtype=fb.int64)
    assert_same(lambda x, i, v: x.index_add(0, i, v), x, index, values)


def test_places_of_several_dimensions() -> None:
    i, j = repeated(60, 4), repeated(60, 6)
    x, values = numbers(4, 6, 5), numbers(60, 5)
    assert_same(lambda x, i, j, v: x.index_put((i, j), v, accumulate=True), x, i, j, values)
    # Between other dimensions, of a target and values that are not contiguous.
    x, values = numbers(5, 6, 4, 3), numbers(3, 60, 5)

    def add(x: Any, i: Any, j: Any, v: Any) -> Any:
        target = x.transpose(1, 2).clone(memory_format=fb.preserve_format)
        target.index_put_((fb.arange(5).to(x.device)[:, None], i, j), v.permute(2, 1, 0), True)
        return target

    assert_same(add, x, i, j, values)
    assert_same(lambda x, i: x[:, i], numbers(3, 6, 35), j)
    assert_same(lambda x, i: x[..., i], numbers(3, 2, 6), j)
    assert_same(lambda x, i, j: x[i, :, j], numbers(4, 3, 6), i, j)


def test_many_dimensions() -> None:
    x = numbers(*[2] * 12)
    index = fb.tensor([1, 0, 1])
    assert_same(lambda x, i: x[:, :, :, i], x, index)
    x = numbers(*[2] * 12).permute(11, 1, 9, 3, 7, 5, 6, 4, 8, 2, 10, 0)
    assert_same(lambda x, i: x.index_select(5, i), x.detach(), index)
    index = (numbers(*[2] * 12) > 0.1).long()
    assert_same(lambda x, i: x.gather(4, i), numbers(*[2] * 12), index)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scattered_elements_are_combined(reduce: str, dtype: fb.dtype) -> None:
    x = numbers(7, 33, dtype=dtype) + 1
    source = numbers(9, 33, dtype=dtype) * 0.1 + 1
    index = repeated(9 * 33, 7).reshape(9, 33)
    for include in (True, False):
        assert_same(
            lambda x, i, s, include=include: x.scatter_reduce(
                0, i, s, reduce, include_self=include
            ),
            x.clone(),
            index,
            source.clone(),
        )


@pytest.mark.parametrize("dtype", [fb.int64, fb.int32, fb.uint8, fb.bool])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scattered_integers_are_combined(reduce: str, dtype: fb.dtype) -> None:
    x, source = numbers(4, 40, dtype=dtype), numbers(4, 300, dtype=dtype)
    index = repeated(4 * 300, 40).reshape(4, 300)
    assert_same(
        lambda x, i, s: x.scatter_reduce(1, i, s, reduce), x, index, source, gradients=False
    )


def test_what_is_not_a_number_wins() -> None:
    x, index = fb.zeros(4), fb.tensor([0, 1, 1, 0, 2])
    source = fb.tensor([1.0, float("nan"), 2.0, -3.0, float("inf")])
    for reduce in ("amax", "amin"):
        assert_same(
            lambda x, i, s, r=reduce: x.scatter_reduce(0, i, s, r),
            x,
            index,
            source,
            gradients=False,
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_what_picks(dtype: fb.dtype) -> None:
    x = numbers(9, 65, dtype=dtype)
    index = repeated(100, 9)
    assert_same(lambda x, i: x.index_select(0, i), x.clone(), index)
    assert_same(lambda x, i: x[i], x.clone().t().contiguous().t(), index)
    assert_same(lambda x, i: x.take(i), x.clone(), repeated(300, 9 * 65))
    places = repeated(20 * 65, 9).reshape(20, 65)
    assert_same(lambda x, i: x.gather(0, i), x.clone(), places)
    assert_same(lambda x, i: x.take_along_dim(i, 0), x.clone(), places[:, :1])
    assert_same(lambda x, i: x.index_select(0, i), x.clone(), index[:0])


@pytest.fixture
def deterministic() -> Iterator[None]:
    fb.use_deterministic_algorithms(True)
    yield
    fb.use_deterministic_algorithms(False)


SUMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "index_add": lambda x, i, v: x.index_add(0, i[:, 0], v),
    "scatter_add": lambda x, i, v: x.scatter_add(0, i, v),
    "scatter_reduce": lambda x, i, v: x.scatter_reduce(0, i, v, "prod"),
    "mean": lambda x, i, v: x.scatter_reduce(0, i, v, "mean", include_self=False),
}
BINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "bincount": lambda x, i, v: fb.bincount(i.reshape(-1), v.reshape(-1)),
    "bincount of many": lambda x, i, v: fb.bincount(i.reshape(-1) * 100, v.reshape(-1)),
}
ALWAYS_IN_ORDER: dict[str, Callable[[Any, Any, Any], Any]] = {
    "index_put": lambda x, i, v: x.index_put((i[:, 0],), v, accumulate=True),
    "cumsum": lambda x, i, v: v.reshape(-1).cumsum(0),
}


def given_sums(dtype: fb.dtype) -> tuple[fb.Tensor, fb.Tensor, fb.Tensor]:
    fb.manual_seed(0)
    return (
        fb.zeros(50, 3).to(dtype),
        fb.randint(0, 50, (2000, 3)),
        (fb.rand(2000, 3) * 0.01 + 0.99).to(dtype),
    )


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
@pytest.mark.parametrize("name", [*SUMS, *BINS, *ALWAYS_IN_ORDER])
def test_sums_are_the_same_every_time(name: str, dtype: fb.dtype, deterministic: None) -> None:
    function = (SUMS | BINS | ALWAYS_IN_ORDER)[name]
    given = [t.to(CUDA) for t in given_sums(dtype)]
    first = function(*given).tolist()
    assert function(*given).tolist() == first
    if name in ALWAYS_IN_ORDER:
        fb.use_deterministic_algorithms(False)
        assert function(*given).tolist() == first


@pytest.mark.parametrize("dtype", [*FLOATS, fb.int64, fb.int32])
@pytest.mark.parametrize("name", SUMS)
def test_sums_in_any_order(name: str, dtype: fb.dtype) -> None:
    if not dtype.is_floating_point:
        x, index, values = given_sums(fb.float32)
        given = x.to(dtype), index, (values * 300).to(dtype)
    else:
        given = given_sums(dtype)
    assert_same(SUMS[name], *given, gradients=False)
    fb.use_deterministic_algorithms(True)
    try:
        assert_same(SUMS[name], *given, gradients=False)
    finally:
        fb.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
@pytest.mark.parametrize("name", BINS)
def test_weights_in_any_order(name: str, dtype: fb.dtype) -> None:
    assert_same(BINS[name], *given_sums(dtype), gradients=False)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.int64, fb.int32])
@pytest.mark.parametrize("width", [1, 2, 4, 6, 12])
def test_rows_are_added(width: int, dtype: fb.dtype) -> None:
    for n in (1, 300, 1500):
        x, index = numbers(40, width, dtype=dtype), repeated(n, 40)
        values = numbers(n, width, dtype=dtype)
        assert_same(lambda x, i, v: x.index_add(0, i, v), x, index, values, gradients=False)
        assert_same(
            lambda x, i, v: x[:, 1:].clone().index_add(0, i, v[:, 1:]),
            x,
            index,
            values,
            gradients=False,
        )


@pytest.mark.parametrize("dtype", [fb.float16, fb.bfloat16])
def test_few_elements_of_a_large_target(dtype: fb.dtype) -> None:
    x, index = numbers(5000, dtype=dtype), repeated(50, 5000)
    assert_same(lambda x, i, v: x.scatter_add(0, i, v), x, index, numbers(50, dtype=dtype))
    # A transposed target keeps its strides.
    y, places = numbers(6, 40, dtype=dtype), repeated(240, 40).reshape(6, 40)
    assert_same(
        lambda y, i, v: y.t().clone(memory_format=fb.preserve_format).scatter_add_(0, i.t(), v.t()),
        y,
        places,
        numbers(6, 40, dtype=dtype),
        gradients=False,
    )


# --- embeddings


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [*SIZES, 8])
def test_embeddings(width: int, dtype: fb.dtype) -> None:
    table, ids = numbers(11, width, dtype=dtype), repeated(150, 11).reshape(10, 15)
    for options in ({}, {"padding_idx": 2}, {"scale_grad_by_freq": True}):
        assert_same(
            lambda w, i, options=options: functional.embedding(i, w, **options), table.clone(), ids
        )
    assert_same(lambda w, i: functional.embedding(i, w), table.clone(), ids[:0])
    if width > 1:
        assert_same(lambda w, i: functional.embedding(i, w[:, 1:]), table.clone(), ids)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode: str, dtype: fb.dtype) -> None:
    ids = repeated(150, 11)
    offsets = fb.tensor([0, 0, 1, 40, 41, 120])
    for width in (1, 33):
        table = numbers(11, width, dtype=dtype)
        for options in ({}, {"padding_idx": 10}, {"include_last_offset": True}):

            def bag(w: Any, i: Any, o: Any, options: Any = options) -> Any:
                return functional.embedding_bag(i, w, o, mode=mode, **options)

            assert_same(bag, table.clone(), ids, offsets)
        assert_same(
            lambda w, i: functional.embedding_bag(i.reshape(10, 15), w, mode=mode),
            table.clone(),
            ids,
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_weighted_bags(dtype: fb.dtype) -> None:
    table, weights = numbers(11, 5, dtype=dtype), numbers(150, dtype=dtype)
    assert_same(
        lambda w, p, i, o: functional.embedding_bag(i, w, o, mode="sum", per_sample_weights=p),
        table,
        weights,
        repeated(150, 11),
        fb.tensor([0, 3, 3, 100]),
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0, float("inf")])
def test_norms_are_limited(norm: float, dtype: fb.dtype) -> None:
    table = numbers(11, 70, dtype=dtype)
    table[3] *= 0.01
    there, ids = table.to(CUDA), repeated(40, 8)
    functional.embedding(ids, table, max_norm=0.2, norm_type=norm)
    functional.embedding(ids.to(CUDA), there, max_norm=0.2, norm_type=norm)
    assert_close(there, table, dtype)


# --- errors


def test_an_error_names_the_operator_and_its_line() -> None:
    net = nn.Embedding(5, 3).to(CUDA)
    ids = fb.tensor([1, 5, 2]).to(CUDA)
    found = net(ids)  # this line
    with pytest.raises(IndexError) as caught:
        found.sum().item()
    message = str(caught.value)
    assert "embedding at " in message
    assert f"test_positions.py:{line_of('found = net(ids)  # this line')}" in message
    assert "index 5, which is out of bounds for dimension 0 with size 5" in message
    assert found.tolist()[1] == [0.0, 0.0, 0.0]


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.strip() == text)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x, i: x[i], "index"),
        (lambda x, i: x.index_select(0, i), "index_select"),
        (lambda x, i: x.gather(0, i), "gather"),
        (lambda x, i: x.scatter_(0, i, x.clone()[:2]), "scatter_"),
        (lambda x, i: x.scatter_add_(0, i, x.clone()[:2]), "scatter_add_"),
        (lambda x, i: x.long().scatter_add_(0, i, x.long()[:2]), "scatter_add_"),
        (lambda x, i: x.index_add_(0, i, x.clone()[:2]), "index_add_"),
        (lambda x, i: x.index_copy_(0, i, x.clone()[:2]), "index_copy_"),
        (lambda x, i: functional.embedding_bag(i, x[:, None], i[:1] * 0), "embedding"),
    ],
)
def test_a_bad_position_is_an_error_and_no_end(call: Any, name: str) -> None:
    for bad in (4, -7):
        x = fb.arange(4.0).to(CUDA)
        call(x, fb.tensor([0, bad]).to(CUDA))
        with pytest.raises(IndexError, match=rf"{name} at .*test_positions.*the index {bad},"):
            fb.cuda.synchronize()
        call(x, fb.tensor([0, 3]).to(CUDA))
        fb.cuda.synchronize()


def test_bad_offsets_are_an_error_and_no_end() -> None:
    table, ids = fb.ones(4, 2, device=CUDA), fb.tensor([0, 1, 2]).to(CUDA)
    for offsets in ([0, 2, 1], [1, 2], [0, 4]):
        functional.embedding_bag(ids, table, fb.tensor(offsets).to(CUDA), mode="sum")
        with pytest.raises(RuntimeError, match=r"embedding_bag at .* met offsets"):
            fb.cuda.synchronize()


def test_training_goes_on_after_a_bad_id() -> None:
    fb.manual_seed(0)
    net = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(8, 2))
    there = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(8, 2)).to(CUDA)
    there.load_state_dict(net.state_dict())
    here_steps = fb.optim.SGD(net.parameters(), lr=0.1)
    there_steps = fb.optim.SGD(there.parameters(), lr=0.1)
    good, classes = fb.tensor([[0, 1], [5, 1], [2, 2]]), fb.tensor([0, 1, 1])
    with pytest.raises(IndexError, match="embedding"):
        functional.cross_entropy(there(good.to(CUDA) + 1), classes.to(CUDA)).item()
    for _ in range(3):
        losses = []
        for model, steps in ((net, here_steps), (there, there_steps)):
            device = next(model.parameters()).device
            loss = functional.cross_entropy(model(good.to(device)), classes.to(device))
            steps.zero_grad()
            loss.backward()
            steps.step()
            losses.append(loss.item())
        assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_positions_of_the_host() -> None:
    x = fb.arange(12.0).reshape(3, 4).cuda()
    expected = x.cpu()
    for index in ([2, 0], (slice(None), [1, 3]), ([0, 1], [2, 2]), fb.tensor([1, 1])):
        assert x[index].device == x.device
        assert fb.equal(x[index].cpu(), expected[index])
    mask = expected > 5
    assert x[mask].tolist() == expected[mask].tolist()
    x[[0, 2]] = fb.full((2, 4), -1.0, device="cuda")
    x[mask] = 7
    expected[[0, 2]] = -1
    expected[mask] = 7
    assert fb.equal(x.cpu(), expected)
    leaf = fb.ones(3, device="cuda", requires_grad=True)
    leaf[[0, 0, 2]].sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2.0, 0.0, 1.0]
    with pytest.raises(RuntimeError, match="same device"):
        expected[fb.tensor([0], device="cuda")]
