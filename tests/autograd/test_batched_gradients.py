"""Batched gradients: the backward of every operator and layer, against a loop of single ones."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau import nn
from flambeau.autograd import functional
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import FUNCTIONS, LAYERS, Function, Layer
from tests.ops.check import assert_values, to_numpy
from tests.ops.gradients import PRECISE, REFUSED, calls
from tests.ops.registry import all_samples
from tests.ops.table import operators

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

TABLE = operators()
# A backward is never random.
DIFFERENTIABLE = [
    name
    for name in sorted(set(TABLE) & set(all_samples()))
    if set(TABLE[name].gradients) & {"formulas", "composite"} and name not in REFUSED
]
COUNT = 3
# A batch may be summed in another order than its samples are.
TOLERANCE = {"float32": (1e-4, 1e-5), "float64": (1e-9, 1e-9), "complex128": (1e-9, 1e-9)}


def several_like(results: Sequence[Any]) -> list[Any]:
    """Several gradients of each result."""
    rng = np.random.default_rng(5)
    return [
        torch.from_numpy(rng.normal(size=(COUNT, *each.shape))).to(each.dtype) for each in results
    ]


def check(
    results: Sequence[Any], leaves: Sequence[Any], what: str, create_graph: bool = False
) -> None:
    """All gradients at once must be what they are one after the other."""
    given = several_like(results)

    def gradients(weights: list[Any], is_batch: bool) -> Any:
        return torch.autograd.grad(
            results,
            leaves,
            weights,
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
            is_grads_batched=is_batch,
        )

    rows = [gradients([each[i] for each in given], False) for i in range(COUNT)]
    found = gradients(given, True)
    for i, (ours, *singles) in enumerate(zip(found, *rows, strict=True)):
        assert (ours is None) == (singles[0] is None), f"{what}: gradient {i}"
        if ours is None:
            continue
        assert ours.shape == (COUNT, *leaves[i].shape), what
        expected = np.stack([to_numpy(each.detach()) for each in singles])
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        tolerance = TOLERANCE[str(ours.dtype).rpartition(".")[2]]
        assert_values(to_numpy(ours.detach()) / scale, expected / scale, tolerance, what)


@pytest.mark.parametrize("create_graph", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("dtype", PRECISE)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_operators(name: str, dtype: str, create_graph: bool) -> None:
    for call in calls(torch, TABLE[name], dtype):
        leaves = call.leaves()
        results = call(*(each.clone() for each in leaves))  # samples may change them in place
        if name == "bernoulli":  # of which one form alone has a derivative
            results = tuple(r for r in results if "Bernoulli" not in r.grad_fn.name())
        if results:
            check(results, leaves, f"{name}{call.sample!r}", create_graph)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("config", [each for each in LAYERS if each.gradients], ids=str)
def test_layers(config: Layer, training: bool) -> None:
    for dtype in ("float32", "float64") if config.double else ("float32",):
        call, leaves = run.as_function(torch, config, dtype, training)
        results = call(*leaves) if leaves else ()
        if results:
            check(results, leaves, f"{config} in {dtype}")


@pytest.mark.filterwarnings("ignore:.* is deprecated")  # some of them are
@pytest.mark.parametrize("config", [each for each in FUNCTIONS if each.gradients], ids=str)
def test_functions(config: Function) -> None:
    inputs = {name: run.tensor(torch, each) for name, each in run.inputs_of(config).items()}
    torch.manual_seed(11)
    output = eval(config.text, {**run.framework_names(torch), **inputs})
    results = [each for each in run.flat(output) if each.requires_grad]
    leaves = [each for each in inputs.values() if each.requires_grad]
    if results and leaves:
        check(results, leaves, str(config))


# --- what batched gradients are for

NETWORKS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "conv": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.Tanh(), nn.Conv2d(3, 2, 2)),
        (1, 2, 5, 5),
    ),
    "channels last": (
        lambda: nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last),
        (1, 2, 5, 5),
    ),
    "transposed": (lambda: nn.ConvTranspose1d(2, 3, 2, stride=2), (1, 2, 4)),
    "gru": (lambda: nn.GRU(2, 3, batch_first=True), (2, 3, 2)),
    "lstm": (lambda: nn.LSTM(2, 3, num_layers=2, bidirectional=True), (3, 2, 2)),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 6, batch_first=True).eval(), (1, 3, 4)),
    "norm": (lambda: nn.Sequential(nn.BatchNorm1d(3), nn.LayerNorm(3), nn.GELU()), (4, 3)),
}


def network(name: str) -> tuple[Callable[[Any], Any], Any]:
    torch.manual_seed(3)
    make, shape = NETWORKS[name]
    module = make().double()

    def function(x: Any) -> Any:
        result = module(x)
        return result[0] if isinstance(result, tuple) else result

    return function, torch.randn(*shape, dtype=torch.float64)


def rows_of_jacobian(f: Callable[[Any], Any], x: Any) -> Any:
    """One backward for each element of the output."""
    at = x.clone().requires_grad_()
    output = f(at)
    units = torch.eye(output.numel(), dtype=x.dtype).reshape(-1, *output.shape)
    rows = [torch.autograd.grad(output, at, unit, retain_graph=True)[0] for unit in units]
    return torch.stack(rows).reshape(*output.shape, *x.shape)


@pytest.mark.parametrize("name", NETWORKS)
def test_jacobians(name: str) -> None:
    f, x = network(name)
    expected = to_numpy(rows_of_jacobian(f, x))
    found = {
        "autograd": functional.jacobian(f, x, vectorize=True),
        "jacrev": torch.func.jacrev(f)(x),
        "chunks": torch.func.jacrev(f, chunk_size=2)(x),
        "jacfwd": torch.func.jacfwd(f)(x),
    }
    for how, jacobian in found.items():
        assert_values(to_numpy(jacobian), expected, (1e-9, 1e-9), f"{name} by {how}")


@pytest.mark.parametrize("name", NETWORKS)
def test_hessians(name: str) -> None:
    f, x = network(name)

    def loss(at: Any) -> Any:
        return (f(at) ** 2).sum()

    expected = to_numpy(functional.hessian(loss, x))
    found = {
        "autograd": functional.hessian(loss, x, vectorize=True),
        "forward": functional.hessian(
            loss, x, vectorize=True, outer_jacobian_strategy="forward-mode"
        ),
        "func": torch.func.hessian(loss)(x),
        "jacrev twice": torch.func.jacrev(torch.func.jacrev(loss))(x),
    }
    for how, hessian in found.items():
        assert_values(to_numpy(hessian), expected, (1e-8, 1e-9), f"{name} by {how}")


def test_anomalies_are_found_in_any_sample() -> None:
    x = torch.ones(2, requires_grad=True)
    weights = torch.tensor([[1.0, 1.0], [1.0, float("nan")]])
    with (
        pytest.warns(UserWarning, match="Anomaly Detection"),
        torch.autograd.detect_anomaly(),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        torch.autograd.grad(x * x, x, weights, is_grads_batched=True)


WITHOUT_RULE: dict[str, Callable[[Any], Any]] = {
    "buffer": lambda sizes: memoryview(sizes),
    "dlpack": torch.from_dlpack,
    "lengths": lambda sizes: nn.utils.rnn.pad_packed_sequence(
        nn.utils.rnn.PackedSequence(torch.ones(4, 2), sizes)
    )[0],
}


@pytest.mark.parametrize("ask", WITHOUT_RULE.values(), ids=WITHOUT_RULE)
def test_no_kernel_takes_a_batched_tensor_for_its_first_sample(ask: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="a batched tensor has no elements of its own"):
        torch.vmap(ask)(torch.full((3, 2), 2))
