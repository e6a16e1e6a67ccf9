"""Mixed precision against torch: types of every operator, numbers of trainings, scales."""

import dataclasses
import functools
import importlib
import itertools
import pkgutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.conformance.differences import AUTOCAST, AUTOCAST_GRADIENTS
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import LAYERS, Layer
from tests.ops.check import dtype_name, is_tensor, outputs, to_numpy
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

TABLE, SAMPLES = operators(), all_samples()
HALF_TYPES = ("bfloat16", "float16")
GIVEN_TYPES = ("float32", "bfloat16", "float16", "float64", "int64")


# --- every operator


def results(t: Any, operator: Operator, sample: Sample, dtype: str) -> list[Any] | Exception:
    t.manual_seed(0)
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with t.autocast("cpu", dtype=getattr(t, dtype)):
                result = operator.call(t, args, kwargs)
    except Exception as error:
        return error
    return [each for each in outputs(result) if is_tensor(each)]


def runs_outside(operator: Operator, sample: Sample) -> bool:
    """Whether Flambeau takes the call at all: a type may be one that only torch takes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
            operator.call(flambeau, args, kwargs)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", sorted(set(TABLE) & set(SAMPLES) - set(AUTOCAST)))
def test_types_as_torch(name: str) -> None:
    """What torch computes under autocast is computed, and has torch's type."""
    operator = TABLE[name]
    for given in GIVEN_TYPES:
        for sample in SAMPLES[name].where_sensible(given):
            for dtype in HALF_TYPES:
                theirs = results(torch, operator, sample, dtype)
                if isinstance(theirs, Exception):
                    continue  # such as a product of bfloat16 and float64, or two 16-bit types
                ours = results(flambeau, operator, sample, dtype)
                if isinstance(ours, Exception):
                    assert not runs_outside(operator, sample), f"{sample!r}: {ours!r}"
                    continue
                types = [dtype_name(each) for each in ours]
                assert types == [dtype_name(each) for each in theirs], (
                    f"{given}, {dtype}: {sample!r}"
                )


def mixed(sample: Sample, later: bool) -> Sample:
    """The call with its first float32 tensor in bfloat16, or with all but the first."""
    count = itertools.count()

    def change(each: Input) -> Input:
        if each.dtype != "float32" or (next(count) > 0) != later:
            return each
        return dataclasses.replace(each, dtype="bfloat16")

    return sample.map_inputs(change)


@pytest.mark.parametrize("name", sorted(set(TABLE) & set(SAMPLES) - set(AUTOCAST)))
def test_mixed_types_as_torch(name: str) -> None:
    """Inputs of several types are taken where torch takes them, with the same result."""
    operator = TABLE[name]
    for sample, later in itertools.product(SAMPLES[name].where_sensible("float32"), (True, False)):
        if sum(each.dtype == "float32" for each in sample.inputs()) < 2:
            continue
        call = mixed(sample, later)
        theirs = results(torch, operator, call, "bfloat16")
        if isinstance(theirs, Exception):
            continue
        ours = results(flambeau, operator, call, "bfloat16")
        assert not isinstance(ours, Exception), f"{call!r}: {ours!r}"
        assert list(map(dtype_name, ours)) == list(map(dtype_name, theirs)), f"{call!r}"


def leaves(t: Any, value: Any) -> list[Any]:
    """The tensors of floating-point types in an argument, which now want gradients."""
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(t, each)]
    if not isinstance(value, t.Tensor) or not value.is_floating_point():
        return []
    return [value.requires_grad_()]


