"""Every layer and function of ``nn``, traced on some inputs, is right for others."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau import jit
from flambeau.utils._pytree import tree_leaves
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import FUNCTIONS, LAYERS, Function, Layer, make_input

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

# Calls of the module itself; expressions with other calls are tested as functions are.
CALLED = [layer for layer in LAYERS if not layer.call]


def inputs_of(texts: Any, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(torch.from_numpy(make_input(text, rng)) for text in texts)


def assert_same(function: Any, traced: Any, inputs: tuple[Any, ...]) -> None:
    results = []
    for call in (function, traced):
        torch.manual_seed(11)
        with torch.no_grad():
            results.append(tree_leaves(call(*inputs)))
    for actual, expected in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


def assert_traced(function: Any, texts: Any) -> None:
    """A trace is right for other inputs, or has warned that elements decide."""
    example = inputs_of(texts, 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.manual_seed(11)
        traced = jit.trace(function, example, check_trace=False, strict=False)
    depends = any(issubclass(each.category, jit.TracerWarning) for each in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old spellings
        assert_same(function, traced, example if depends else inputs_of(texts, 1))


@pytest.mark.parametrize(
    ("config", "mode"), [(layer, mode) for layer in CALLED for mode in layer.modes], ids=str
)
def test_layers(config: Layer, mode: str) -> None:
    module = run.module_of(torch, config).train(mode == "train")
    assert_traced(module, config.inputs)


@pytest.mark.parametrize("config", FUNCTIONS, ids=str)
def test_functions(config: Function) -> None:
    names = run.framework_names(torch)

    def function(*args: Any) -> Any:
        return eval(config.text, {**names, **dict(zip(config.inputs, args, strict=True))})

    assert_traced(function, config.inputs.values())
