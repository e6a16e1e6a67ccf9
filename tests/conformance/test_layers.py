"""Every layer and function of nn beside torch: text, initial weights, numbers and gradients."""

import importlib
import pkgutil
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import FUNCTIONS, LAYERS, REFUSED, Function, Layer

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

# Of the largest magnitude in a tensor: float32 sums of a few thousand products in another order.
FLOAT32, FLOAT64 = 2e-5, 1e-11


def assert_alike(ours: dict[str, Any], theirs: dict[str, Any], tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        actual = ours[name]
        if expected is None or actual is None:
            assert actual is expected, f"{name}: one framework has none"
            continue
        assert actual.shape == expected.shape, name
        assert actual.dtype == expected.dtype, name
        if not np.issubdtype(expected.dtype, np.floating):
            np.testing.assert_array_equal(actual, expected, err_msg=name)
            continue
        finite = expected[np.isfinite(expected)]
        largest = max(1.0, float(np.abs(finite).max(initial=0)))
        np.testing.assert_allclose(
            actual, expected, rtol=tolerance * 10, atol=tolerance * largest, err_msg=name
        )


def assert_same_module(ours: Any, theirs: Any) -> None:
    assert repr(ours) == repr(theirs)
    mine, other = ours.state_dict(), theirs.state_dict()
    assert list(mine) == list(other)
    for name, expected in other.items():
        np.testing.assert_allclose(
            run.to_numpy(mine[name]), run.to_numpy(expected), rtol=1e-6, atol=1e-7, err_msg=name
        )


def made(config: Layer) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells what it has no quick way for
        theirs = run.module_of(torch, config)
    return run.module_of(flambeau, config), theirs


def both(config: Layer, mode: str) -> tuple[Any, Any]:
    ours, theirs = made(config)
    return getattr(ours, mode)(), getattr(theirs, mode)()


def compare(
    config: Layer, mode: str, layout: str, dtype: str = "float32", empty: Any = None
) -> Any:
    ours, theirs = both(config, mode)
    if dtype == "float64":
        ours, theirs = ours.double(), theirs.double()
    arrays = run.arrays_of(config, empty, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = run.run_module(
            torch, config, theirs, [run.tensor(torch, a, layout) for a in arrays]
        )
        actual = run.run_module(
            flambeau, config, ours, [run.tensor(flambeau, a, layout) for a in arrays]
        )
    tolerance = (FLOAT64 if dtype == "float64" else FLOAT32) * config.tolerance
    assert_alike(actual, expected, tolerance)
    for name, value in theirs.named_buffers():  # running statistics
        found = dict(ours.named_buffers())[name]
        assert_alike({name: run.to_numpy(found)}, {name: run.to_numpy(value)}, tolerance)


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_layer(config: Layer) -> None:
    ours, theirs = made(config)
    assert_same_module(ours, theirs)
    for mode in config.modes:
        compare(config, mode, "contiguous")


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_layer_on_strided_input(config: Layer) -> None:
    compare(config, config.modes[0], "strided")


@pytest.mark.parametrize("config", [c for c in LAYERS if c.double], ids=str)
def test_layer_in_double(config: Layer) -> None:
    compare(config, config.modes[0], "contiguous", "float64")


IMAGES = [c for c in LAYERS if len(c.inputs) == 1 and len(c.inputs[0].split()) == 4]


@pytest.mark.parametrize("config", IMAGES, ids=str)
def test_layer_on_channels_last_input(config: Layer) -> None:
    compare(config, config.modes[0], "channels_last")


@pytest.mark.parametrize("config", [c for c in LAYERS if c.zero_batch is not None], ids=str)
def test_layer_on_empty_batch(config: Layer) -> None:
    """The same result, or the same refusal."""
    _, theirs = both(config, config.modes[-1])
    arrays = run.arrays_of(config, config.zero_batch)
    try:
        run.run_module(torch, config, theirs, [run.tensor(torch, a) for a in arrays])
    except Exception as error:
        ours, _ = both(config, config.modes[-1])
        with pytest.raises(type(error)):
            run.run_module(flambeau, config, ours, [run.tensor(flambeau, a) for a in arrays])
        return
    compare(config, config.modes[-1], "contiguous", empty=config.zero_batch)


def evaluate(t: Any, config: Function, layout: str) -> dict[str, Any]:
    inputs = {n: run.tensor(t, a, layout) for n, a in run.inputs_of(config).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.run_function(t, config, inputs)


@pytest.mark.parametrize("layout", ["contiguous", "strided"])
@pytest.mark.parametrize("config", FUNCTIONS, ids=str)
def test_function(config: Function, layout: str) -> None:
    expected = evaluate(torch, config, layout)
    is_double = all("float64" in text for text in config.inputs.values())
    tolerance = (FLOAT64 if is_double else FLOAT32) * config.tolerance
    assert_alike(evaluate(flambeau, config, layout), expected, tolerance)


@pytest.mark.parametrize("config", REFUSED, ids=str)
def test_refusal(config: Function) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        evaluate(torch, config, "contiguous")
    with pytest.raises(theirs.type) as ours:
        evaluate(flambeau, config, "contiguous")
    assert len(str(ours.value)) > 15, "a refusal must say why"
