"""vmap: every operator against a loop over samples, and the map itself."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau.func import grad, jacrev, vmap
from tests.ops.check import assert_values, is_tensor, outputs, to_numpy
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
COUNT = 3
LARGEST = 200  # elements; more would only take longer
# Operators without a result that is a tensor of one shape and defined values.
NOT_MAPPED = {
    "allclose",
    "argwhere",
    "bincount",
    "combinations",
    "data_ptr",
    "empty_like",
    "equal",
    "masked_select",
    "new_empty",
    "new_empty_strided",
    "nonzero",
    "resize_",
    "resize_as_",
    "set_",
    "unique",
    "unique_consecutive",
}
# Operators that look at elements, in Python, or to check them.
LOOKS = {
    "apply_",
    "cov",
    "histogramdd",
    "istft",
    "item",
    "map2_",
    "map_",
    "numpy",
    "repeat_interleave",
    "tolist",
} | {
    "ctc_loss",
    "nn.functional.ctc_loss",
}


NAMES = sorted(
    name for name in set(TABLE) & set(SAMPLES) if not TABLE[name].random and name not in NOT_MAPPED
)


def several(each: Input) -> Input:
    """Samples that differ: the values, and two others near them."""
    values = np.asarray(each.values)
    if each.dtype in ("float64", "complex128"):
        rows = [values * (1 + 0.03 * i) for i in range(COUNT)]
    else:
        rows = [np.roll(values, i) if each.dtype == "bool" else values for i in range(COUNT)]
    return Input(np.stack(rows).astype(values.dtype), each.dtype)


@dataclasses.dataclass
class Mapped:
    """A sample as a function of some of its tensors."""

    operator: Operator
    sample: Sample
    chosen: list[Input]

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        given = {id(each): t for each, t in zip(self.chosen, tensors, strict=True)}
        filled = self.sample.map_inputs(
            lambda each: given[id(each)] if id(each) in given else each.to_module(torch)
        )
        args, kwargs = to_module(torch, filled.args), to_module(torch, filled.kwargs)
        result = self.operator.call(torch, args, kwargs)
        return tuple(each for each in outputs(result) if is_tensor(each))


def mapped_samples(name: str) -> list[Mapped]:
    operator = TABLE[name]
    dtype = "float64" if "float64" in operator.dtypes else operator.dtypes[0]
    owner = SAMPLES[name]
    if owner.dtypes is not None and dtype not in owner.dtypes:
        dtype = owner.dtypes[0]
    found = []
    for sample in owner.of_dtype(dtype):
        inputs = sample.inputs()
        if not inputs or sum(each.values.size for each in inputs) > LARGEST:
            continue
        if any(each.layout == "expanded" for each in inputs):
            continue
        found.append(Mapped(operator, sample, inputs))
        # What is changed in place must be batched if anything is.
        alone = inputs[:1] if name.endswith("_") else inputs
        if len(inputs) > 1:
            found += [Mapped(operator, sample, [each]) for each in alone]
    return found


def loop(f: Mapped, batches: list[Any]) -> list[Any]:
    # A view, or a change in place, must not show in the next sample.
    rows = [f(*(each[i].clone() for each in batches)) for i in range(COUNT)]
    return [torch.stack(list(column)) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_equals_a_loop(name: str) -> None:
    for f in mapped_samples(name):
        batches = [several(each).to_module(torch) for each in f.chosen]
        try:
            expected = loop(f, batches)
        except (RuntimeError, ValueError, IndexError):  # the neighbour of a sample need not be one
            continue
        if not expected:
            continue
        try:
            found = vmap(f)(*(each.clone() for each in batches))
        except RuntimeError as error:
            if name in LOOKS and "vmap: " in str(error):
                continue
            raise
        what = f"{name}{f.sample!r} over {len(f.chosen)} of {len(f.sample.inputs())} inputs"
        for ours, right in zip(found, expected, strict=True):
            assert ours.dtype == right.dtype, f"{what}: {ours.dtype}, a loop gives {right.dtype}"
            assert_values(to_numpy(ours), to_numpy(right), (1e-8, 1e-8), what)


@pytest.mark.parametrize("name", ["nonzero", "masked_select", "unique"])
def test_refuses_shapes_that_depend_on_elements(name: str) -> None:
    def f(x: Any) -> Any:
        return x.masked_select(x > 0) if name == "masked_select" else getattr(torch, name)(x)

    with pytest.raises(RuntimeError, match="vmap"):
        vmap(f)(torch.ones(3, 3))


@pytest.mark.parametrize("take", [lambda x: x.item(), lambda x: x.tolist(), lambda x: float(x)])
def test_refuses_to_hand_out_elements(take: Any) -> None:
    with pytest.raises(RuntimeError, match="vmap: It looks like you're calling"):
        vmap(take)(torch.ones(3))


def test_refuses_branches() -> None:
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        vmap(lambda x: x if x > 0 else -x)(torch.ones(3))


# --- arguments and results


def test_in_and_out_dims() -> None:
    x, y = torch.randn(4, 3), torch.randn(3, 5)
    found = vmap(lambda a, b: a.sum() * b, in_dims=(1, 0), out_dims=1)(x, y)
    assert torch.allclose(found, (x.sum(0)[:, None] * y).T)
    assert vmap(torch.dot, in_dims=(0, None))(x, torch.ones(3)).shape == (4,)
    assert vmap(lambda a: a, in_dims=-1)(x).shape == (3, 4)


def test_trees() -> None:
    Pair = namedtuple("Pair", "left right")
    tree = {"a": torch.arange(3.0), "b": [torch.ones(2, 3), torch.tensor(2.0)]}
    dims = ({"a": 0, "b": [1, None]},)
    found = vmap(lambda t: Pair(t["a"] * t["b"][1], {"sum": t["b"][0].sum()}), in_dims=dims)(tree)
    assert isinstance(found, Pair)
    assert found.left.tolist() == [0, 2, 4]
    assert found.right["sum"].tolist() == [2, 2, 2]


def test_what_is_the_same_for_all_samples() -> None:
    x = torch.ones(3)
    assert vmap(lambda _: torch.tensor(2.0))(x).tolist() == [2, 2, 2]
    assert vmap(lambda _: 5, out_dims=None)(x) == 5
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        vmap(lambda a: a, out_dims=None)(x)


def test_chunks() -> None:
    x = torch.randn(7, 3)
    sizes = []

    def f(a: Any) -> Any:
        sizes.append(1)
        return a.sin(), a.sum()

    whole = vmap(f)(x)
    assert len(sizes) == 1
    parts = vmap(f, chunk_size=3)(x)
    assert len(sizes) == 4
    for a, b in zip(whole, parts, strict=True):
        assert torch.equal(a, b)


def test_nested_maps() -> None:
    x, y = torch.randn(4, 3), torch.randn(5, 3)
    found = vmap(lambda a: vmap(lambda b: torch.dot(a, b))(y))(x)
    assert torch.allclose(found, x @ y.T)
    deep = vmap(vmap(vmap(lambda a, b, c: a + b * c)))
    p, q, r = torch.randn(2, 3, 4, 5).unbind(0)[0], torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    assert torch.equal(deep(p, q, r), p + q * r)


def test_errors() -> None:
    x = torch.ones(3)
    with pytest.raises(ValueError, match="Got in_dim=2 for some input"):
        vmap(lambda a: a, in_dims=2)(x)
    with pytest.raises(ValueError, match="in_dims is not compatible with the structure"):
        vmap(lambda a: a, in_dims=(0, 0))(x)
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        vmap(lambda a, b: a)(x, torch.ones(2))
    with pytest.raises(ValueError, match="must only return Tensors"):
        vmap(lambda a: 3.0)(x)
    with pytest.raises(ValueError, match="got no inputs"):
        vmap(lambda: 3)()
    with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
        vmap(lambda a: a, chunk_size=0)
    with pytest.raises(RuntimeError, match="Only allowed values for randomness"):
        vmap(lambda a: a, randomness="some")


# --- types, changes in place, chance


def test_a_sample_without_dimensions_keeps_its_say_in_promotion() -> None:
    doubles, single = torch.ones(3, dtype=torch.float64), torch.ones(2, dtype=torch.float32)
    assert vmap(lambda a: a * single)(doubles).dtype == torch.float32
    other = torch.tensor(1.0, dtype=torch.float64)
    assert vmap(lambda a: a + other)(torch.ones(3)).dtype == torch.float64


def test_changes_in_place() -> None:
    x, y = torch.arange(6.0).view(2, 3), torch.ones(2, 3)

    def f(a: Any, b: Any) -> Any:
        c = a.clone()
        c.mul_(2).add_(b)
        c[0] = b[1] * 5
        c[1:].zero_()
        return c

    expected = torch.stack([f(x[i], y[i]) for i in range(2)])
    assert torch.equal(vmap(f)(x, y), expected)


def test_refuses_to_write_a_batch_into_one_tensor() -> None:
    shared = torch.zeros(3)
    with pytest.raises(RuntimeError, match="not possible because there exists a Tensor"):
        vmap(lambda a: shared.add_(a))(torch.ones(3, 3))


def test_chance() -> None:
    x = torch.zeros(4, 3)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        vmap(lambda a: a + torch.randn(3))(x)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        vmap(lambda a: torch.rand_like(a))(x)
    different = vmap(lambda a: a + torch.randn(3), randomness="different")(x)
    assert different.unique().numel() == 12
    same = vmap(lambda a: a + torch.randn(3), randomness="same")(x)
    assert torch.equal(same, same[:1].expand(4, 3))
    for draw in (torch.rand_like, torch.bernoulli, lambda a: a.clone().normal_()):
        alike = vmap(draw, randomness="same")(torch.full((4, 3), 0.5))
        assert torch.equal(alike, alike[:1].expand(4, 3))
    kept = vmap(lambda a: torch.bernoulli(a), randomness="different")(torch.full((100, 2), 0.5))
    assert 0 < kept.mean() < 1


def test_data_is_that_of_each_sample() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert torch.equal(vmap(lambda a: a.data * 2)(x), x * 2)


def test_shows_all_samples() -> None:
    shown = []
    vmap(lambda a: shown.append(repr(a)) or a)(torch.ones(2))
    assert shown == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([1., 1.])\n)"]


# --- with derivatives


def test_gradient_of_each_sample() -> None:
    weight, x = torch.randn(3, 2), torch.randn(5, 3)

    def loss(w: Any, a: Any) -> Any:
        return (a @ w).tanh().square().sum()

    found = vmap(grad(loss), in_dims=(None, 0))(weight, x)
    expected = torch.stack([grad(loss)(weight, each) for each in x])
    assert torch.allclose(found, expected, atol=1e-6)


def test_gradient_through_a_map() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    vmap(lambda a: a.sin().sum())(x).sum().backward()
    assert torch.allclose(x.grad, x.detach().cos())
    found = grad(lambda a: vmap(lambda b: b.pow(3).sum())(a).sum())(x.detach())
    assert torch.allclose(found, 3 * x.detach() ** 2)


def test_map_over_jacobians() -> None:
    x = torch.randn(4, 3)
    found = vmap(jacrev(lambda a: a.exp() * a.sum()))(x)
    expected = torch.stack([jacrev(lambda a: a.exp() * a.sum())(each) for each in x])
    assert torch.allclose(found, expected, atol=1e-5)


def test_batched_gradients_of_a_backward() -> None:
    x = torch.randn(3, requires_grad=True)
    y = x.sin() * x
    found = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)[0]
    slope = (x.cos() * x + x.sin()).detach()
    assert torch.allclose(found, torch.diag(slope))


# --- functions of users


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


class CubeOfBatches(Cube):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert info.batch_size == x.shape[in_dims[0]]
        return CubeOfBatches.apply(x), in_dims[0]


class CubeWithoutRule(Cube):
    generate_vmap_rule = False


class CubeOfTwoRules(CubeOfBatches):
    generate_vmap_rule = True


@pytest.mark.parametrize("function", [Cube, CubeOfBatches])
def test_functions_of_users(function: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    assert torch.equal(vmap(function.apply)(x), x**3)
    assert torch.equal(vmap(grad(lambda a: function.apply(a).sum()))(x), 3 * x**2)


def test_a_function_without_a_rule_is_refused() -> None:
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(CubeWithoutRule.apply)(torch.ones(2))


def test_a_function_with_two_rules_is_refused() -> None:
    with pytest.raises(RuntimeError, match="has a vmap method and generate_vmap_rule=True"):
        vmap(CubeOfTwoRules.apply)(torch.ones(2))