def gradient_types(t: Any, operator: Operator, sample: Sample) -> list[str] | None:
    """The types of the gradients after a call under autocast; None where it is refused."""
    t.manual_seed(0)
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    found = leaves(t, args) + leaves(t, list(kwargs.values()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with t.autocast("cpu", dtype=t.bfloat16):
                result = operator.call(t, args, kwargs)
        wanted = [each for each in outputs(result) if is_tensor(each) and each.requires_grad]
        if wanted:
            sum(each.abs().float().sum() for each in wanted).backward()
    except Exception:
        return None
    return ["" if each.grad is None else dtype_name(each.grad) for each in found]


@pytest.mark.parametrize("name", sorted(set(TABLE) & set(SAMPLES) - set(AUTOCAST_GRADIENTS)))
def test_gradients_arrive_as_in_torch(name: str) -> None:
    """Casts let gradients through, and to the types of the inputs; some more may be zeros."""
    for sample in SAMPLES[name].where_sensible("float32"):
        theirs = gradient_types(torch, TABLE[name], sample)
        if theirs is None or not any(theirs):
            continue
        ours = gradient_types(flambeau, TABLE[name], sample)
        assert ours is not None, f"{sample!r}"
        assert [mine if its else "" for mine, its in zip(ours, theirs, strict=True)] == theirs


# --- every layer


def layer_types(t: Any, config: Layer, mode: str, given: str) -> list[str] | None:
    """Types of the outputs and of the parameters' gradients; None where the call is refused."""
    module = getattr(run.module_of(t, config), mode)()
    inputs = [run.tensor(t, array, grad=False) for array in run.arrays_of(config)]
    inputs = [x.to(getattr(t, given)) if x.is_floating_point() else x for x in inputs]
    names = {**run.framework_names(t), "m": module, **dict(zip(run.NAMES, inputs, strict=False))}
    t.manual_seed(0)
    try:
        with t.autocast("cpu", dtype=t.bfloat16):
            result = eval(config.call, names) if config.call else module(*inputs)
        found = list(run.flat(result))
        wanted = [each.float().sum() for each in found if each.requires_grad]
        if wanted and config.gradients:
            sum(wanted).backward()
    except Exception:
        return None
    grads = [p.grad for p in module.parameters() if p.grad is not None]
    return [dtype_name(each) for each in [*found, *grads]]


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_layers_as_torch(config: Layer) -> None:
    """Also with 16-bit inputs, which layers get from those before them."""
    for mode, given in itertools.product(config.modes, ("float32", "bfloat16")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = layer_types(torch, config, mode, given)
            if theirs is not None:
                assert layer_types(flambeau, config, mode, given) == theirs, (mode, given)


# --- numbers

Net = Callable[[Any], Any]


def perceptron(t: Any) -> Any:
    layers = (t.nn.Linear(12, 32), t.nn.ReLU(), t.nn.LayerNorm(32), t.nn.Linear(32, 4))
    return t.nn.Sequential(*layers)


def convolutional(t: Any) -> Any:
    nn = t.nn
    # A bias before the norm would have nothing but roundings for a gradient.
    image = (nn.Unflatten(1, (1, 3, 4)), nn.Conv2d(1, 8, 3, padding=1, bias=False))
    norm = (nn.BatchNorm2d(8), nn.GELU())
    return nn.Sequential(*image, *norm, nn.Conv2d(8, 8, 1), nn.Flatten(), nn.Linear(96, 4))


def transformer(t: Any) -> Any:
    nn = t.nn
    layer = nn.TransformerEncoderLayer(4, 2, 16, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Unflatten(1, (3, 4)), layer, nn.Flatten(), nn.Linear(12, 4))


def recurrent(t: Any, kind: str) -> Any:
    class Last(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = getattr(t.nn, kind)(4, 16, batch_first=True)
            self.out = t.nn.Linear(16, 4)

        def forward(self, x: Any) -> Any:
            return self.out(self.layers(x.unflatten(1, (3, 4)))[0][:, -1])

    return Last()


NETS: dict[str, Net] = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "transformer": transformer,
    **{kind: functools.partial(recurrent, kind=kind) for kind in ("LSTM", "GRU", "RNN")},
}


def train(t: Any, make: Net, dtype: str, steps: int) -> tuple[list[float], dict[str, Any]]:
    """The losses of a training with autocast and a scaler, and the gradients of its last step."""
    t.manual_seed(0)
    net = make(t)
    optimizer = t.optim.AdamW(net.parameters(), lr=1e-2)
    scaler = t.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=3)
    rng = np.random.default_rng(0)
    x = t.tensor(rng.standard_normal((16, 12)).astype(np.float32))
    target = t.tensor(rng.integers(0, 4, 16))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with t.autocast("cpu", dtype=getattr(t, dtype)):
            loss = t.nn.functional.cross_entropy(net(x), target)
        assert loss.dtype == t.float32
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert scaler.get_scale() == 2.0 ** (10 + steps // 3)
    return losses, {name: p.grad for name, p in net.named_parameters()}


# torch has no LSTM in float16 on processors without instructions for it.
CASES = [
    (net, dtype) for net in NETS for dtype in HALF_TYPES if (net, dtype) != ("LSTM", "float16")
]
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


@pytest.mark.parametrize(("net", "dtype"), CASES)
def test_losses(net: str, dtype: str) -> None:
    """Eight steps of Adam, which follow the signs of gradients, carry roundings on."""
    ours, theirs = (train(t, NETS[net], dtype, 8)[0] for t in (flambeau, torch))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=8 * ROUNDING[dtype])


@pytest.mark.parametrize(("net", "dtype"), CASES)
def test_gradients(net: str, dtype: str) -> None:
    """Those of the first step differ from torch's by a few roundings of their largest."""
    ours, theirs = (train(t, NETS[net], dtype, 1)[1] for t in (flambeau, torch))
    for name, grad in ours.items():
        expected = theirs[name].numpy()
        assert dtype_name(grad) == dtype_name(theirs[name]) == "float32", name
        tolerance = 8 * ROUNDING[dtype] * np.abs(expected).max()
        np.testing.assert_allclose(grad.numpy(), expected, rtol=0, atol=tolerance, err_msg=name)


# --- scales


def scales(t: Any, factors: list[float], **options: Any) -> list[Any]:
    """The scale, the count of steps and the parameter after each step."""
    param = t.tensor([1.0, -2.0], requires_grad=True)
    optimizer = t.optim.SGD([param], lr=0.1, momentum=0.9)
    scaler = t.amp.GradScaler("cpu", **options)
    trace = []
    for factor in factors:
        optimizer.zero_grad()
        scaler.scale((param * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        trace.append((scaler.get_scale(), scaler._get_growth_tracker(), str(param.tolist())))
    return trace


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"init_scale": 4.0, "growth_interval": 2},
        {"init_scale": 3.0, "growth_factor": 1.5, "backoff_factor": 0.3, "growth_interval": 3},
        {"init_scale": 2.0**126, "growth_interval": 1},
        {"init_scale": 1e-30, "backoff_factor": 1e-10},
    ],
)
def test_scales(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    factors = rng.choice([0.5, 1.0, 3.0, float("inf"), float("nan"), 1e30], 40).tolist()
    assert scales(flambeau, factors, **options) == scales(torch, factors, **options)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("early", [True, False])
def test_fused_optimisers(kind: str, early: bool) -> None:
    def run(t: Any) -> Any:
        param = t.tensor([1.0, -2.0], requires_grad=True)
        optimizer = getattr(t.optim, kind)([param], lr=0.1, fused=True)
        scaler = t.amp.GradScaler("cpu", init_scale=16.0)
        for factor in (1.0, float("inf"), 2.0):
            optimizer.zero_grad()
            scaler.scale((param * factor).sum()).backward()
            if early:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        return param, param.grad, scaler.get_scale()

    ours, theirs = run(flambeau), run(torch)
    np.testing.assert_allclose(to_numpy(ours[0]), to_numpy(theirs[0]), rtol=1e-6)
    assert ours[1].tolist() == theirs[1].tolist()
    assert ours[2] == theirs[2]
