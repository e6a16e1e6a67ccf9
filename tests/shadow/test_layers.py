"""Every layer and function of `tests/nn/layers` on the device `shadow`, with its gradients."""

import warnings
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from tests.nn.layers import run
from tests.nn.layers.registry import FUNCTIONS, LAYERS, Function, Layer
from tests.nn.test_layers import DIFFERENTIABLE  # importing it registers all layers
from tests.shadow.moving import SHADOW, check_no_access

assert DIFFERENTIABLE


def leaf(values: Any, device: Any) -> Any:
    made = run.tensor(fb, values, grad=False).to(device)
    return made.requires_grad_(made.is_floating_point())


def assert_same(there: dict[str, Any], here: dict[str, Any]) -> None:
    assert there.keys() == here.keys()
    for name, expected in here.items():
        np.testing.assert_array_equal(there[name], expected, err_msg=name)


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_a_layer_computes_on_the_device(config: Layer) -> None:
    for mode in config.modes:

        def measured(device: Any, mode: str = mode) -> dict[str, Any]:
            module = run.module_of(fb, config).train(mode == "train").to(device)
            inputs = [leaf(each, device) for each in run.arrays_of(config)]
            # Masks that a configuration makes belong there too.
            with warnings.catch_warnings(), fb.device(device):
                warnings.simplefilter("ignore")
                return run.run_module(fb, config, module, inputs)

        here, there = measured("cpu"), measured(SHADOW)
        check_no_access(str(config))
        assert_same(there, here)


@pytest.mark.parametrize("config", FUNCTIONS, ids=str)
def test_a_function_computes_on_the_device(config: Function) -> None:
    def measured(device: Any) -> dict[str, Any]:
        inputs = {name: leaf(each, device) for name, each in run.inputs_of(config).items()}
        with warnings.catch_warnings(), fb.device(device):
            warnings.simplefilter("ignore")
            return run.run_function(fb, config, inputs)

    here, there = measured("cpu"), measured(SHADOW)
    check_no_access(str(config))
    assert_same(there, here)
