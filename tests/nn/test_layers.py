"""Every layer by itself: it can be copied, stored and differentiated."""

import copy
import importlib
import pickle
import pkgutil
import warnings
from typing import Any

import numpy as np
import pytest

import flambeau
from flambeau.autograd import gradcheck
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import LAYERS, Layer

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

DIFFERENTIABLE = [c for c in LAYERS if c.double and c.gradients]


def outputs(config: Layer, module: Any, arrays: list[np.ndarray]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.run_module(
            flambeau, config, module, [run.tensor(flambeau, a, grad=False) for a in arrays]
        )


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_copies_compute_the_same(config: Layer) -> None:
    module = run.module_of(flambeau, config).eval()
    arrays = run.arrays_of(config)
    first = copy.deepcopy(module)
    expected = outputs(config, module, arrays)
    restored = run.module_of(flambeau, config).eval()
    restored.load_state_dict(first.state_dict())
    for other in (first, pickle.loads(pickle.dumps(first)), restored):
        actual = outputs(config, other, arrays)
        assert actual.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(actual[name], value, err_msg=name)


@pytest.mark.parametrize("config", DIFFERENTIABLE, ids=str)
def test_gradients_are_those_of_finite_differences(config: Layer) -> None:
    call, leaves = run.as_function(flambeau, config, "float64", training=False)
    if leaves:
        assert gradcheck(call, leaves, fast_mode=True)
